"""From ailments to the fewest commands that mend them, in the order in which they are to be given.

What lies here already comes first: pip's own stashes, then what safepip kept. What must be fetched comes after.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from safepip.model.diagnosis import Ailment, Check, Cure, Level
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.requirements import requirement_key

REINSTALLED = frozenset(
    {
        Check.HOLLOW,
        Check.MISSING_FILE,
        Check.DAMAGED_FILE,
        Check.MISSING_LIBRARY,
        Check.MISSING_MODULE,
        Check.UNMET_REQUIREMENT,
    }
)
OF_AN_INTRUDER = frozenset({Check.OVERWRITTEN, Check.MIXED_FAMILY})
_PARTS = re.compile(r"([\w.-]+)\[?([^]<>=!~]*)]?(.*)", re.DOTALL)  # name, extras, specifiers


class Kept(NamedTuple):
    """A change that can be undone: what it took that is missing now."""

    number: int
    what: str
    paths: frozenset[TargetPath]


class Means(NamedTuple):
    """What there is to mend with, beside the index."""

    kept: tuple[Kept, ...] = ()
    removable: Mapping[
        tuple[str, ...], Collection[DistKey]
    ] = {}  # by names: whom removing them safely makes whole
    urls: Mapping[DistKey, str] = {}  # where something was installed from, if not from an index


def plan(
    ailments: Sequence[Ailment], inventory: Inventory, means: Means
) -> tuple[tuple[Cure, ...], tuple[Ailment, ...]]:
    """The steps, and what none of them mends."""
    left = [item for item in ailments if item.level > Level.NOTE]
    cures: list[Cure] = []
    for steps in (_put_back, _undo, _remove, _reinstall, _install, _singly, _reset):
        for step in steps(tuple(left), inventory, means):
            fresh = tuple(item for item in step.cures if item in left)
            if fresh:
                left = [item for item in left if item not in fresh]
                cures.append(replace(step, cures=fresh))
    return tuple(cures), tuple(left)


def _put_back(left: Sequence[Ailment], inventory: Inventory, _: Means) -> Iterator[Cure]:
    stashed = [item for item in left if item.check is Check.LEFTOVERS]
    names = {item.distribution for item in stashed if item.level is Level.ERROR}
    keys = {dist.key for dist in inventory.distributions if dist.name in names} | {
        key for name in names if (key := requirement_key(name))
    }
    if stashed:
        also = [
            item
            for item in left
            if item not in stashed
            and (keys.intersection(item.mended_by) or requirement_key(item.wants) in keys)
        ]
        words = ("doctor", "--fix", "--only", Check.LEFTOVERS.value)
        yield Cure("Put back what pip had moved aside", _safepip(inventory, *words), (*stashed, *also))


def _undo(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    for kept in sorted(means.kept, reverse=True):
        cured = _cured_by_paths(left, kept.paths)
        if cured:
            title = f"Undo change {kept.number}, which removed {kept.what}"
            yield Cure(title, _safepip(inventory, "undo", str(kept.number)), cured)


def _cured_by_paths(left: Sequence[Ailment], paths: frozenset[TargetPath]) -> tuple[Ailment, ...]:
    """Whose missing files are all among `paths`, and what those bring about."""
    whole = {
        item.mended_by[0]
        for item in left
        if item.check in {Check.HOLLOW, Check.MISSING_FILE} and paths.issuperset(item.paths)
    }
    names = {path.rpartition("/")[2] for path in paths}
    return tuple(
        item
        for item in left
        if (item.mended_by and whole.issuperset(item.mended_by))
        or (item.check is Check.MISSING_LIBRARY and item.soname in names)
    )


def _remove(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """Who lies in another's place and is needed by nobody goes, and leaves the other whole."""
    for names, keys in means.removable.items():
        cured = tuple(
            item
            for item in left
            if item.distribution in names
            or (item.check in OF_AN_INTRUDER and item.mended_by and set(item.mended_by) <= set(keys))
        )
        going = [dist.key for name in names for dist in inventory.distributions if dist.name == name]
        if cured and len(going) == len(names):
            what, who = ", ".join(names), "they" if len(names) > 1 else "it"
            title = (
                f"Remove {what}, which nothing needs, and give back the files that {who} took the place of"
            )
            yield Cure(title, _safepip(inventory, "uninstall", "--safe", "-y", *going), cured)


