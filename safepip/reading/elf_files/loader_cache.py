"""ld.so.cache, read as the loader reads it: one entry for each name, and no message where it is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from struct import Struct
from typing import NamedTuple

from safepip.model.elf import Abi, cache_key
from safepip.model.paths import TargetPath
from safepip.reading import tree

_MOST = 64 << 20
_LONGEST = 4096  # PATH_MAX: what is longer can be opened by nobody
_OLD, _NEW = b"ld.so-1.7.0\0", b"glibc-ld.so.cache1.1"
_EXTENSION, _HWCAPS_SECTION = 0xEAA42174, 1
_NAMED_HWCAP = 1 << 62
_LIBC6 = 3
_FLAGS = {  # _DL_CACHE_DEFAULT_ID by bits and machine (sysdeps/**/dl-cache.h); 0: the plain ELF of libc6
    (64, 62): 0x0300,
    (32, 62): 0x0800,
    (64, 183): 0x0A00,
    (32, 40): 0x0900,
    (64, 21): 0x0500,
    (64, 22): 0x0400,
    (64, 243): 0x1000,
    (64, 258): 0x1200,
}


class _Entry(NamedTuple):
    key: str
    path: str
    flags: int
    hwcap: str  # a name below glibc-hwcaps; "" for the entry that every processor may use


def read(path: str, abi: Abi, variants: tuple[str, ...]) -> Mapping[str, TargetPath]:
    """The entry that the loader would try, by `cache_key`; `variants` are the usable hwcaps, best first."""
    order = "<" if abi.little_endian else ">"
    wanted = {1, _LIBC6 | _FLAGS.get((abi.bits, abi.machine), 0)}
    rank = {name: place for place, name in enumerate((*variants, ""))}
    best: dict[str, tuple[int, TargetPath]] = {}
    for entry in _entries(_bytes(path), order):
        if entry.flags in wanted and entry.hwcap in rank:
            key, place = cache_key(entry.key), rank[entry.hwcap]
            if key not in best or place < best[key][0]:
                best[key] = (place, TargetPath(entry.path))
    return {key: path for key, (_, path) in best.items()}


def _bytes(path: str) -> bytes:
    try:
        handle = tree.handle(path)
    except OSError:
        return b""
    try:
        return os.pread(handle, _MOST, 0)
    except OSError:
        return b""
    finally:
        os.close(handle)


def _entries(data: bytes, order: str) -> Iterator[_Entry]:
    start = 0
    if data.startswith(_OLD) and len(data) >= 16:
        (count,) = Struct(order + "I").unpack_from(data, 12)
        start = (16 + 12 * count + 7) & ~7
        if not data.startswith(_NEW, start):
            yield from _old_entries(data, count, order)
            return
    if data.startswith(_NEW, start) and len(data) >= start + 48:
        yield from _new_entries(data, start, order)


def _old_entries(data: bytes, count: int, order: str) -> Iterator[_Entry]:
    """The table of before glibc 2.2, which `ldconfig -c old` still writes."""
    row, strings = Struct(order + "iII"), 16 + 12 * count
    if strings > len(data):
        return
    for flags, key, value in row.iter_unpack(data[16:strings]):
        yield _Entry(_text(data, strings + key), _text(data, strings + value), flags, "")


def _new_entries(data: bytes, start: int, order: str) -> Iterator[_Entry]:
    """A struct cache_file_new (elf/dl-cache.h): 48 bytes of header, 24 an entry, strings from the header on."""
    count, length, _, extension = Struct(order + "IIB3xI").unpack_from(data, start + 20)
    end = start + 48 + 24 * count
    if end + length > len(data):
        return
    names = _hwcaps(data, start, extension, order)
    for flags, key, value, _, hwcap in Struct(order + "iIIIQ").iter_unpack(data[start + 48 : end]):
        index = hwcap & 0xFFFFFFFF
        if not hwcap & _NAMED_HWCAP:
            name = "" if not hwcap else "of the processor before glibc 2.37"
        else:
            name = names[index] if index < len(names) else "unknown"
        yield _Entry(_text(data, start + key), _text(data, start + value), flags, name)


def _hwcaps(data: bytes, start: int, extension: int, order: str) -> list[str]:
    """The names that entries point to by index (struct cache_extension)."""
    head, section = Struct(order + "II"), Struct(order + "IIII")
    if not extension or extension + head.size > len(data):
        return []
    magic, count = head.unpack_from(data, extension)
    table = data[extension + head.size : extension + head.size + section.size * count]
    if magic != _EXTENSION or len(table) < section.size * count:
        return []
    for tag, _, offset, size in section.iter_unpack(table):
        if tag == _HWCAPS_SECTION and offset + size <= len(data) and size % 4 == 0:
            return [
                _text(data, start + at)
                for (at,) in Struct(order + "I").iter_unpack(data[offset : offset + size])
            ]
    return []


def _text(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset, offset + _LONGEST)
    return os.fsdecode(data[offset:end]) if end >= 0 else ""
