"""Requires-Dist of those who stay: what is met now and would be met no longer.

`packaging` reads markers, extras and versions, and is imported only where a requirement names something that
leaves: it costs a quarter of the guard's whole time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.paths import DistKey, TargetPath

if TYPE_CHECKING:
    from packaging.requirements import Requirement

NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
LONGEST = 8192  # characters; packaging takes a time that grows with the square of it
SEPARATORS = re.compile(r"[-_.]+")
EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")


class LostRequirement(NamedTuple):
    survivor: Distribution
    lost: Distribution
    requirement: str  # as written
    extra: bool  # listed under an extra only
    in_use: str = ""  # the extra, where all that it lists is installed


class Wish(NamedTuple):
    """One Requires-Dist line, and where it stands: which distribution's, which of its lines."""

    place: tuple[int, int]
    survivor: Distribution
    written: str


class Unmet(NamedTuple):
    name: str  # as written
    extras: str  # with their brackets
    versions: str
    found: Distribution | None  # of that name, which does not fit

    @property
    def said(self) -> str:
        """Behind the name of who asks."""
        there = "which is not installed" if self.found is None else f"and {self.found.version} is installed"
        return f"requires {self.name}{self.versions}, {there}"


Wishes = Mapping[DistKey, Sequence[Wish]]
"""By the name that is required."""


class Lost(NamedTuple):
    requirements: tuple[LostRequirement, ...]
    unjudged: tuple[Unjudged, ...]


def wishes(inventory: Inventory) -> Wishes:
    """Who requires what, read once for however many removals."""
    found: dict[DistKey, list[Wish]] = {}
    for number, dist in enumerate(inventory.distributions):
        for line, written in enumerate(dist.requires):
            key = requirement_key(written)
            if key is not None:
                found.setdefault(key, []).append(Wish((number, line), dist, written))
    return found


def lost(
    leaving: Sequence[Distribution], inventory: Inventory, hollow: frozenset[TargetPath], wanted: Wishes
) -> Lost:
    """Which requirements of survivors only the leaving distributions meet. `hollow` (by info) meet nothing."""
    gone = {dist.key: dist for dist in reversed(leaving) if dist.info not in hollow}
    infos = {dist.info for dist in leaving}
    left = {
        dist.key: dist
        for dist in reversed(inventory.distributions)
        if dist.key in gone and dist.info not in infos
    }
    losses: list[LostRequirement] = []
    unjudged: list[Unjudged] = []
    asked = sorted((wish, key) for key in gone for wish in wanted.get(key, ()))
    for wish, name in asked:
        if wish.survivor.info in infos:
            continue
        found = weigh(wish.survivor, gone[name], wish.written, inventory.target.markers)
        if (
            found
            and name in left
            and weigh(wish.survivor, left[name], wish.written, inventory.target.markers)
        ):
            continue  # the next of that name along sys.path meets it too
        if isinstance(found, Unjudged):
            unjudged.append(found)
        elif found:
            losses.append(found._replace(in_use=_extra_in_use(found, inventory)) if found.extra else found)
    return Lost(_without_echoes(losses), tuple(unjudged))


def unmet(user: Distribution, inventory: Inventory, hollow: Collection[TargetPath] = ()) -> Iterator[Unmet]:
    """The Requires-Dist lines of `user`, without an extra, that nothing installed meets. `hollow` (by info) meet nothing."""
    from packaging.requirements import InvalidRequirement
    from packaging.version import InvalidVersion

    markers = {**inventory.target.markers, "extra": ""}
    for written in user.requires:
        try:
            if len(written) > LONGEST:
                continue
            wanted = _parsed(written)
            if wanted.marker is not None and not wanted.marker.evaluate(markers):
                continue
            found = inventory.find(requirement_key(wanted.name) or DistKey(wanted.name))
            fits = found is not None and (
                wanted.url is not None or wanted.specifier.contains(found.version, prereleases=True)
            )
        except (InvalidRequirement, InvalidVersion):
            continue
        if found is None or not fits or found.info in hollow:
            extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
            yield Unmet(wanted.name, extras, str(wanted.specifier), found)


def requires_closure(dist: Distribution, inventory: Inventory) -> tuple[Distribution, ...]:
    """What `dist` requires, transitively, among the installed; by name, and without regard to extras."""
    installed = {item.key: item for item in reversed(inventory.distributions)}  # the first of a name counts
    reached: dict[DistKey, Distribution] = {}
    pending = [dist]
    while pending:
        for written in pending.pop().requires:
            key = None if "extra ==" in written else requirement_key(written)
            if key in installed and key not in reached and installed[key] is not dist:
                reached[key] = installed[key]
                pending.append(installed[key])
    return tuple(reached.values())


