"""Which libraries the objects and sources of a distribution name to open them at run time.

Looking through the constants of every object takes half a second, so what was found is kept under the user's cache
folder, beside what is kept of sources and by the same rule: it holds as long as RECORD is the same file.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import Any

from safepip.model.environment import Distribution, Target
from safepip.model.imports import Source, Way
from safepip.model.paths import TargetPath
from safepip.model.survey import Mention
from safepip.reading import elf_hints
from safepip.reading.import_cache import identity_of, open_cache
from safepip.reading.modules import Modules
from safepip.reading.search import holds_any

KIND = "libraries"
Entries = dict[str, tuple[list[int], dict[TargetPath, list[str]]]]


class Mentions:
    """What the objects of one environment name, with what earlier runs found out about them."""

    def __init__(self, target: Target, environ: Mapping[str, str]) -> None:
        self._cache = open_cache(environ, target)
        self._known = _entries(self._cache.kept(KIND))
        self._changed = False

    def in_objects(
        self, dist: Distribution, objects: Container[TargetPath], names: Container[str]
    ) -> Iterator[Mention]:
        """Where those of `objects` that `dist` records hold one of `names`."""
        identity = identity_of(dist)
        known, named = self._known.get(dist.info, ([], {}))
        if not identity or known != identity:
            named = _named_in(path for path in dist.files or () if path in objects)
            self._known[dist.info] = (identity, named)
            self._changed = True
        for path, found in named.items():
            for name in found:
                if name in names:
                    yield Mention(name, path)

    def keep(self) -> None:
        """Hand what was found out to later runs."""
        if self._changed:
            self._cache.keep(KIND, {info: entry for info, entry in self._known.items() if entry[0]})


def in_sources(dist: Distribution, names: Collection[str], modules: Modules) -> Iterator[Mention]:
    """Where a source of `dist` gives ctypes one of `names`, by itself or at the end of a path."""
    needles = [name.encode("utf-8", "surrogateescape") for name in names]
    for path in modules.naming(dist, ["ctypes"]).get("ctypes", ()):
        if not holds_any(path, needles):
            continue
        source = modules.read(dist, path, "", is_package=False, whole=True)
        for use in source.dynamics if isinstance(source, Source) else ():
            name = use.name.rpartition("/")[2]
            if use.way is Way.LIBRARY and name in names:
                yield Mention(name, path, use.line)


def _named_in(objects: Iterable[TargetPath]) -> dict[TargetPath, list[str]]:
    found = {path: sorted(elf_hints.read(path)) for path in objects}
    return {path: names for path, names in found.items() if names}


def _entries(kept: Mapping[str, Any]) -> Entries:
    try:
        return {
            info: (
                list(map(int, identity)),
                {TargetPath(path): list(map(str, names)) for path, names in named.items()},
            )
            for info, (identity, named) in kept.items()
        }
    except (TypeError, ValueError, AttributeError):
        return {}
