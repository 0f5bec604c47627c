"""What one object asks of others at binding, and what it gives: its dynamic symbols and their versions."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, TypeVar

from safepip.model.elf import Definitions, Flaw, Symbol, Undefined, VersionNeed
from safepip.reading.elf_files import elf_lookup, elf_pieces
from safepip.reading.elf_files.elf import UnusualError, open_image, opened
from safepip.reading.elf_files.elf_pieces import VERSYM, Pieces, Row

_VERDEF, _VERNEED = 0x6FFFFFFC, 0x6FFFFFFE
_VERDEF_COUNT, _VERNEED_COUNT = 0x6FFFFFFD, 0x6FFFFFFF
_BASE, _WEAK_VERSION, _HIDDEN = 1, 2, 0x8000
_RELA, _RELASZ, _REL, _RELSZ, _RELACOUNT, _RELCOUNT = 7, 8, 17, 18, 0x6FFFFFF9, 0x6FFFFFFA
_JMPREL, _PLTRELSZ, _PLTREL = 23, 2, 20
_MIPS = 8  # binds by its global offset table, without relocations
_STB_WEAK = 2
_NO_SYMBOL = frozenset({3, 4})  # STT_SECTION, STT_FILE
_RUN = 1 << 14  # relocations that are read at once
_T = TypeVar("_T")


def read_undefined(path: str) -> Undefined | Flaw:
    """What the object at `path` asks of others at binding. It walks the whole table: ask for few objects."""
    return opened(path, lambda handle: _asked(handle, _undefined))


def read_definitions(path: str, names: Collection[str]) -> Definitions | Flaw:
    """Which of `names` the object at `path` defines."""
    return opened(path, lambda handle: _asked(handle, lambda pieces: _definitions(pieces, names)))


def _asked(handle: int, made: Callable[[Pieces], _T]) -> _T | Flaw:
    try:
        image = open_image(handle)
        pieces = image if isinstance(image, Flaw) else elf_pieces.of(image)
        return pieces if isinstance(pieces, Flaw) else made(pieces)
    except UnusualError as unusual:
        return unusual.flaw


def _undefined(pieces: Pieces) -> Undefined:
    needed = tuple(_needed(pieces))
    names = {item.mark: item.need.version for item in needed} | dict(_defined(pieces))
    bound = None if pieces.image.abi.machine == _MIPS else _bound(pieces)
    found = []
    for index, row in enumerate(pieces.symbols(), 1):
        if row.section or not _is_symbol(row) or row.info >> 4 == _STB_WEAK:
            continue
        if bound is None or index in bound:  # else a linker's mark: no relocation asks for it
            found.append(Symbol(pieces.text(row.name), names.get(pieces.mark(index) & 0x7FFF, "")))
    return Undefined(frozenset(found), tuple(item.need for item in needed))


def _definitions(pieces: Pieces, names: Collection[str]) -> Definitions:
    versions = dict(_defined(pieces))
    try:
        found = list(elf_lookup.find(pieces, names))
    except UnusualError:
        found = list(walk(pieces, names))
    given, hidden = [], []
    for index, name in found:
        mark, row = pieces.mark(index), pieces.symbol(index)
        if row.section and _is_symbol(row) and mark & 0x7FFF:
            given.append(Symbol(name, versions.get(mark & 0x7FFF, "")))
            hidden += given[-1:] if mark & _HIDDEN else []
    return Definitions(
        frozenset(given),
        frozenset(hidden),
        versions.get(2, ""),
        frozenset(versions.values()) if _VERDEF in pieces.values else None,
        versioned=VERSYM in pieces.values,
    )


def walk(pieces: Pieces, names: Collection[str] | None) -> Iterator[tuple[int, str]]:
    """The index of each symbol under one of `names`, or under any, without the hash table's help."""
    first = elf_lookup.first(pieces)
    for index, row in enumerate(pieces.symbols(), 1):
        if row.section and index >= first and _is_symbol(row):
            name = pieces.text(row.name)
            if names is None or name in names:
                yield index, name


def _is_symbol(row: Row) -> bool:
    return bool(row.name) and row.info >= 16 and row.info & 15 not in _NO_SYMBOL  # below 16: local


def _bound(pieces: Pieces) -> set[int]:
    """The index of each symbol that a relocation names. The relative ones come first and name none."""
    values = pieces.values
    jumps = (_RELA if values.get(_PLTREL) == _RELA else _REL, values.get(_PLTRELSZ, 0), 0)
    places = {
        _RELA: (_RELA, values.get(_RELASZ, 0), values.get(_RELACOUNT, 0)),
        _REL: (_REL, values.get(_RELSZ, 0), values.get(_RELCOUNT, 0)),
        _JMPREL: jumps,
    }
    bound = set[int]()
    for tag, (kind, size, relative) in places.items():
        if tag not in values or not size:
            continue
        start = pieces.offset(tag)
        if start + size > pieces.image.size:
            raise UnusualError(Flaw.CUT_OFF)
        row = pieces.image.abi.bits // 8 * (3 if kind == _RELA else 2)  # r_offset, r_info, r_addend
        for at in range(start + row * min(relative, size // row), start + size, row * _RUN):
            bound |= _named(pieces.image.bytes_at(at, min(row * _RUN, start + size - at)), row, pieces)
    return bound


def _named(relocations: bytes, row: int, pieces: Pieces) -> set[int]:
    """The symbols in r_info: its upper half in a wide object, else what is above its lowest byte."""
    words = array("I", relocations[: len(relocations) // row * row])
    little = pieces.image.abi.little_endian
    if little != (sys.byteorder == "little"):
        words.byteswap()
    if pieces.image.abi.bits == 32:
        return {info >> 8 for info in set(words[1 :: row // 4])}
    return set(words[3 if little else 2 :: row // 4])


class _Needed(NamedTuple):
    mark: int
    need: VersionNeed


def _needed(pieces: Pieces) -> Iterator[_Needed]:
    for file, count, at in _chain(pieces, _VERNEED, _VERNEED_COUNT, "HHIII"):
        for _ in range(count):
            _, flags, index, name, following = pieces.unpack("IHHII", at)
            need = VersionNeed(pieces.text(file), pieces.text(name), weak=bool(flags & _WEAK_VERSION))
            yield _Needed(index & ~_HIDDEN, need)
            at += following  # noqa: PLW2901  the next one of the chain
            if not following:
                break


def _defined(pieces: Pieces) -> Iterator[tuple[int, str]]:
    for _, flags_and_index, at in _chain(pieces, _VERDEF, _VERDEF_COUNT, "HHHHIII"):
        flags, index = flags_and_index >> 16, flags_and_index & 0xFFFF
        if not flags & _BASE:
            yield index, pieces.text(pieces.unpack("II", at)[0])


def _chain(pieces: Pieces, tag: int, count_tag: int, layout: str) -> Iterator[tuple[int, int, int]]:
    """Each entry's file and count (verneed) or flags and index (verdef), and where its parts begin."""
    if tag not in pieces.values:
        return
    at = pieces.offset(tag)
    for _ in range(min(pieces.values.get(count_tag, 0), pieces.image.size // 16)):
        row = pieces.unpack(layout, at)
        if tag == _VERNEED:
            yield row[2], row[1], at + row[3]
        else:
            yield 0, row[1] << 16 | row[2], at + row[5]
        at += row[-1]
        if not row[-1]:
            return
