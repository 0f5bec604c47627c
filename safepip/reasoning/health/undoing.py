"""What undoing a kept change would mend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from safepip.model.diagnosis import Ailment, Check
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.requirements import requirement_key


class Kept(NamedTuple):
    """A change that can be undone: what an undo brings back."""

    number: int
    what: str  # it did
    paths: frozenset[TargetPath]
    dists: tuple[tuple[DistKey, str], ...] = ()  # with their versions


def cured(left: Sequence[Ailment], kept: Kept) -> tuple[Ailment, ...]:
    """Those of `left` that it mends."""
    found = (*_by_paths(left, kept.paths), *_by_dists(left, kept))
    return tuple(dict.fromkeys(found))


def _by_paths(left: Sequence[Ailment], paths: frozenset[TargetPath]) -> tuple[Ailment, ...]:
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


def _by_dists(left: Sequence[Ailment], kept: Kept) -> Iterator[Ailment]:
    """What is wanted of distributions that come back in a version that fits; imports of modules that nothing else gives."""
    given = {path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2] for path in kept.paths}
    for item in left:
        top = item.chain[-1].removeprefix("import ").partition(".")[0] if item.chain else ""
        nowhere = item.check is Check.MISSING_MODULE and not (item.mended_by or item.wants)
        if any(_fits(item.wants, *dist) for dist in kept.dists) or (nowhere and top in given):
            yield item


def _fits(wants: str, key: DistKey, version: str) -> bool:
    if requirement_key(wants) != key:
        return False
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion

    try:
        return Requirement(wants).specifier.contains(version, prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return False