@cache
def requirement_key(written: str) -> DistKey | None:
    """The canonical name at the head of a Requires-Dist line."""
    match = NAME.match(written)
    return DistKey(_key(match[1])) if match else None


def weigh(
    survivor: Distribution, lost: Distribution, written: str, markers: Mapping[str, str]
) -> LostRequirement | Unjudged | None:
    """The loss if `lost` meets what `survivor` has `written`; None where it does not, or where nobody asks for it."""
    if len(written) > LONGEST:
        return Unjudged(f"{survivor.name} requires {written[:40]!r} …", f"more than {LONGEST} characters")
    try:
        requirement = _parsed(written)
        met = requirement.url is not None or requirement.specifier.contains(lost.version, prereleases=True)
    except ValueError as problem:  # none, or with a version that is none or has thousands of digits
        return Unjudged(f"{survivor.name} requires {written!r}", str(problem).splitlines()[0])
    if not met:
        return None
    if requirement.marker is None or requirement.marker.evaluate({**markers, "extra": ""}):
        return LostRequirement(survivor, lost, written, extra=False)
    asked = any(requirement.marker.evaluate({**markers, "extra": extra}) for extra in survivor.extras)
    return LostRequirement(survivor, lost, written, extra=True) if asked else None


def _extra_in_use(loss: LostRequirement, inventory: Inventory) -> str:
    """The extra of the survivor that lists the lost one, if all that applies of it is installed: no metadata says
    which extras were asked for, and one that was is whole until something of it goes.
    """
    for extra in loss.survivor.extras:
        lines = listed_under(extra, loss.survivor)
        keys = [requirement_key(line) for line in lines]
        if loss.lost.key not in keys:
            continue
        # what is not installed comes first: most extras are settled by it
        absent = [line for line, key in zip(lines, keys, strict=True) if not _is_there(key, inventory)]
        if all(is_met(line, extra, inventory) in {True, None} for line in (*absent, *lines)):
            return extra
    return ""


def _is_there(key: DistKey | None, inventory: Inventory) -> bool:
    return key is not None and inventory.find(key) is not None


def listed_under(extra: str, dist: Distribution) -> Sequence[str]:
    """The Requires-Dist lines of `dist` that name `extra` in their markers."""
    return _by_extra(dist.requires).get(_key(extra), ())


@cache
def _by_extra(requires: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for line in requires:
        if len(line) <= LONGEST:
            for name in dict.fromkeys(map(_key, EXTRA.findall(line))):
                found.setdefault(name, []).append(line)
    return found


def is_met(written: str, extra: str, inventory: Inventory) -> bool | None:
    """Whether what is installed meets a Requires-Dist line under `extra`; None where it does not apply to this target."""
    try:
        wanted = _parsed(written)
        if wanted.marker is not None and not wanted.marker.evaluate(
            {**inventory.target.markers, "extra": extra}
        ):
            return None
        found = inventory.find(DistKey(_key(wanted.name)))
        return found is not None and wanted.specifier.contains(found.version, prereleases=True)
    except ValueError:
        return False


@cache
def _parsed(written: str) -> Requirement:
    """Once a line, however many removals ask; ValueError where it is none."""
    from packaging.requirements import Requirement

    return Requirement(written)


def _key(name: str) -> str:
    return SEPARATORS.sub("-", name).lower()


def asks_for_other(written: str, dist: Distribution) -> bool:
    """Whether `written` names `dist`, in a version that it has not. What is no requirement does not."""
    if requirement_key(written) != dist.key or len(written) > LONGEST:
        return False
    try:
        return not _parsed(written).specifier.contains(dist.version, prereleases=True)
    except ValueError:
        return False


def _without_echoes(losses: Sequence[LostRequirement]) -> tuple[LostRequirement, ...]:
    """One loss for each pair; a requirement without an extra outweighs the same under one."""
    kept: dict[tuple[TargetPath, DistKey], LostRequirement] = {}
    for loss in losses:
        pair = (loss.survivor.info, loss.lost.key)
        if pair not in kept or (kept[pair].extra and not loss.extra):
            kept[pair] = loss
    return tuple(kept.values())
