"""The dynamic symbols of one object and their versions: what binding asks for, read on demand only.

Everything is found through PT_DYNAMIC, as the loader finds it; section headers may be stripped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from safepip.model.elf import Flaw, Symbol, Symbols, VersionNeed
from safepip.reading.elf_files.elf import Image, UnusualError, dynamic_entries

_HASH, _STRTAB, _SYMTAB, _STRSZ, _GNU_HASH = 4, 5, 6, 10, 0x6FFFFEF5
_VERSYM, _VERDEF, _VERNEED = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFE
_VERDEF_COUNT, _VERNEED_COUNT = 0x6FFFFFFD, 0x6FFFFFFF
_BASE, _WEAK_VERSION, _HIDDEN = 1, 2, 0x8000
_RELA, _RELASZ, _REL, _RELSZ, _RELACOUNT, _RELCOUNT = 7, 8, 17, 18, 0x6FFFFFF9, 0x6FFFFFFA
_JMPREL, _PLTRELSZ, _PLTREL = 23, 2, 20
_MIPS = 8  # binds by its global offset table, without relocations
_STB_WEAK = 2
_NO_SYMBOL = frozenset({3, 4})  # STT_SECTION, STT_FILE
_TABLE_MOST = 1 << 30


class _Tables(NamedTuple):
    image: Image
    order: str
    values: dict[int, int]
    strings: bytes

    def offset(self, tag: int) -> int:
        if tag not in self.values:
            raise UnusualError
        return self.image.offset_of(self.values[tag])

    def text(self, offset: int) -> str:
        end = self.strings.find(b"\0", offset)
        if end < 0:
            raise UnusualError
        return os.fsdecode(self.strings[offset:end])

    def unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        row = Struct(self.order + layout)
        data = self.image.bytes_at(offset, row.size)
        if len(data) < row.size:
            raise UnusualError(Flaw.CUT_OFF)
        return row.unpack(data)


class _Versions(NamedTuple):
    names: dict[int, str]  # by index, needed and defined ones
    needed: tuple[VersionNeed, ...]
    defined: frozenset[str] | None
    first: str


def read(image: Image) -> Symbols | Flaw:
    """The symbols of an open object; raises UnusualError where its tables hold no water."""
    entries = dynamic_entries(image)
    if entries is None:
        return Flaw.NO_DYNAMIC
    values = dict(entries)
    order = "<" if image.abi.little_endian else ">"
    limit = min(values.get(_STRSZ, 0), image.size)
    start = image.offset_of(values.get(_STRTAB, 0))
    tables = _Tables(image, order, values, image.bytes_at(start, limit))
    versions = _versions(tables)
    rows = list(_rows(tables))
    marks = _marks(tables, len(rows))
    bound = None if image.abi.machine == _MIPS else set(_bound(tables))
    return _sorted_out(tables, rows, marks, versions, bound)


def _sorted_out(
    tables: _Tables,
    rows: list[tuple[int, int, int]],
    marks: tuple[int, ...],
    versions: _Versions,
    bound: set[int] | None,
) -> Symbols:
    undefined, weak, defined, hidden = list[Symbol](), list[Symbol](), list[Symbol](), list[Symbol]()
    strings, names = tables.strings, versions.names
    find = strings.find
    for index, ((name, info, section), mark) in enumerate(zip(rows, marks, strict=False), 1):
        if not section and bound is not None and index not in bound:
            continue  # a linker's mark: no relocation asks for it, so nobody looks it up
        if not name or info < 16 or info & 15 in _NO_SYMBOL:
            continue
        end = find(b"\0", name)
        if end < 0:
            raise UnusualError
        text = strings[name:end].decode("utf-8", "surrogateescape")
        symbol = Symbol(text, names.get(mark & 0x7FFF, ""))
        if not section:
            (weak if info >> 4 == _STB_WEAK else undefined).append(symbol)
        elif mark & 0x7FFF:
            defined.append(symbol)
            if mark & _HIDDEN:
                hidden.append(symbol)
    return Symbols(
        frozenset(undefined),
        frozenset(weak),
        frozenset(defined),
        frozenset(hidden),
        versions.first,
        versions.needed,
        versions.defined,
        versioned=_VERSYM in tables.values,
    )


def _rows(tables: _Tables) -> Iterator[tuple[int, int, int]]:
    """Name offset, st_info and st_shndx of each symbol but the first, which is none."""
    bits = tables.image.abi.bits
    row = Struct(tables.order + ("IBxH16x" if bits == 64 else "I8xBxH"))
    count = _count(tables)
    start = tables.offset(_SYMTAB) if count else 0
    data = tables.image.bytes_at(start, min(row.size * count, _TABLE_MOST)) if count else b""
    rows = row.iter_unpack(data[: len(data) // row.size * row.size])
    next(rows, None)
    yield from rows


def _marks(tables: _Tables, rows: int) -> tuple[int, ...]:
    """The version index of each symbol; 1, the global one, where there is no such table."""
    if _VERSYM not in tables.values:
        return (1,) * rows
    data = tables.image.bytes_at(tables.offset(_VERSYM), 2 * (rows + 1))
    marks = Struct(f"{tables.order}{len(data) // 2}H").unpack(data[: len(data) // 2 * 2])
    return marks[1:]


def _bound(tables: _Tables) -> Iterator[int]:
    """The index of each symbol that a relocation names. The relative ones come first and name none."""
    values, wide = tables.values, tables.image.abi.bits == 64
    jumps = (_RELA if values.get(_PLTREL) == _RELA else _REL, values.get(_PLTRELSZ, 0), 0)
    places = {
        _RELA: (_RELA, values.get(_RELASZ, 0), values.get(_RELACOUNT, 0)),
        _REL: (_REL, values.get(_RELSZ, 0), values.get(_RELCOUNT, 0)),
        _JMPREL: jumps,
    }
    for tag, (kind, size, relative) in places.items():
        if tag not in values or not size:
            continue
        row = Struct(
            tables.order + ("8xQ" if wide else "4xI") + ("" if kind == _REL else "8x" if wide else "4x")
        )
        skipped = min(row.size * relative, size)
        start = tables.offset(tag)
        if start + size > tables.image.size:
            raise UnusualError(Flaw.CUT_OFF)
        data = tables.image.bytes_at(start + skipped, size - skipped) if size > skipped else b""
        whole = data[: len(data) // row.size * row.size]
        yield from (info >> (32 if wide else 8) for (info,) in row.iter_unpack(whole))


def _count(tables: _Tables) -> int:
    """How many symbols there are, which only the hash tables tell."""
    most = tables.image.size // (24 if tables.image.abi.bits == 64 else 16)
    if _HASH in tables.values:
        return min(tables.unpack("II", tables.offset(_HASH))[1], most)
    if _GNU_HASH in tables.values:
        return min(_count_by_gnu_hash(tables, most), most)
    return 0


def _count_by_gnu_hash(tables: _Tables, most: int) -> int:
    """The end of the chain of the bucket that starts last."""
    start = tables.offset(_GNU_HASH)
    buckets, first, words, _ = tables.unpack("IIII", start)
    start += 16 + words * tables.image.abi.bits // 8
    if buckets > most or start + 4 * buckets > tables.image.size:
        raise UnusualError
    last = max(tables.unpack(f"{buckets}I", start), default=0)
    if last < first:
        return first
    start += 4 * buckets
    while last < most:
        block = tables.image.bytes_at(start + 4 * (last - first), 4096)
        for (value,) in Struct(tables.order + "I").iter_unpack(block[: len(block) // 4 * 4]):
            last += 1
            if value & 1:
                return last
        if len(block) < 4:
            break
    raise UnusualError


def _versions(tables: _Tables) -> _Versions:
    names: dict[int, str] = {}
    needed: list[VersionNeed] = []
    for file, count, at in _chain(tables, _VERNEED, _VERNEED_COUNT, "HHIII"):
        for _ in range(count):
            _, flags, index, name, following = tables.unpack("IHHII", at)
            names[index & ~_HIDDEN] = tables.text(name)
            needed.append(VersionNeed(tables.text(file), tables.text(name), weak=bool(flags & _WEAK_VERSION)))
            at += following  # noqa: PLW2901  the next one of the chain
            if not following:
                break
    defined: dict[int, str] = {}
    for _, flags_and_index, at in _chain(tables, _VERDEF, _VERDEF_COUNT, "HHHHIII"):
        flags, index = flags_and_index >> 16, flags_and_index & 0xFFFF
        if not flags & _BASE:
            defined[index] = tables.text(tables.unpack("II", at)[0])
    return _Versions(
        names | defined,
        tuple(needed),
        frozenset(defined.values()) if _VERDEF in tables.values else None,
        defined.get(2, ""),
    )


def _chain(tables: _Tables, tag: int, count_tag: int, layout: str) -> Iterator[tuple[int, int, int]]:
    """Each entry's file and count (verneed) or flags and index (verdef), and where its parts begin."""
    if tag not in tables.values:
        return
    at = tables.offset(tag)
    for _ in range(min(tables.values.get(count_tag, 0), tables.image.size // 16)):
        row = tables.unpack(layout, at)
        if tag == _VERNEED:
            yield row[2], row[1], at + row[3]
        else:
            yield 0, row[1] << 16 | row[2], at + row[5]
        at += row[-1]
        if not row[-1]:
            return
