"""One file into one Elf value: the dynamic section, and nothing of the file that it does not need.

Five small reads an object, because every object of an environment is read before anything is decided.
Every count is held against the file's size before it is believed. What does not look like any linker's
output goes to pyelftools, in `elf_library`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from struct import Struct
from typing import NamedTuple, TypeVar

from safepip.model.elf import Abi, Elf, Flaw
from safepip.reading import tree

_OF_ERROR = {
    errno.ENOENT: Flaw.MISSING,
    errno.EACCES: Flaw.NO_ACCESS,
    errno.EPERM: Flaw.NO_ACCESS,
    errno.ELOOP: Flaw.LOOP,
    errno.ENOTDIR: Flaw.NOT_A_FOLDER,
    errno.ENAMETOOLONG: Flaw.NAME_TOO_LONG,
    errno.EISDIR: Flaw.FOLDER,
}
_HEAD = 1024  # the header and every program header of an ordinary object
_DYNAMIC_MOST = 1 << 20  # bytes of a dynamic section that are believed
_STRING_MOST = 1 << 16
_PADDING = bytes(7)
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE = 1, 2, 3, 4
_STRTAB, _STRSZ, _FLAGS_1 = 5, 10, 0x6FFFFFFB
_NEEDED, _SONAME, _RPATH, _RUNPATH, _AUXILIARY, _FILTER = 1, 14, 15, 29, 0x7FFFFFFD, 0x7FFFFFFF
_TEXTS = frozenset({_NEEDED, _SONAME, _RPATH, _RUNPATH, _AUXILIARY, _FILTER})
_NOOPEN, _NODEFLIB, _PIE = 0x40, 0x800, 0x08000000
_T = TypeVar("_T")


class UnusualError(Exception):
    """The bytes are no linker's usual output; `flaw` is what they are if nobody can read them."""

    def __init__(self, flaw: Flaw = Flaw.DAMAGED) -> None:
        super().__init__(flaw)
        self.flaw = flaw


class EndlessError(UnusualError):
    """Nobody can tell from the file alone what the loader makes of it."""


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int  # in the file


class Image(NamedTuple):
    """An open object whose header and segments hold water."""

    handle: int
    size: int
    head: bytes
    abi: Abi
    type: int
    segments: tuple[Segment, ...]

    def bytes_at(self, offset: int, length: int) -> bytes:
        if offset + length <= len(self.head):
            return self.head[offset : offset + length]
        if offset >= self.size:
            raise UnusualError(Flaw.CUT_OFF)
        return os.pread(self.handle, min(length, self.size - offset), offset)

    def offset_of(self, address: int) -> int:
        """Where in the file the loader finds what it reads at `address`."""
        for segment in self.segments:
            if segment.kind == _PT_LOAD and 0 <= address - segment.address < segment.size:
                return address - segment.address + segment.offset
        raise UnusualError


class _Layout(NamedTuple):
    """Formats that follow from EI_CLASS and EI_DATA."""

    header: Struct
    segment: Struct
    entry: Struct


def _layouts() -> dict[tuple[int, int], _Layout]:
    return {
        (bits, data): _Layout(*(Struct(order + text) for text in texts))
        for data, order in ((1, "<"), (2, ">"))
        for bits, texts in ((2, ("HHIQQQIHHH", "IIQQQQQQ", "QQ")), (1, ("HHIIIIIHHH", "IIIIIIII", "II")))
    }


_LAYOUTS = _layouts()


def read(path: str) -> Elf | Flaw:
    """The dynamic section of the object at `path`, a path of this host; of any machine, never blocking."""
    return opened(path, _elf)


def opened(path: str, made: Callable[[int], _T | Flaw]) -> _T | Flaw:
    """What `made` makes of the file at `path`, a path of this host."""
    try:
        handle = tree.handle(path)
    except OSError as error:
        return flaw_of(error)
    except ValueError:  # a NUL byte, which no file name holds
        return Flaw.MISSING
    try:
        return made(handle)
    except OSError as error:
        return flaw_of(error)
    finally:
        os.close(handle)


def _elf(handle: int) -> Elf | Flaw:
    try:
        image = open_image(handle)
        value = image if isinstance(image, Flaw) else _dynamic_section(image)
    except EndlessError as endless:
        value = endless.flaw
    except UnusualError as unusual:
        from safepip.reading.elf_files import elf_library

        value = elf_library.read(handle) or unusual.flaw
    nameless = isinstance(value, Elf) and "" in (
        *value.needed,
        *value.filters,
    )  # a string table full of zeros
    return Flaw.DAMAGED if nameless else value


def flaw_of(error: OSError) -> Flaw:
    return _OF_ERROR.get(error.errno or 0, Flaw.DAMAGED)


