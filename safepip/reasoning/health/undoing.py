"""What undoing a kept change would mend."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
    """What is wanted of distributions that come back in a version that fits, and imports of modules that do."""
    below = {
        path.removesuffix(".py").removesuffix("/__init__") for path in kept.paths if path.endswith(".py")
    }
    for item in left:
        if any(fits(item.wants, *dist) for dist in kept.dists) or (
            not (item.mended_by or item.wants) and any(_is_of(module, below) for module in _missed(item))
        ):
            yield item


def _missed(item: Ailment) -> tuple[str, ...]:
    """The modules that are not there: one inside a package that is, or one with all around it."""
    name = item.chain[-1].removeprefix("import ") if item.chain else ""
    match item.check:
        case Check.FAILING_IMPORT:
            return (name,)
        case Check.MISSING_MODULE:
            return (name, name.partition(".")[0])
        case _:
            return ()


def _is_of(module: str, below: Collection[str]) -> bool:
    end = f"/{module.replace('.', '/')}"
    return any(path.endswith(end) for path in below)


def fits(wants: str, key: DistKey, version: str) -> bool:
    if requirement_key(wants) != key:
        return False
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion

    try:
        return Requirement(wants).specifier.contains(version, prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return False
