"""Libraries that an object may open by name at run time, as far as its bytes tell: hints, not needs.

Two sources: the ELF package metadata note on dlopen (systemd's ELF_DLOPEN_METADATA), and strings of the form
lib….so… in the constants. Only `.rodata` is read, in pieces: in CUDA libraries the read-only segment is
mostly code for the graphics processor.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct

from safepip.model.elf import Flaw
from safepip.reading import tree
from safepip.reading.elf_files.elf import Image, UnusualError, dynamic_entries, open_image

_PIECE = 1 << 20
_OVERLAP = 256  # longer names are no library's
_MOST = 64 << 20  # bytes of constants that are looked through in one object
_PT_NOTE, _STRTAB, _STRSZ = 4, 5, 10
_OWNER, _DLOPEN = b"FDO\0", 0x407C0C0A
_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.")


def read(path: str) -> frozenset[str]:
    """The names; none where the file is no object that can be read."""
    try:
        handle = tree.handle(path)
    except (OSError, ValueError):
        return frozenset()
    try:
        image = open_image(handle)
        if isinstance(image, Flaw):
            return frozenset()
        return frozenset((*_noted(image), *_constants(image)))
    except (OSError, UnusualError):
        return frozenset()
    finally:
        os.close(handle)


def _noted(image: Image) -> Iterator[str]:
    """What `.note.dlopen` lists: JSON, one object a feature, its sonames from the best to the last."""
    order = "<" if image.abi.little_endian else ">"
    head = Struct(order + "III")
    for segment in image.segments:
        if segment.kind != _PT_NOTE:
            continue
        data, at = image.bytes_at(segment.offset, min(segment.size, _PIECE)), 0
        while at + head.size <= len(data):
            names, length, kind = head.unpack_from(data, at)
            owner = at + head.size
            text = owner + ((names + 3) & ~3)
            if kind == _DLOPEN and data[owner : owner + names] == _OWNER:
                yield from _sonames(data[text : text + length])
            at = text + ((length + 3) & ~3)


def _sonames(data: bytes) -> Iterator[str]:
    import json

    try:
        features = json.loads(data.rstrip(b"\0"))
    except (ValueError, RecursionError):
        return
    for feature in features if isinstance(features, list) else ():
        names = feature.get("soname") if isinstance(feature, dict) else None
        yield from (name for name in names or () if isinstance(name, str))


def _constants(image: Image) -> Iterator[str]:
    for start, size in _constant_ranges(image):
        end = start + min(size, _MOST)
        for at in range(start, end, _PIECE):
            piece = os.pread(image.handle, min(_PIECE + _OVERLAP, end - at), at)
            yield from _library_names(piece)


def _library_names(piece: bytes) -> Iterator[str]:
    """Whole strings: from lib to the zero byte, with .so and digits after it."""
    at = piece.find(b".so")
    while at >= 0:
        end = piece.find(b"\0", at)
        start = piece.rfind(b"\0", max(0, at - _OVERLAP), at) + 1
        name = piece[start : max(end, 0)]
        versions = name[at - start + 3 :]
        if name.startswith(b"lib") and not versions.strip(b".0123456789") and _NAME_BYTES.issuperset(name):
            yield name.decode("ascii")
        at = piece.find(b".so", at + 3)


def _constant_ranges(image: Image) -> Iterator[tuple[int, int]]:
    sections = list(_sections(image))
    names = {name for name, _, _ in sections}
    if ".rodata" in names:
        yield from ((offset, size) for name, offset, size in sections if name.startswith(".rodata"))
        return
    entries = dict(dynamic_entries(image) or ())
    table = image.offset_of(entries[_STRTAB]) if _STRTAB in entries else 0
    for segment in image.segments:  # stripped of section headers: all of it but the names of needs
        if segment.kind == 1:
            yield segment.offset, max(0, min(segment.size, table - segment.offset))
            after = max(segment.offset, table + entries.get(_STRSZ, 0))
            yield after, max(0, segment.offset + segment.size - after)


def _sections(image: Image) -> Iterator[tuple[str, int, int]]:
    """Name, offset and size of each section; none where the headers do not lie in the file."""
    wide, order = image.abi.bits == 64, "<" if image.abi.little_endian else ">"
    where = Struct(order + ("Q" if wide else "I")).unpack_from(image.head, 40 if wide else 32)[0]
    width, count, names = Struct(order + "HHH").unpack_from(image.head, 58 if wide else 46)
    row = Struct(order + ("II16xQQ24x" if wide else "II8xII16x"))
    if width != row.size or not count or where + width * count > image.size or names >= count:
        return
    rows = list(row.iter_unpack(os.pread(image.handle, width * count, where)))
    if len(rows) < count:
        return
    _, _, start, length = rows[names]
    text = os.pread(image.handle, min(length, _PIECE), start) if start < image.size else b""
    for name, _, offset, size in rows:
        if offset + size <= image.size:
            yield text[name : max(text.find(b"\0", name), name)].decode("ascii", "replace"), offset, size
