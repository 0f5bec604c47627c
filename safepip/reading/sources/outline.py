"""The part of a Python file that is run while it is imported and bears on imports, cut out before it is parsed.

`ast` takes three milliseconds a file, nearly all of it for bodies of functions that no import runs. The
cut works on lines; where it goes wrong, what is left does not parse, and the whole file is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

STATEMENT = re.compile(rb"\n[A-Za-z_@\"']")
FUNCTION = re.compile(rb"(?:@[^\n]*\n(?:[ \t)][^\n]*\n|\n)*)*(?:async[ \t]+)?def[ \t]+(\w+)")
METHOD = re.compile(
    rb"^([ \t]+)(?:async[ \t]+)?def[ \t][^\n]*\n(?:\1[ \t]+[^\n]*\n|[ \t]*(?:#[^\n]*)?\n|\1[)\]}][^\n]*\n)*",
    re.MULTILINE,
)
DECORATOR = re.compile(rb"^[ \t]+@[^\n(]*(?:\([^\n]*\))?(\n)", re.MULTILINE)
QUOTES = (b'"""', b"'''")
CODE = re.compile(rb"(?:[^#\"']++|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')*+(#?)", re.DOTALL)
CONTINUES = (b"else", b"elif", b"except", b"finally")
IMPORT = re.compile(rb"import(?:_module|__|(?!\w))")
DECIDES = (
    b"ImportError",
    b"version_info",
    b"platform",
    b"os.name",
)  # what later conditions and handlers turn on
BY_NAME = (b"__import__", b"import_module")
OTHER_NAME = re.compile(rb"\w")
ASSIGNMENT = re.compile(rb"\w+[ \t]*(?::[^=\n]*)?=[ \t]*[\[({\"']")
CALL = re.compile(rb"^[ \t]+(\w+)\(", re.MULTILINE)
ENDS = re.compile(rb"\braise\b|exit\(")
LONG_LINE = 1000  # bytes; what stands before an import on a longer one is not looked for
STEPS = 3  # calls that are followed from one function of the module to the next


def cut(data: bytes) -> bytes:
    """`data`, of plain newlines, with every line blank that importing it does not run, or that cannot lead to an import.

    As it is where its lines do not tell what is text and what is code.
    """
    texts = _texts(data)
    if texts is None:
        return data
    starts = tuple(_starts(data, texts))
    ends = (*starts[1:], len(data))
    importing = {bisect_right(starts, place) - 1 for place in _imports(data)}
    functions = {
        match[1]: index
        for index, start in enumerate(starts)
        if data.startswith((b"def", b"@", b"async"), start) and (match := FUNCTION.match(data, start))
    }
    inside = frozenset(functions.values())
    kept = {0} | (importing - inside) | _decisive(data, starts, inside)
    if not importing.isdisjoint(inside):
        useful = {name: index for name, index in functions.items() if index in importing}
        kept |= _callers(data, starts, functions, useful)
    kept |= _ending(data, starts, functions, kept)
    pieces = []
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        piece = data[start:end]
        pieces.append(_shorten(piece) if index in kept else b"\n" * piece.count(b"\n"))
    return b"".join(pieces)


def _texts(data: bytes) -> list[tuple[int, int]] | None:
    """Where each text in triple quotes lies. None where a mark may stand in another text, or has a backslash before it."""
    texts: list[tuple[int, int]] = []
    end = 0
    places = {mark: data.find(mark) for mark in QUOTES}
    while found := [(place, mark) for mark, place in places.items() if place >= 0]:
        start, mark = min(found)
        before = CODE.match(data, _line(data, end, start), start)
        if before is not None and before[1]:
            end = data.find(b"\n", start) + 1 or len(data)
        else:
            closing = data.find(mark, start + 3)
            if before is None or before.end() < start or closing < 0 or data[closing - 1 : closing] == b"\\":
                return None
            end = closing + 3
            texts.append((start, end))
        places = {mark: place if place >= end else data.find(mark, end) for place, mark in found}
    return texts


