"""pyelftools, the library of record, for objects that the lean reader finds unusual."""

from __future__ import annotations

import os
from typing import IO, Any, Literal

from safepip.model.elf import Abi, Elf

_ENTRIES_MOST = 4096
_HEADERS_MOST = 4096  # pyelftools walks every section for each dynamic segment
_NOOPEN, _NODEFLIB, _PIE = 0x40, 0x800, 0x08000000


def read(handle: int) -> Elf | None:
    """The Elf value of an open object; None where pyelftools cannot read it either."""
    with os.fdopen(os.dup(handle), "rb") as stream:
        stream.seek(0)
        try:
            return _elf(stream)
        except Exception:  # noqa: BLE001  damaged bytes make pyelftools and construct raise nearly anything
            return None


def _elf(stream: IO[bytes]) -> Elf | None:
    from elftools.elf.elffile import ELFFile

    file = ELFFile(stream)
    if file["e_shnum"] > _HEADERS_MOST or file["e_phnum"] > _HEADERS_MOST:
        return None
    segments: list[Any] = list(file.iter_segments())
    program = next((_text(stream, s["p_offset"]) for s in segments if s["p_type"] == "PT_INTERP"), None)
    dynamic = next((s for s in reversed(segments) if s["p_type"] == "PT_DYNAMIC"), None)
    order: Literal["little", "big"] = "little" if file.little_endian else "big"
    head = os.pread(stream.fileno(), 4, 16)
    kind, machine = int.from_bytes(head[:2], order), int.from_bytes(head[2:], order)
    abi = Abi(file.elfclass, file.little_endian, machine)
    if dynamic is None:
        return Elf(abi, kind, interpreter=program, dynamic=False)
    return _dynamic_section(stream, Elf(abi, kind, interpreter=program), dynamic)


def _dynamic_section(stream: IO[bytes], bare: Elf, dynamic: Any) -> Elf | None:
    entries = []
    for tag in dynamic.iter_tags():
        entries.append((str(tag.entry.d_tag), int(tag.entry.d_val)))
        if len(entries) > _ENTRIES_MOST:
            return None
    _, strings = dynamic.get_table_offset("DT_STRTAB")
    if strings is None:
        return None
    values = dict(entries)
    flags = values.get("DT_FLAGS_1", 0)

    def text(tag: str) -> str | None:
        return _text(stream, strings + values[tag]) if tag in values else None

    def every(tag: str) -> tuple[str, ...]:
        return tuple(_text(stream, strings + value) for name, value in entries if name == tag)

    return Elf(
        bare.abi,
        bare.type,
        soname=text("DT_SONAME"),
        interpreter=bare.interpreter,
        needed=every("DT_NEEDED"),
        rpath=text("DT_RPATH"),
        runpath=text("DT_RUNPATH"),
        nodeflib=bool(flags & _NODEFLIB),
        noopen=bool(flags & _NOOPEN),
        pie=bool(flags & _PIE),
        filters=every("DT_FILTER"),
        auxiliaries=every("DT_AUXILIARY"),
    )


def _text(stream: IO[bytes], offset: int) -> str:
    """A string as the system decodes file names; pyelftools' own decoding loses what is no UTF-8."""
    from elftools.common.utils import parse_cstring_from_stream

    text = parse_cstring_from_stream(stream, offset)
    if text is None:
        raise ValueError(offset)
    return os.fsdecode(text)
