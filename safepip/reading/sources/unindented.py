"""The absolute imports of a source that stand at the beginning of a line, found by their bytes.

What stands in a `try` or in a function may be meant to fail; what ends the import of a module stands mostly here.
Lines of texts that read like an import are taken for some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from safepip.model.imports import Reference

_FROM = re.compile(rb"from[ \t]+(\w[\w.]*)[ \t]+import\b([ \t]*\([^)]*\)|(?:[^\n\\]|\\\n)*)")
_IMPORT = re.compile(rb"import[ \t]+(\w(?:[^\n\\#;]|\\\n)*)")
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"\w[\w.]*")


def imports(data: bytes) -> Iterator[Reference]:
    """In no order."""
    data = b"\n" + data
    for mark in (b"\nfrom ", b"\nimport "):
        place = data.find(mark)
        while place >= 0:
            yield from _at(data, place + 1)
            place = data.find(mark, place + 1)


def _at(data: bytes, place: int) -> Iterator[Reference]:
    taken = _FROM.match(data, place)
    if taken:
        yield Reference(taken[1].decode("utf-8", "replace"), tuple(_names(_COMMENT.sub(b"", taken[2]))))
    plain = _IMPORT.match(data, place)
    for name in _names(plain[1]) if plain else ():
        yield Reference(name)


def _names(listed: bytes) -> Iterator[str]:
    """The first of each item: `x as y` names x."""
    for item in listed.split(b","):
        found = _NAME.search(item)
        if found:
            yield found[0].decode("utf-8", "replace")
