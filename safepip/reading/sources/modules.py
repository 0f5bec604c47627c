"""Which sources of a distribution name a module, and what one of them imports: read only as far as asked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from safepip.model.environment import Distribution, Inventory
from safepip.model.imports import Source, Unread
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.sources import compiled_names, import_cache, named
from safepip.reading.sources.contents import content, readable
from safepip.reading.sources.source import read_module
from safepip.reading.sources.weighed import Answers

TESTS = re.compile(r"/(?:tests?|testing|conftest\.py|test_[^/]*\.py|[^/]*_test\.py)(?:/|$)")
Added = list[tuple[Distribution, import_cache.Names, import_cache.Sources]]
STARTED = re.compile(rb"^import[ \t]+(\w+)", re.MULTILINE)
HOOKS = re.compile(rb"\b(?:meta_path|path_hooks)\b")
ANY = "*"  # stands for every name where searches are kept


class Modules:
    """The sources of one inventory, with what earlier runs found out about them."""

    def __init__(self, inventory: Inventory, environ: Mapping[str, str]) -> None:
        target = inventory.target
        major, minor, *_ = (*target.version.split("."), "0", "0")
        self._version = (int(major), int(minor))
        self._suffixes = target.suffixes[:-1]
        self._cache = import_cache.open_cache(environ, target)
        self.answers = Answers(self._cache, inventory)
        self._whole: dict[tuple[TargetPath, str], Source] = {}
        self._ahead: Callable[[], Iterable[str]] | None = None
        self._sought: named.Sought | None = None  # the same, once it is asked for
        self._searched: set[TargetPath] = set()  # by info: where that was done

    @contextmanager
    def many(self, ahead: Callable[[], Iterable[str]]) -> Iterator[None]:
        """Within, many removals are asked about: names `ahead` are searched for in the first pass through each
        distribution, and what was found out is written once, at the end.
        """
        self._ahead = ahead
        try:
            yield
        finally:
            self._ahead = self._sought = None
            self._searched.clear()
            self.keep()

    def naming(self, dist: Distribution, names: Collection[str]) -> Mapping[str, tuple[TargetPath, ...]]:
        """For each dotted name the sources of `dist`, outside tests, that could import it; `.name` is any module's last part."""
        known = self._cache.naming(dist)
        sought = self._sought if dist.info in self._searched else None
        missing = [name for name in names if name not in known and not (sought and name in sought.names)]
        if missing:
            groups = [named.sought(missing)]
            if self._ahead is not None and dist.info not in self._searched:
                self._sought = self._sought or named.sought(self._ahead())
                self._searched.add(dist.info)
                groups.append(self._sought)
            known.update(dict.fromkeys(missing, ()))
            known.update(named.search(self._sources(dist), groups))
            self._cache.changed(dist)
        return {name: tuple(map(TargetPath, known[name])) for name in names if known.get(name)}

    def imported(self, dist: Distribution) -> frozenset[str]:
        """The top-level names that import statements of `dist`, outside tests, hold wherever they stand."""
        known = self._cache.naming(dist)
        if ANY not in known:
            tops = sorted({top for path in self._sources(dist) for top in named.tops(path)})
            known[ANY] = tuple(TargetPath(f"{dist.location}/{top}") for top in tops)  # the form that is kept
            self._cache.changed(dist)
        return frozenset(path.rpartition("/")[2] for path in known[ANY])

    def read(
        self, dist: Distribution | None, path: TargetPath, name: str, *, is_package: bool, whole: bool = False
    ) -> Source | Unread:
        """What the module at `path` imports. Unowned sources and whole readings are not kept."""
        kept = None if dist is None or whole else self._cache.sources(dist)
        known = self._whole.get((path, name)) if whole else kept.get(path) if kept else None
        if known is not None:
            return known
        try:
            data = content(path)
        except OSError as error:
            return Unread(error.strerror or str(error))
        source = read_module(data, name, is_package=is_package, version=self._version, whole=whole)
        if kept is not None and dist is not None and isinstance(source, Source):
            kept[path] = source
            self._cache.changed(dist)
        if whole and isinstance(source, Source):
            self._whole[path, name] = source
        return source

    def quoting(self, dist: Distribution, module: str, text: str) -> tuple[TargetPath, ...]:
        """The sources of `dist`, outside tests, that could import `module` and hold `text` in quotes."""
        known = self._cache.naming(dist)
        asked = f"{module}\0{text}"  # no name has that in it
        if asked not in known:
            quoted = [b"%c%s%c" % (mark, os.fsencode(text), mark) for mark in b"\"'"]
            sources = self.naming(dist, [module]).get(module, ())
            known[asked] = tuple(
                path for path, data in readable(sources) if any(item in data for item in quoted)
            )
            self._cache.changed(dist)
        return known[asked]

    def compiled_naming(
        self, dist: Distribution, names: Collection[str]
    ) -> tuple[tuple[TargetPath, str], ...]:
        """The extension modules of `dist` that hold one of `names` as a string, each with the name."""
        modules = (path for path in dist.used if path.endswith(self._suffixes) and not TESTS.search(path))
        return tuple(compiled_names.naming(modules, names))

    @property
    def waits(self) -> bool:
        """Whether what is found out is written later."""
        return self._ahead is not None

    def keep(self) -> None:
        """Hand what was found out to later runs."""
        if not self.waits:
            self._cache.save()

    def added(self) -> Added:
        """What was found out and is not written yet."""
        return self._cache.added()

    def take(self, added: Added) -> None:
        """What a copy of this process has found out."""
        self._cache.take(added)

    def _sources(self, dist: Distribution) -> list[TargetPath]:
        return [*recorded_sources(dist), *(path for path in dist.sources if path.endswith(".py"))]


def recorded_sources(dist: Distribution) -> list[TargetPath]:
    """Those that RECORD lists, tests aside."""
    return [
        path
        for path in dist.files or ()
        if path.endswith(".py") and not TESTS.search(path, len(dist.location))
    ]


def import_hooks(paths: Collection[TargetPath]) -> frozenset[TargetPath]:
    """The modules among `paths` that a `.pth` file among them imports and that answer for imports of others' modules.

    setuptools' answers for distutils, which is simulated.
    """
    found = set()
    for path, data in readable(path for path in paths if path.endswith(".pth")):
        folder = path.rpartition("/")[0]
        for name in STARTED.findall(data):
            places = (f"{folder}/{os.fsdecode(name)}{tail}" for tail in (".py", "/__init__.py"))
            found |= {place for place in places if place in paths and "_distutils_hack" not in place}
    return frozenset(path for path, data in readable(map(TargetPath, sorted(found))) if HOOKS.search(data))


def pth_folders(paths: Iterable[TargetPath]) -> frozenset[TargetPath]:
    """The folders that the `.pth` files among `paths` put on sys.path."""
    found = set()
    for path, data in readable(path for path in paths if path.endswith(".pth")):
        folder = path.rpartition("/")[0]
        found |= {
            TargetPath(tree.abspath(os.path.join(folder, line.strip())))
            for line in data.decode("utf-8", "surrogateescape").splitlines()
            if line.strip() and not line.startswith(("#", "import ", "import\t"))
        }
    return frozenset(found)
