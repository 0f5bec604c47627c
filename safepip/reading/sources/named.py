"""Which sources name a module: their bytes are searched, nothing is parsed.

Searching goes through fifteen thousand files in a quarter of a second; parsing them takes a minute.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from safepip.model.paths import TargetPath
from safepip.reading.sources.contents import content

STATEMENT = re.compile(rb"(?:import_module\(|__import__\(|import|from)[ \t]*[\"']?(\w[\w., \t]*)")
FEW = 8  # names, up to which each is looked for by itself
WORD = re.compile(rb"\w+")
QUOTED = re.compile(rb"[\"']\.?(\w+)")
FIRST = re.compile(rb"^[ \t\r\f\v]*(\w+)", re.MULTILINE)


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


class Sought(NamedTuple):
    """Names to search for, grouped once for however many files."""

    names: frozenset[str]
    by_word: Mapping[bytes, Sequence[_Wanted]]
    other: Sequence[_Wanted]  # whose last part is no word to a regular expression

    def likely(self, words: AbstractSet[bytes]) -> Iterator[_Wanted]:
        """Those that a file with these `words` may name."""
        yield from self.other
        for word in self.by_word.keys() & words:
            yield from self.by_word[word]


def sought(names: Iterable[str]) -> Sought:
    by_word: dict[bytes, list[_Wanted]] = {}
    other: list[_Wanted] = []
    every = frozenset(names)
    for name in every:
        head, _, tail = name.rpartition(".")
        last = tail.encode()
        item = _Wanted(name, last, tuple(part.encode() for part in head.split(".") if part))
        (by_word.setdefault(last, []) if WORD.fullmatch(last) else other).append(item)
    return Sought(every, by_word, other)


def _words(data: bytes) -> set[bytes]:
    """Those that stand where `_imports` would count them."""
    words = {*QUOTED.findall(data), *FIRST.findall(data)}
    for mark in (b"import", b"from"):
        for line in _lines(data, mark):
            words.update(WORD.findall(line))
    return words


def search(paths: Iterable[TargetPath], groups: Sequence[Sought]) -> dict[str, tuple[TargetPath, ...]]:
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


def tops(path: TargetPath) -> set[str]:
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