def _reinstall(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """One command for all that an index has; one more for each local label, which needs its own index."""
    cured = [item for item in left if item.check in REINSTALLED and item.mended_by]
    yield from _anew(cured, inventory, means)


def _reset(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """Whatever somebody has changed by hand is lost by this: only a person can want it."""
    for cure in _anew([item for item in left if item.check is Check.ALTERED_FILE], inventory, means):
        note = "; ".join(
            filter(None, ["the changes made there are lost, and --fix alone leaves it out", cure.note])
        )
        yield replace(cure, note=note, loses_changes=True)


def _anew(cured: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    keys = dict.fromkeys(key for item in cured for key in item.mended_by)
    dists = [dist for key in keys if (dist := inventory.find(key)) is not None]
    by_label: dict[str, list[Distribution]] = {}
    for dist in dists:
        by_label.setdefault("" if dist.key in means.urls else dist.version.partition("+")[2], []).append(dist)
    for label, group in sorted(by_label.items()):
        mended = {dist.key for dist in group}
        words = ("install", "--no-deps", "--force-reinstall", *(_pinned(dist, means) for dist in group))
        names = ", ".join(f"{dist.name} {dist.version}" for dist in group)
        note = f"pip must be shown the index that has the +{label} builds (--index-url)" if label else ""
        yield Cure(
            f"Install {names} anew",
            _safepip(inventory, *words),
            tuple(item for item in cured if mended.issuperset(item.mended_by)),
            note,
        )


def _install(left: Sequence[Ailment], inventory: Inventory, _: Means) -> Iterator[Cure]:
    """Requirements that are absent or do not fit: all that anybody says of each, in one command."""
    cured: list[Ailment] = []
    wanted: dict[DistKey, str] = {}
    for item in left:
        key = None if item.mended_by else requirement_key(item.wants)
        if key is not None:
            cured.append(item)
            wanted[key] = _joined(wanted[key], item.wants) if key in wanted else item.wants
    if wanted:
        title = f"Install what is required: {', '.join(wanted.values())}"
        yield Cure(title, _safepip(inventory, "install", *wanted.values()), tuple(cured))


def _joined(known: str, more: str) -> str:
    """Two requirements of one name as one."""
    halves = [_PARTS.match(known), _PARTS.match(more)]
    name, extras, specifiers = (
        [part for half in halves if half for part in half[group].split(",") if part] for group in (1, 2, 3)
    )
    listed = f"[{','.join(dict.fromkeys(extras))}]" if extras else ""
    return f"{name[0]}{listed}{','.join(dict.fromkeys(specifiers))}"


def _singly(left: Sequence[Ailment], inventory: Inventory, _: Means) -> Iterator[Cure]:
    for item in left:
        dist = inventory.find(item.mended_by[0]) if item.mended_by else None
        if dist is None:
            continue
        pinned = f"{dist.key}=={dist.version}"
        if item.check is Check.NO_RECORD:
            words = ("install", "--no-deps", "--ignore-installed", pinned)
            yield Cure(
                f"Install {dist.name} over itself: that writes a RECORD", _safepip(inventory, *words), (item,)
            )
        elif item.check is Check.OVERWRITTEN and "bytes of nobody" in item.message:
            words = ("install", "--no-deps", "--force-reinstall", pinned)
            yield Cure(f"Install {dist.name} {dist.version} anew", _safepip(inventory, *words), (item,))


def _pinned(dist: Distribution, means: Means) -> str:
    return means.urls.get(dist.key) or f"{dist.key}=={dist.version}"


def _safepip(inventory: Inventory, *words: str) -> tuple[str, ...]:
    return ("safepip", "--python", inventory.target.executable, *words)
