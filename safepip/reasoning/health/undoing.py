"""What undoing a kept change would mend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from safepip.model.diagnosis import Ailment, Level
from safepip.model.environment import Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.requirements import requirement_key, requires_closure


class Kept(NamedTuple):
    """A change that can be undone, and what a look at the world without it has shown."""

    number: int
    what: str  # it did
    mends: tuple[Ailment, ...]


class Touched(NamedTuple):
    """What a kept change has taken, exchanged and brought."""

    keys: frozenset[DistKey]
    paths: frozenset[TargetPath]


def may_mend(touched: Touched, ailments: Iterable[Ailment], inventory: Inventory) -> bool:
    """Whether the change can have to do with one of `ailments`: a look at the world without it costs as much as the first."""
    names = {part.partition(".")[0] for path in touched.paths for part in path.split("/")[-3:]}
    return any(
        item.level > Level.NOTE
        and (
            not touched.keys.isdisjoint(_keys(item, inventory))
            or not names.isdisjoint(_names(item))
            or not touched.paths.isdisjoint(item.paths)
        )
        for item in ailments
    )


def _keys(item: Ailment, inventory: Inventory) -> set[DistKey]:
    """Whom it ails, and all that these require, there or not."""
    own = requirement_key(item.distribution)
    dist = inventory.find(own) if own else None
    around = (dist, *requires_closure(dist, inventory)) if dist else ()
    written = (line for one in around for line in one.requires)
    wanted = {key for line in (item.wants, *written) if (key := requirement_key(line))}
    return {*item.mended_by, *wanted, *([own] if own else [])}


def _names(item: Ailment) -> set[str]:
    """Of modules and libraries that are missed."""
    module = item.chain[-1].removeprefix("import ") if item.chain else ""
    return {*module.split("."), item.soname.partition(".")[0]} - {""}


def fits(wants: str, key: DistKey, version: str) -> bool:
    if requirement_key(wants) != key:
        return False
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion

    try:
        return Requirement(wants).specifier.contains(version, prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return False
