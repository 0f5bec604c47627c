"""Which entries of the table of known loads speak of a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from safepip.model.known_loads import KnownLoad
from safepip.model.paths import DistKey


def naming(name: str, key: DistKey, known: Sequence[KnownLoad]) -> Iterator[KnownLoad]:
    """The entries by which the distribution `key` opens the file `name`."""
    for load in of_distribution(key, known):
        if any(fnmatchcase(name, pattern) for pattern in load.sonames):
            yield load


def of_distribution(key: DistKey, known: Sequence[KnownLoad]) -> list[KnownLoad]:
    """All that the distribution `key` opens."""
    return [
        load
        for load in known
        if load.distribution == key or ("*" in load.distribution and fnmatchcase(key, load.distribution))
    ]
