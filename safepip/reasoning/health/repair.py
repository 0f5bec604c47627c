"""From ailments to the fewest commands that mend them, in the order in which they are to be given.

What lies here already comes first: pip's own stashes, then what safepip kept. What must be fetched comes after.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from safepip.model.change import Package, Why
from safepip.model.diagnosis import Ailment, Check, Cure, Level
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.health import undoing
from safepip.reasoning.health.versions import breaks_another
from safepip.reasoning.requirements import NAME, requirement_key

REINSTALLED = frozenset(
    {
        Check.HOLLOW,
        Check.MISSING_FILE,
        Check.DAMAGED_FILE,
        Check.FOREIGN_BUILD,
        Check.MISSING_LIBRARY,
        Check.MISSING_MODULE,
        Check.UNMET_REQUIREMENT,
    }
)
OVER_ITSELF = frozenset({Check.NO_RECORD, Check.DAMAGED_METADATA})
OF_AN_INTRUDER = frozenset({Check.OVERWRITTEN, Check.MIXED_FAMILY})
LOST = "the changes made there are lost, and --fix alone leaves it out"
_VERSION = re.compile(r"[\w.+!-]+", re.ASCII)
_PARTS = re.compile(r"([\w.-]+)\[?([^]<>=!~]*)]?(.*)", re.DOTALL)  # name, extras, specifiers


class Means(NamedTuple):
    """What there is to mend with, beside the index."""

    kept: tuple[undoing.Kept, ...] = ()
    removable: Mapping[
        tuple[str, ...], Collection[DistKey]
    ] = {}  # by names: whom removing them safely makes whole
    urls: Mapping[DistKey, str] = {}  # where something was installed from, if not from an index
    packages: Mapping[DistKey, Package] = {}  # of what a package manager keeps: its name there
    stale: Collection[TargetPath] = frozenset()  # metadata, by info, of files that are not what it says


def plan(
    ailments: Sequence[Ailment], inventory: Inventory, means: Means
) -> tuple[tuple[Cure, ...], tuple[Ailment, ...]]:
    """The steps, and what none of them mends."""
    left = [item for item in ailments if item.level > Level.NOTE]
    cures: list[Cure] = []
    by_what_is_here = (_put_back, _undo, _by_its_manager, _remove)
    by_an_index = (_single, _over_itself, _reinstall, _install, _singly, _reset)
    for steps in (*by_what_is_here, *by_an_index):
        known = left if steps in by_what_is_here else [item for item in left if _has_names(item, inventory)]
        for step in steps(tuple(known), inventory, means):
            fresh = tuple(item for item in step.cures if item in left)
            left = [item for item in left if item not in fresh]
            if fresh or step.follows:
                cures.append(replace(step, cures=fresh))
    return tuple(cures), tuple(left)


def _has_names(item: Ailment, inventory: Inventory) -> bool:
    """Whether pip can be asked for all that would mend it: damaged metadata may say what is no name or version."""
    dists = (inventory.find(key) for key in item.mended_by)
    return item.wants.isascii() and all(
        NAME.fullmatch(dist.key) and _VERSION.fullmatch(dist.version) for dist in dists if dist
    )


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
        title = f"Undo change {kept.number}, which {kept.what}"
        cured = tuple(item for item in left if item in kept.mends)
        yield Cure(title, _safepip(inventory, "undo", str(kept.number)), cured)


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


def _by_its_manager(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """What dpkg keeps comes back by dpkg, and its hooks compile it; what conda keeps by conda."""
    conda = ("conda", "install", "--force-reinstall", "--prefix", inventory.target.prefix)
    for manager, words, who in (
        (Why.DPKG, ("apt-get", "install", "--reinstall"), "as root; --fix leaves it to you, for dpkg keeps"),
        (Why.CONDA, conda, "--fix leaves it to you, for conda keeps"),
    ):
        packages = {key: package.name for key, package in means.packages.items() if package.by is manager}
        cured = [
            item
            for item in left
            if item.check in REINSTALLED and item.mended_by and packages.keys() >= {*item.mended_by}
        ]
        if cured:
            names = dict.fromkeys(packages[key] for item in cured for key in item.mended_by)
            note = f"{who} these files and no pip does"
            yield Cure(f"Unpack {', '.join(names)} anew", (*words, *names), tuple(cured), note)


def _single(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """Of two that have one name pip takes the first it finds, and replaces it by what it installs: by the other's
    version, then only that is left. Where the first was the right one, it comes back in its place.
    """
    for item in left:
        dists = [dist for dist in inventory.distributions if dist.info in item.paths]
        if item.check is not Check.DUPLICATE_METADATA or len(dists) != 2:
            continue
        taken, other = dists
        if taken != inventory.find(taken.key):
            continue  # pip takes a third, from elsewhere
        also = [one for one in left if taken.key in one.mended_by and len(one.mended_by) == 1]
        words = ("install", "--no-deps", "--force-reinstall", f"{other.key}=={other.version}")
        title = f"Install {other.name} {other.version} in place of {taken.version}: that leaves one metadata folder"
        yield Cure(title, _safepip(inventory, *words), tuple(also))
        if other.info in means.stale and taken.info not in means.stale:
            title = f"Install {taken.name} {taken.version}, whose files these were"
            back = _safepip(inventory, "install", "--no-deps", f"{taken.key}=={taken.version}")
            yield Cure(title, back, (), follows=True)


def _over_itself(left: Sequence[Ailment], inventory: Inventory, _: Means) -> Iterator[Cure]:
    """pip may stumble over what it would remove first; laid over itself each has its metadata and its files again."""
    damaged = [item for item in left if item.check in OVER_ITSELF]
    edited = {
        key
        for item in left
        if item.check is Check.ALTERED_FILE and not _is_metadata(item)
        for key in item.mended_by
    }
    for loses in (False, True):
        wanted = {
            key: pinned
            for item in damaged
            for key, pinned in _itself(item, inventory)
            if (key in edited) is loses
        }
        if wanted:
            cured = tuple(item for item in left if _is_laid_down(item, wanted, loses=loses))
            words = ("install", "--no-deps", "--ignore-installed", *wanted.values())
            title = f"Install {', '.join(wanted.values())} over itself: that writes its metadata anew"
            labels = {label for one in wanted.values() if (label := one.partition("+")[2])}
            note = "; ".join([*([LOST] if loses else []), *map(_index_of, sorted(labels))])
            yield Cure(title, _safepip(inventory, *words), cured, note, loses_changes=loses)


def _is_laid_down(item: Ailment, wanted: Mapping[DistKey, str], *, loses: bool) -> bool:
    """Whether installing `wanted` over what is there mends it."""
    is_edited = item.check is Check.ALTERED_FILE and (loses or _is_metadata(item))
    if not is_edited and item.check not in REINSTALLED | OVER_ITSELF:
        return False
    if item.mended_by:
        return all(key in wanted for key in item.mended_by)
    return any(
        item.wants == pinned or undoing.fits(item.wants, key, pinned.partition("==")[2])
        for key, pinned in wanted.items()
    )


def _itself(item: Ailment, inventory: Inventory) -> Iterator[tuple[DistKey, str]]:
    """Who is damaged, and as what it would be installed."""
    key = requirement_key(item.wants)
    if key is not None:
        yield key, item.wants
    for key in item.mended_by:
        dist = inventory.find(key)
        if dist is not None:
            yield key, f"{key}=={dist.version}"


def _is_metadata(item: Ailment) -> bool:
    return all(path.rpartition("/")[0].endswith(".dist-info") for path in item.paths)


def _reinstall(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """One command for all that an index has; one more for each local label, which needs its own index."""
    cured = [item for item in left if item.check in REINSTALLED and item.mended_by]
    yield from _anew(cured, inventory, means)


def _reset(left: Sequence[Ailment], inventory: Inventory, means: Means) -> Iterator[Cure]:
    """Whatever somebody has changed by hand is lost by this: only a person can want it."""
    for cure in _anew([item for item in left if item.check is Check.ALTERED_FILE], inventory, means):
        note = "; ".join(filter(None, [LOST, cure.note]))
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
        note = _index_of(label) if label else ""
        yield Cure(
            f"Install {names} anew",
            _safepip(inventory, *words),
            tuple(item for item in cured if mended.issuperset(item.mended_by)),
            note,
        )


def _install(left: Sequence[Ailment], inventory: Inventory, _: Means) -> Iterator[Cure]:
    """Requirements that are absent or do not fit: all that anybody says of each, in one command. Where no version could
    meet what is met now as well, it would break that.
    """
    cured: list[Ailment] = []
    wanted: dict[DistKey, str] = {}
    for item in left:
        key = None if item.mended_by else requirement_key(item.wants)
        if key is not None and not breaks_another(item.wants, key, inventory):
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
        if item.check is Check.OVERWRITTEN and "bytes of nobody" in item.message:
            words = ("install", "--no-deps", "--force-reinstall", f"{dist.key}=={dist.version}")
            yield Cure(f"Install {dist.name} {dist.version} anew", _safepip(inventory, *words), (item,))


def _index_of(label: str) -> str:
    return f"pip must be shown the index that has the +{label} builds (--index-url)"


def _pinned(dist: Distribution, means: Means) -> str:
    return means.urls.get(dist.key) or f"{dist.key}=={dist.version}"


def _safepip(inventory: Inventory, *words: str) -> tuple[str, ...]:
    return ("safepip", "--python", inventory.target.executable, *words)
