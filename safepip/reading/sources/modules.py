"""Which sources of a distribution name a module, and what one of them imports: read only as far as asked.

Searching bytes goes through fifteen thousand files in a quarter of a second; parsing them takes a minute.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from safepip.model.environment import Distribution, Inventory
from safepip.model.imports import Source, Unread
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.sources import compiled_names, import_cache
from safepip.reading.sources.source import LIMIT, read_module
from safepip.reading.sources.weighed import Answers

TESTS = re.compile(r"/(?:tests?|testing|conftest\.py|test_[^/]*\.py|[^/]*_test\.py)(?:/|$)")
BLOCK = 1 << 18  # nearly every source fits
STATEMENT = re.compile(rb"(?:import_module\(|__import__\(|import|from)[ \t]*[\"']?(\w[\w., \t]*)")
FEW = 8  # names, up to which each is looked for by itself
WORD = re.compile(rb"\w+")
QUOTED = re.compile(rb"[\"']\.?(\w+)")
FIRST = re.compile(rb"^[ \t\r\f\v]*(\w+)", re.MULTILINE)
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
        self._quoting: dict[tuple[TargetPath, str, str], tuple[TargetPath, ...]] = {}
        self._ahead: Callable[[], Iterable[str]] | None = None
        self._sought: _Sought | None = None  # the same, once it is asked for
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
            groups = [_sought(missing)]
            if self._ahead is not None and dist.info not in self._searched:
                self._sought = self._sought or _sought(self._ahead())
                self._searched.add(dist.info)
                groups.append(self._sought)
            known.update(dict.fromkeys(missing, ()))
            known.update(_search(self._sources(dist), groups))
            self._cache.changed(dist)
        return {name: tuple(map(TargetPath, known[name])) for name in names if known.get(name)}

    def imported(self, dist: Distribution) -> frozenset[str]:
        """The top-level names that import statements of `dist`, outside tests, hold wherever they stand."""
        known = self._cache.naming(dist)
        if ANY not in known:
            tops = sorted({top for path in self._sources(dist) for top in _tops(path)})
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
        asked = (dist.info, module, text)
        if asked not in self._quoting:
            quoted = re.compile(rb"([\"'])%s\1" % re.escape(os.fsencode(text)))
            named = self.naming(dist, [module]).get(module, ())
            self._quoting[asked] = tuple(path for path, data in readable(named) if quoted.search(data))
        return self._quoting[asked]

    def compiled_naming(
        self, dist: Distribution, names: Collection[str]
    ) -> tuple[tuple[TargetPath, str], ...]:
        """The extension modules of `dist` that hold one of `names` as a string, each with the name."""
        modules = (path for path in dist.used if path.endswith(self._suffixes) and not TESTS.search(path))
        return tuple(compiled_names.naming(modules, names))

    def keep(self) -> None:
        """Hand what was found out to later runs."""
        if self._ahead is None:
            self._cache.save()

    def _sources(self, dist: Distribution) -> list[TargetPath]:
        return [*recorded_sources(dist), *(path for path in dist.sources if path.endswith(".py"))]


def recorded_sources(dist: Distribution) -> list[TargetPath]:
    """Those that RECORD lists, tests aside."""
    return [
        path
        for path in dist.files or ()
        if path.endswith(".py") and not TESTS.search(path, len(dist.location))
    ]


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


@cache
def _needle(name: str) -> re.Pattern[bytes]:
    """`numpy` but not `.numpy`; of a name with dots, or behind one, only the last part is looked for."""
    head, dot, tail = name.rpartition(".")
    word = re.escape(tail.encode())
    return re.compile(rb"%s(?!\w)(?<!%s%s)" % (word, rb"\w" if head or dot else rb"[\w.]", word))


class _Wanted(NamedTuple):
    name: str
    last: bytes
    rest: tuple[bytes, ...]


class _Sought(NamedTuple):
    """Names to search for, grouped once for however many files."""

    names: frozenset[str]
    by_word: Mapping[bytes, Sequence[_Wanted]]
    other: Sequence[_Wanted]  # whose last part is no word to a regular expression

    def likely(self, words: AbstractSet[bytes]) -> Iterator[_Wanted]:
        """Those that a file with these `words` may name."""
        yield from self.other
        for word in self.by_word.keys() & words:
            yield from self.by_word[word]


def _sought(names: Iterable[str]) -> _Sought:
    by_word: dict[bytes, list[_Wanted]] = {}
    other: list[_Wanted] = []
    every = frozenset(names)
    for name in every:
        head, _, tail = name.rpartition(".")
        last = tail.encode()
        item = _Wanted(name, last, tuple(part.encode() for part in head.split(".") if part))
        (by_word.setdefault(last, []) if WORD.fullmatch(last) else other).append(item)
    return _Sought(every, by_word, other)


def _words(data: bytes) -> set[bytes]:
    """Those that stand where `_imports` would count them."""
    words = {*QUOTED.findall(data), *FIRST.findall(data)}
    for mark in (b"import", b"from"):
        for line in _lines(data, mark):
            words.update(WORD.findall(line))
    return words


def _search(paths: Iterable[TargetPath], groups: Sequence[_Sought]) -> dict[str, tuple[TargetPath, ...]]:
    found: dict[str, list[TargetPath]] = {}
    few = sum(len(group.names) for group in groups) <= FEW
    for path in paths:
        try:
            data = content(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # nobody can tell: who reads it will say why
            for name in frozenset[str]().union(*(group.names for group in groups)):
                found.setdefault(name, []).append(path)
            continue
        words = None if few else _words(data)
        for item in dict.fromkeys(
            item
            for group in groups
            for item in group.likely(group.by_word.keys() if words is None else words)
        ):
            if (
                item.last in data
                and all(part in data or part in os.fsencode(path) for part in item.rest)
                and _imports(data, _needle(item.name), alone="." not in item.name)
            ):
                found.setdefault(item.name, []).append(path)
    return {name: tuple(hits) for name, hits in found.items()}


def _tops(path: TargetPath) -> set[str]:
    try:
        data = content(path)
    except OSError:
        return set()
    lists = STATEMENT.findall(b"\n".join(_lines(data, b"import")))
    names = {item.strip().partition(b".")[0] for found in lists for item in found.split(b",")}
    return {name.partition(b" ")[0].decode("utf-8", "replace") for name in names if name}


def _lines(data: bytes, mark: bytes) -> Iterator[bytes]:
    """Those that hold `mark`, each with the line that it goes on from."""
    place = data.find(mark)
    while place >= 0:
        start = data.rfind(b"\n", 0, place) + 1
        if data.endswith(b"\\\n", 0, start):
            start = data.rfind(b"\n", 0, start - 1) + 1
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        yield data[start:end]
        place = data.find(mark, end)


def _imports(data: bytes, needle: re.Pattern[bytes], *, alone: bool) -> bool:
    """Whether a match stands in an import statement or opens a string; an inner name may have a line of its own."""
    for match in needle.finditer(data):
        start = match.start()
        line = data[data.rfind(b"\n", 0, start) + 1 : start]
        if b"import" in line or b"from" in line or line.endswith((b"'", b'"', b"'.", b'".')):
            return True
        if not alone and not line.strip():
            return True
    return False


def readable(paths: Iterable[TargetPath]) -> Iterator[tuple[TargetPath, bytes]]:
    """Those that can be read, with what they hold."""
    for path in paths:
        try:
            data = content(path)
        except OSError:
            continue
        yield path, data


def content(path: str) -> bytes:
    handle = tree.handle(path)
    try:
        data = os.read(handle, BLOCK)
        while len(data) >= BLOCK and len(data) <= LIMIT:
            more = os.read(handle, LIMIT + 1 - len(data))
            if not more:
                break
            data += more
        return data
    finally:
        os.close(handle)
