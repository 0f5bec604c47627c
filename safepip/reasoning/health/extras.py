"""Extras that were asked for and are no longer whole: the GPU of tensorflow[and-cuda] without its cuDNN.

No metadata says which extras were asked for. What nothing but an extra explains, and most of the rest beside it, do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import TargetPath
from safepip.reasoning.dependents import users_of
from safepip.reasoning.requirements import is_met, listed_under, requirement_key

AT_LEAST = 2  # of an extra's requirements are there, for each that is not


def incomplete(inventory: Inventory, hollow: Collection[TargetPath]) -> Iterator[Ailment]:
    """What extras list and is not there, of those that are whole but for it. `hollow` (by info) are not there."""
    there = {dist.key for dist in inventory.distributions if dist.info not in hollow}
    if not any(dist.requested for dist in inventory.distributions):
        return  # whoever installed this wrote down of nothing that it was asked for: nothing can be explained
    for user in inventory.distributions:
        for extra in user.extras:
            lines = listed_under(extra, user)
            keys = {requirement_key(line) for line in lines}
            if len(keys & there) >= AT_LEAST and not keys <= there:
                yield from _of(user, extra, lines, inventory, hollow)


def _of(
    user: Distribution,
    extra: str,
    lines: Collection[str],
    inventory: Inventory,
    hollow: Collection[TargetPath],
) -> Iterator[Ailment]:
    met, missing = list[Distribution](), list[str]()
    for line in lines:
        found = inventory.find(requirement_key(line) or user.key)
        answer = is_met(line, extra, inventory)
        if found is not None and found.info not in hollow and answer:
            met.append(found)
        elif answer is not None and (found is None or found.info in hollow):
            missing.append(line.partition(";")[0].strip())
    if (
        not missing
        or len(met) < AT_LEAST * len(missing)
        or not any(_is_explained_by_extras(dist, inventory) for dist in met)
    ):
        return
    rest = f"the other {len(met)} that it lists are"
    for line in missing:
        yield Ailment(
            Check.INCOMPLETE_EXTRA,
            Level.WARN,
            user.name,
            f"{user.name}[{extra}] requires {line}, which is not installed; {rest}",
            wants=line.replace(" ", ""),
            marks=extra,
        )


def _is_explained_by_extras(dist: Distribution, inventory: Inventory) -> bool:
    return not dist.requested and not users_of(dist, inventory.distributions)
