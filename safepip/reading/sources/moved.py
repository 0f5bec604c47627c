"""Sources whose bytes do not lie where they are imported from: those of a wheel, or of a version that is kept.

Nothing that is found out about them is kept for later runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from safepip.model.environment import Distribution
from safepip.model.imports import Source, Unread
from safepip.model.paths import TargetPath
from safepip.reading.sources.contents import content
from safepip.reading.sources.modules import Modules, recorded_sources

Place = Callable[[TargetPath], TargetPath]

_STATEMENT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import\b|import[ \t]+(\w[\w., \t]*))", re.MULTILINE
)


class Moved:
    """What `modules` answers, with the sources of `dists` (by info) read where `place` says that they lie."""

    def __init__(self, modules: Modules, place: Place, dists: frozenset[TargetPath]) -> None:
        self._modules = modules
        self._place = place
        self._dists = dists
        self._tops: dict[TargetPath, frozenset[str]] = {}

    def naming(self, dist: Distribution, names: Collection[str]) -> Mapping[str, tuple[TargetPath, ...]]:
        """As `Modules.naming`; of the moved ones more may be said to name something."""
        if dist.info not in self._dists:
            return self._modules.naming(dist, names)
        last = {name: name.rpartition(".")[2].encode() for name in names}
        found: dict[str, tuple[TargetPath, ...]] = {}
        for path in recorded_sources(dist):
            data = self._bytes(path)
            for name in (name for name, word in last.items() if word in data):
                found[name] = (*found.get(name, ()), path)
        return found

    def imported(self, dist: Distribution) -> frozenset[str]:
        """The top-level names in what looks like an import statement of `dist`, outside tests."""
        if dist.info not in self._tops:
            found = (_tops(self._bytes(path)) for path in recorded_sources(dist))
            self._tops[dist.info] = frozenset().union(*found)
        return self._tops[dist.info]

    def sources(
        self, dist: Distribution, names: Collection[str] | None
    ) -> Iterator[tuple[TargetPath, bytes]]:
        """Those of `dist` that name one of `names`, or all of them."""
        paths: Iterable[TargetPath] = recorded_sources(dist)
        if names is not None:
            paths = sorted({path for found in self.naming(dist, names).values() for path in found})
        for path in paths:
            yield path, self._bytes(path)

    def read(
        self, dist: Distribution | None, path: TargetPath, name: str, *, is_package: bool, whole: bool = False
    ) -> Source | Unread:
        """As `Modules.read`."""
        if dist is not None and dist.info in self._dists:
            dist = None  # what is kept is of other bytes
        return self._modules.read(dist, self._place(path), name, is_package=is_package, whole=whole)

    def _bytes(self, path: TargetPath) -> bytes:
        try:
            return content(self._place(path))
        except OSError:
            return b""


def _tops(data: bytes) -> set[str]:
    lists = (origin or names for origin, names in _STATEMENT.findall(data))
    tops = (
        item.strip().partition(b".")[0].partition(b" ")[0] for found in lists for item in found.split(b",")
    )
    return {top.decode("utf-8", "replace") for top in tops if top}
