"""Whether there can be a version that several requirements allow, as far as the versions that they name tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from safepip.model.environment import Inventory
from safepip.model.paths import DistKey
from safepip.reasoning.requirements import LONGEST, requirement_key

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

LATE = 99_999  # below any boundary: the last part of a version that nobody names


def breaks_another(wants: str, key: DistKey, inventory: Inventory) -> bool:
    """Whether whatever version of `key` meets `wants` fails a requirement that the installed one meets."""
    there = inventory.find(key)
    wanted = _specifiers(wants, inventory)
    if there is None or wanted is None:
        return False
    for user in inventory.distributions:
        for line in user.requires:
            if requirement_key(line) == key and user.key != key:
                asked = _specifiers(line, inventory)
                if asked is not None and asked.contains(there.version, prereleases=True):
                    both = wanted & asked
                    if not any(both.contains(one, prereleases=True) for one in _around(both)):
                        return True
    return False


def _specifiers(written: str, inventory: Inventory) -> SpecifierSet | None:
    """None where they do not count, or are none."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(written[:LONGEST])
    except InvalidRequirement:
        return None
    marker = requirement.marker
    counts = marker is None or marker.evaluate({**inventory.target.markers, "extra": ""})
    return requirement.specifier if counts and requirement.url is None else None


def _around(specifiers: SpecifierSet) -> Iterator[str]:
    """The versions that are named, and one just below and just above each."""
    from packaging.version import InvalidVersion, Version

    yield str(LATE)
    for specifier in specifiers:
        named = specifier.version.removesuffix(".*")
        try:
            release = Version(named).release
        except InvalidVersion:  # of `===`
            continue
        yield named
        yield ".".join(map(str, (*release, LATE)))
        last = max((place for place, part in enumerate(release) if part), default=-1)
        if last >= 0:
            yield ".".join(map(str, (*release[:last], release[last] - 1, LATE)))