def _line(data: bytes, end: int, place: int) -> int:
    """Where the line of `place` begins, and those that it continues; what comes before `end` is known."""
    line = data.rfind(b"\n", end, place) + 1 or end
    while line > end and data[max(line - 2, end) : line] == b"\\\n":
        line = data.rfind(b"\n", end, line - 1) + 1 or end
    return line


def _starts(data: bytes, texts: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Where statements of the top level begin, with all that belongs to them; of `texts` none is split."""
    following = iter((*texts, (len(data), len(data))))
    begin, end = next(following)
    decorated = data.startswith(b"@")
    yield 0
    for match in STATEMENT.finditer(data):
        start = match.start() + 1
        while end <= start:
            begin, end = next(following)
        if begin < start:
            continue
        if not decorated and not data.startswith(CONTINUES, start):
            yield start
        decorated = data.startswith(b"@", start)


def _imports(data: bytes) -> Iterator[int]:
    """Where an import may stand, as a statement or by name."""
    for match in IMPORT.finditer(data):
        start, end = match.span()
        if end - start > len("import"):
            yield start
            continue
        nearest = max(start - LONG_LINE, 0)
        line = data.rfind(b"\n", nearest, start) + 1 or nearest
        before = data[line:start].lstrip()
        if (
            not before
            or before.startswith(b"from")
            or b":" in before
            or b";" in before
            or 0 < line == nearest
        ):
            yield start


def _decisive(data: bytes, starts: Sequence[int], inside: frozenset[int]) -> set[int]:
    """What later statements turn on; where names are given as values, any constant may be one."""
    ends = (*starts[1:], len(data))
    kept = set()
    for word in DECIDES:
        place = data.find(word)
        while place >= 0:
            index = bisect_right(starts, place) - 1
            if not data.startswith(b"class ", starts[index]):
                kept.add(index)
            place = data.find(word, ends[index])
    if any(word in data for word in BY_NAME):
        kept |= {
            index
            for index, start in enumerate(starts)
            if ASSIGNMENT.match(data, start) or data.startswith(b"if", start)
        }
    if b"except" in data:  # what follows when none of several imports worked
        kept |= {
            index
            for index, start in enumerate(starts)
            if data.startswith((b"if", b"for"), start) and ENDS.search(data, start, ends[index])
        }
    return kept - inside


def _callers(
    data: bytes, starts: Sequence[int], functions: Mapping[bytes, int], useful: Mapping[bytes, int]
) -> set[int]:
    """The functions of `useful` and what calls them, if the top level is among it."""
    names = {index: name for name, index in functions.items()}
    found = set(useful.values())
    pending, called = list(useful), False
    for _ in range(STEPS + 1):
        new = set[int]()
        for name in pending:
            place = data.find(name + b"(")
            while place >= 0:
                index = bisect_right(starts, place) - 1
                if not data.startswith(b"class ", starts[index]) and not OTHER_NAME.match(data, place - 1):
                    new.add(index)
                place = data.find(name + b"(", place + 1)
        new -= found
        found |= new
        called = called or any(index not in names for index in new)
        pending = [names[index] for index in new if index in names]
    return found if called else set()


def _ending(data: bytes, starts: Sequence[int], functions: Mapping[bytes, int], kept: set[int]) -> set[int]:
    """The functions that a handler may call to end the module."""
    ends = (*starts[1:], len(data))
    found = set()
    for index in kept:
        start, end = starts[index], ends[index]
        if data.startswith(b"try", start) and functions:
            called = (functions.get(match[1]) for match in CALL.finditer(data, start, end))
            found |= {one for one in called if one is not None and ENDS.search(data, starts[one], ends[one])}
    return found


def _shorten(piece: bytes) -> bytes:
    if not piece.startswith((b"class ", b"@")) or FUNCTION.match(piece):
        return piece
    short = METHOD.sub(
        lambda found: found[1] + b"pass" + b"\n" * found[0].count(b"\n"), DECORATOR.sub(rb"\1", piece)
    )
    return short if next(_imports(short), None) is not None else b"\n" * piece.count(b"\n")