def open_image(handle: int) -> Image | Flaw:
    """Header and segments, checked in the order of glibc's open_verify (elf/dl-load.c)."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        return Flaw.FOLDER if stat.S_ISDIR(status.st_mode) else Flaw.NOT_REGULAR
    head = os.pread(handle, _HEAD, 0)
    if len(head) < 64:
        return Flaw.TOO_SHORT
    flaw = _identity_flaw(head)
    if flaw:
        return flaw
    layout = _LAYOUTS[head[4], head[5]]
    kind, machine, version, _, start, _, _, _, width, count = layout.header.unpack_from(head, 16)
    if version != 1:
        return Flaw.WRONG_ORDER if version == 1 << 24 else Flaw.NOT_ELF
    if kind not in (2, 3):
        return Flaw.WRONG_TYPE
    if width != layout.segment.size or count == 0xFFFF:
        raise UnusualError
    if start + width * count > status.st_size:
        return Flaw.CUT_OFF
    end = start + width * count
    table = head[start:end] if end <= len(head) else os.pread(handle, width * count, start)
    if len(table) < width * count:
        return Flaw.CUT_OFF
    abi = Abi(head[4] * 32, head[5] == 1, machine)
    segments = _segments(layout.segment.iter_unpack(table), abi.bits)
    for segment in segments:
        if segment.kind == _PT_LOAD and segment.offset + segment.size > status.st_size:
            return Flaw.CUT_OFF  # mapped all the same, and then SIGBUS ends the process
    return Image(handle, status.st_size, head, abi, kind, segments)


def _identity_flaw(head: bytes) -> Flaw | None:
    if head[:4] != b"\x7fELF":
        return Flaw.NOT_ELF
    if head[4] not in (1, 2):
        return Flaw.WRONG_CLASS
    if head[5] not in (1, 2):
        return Flaw.WRONG_ORDER
    if head[6] != 1 or head[9:16] != _PADDING:
        return Flaw.NOT_ELF
    system_v, gnu = head[7] == 0, head[7] == 3
    if not (system_v or gnu):
        return Flaw.WRONG_ABI
    if head[8] and not (gnu and head[8] < 4):
        return Flaw.WRONG_ABI_VERSION
    return None


def _segments(rows: Iterable[tuple[int, ...]], bits: int) -> tuple[Segment, ...]:
    """Those that matter here, each in the order of its fields."""
    if bits == 64:
        return tuple([Segment(row[0], row[2], row[3], row[5]) for row in rows if 0 < row[0] <= _PT_NOTE])
    return tuple([Segment(row[0], row[1], row[2], row[4]) for row in rows if 0 < row[0] <= _PT_NOTE])


def dynamic_entries(image: Image) -> list[tuple[int, int]] | None:
    """Tags and values up to DT_NULL; None: no dynamic section."""
    segment = next((s for s in reversed(image.segments) if s.kind == _PT_DYNAMIC), None)
    if segment is None or not segment.size:
        return None
    if image.offset_of(segment.address) != segment.offset:
        raise UnusualError
    entry = _LAYOUTS[image.abi.bits // 32, 1 if image.abi.little_endian else 2].entry
    for most in (2048, _DYNAMIC_MOST):
        data = image.bytes_at(segment.offset, min(segment.size, most))
        entries: list[tuple[int, int]] = []
        for row in entry.iter_unpack(data[: len(data) // entry.size * entry.size]):
            if not row[0]:
                return entries
            entries.append(row)
        if segment.size <= most:
            break
    raise EndlessError  # no DT_NULL: the loader reads on into whatever it has mapped behind


def _dynamic_section(image: Image) -> Elf:
    interpreter = next((s for s in image.segments if s.kind == _PT_INTERP), None)
    program = interpreter and _text(image.bytes_at(interpreter.offset, min(interpreter.size, 4096)))
    entries = dynamic_entries(image)
    if entries is None:
        return Elf(image.abi, image.type, interpreter=program, dynamic=False)
    values = dict(entries)  # of a tag that stands twice, the last counts: elf_get_dynamic_info
    if _STRTAB not in values:
        raise UnusualError
    texts = strings(image, values, [value for tag, value in entries if tag in _TEXTS])
    flags = values.get(_FLAGS_1, 0)

    def text(tag: int) -> str | None:
        return texts[values[tag]] if tag in values else None

    def every(tag: int) -> tuple[str, ...]:
        if tag not in values:
            return ()
        return tuple([texts[value] for name, value in entries if name == tag])

    return Elf(
        image.abi,
        image.type,
        soname=text(_SONAME),
        interpreter=program,
        needed=every(_NEEDED),
        rpath=text(_RPATH),
        runpath=text(_RUNPATH),
        nodeflib=bool(flags & _NODEFLIB),
        noopen=bool(flags & _NOOPEN),
        pie=bool(flags & _PIE),
        filters=every(_FILTER),
        auxiliaries=every(_AUXILIARY),
    )


def strings(image: Image, values: dict[int, int], offsets: list[int]) -> dict[int, str]:
    """The strings at `offsets` of the dynamic string table, read in as few pieces as they lie in."""
    found: dict[int, str] = {}
    if not offsets:
        return found
    base, limit = image.offset_of(values.get(_STRTAB, 0)), values.get(_STRSZ, 0)
    if base + limit > image.size or max(offsets) >= limit:
        raise UnusualError
    start, piece = 0, b""
    for offset in sorted(set(offsets)):
        end = piece.find(b"\0", offset - start)
        if end < 0 or offset - start > len(piece):
            start, piece, end = offset, *_piece(image, base + offset, limit - offset)
        found[offset] = os.fsdecode(piece[offset - start : end])
    return found


def _piece(image: Image, offset: int, most: int) -> tuple[bytes, int]:
    for length in (1024, _STRING_MOST):
        piece = image.bytes_at(offset, min(length, most))
        end = piece.find(b"\0")
        if end >= 0:
            return piece, end
    raise UnusualError


def _text(data: bytes) -> str:
    return os.fsdecode(data.split(b"\0", 1)[0])
