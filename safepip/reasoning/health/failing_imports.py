"""Imports that raise though all that they import is there: a name that it does not have, a version that is refused."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.environment import Inventory
from safepip.model.imports import ImportLoss, VersionCheck
from safepip.model.paths import DistKey
from safepip.reasoning.health import diagnosis
from safepip.reasoning.health.diagnosis import PHANTOM, REFUSED, UNBOUND
from safepip.reasoning.libraries.losses import relative
from safepip.reasoning.requirements import requirement_key

PYTHON = DistKey("python")  # whose standard library it is
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def ailments(
    losses: Iterable[ImportLoss], inventory: Inventory, unmet: Collection[Ailment]
) -> Iterator[Ailment]:
    """`unmet`: requirements; one that another version of the imported distribution would meet is the cure."""
    losses = tuple(losses)
    failing = {loss.survivor.key for loss in losses}
    for loss in losses:
        what = loss.lost.info.rpartition(PHANTOM)[2]
        if what not in {UNBOUND, REFUSED}:
            continue
        path = relative(loss.importer, inventory)
        where = f"{path}:{loss.line}" if loss.line else path.removesuffix("/__init__.py")
        other = f"{loss.lost.name} {loss.lost.version}"
        module, _, name = loss.module.rpartition(".")
        said = (
            f"takes {name} of {module}, and {other} has no such name there"
            if what == UNBOUND
            else f"raises over {other}"
            if loss.line
            else f"is built for a version of {loss.lost.name} before {loss.lost.version}"
        )
        yield Ailment(
            Check.FAILING_IMPORT,
            diagnosis.level_of(loss, loss.chain[0], inventory, failing)
            if loss.lost.key == PYTHON
            else Level.ERROR,
            loss.survivor.name,
            f"{loss.chain[0]} fails: {where} {said}",
            loss.importer,
            chain=loss.chain if what == UNBOUND else loss.chain[:-1],
            wants=_other_version(loss, inventory, unmet),
        )


def holds(check: VersionCheck, installed: str) -> bool:
    """Whether it does for the version `installed`, whole and cut to as many parts as it is compared with."""
    from packaging.version import InvalidVersion, Version

    try:
        version, than = Version(installed), Version(check.than)
    except InvalidVersion:
        return False
    short = Version(".".join(map(str, version.release[: len(than.release)])))
    return all(COMPARE[check.operator](one, than) for one in (version, short))


def _other_version(loss: ImportLoss, inventory: Inventory, unmet: Collection[Ailment]) -> str:
    """What the importer requires of the distribution."""
    owners = {dist.name for dist in inventory.owners([loss.importer]).get(loss.importer, ())}
    wanted = (item.wants for item in unmet if item.distribution in owners)
    return next((wants for wants in wanted if requirement_key(wants) == loss.lost.key), "")
