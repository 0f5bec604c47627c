"""The absolute imports of a source, found by their bytes: lines of texts that read like an import are taken for some."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from safepip.model.imports import Reference

_LISTED = rb"([ \t]*\((?:[^)#]|#[^\n]*)*+\)|(?:[^\n\\]|\\\n)*)"
_FROM = re.compile(rb"from[ \t]+(\w[\w.]*)[ \t]+import\b" + _LISTED)
_IMPORT = re.compile(rb"import[ \t]+(\w(?:[^\n\\#;]|\\\n)*)")
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"\w[\w.]*")
_ALIAS = re.compile(rb"\w[\w.]*[ \t]+as[ \t]+(\w+)")


def unindented(data: bytes) -> Iterator[Reference]:
    """Those at the beginning of a line, in no order: what stands in a `try` or in a function may be meant to fail."""
    data = b"\n" + data
    for mark in (b"\nfrom ", b"\nimport "):
        place = data.find(mark)
        while place >= 0:
            yield from _at(data, place + 1)
            place = data.find(mark, place + 1)


def taken(data: bytes) -> Iterator[Reference]:
    """What is taken of other modules by `from module import names`, wherever that stands."""
    for found in _FROM.finditer(data):  # anchored at lines it would take ten times as long
        line = data.rfind(b"\n", 0, found.start()) + 1
        if not data[line : found.start()].strip():
            yield _reference(found[1], found[2])


def asked(data: bytes, tops: Collection[str] | None = None) -> Iterator[Reference]:
    """The modules, below `tops` or any, of `import module` at the beginning of a line, each with all names that follow
    its own anywhere.
    """
    place = data.find(b"import ")
    while place >= 0:
        plain = _IMPORT.match(data, place) if place == 0 or data[place - 1] == 0x0A else None
        for item in plain[1].split(b",") if plain else ():
            module, alias = _NAME.search(item), _ALIAS.search(item)
            if module:
                top = module[0].partition(b".")[0]
                if tops is not None and top.decode("utf-8", "replace") not in tops:
                    continue
                names = re.findall(rb"\b%s\.(\w+)" % (alias[1] if alias else top), data)
                yield _named(module[0] if alias else top, dict.fromkeys(names))
        place = data.find(b"import ", place + 1)


def _at(data: bytes, place: int) -> Iterator[Reference]:
    found = _FROM.match(data, place)
    if found:
        yield _reference(found[1], found[2])
    plain = _IMPORT.match(data, place)
    for name in _names(plain[1]) if plain else ():
        yield Reference(name.decode("utf-8", "replace"))


def _reference(module: bytes, listed: bytes) -> Reference:
    return _named(module, _names(_COMMENT.sub(b"", listed)))


def _named(module: bytes, names: Iterable[bytes]) -> Reference:
    return Reference(
        module.decode("utf-8", "replace"), tuple(name.decode("utf-8", "replace") for name in names)
    )


def _names(listed: bytes) -> Iterator[bytes]:
    """The first of each item: `x as y` names x."""
    for item in listed.split(b","):
        found = _NAME.search(item)
        if found:
            yield found[0]
