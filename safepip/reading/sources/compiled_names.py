"""Names that extension modules hold as strings: searched part by part, for some are of 100 MB."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from safepip.model.paths import TargetPath
from safepip.reading import plain_file

MOST = 256 << 20  # bytes that are searched for one distribution


def naming(paths: Iterable[TargetPath], names: Collection[str]) -> Iterator[tuple[TargetPath, str]]:
    """Those of `paths` that hold one of `names`, each with the first of them."""
    wanted = [
        (name, re.compile(rb"%s(?!\w)(?<![\w.]%s)" % ((re.escape(name.encode()),) * 2))) for name in names
    ]
    left = MOST
    for path in paths:
        if left <= 0:
            return
        try:
            size, held = _held(plain_file.pieces(path, left), wanted)
        except OSError:
            continue
        left -= size
        yield from [(path, name) for name, _ in wanted if name in held][:1]


def _held(
    pieces: Iterable[bytes], wanted: Sequence[tuple[str, re.Pattern[bytes]]]
) -> tuple[int, frozenset[str]]:
    """How much there is, and the names that are held. A match at either edge of a part is left to the next one."""
    size, held, tail = 0, set[str](), b""
    overlap = max((len(name.encode()) for name, _ in wanted), default=0) + 1  # and what stands before it
    for piece in pieces:
        data = tail + piece
        for name, needle in wanted:
            places = (match.span() for match in needle.finditer(data))
            if any((start or not size) and end < len(data) for start, end in places):
                held.add(name)
        size += len(piece)
        tail = data[-overlap:]
    held |= {
        name for name, needle in wanted if any(match.end() == len(tail) for match in needle.finditer(tail))
    }
    return size, frozenset(held)
