"""Which libraries the objects and sources of a distribution name to open them at run time.

Looking through the constants of every object takes half a second, so what was found is kept under the user's cache
folder, beside what is kept of sources and by the same rule: it holds as long as RECORD is the same file.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from safepip.model.environment import Distribution, Target
from safepip.model.imports import Source, Way
from safepip.model.paths import TargetPath
from safepip.model.survey import Mention
from safepip.reading.elf_files import elf_hints
from safepip.reading.search import holds_any
from safepip.reading.sources.calls import OPENS
from safepip.reading.sources.import_cache import identity_of, open_cache
from safepip.reading.sources.modules import Modules

KIND = "libraries"
Entries = dict[
    str, tuple[list[int], tuple[Mention, ...]]
]  # by info: what RECORD was like, and all that is named


class Mentions:
    """What one environment names, with what earlier runs found out about it."""

    def __init__(self, target: Target, environ: Mapping[str, str], modules: Modules) -> None:
        self._modules = modules
        self._cache = open_cache(environ, target)
        self._known = _entries(self._cache.kept(KIND))
        self._changed: set[TargetPath] = set()  # by info

    def of(self, dist: Distribution, objects: Container[TargetPath], names: Container[str]) -> list[Mention]:
        """Where those of `objects` that `dist` records, or its sources, hold one of `names`."""
        identity = identity_of(dist)
        known, mentions = self._known.get(dist.info, ([], ()))
        if not identity or known != identity:
            mentions = (*_in_objects(dist, objects), *_in_sources(dist, self._modules))
            self._known[dist.info] = (identity, mentions)
            self._changed.add(dist.info)
        return [mention for mention in mentions if mention.soname in names]

    def keep(self) -> None:
        """Hand what was found out to later runs."""
        if self._changed and not self._modules.waits:
            self._cache.keep(KIND, {info: entry for info, entry in self._known.items() if entry[0]})
            self._changed.clear()

    def added(self) -> Entries:
        """What was found out and is not written yet."""
        return {info: self._known[info] for info in self._changed}

    def take(self, added: Entries) -> None:
        """What a copy of this process has found out."""
        self._known.update(added)
        self._changed.update(map(TargetPath, added))


def _in_objects(dist: Distribution, objects: Container[TargetPath]) -> Iterator[Mention]:
    for path in dist.used:
        if path in objects:
            yield from (Mention(name, path) for name in sorted(elf_hints.read(path)))


def _in_sources(dist: Distribution, modules: Modules) -> Iterator[Mention]:
    """What is given to ctypes, by itself or at the end of a path."""
    for path in modules.naming(dist, ["ctypes"]).get("ctypes", ()):
        if not holds_any(path, [b".so"]) or not holds_any(path, [name.encode() for name in OPENS]):
            continue  # parsing one costs a hundred times as much
        source = modules.read(dist, path, "", is_package=False, whole=True)
        for use in source.dynamics if isinstance(source, Source) else ():
            name = use.name.rpartition("/")[2]
            if use.way is Way.LIBRARY and ".so" in name:
                yield Mention(name, path, use.line)


def _entries(kept: Mapping[str, Any]) -> Entries:
    try:
        return {
            info: (
                [int(part) for part in identity],
                tuple([Mention(str(name), TargetPath(path), int(line)) for name, path, line in mentions]),
            )
            for info, (identity, mentions) in kept.items()
        }
    except (TypeError, ValueError, AttributeError):
        return {}
