"""The dynamic symbol tables of one object, and any piece of them without the rest.

Everything is found through PT_DYNAMIC, as the loader finds it; section headers may be stripped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from safepip.model.elf import Flaw
from safepip.reading.elf_files.elf import Image, UnusualError, dynamic_entries

HASH, STRTAB, SYMTAB, STRSZ, GNU_HASH = 4, 5, 6, 10, 0x6FFFFEF5
VERSYM = 0x6FFFFFF0
_BLOCK, _BLOCKS = 1 << 12, 1 << 10  # bytes that are read at once, and how many such are kept
_RUN = 1 << 18  # bytes of a table that is walked
_TABLE_MOST = 1 << 30
_LONGEST = 1 << 20  # bytes of a name


class Row(NamedTuple):
    """One symbol: where its name lies, binding and type in one, and the section; 0: undefined."""

    name: int
    info: int
    section: int


class Pieces:
    """An open object while it is asked. Large libraries have tables of 100 MB: no more is read than is asked for."""

    def __init__(self, image: Image, values: dict[int, int]) -> None:
        self.image = image
        self.values = values
        self.order = "<" if image.abi.little_endian else ">"
        self.row = Struct(self.order + ("IBxH16x" if image.abi.bits == 64 else "I8xBxH"))
        self.most = image.size // self.row.size  # symbols that the file has room for
        self._structs: dict[str, Struct] = {}
        self._blocks: dict[int, bytes] = {}
        self._strings = (0, -1)

    def offset(self, tag: int) -> int:
        """Where the table of `tag` lies in the file."""
        if tag not in self.values:
            raise UnusualError
        return self.image.offset_of(self.values[tag])

    def unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        row = self._structs.get(layout)
        if row is None:
            row = self._structs[layout] = Struct(self.order + layout)
        return row.unpack(self.at(offset, row.size))

    def at(self, offset: int, length: int) -> bytes:
        """Exactly so many bytes."""
        number, inside = divmod(offset, _BLOCK)
        if inside + length <= _BLOCK:
            piece = self._block(number)[inside : inside + length]
        else:
            piece = self.image.bytes_at(offset, length)
        if len(piece) < length:
            raise UnusualError(Flaw.CUT_OFF)
        return piece

    def text(self, offset: int) -> str:
        """The string at `offset` of the dynamic string table."""
        start, end = self._string_table()
        if offset >= end - start:
            raise UnusualError
        number, inside = divmod(start + offset, _BLOCK)
        piece = self._block(number)[inside : end - number * _BLOCK]
        length = piece.find(b"\0")
        if length < 0:
            piece = self.image.bytes_at(start + offset, min(_LONGEST, end - start - offset))
            length = piece.find(b"\0")
        if length < 0:
            raise UnusualError
        return os.fsdecode(piece[:length])

    def is_text(self, offset: int, name: bytes) -> bool:
        """Is `name` the string at `offset`?"""
        start, end = self._string_table()
        if offset + len(name) >= end - start:
            return False
        return self.at(start + offset, len(name) + 1) == name + b"\0"

    def symbol(self, index: int) -> Row:
        return Row(*self.row.unpack(self.at(self.offset(SYMTAB) + self.row.size * index, self.row.size)))

    def symbols(self) -> Iterator[Row]:
        """Each but the first, which is none."""
        count = self._count()
        start = self.offset(SYMTAB) if count else 0
        size = min(self.row.size * count, _TABLE_MOST)
        step = _RUN // self.row.size * self.row.size
        for at in range(0, size, step):
            block = self.image.bytes_at(start + at, min(step, size - at))
            rows = map(Row._make, self.row.iter_unpack(block[: len(block) // self.row.size * self.row.size]))
            if not at:
                next(rows, None)
            yield from rows

    def mark(self, index: int) -> int:
        """The symbol's version index and whether that is hidden; 1, the global one, where there is no such table."""
        return self.unpack("H", self.offset(VERSYM) + 2 * index)[0] if VERSYM in self.values else 1

    def _block(self, number: int) -> bytes:
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) == _BLOCKS:
                self._blocks.clear()
            block = self._blocks[number] = self.image.bytes_at(number * _BLOCK, _BLOCK)
        return block

    def _string_table(self) -> tuple[int, int]:
        if self._strings[1] < 0:
            start = self.image.offset_of(self.values.get(STRTAB, 0))
            self._strings = start, min(start + self.values.get(STRSZ, 0), self.image.size)
        return self._strings

    def _count(self) -> int:
        """How many symbols there are, which only the hash tables tell."""
        if HASH in self.values:
            return min(self.unpack("II", self.offset(HASH))[1], self.most)
        if GNU_HASH in self.values:
            return min(self._count_by_gnu_hash(), self.most)
        return 0

    def _count_by_gnu_hash(self) -> int:
        """The end of the chain of the bucket that starts last."""
        start = self.offset(GNU_HASH)
        buckets, first, words, _ = self.unpack("IIII", start)
        start += 16 + words * self.image.abi.bits // 8
        if buckets > self.most or start + 4 * buckets > self.image.size:
            raise UnusualError
        ends = range(start, start + 4 * buckets, _RUN)
        runs = (self.unpack(f"{min(_RUN, start + 4 * buckets - at) // 4}I", at) for at in ends)
        last = max(map(max, runs), default=0)
        if last < first:
            return first
        start += 4 * buckets
        while last < self.most:
            value = self.unpack("I", start + 4 * (last - first))[0]
            last += 1
            if value & 1:
                return last
        raise UnusualError


def of(image: Image) -> Pieces | Flaw:
    entries = dynamic_entries(image)
    return Flaw.NO_DYNAMIC if entries is None else Pieces(image, dict(entries))
