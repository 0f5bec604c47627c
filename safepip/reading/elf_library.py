"""pyelftools, the library of record, for objects that the lean reader finds unusual."""

from __future__ import annotations

import os
from typing import IO, Any

from safepip.model.elf import Abi, Elf

_ENTRIES_MOST = 4096
_SECTIONS_MOST = 4096  # pyelftools walks them all for each dynamic segment
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
    if file["e_shnum"] > _SECTIONS_MOST or file["e_phnum"] > _SECTIONS_MOST:
        return None
    machine = int.from_bytes(_header(stream, 18, 2), "little" if file.little_endian else "big")
    kind = int.from_bytes(_header(stream, 16, 2), "little" if file.little_endian else "big")
    abi = Abi(file.elfclass, file.little_endian, machine)
    segments: list[Any] = list(file.iter_segments())
    program = next((_text(s.get_interp_name()) for s in segments if s["p_type"] == "PT_INTERP"), None)
    dynamic = next((s for s in reversed(segments) if s["p_type"] == "PT_DYNAMIC"), None)
    if dynamic is None:
        return Elf(abi, kind, interpreter=program, dynamic=False)
    return _dynamic_section(abi, kind, program, dynamic)


def _dynamic_section(abi: Abi, kind: int, program: str | None, dynamic: Any) -> Elf | None:
    single: dict[str, Any] = {}
    several: dict[str, list[str]] = {}
    for count, tag in enumerate(dynamic.iter_tags()):
        if count > _ENTRIES_MOST:
            return None
        single[str(tag.entry.d_tag)] = tag
        for name in ("needed", "filter", "auxiliary"):
            if tag.entry.d_tag == f"DT_{name.upper()}":
                text = _text(getattr(tag, name)) if hasattr(tag, name) else _at(dynamic, tag)
                several.setdefault(name, []).append(text)
    flags = single["DT_FLAGS_1"].entry.d_val if "DT_FLAGS_1" in single else 0
    return Elf(
        abi,
        kind,
        soname=_text(single["DT_SONAME"].soname) if "DT_SONAME" in single else None,
        interpreter=program,
        needed=tuple(several.get("needed", ())),
        rpath=_text(single["DT_RPATH"].rpath) if "DT_RPATH" in single else None,
        runpath=_text(single["DT_RUNPATH"].runpath) if "DT_RUNPATH" in single else None,
        nodeflib=bool(flags & _NODEFLIB),
        noopen=bool(flags & _NOOPEN),
        pie=bool(flags & _PIE),
        filters=tuple(several.get("filter", ())),
        auxiliaries=tuple(several.get("auxiliary", ())),
    )


def _at(dynamic: Any, tag: Any) -> str:
    """A string whose tag pyelftools does not resolve by itself."""
    return _text(dynamic._stringtable.get_string(tag.entry.d_val))  # noqa: SLF001


def _text(value: str) -> str:
    """As the system decodes file names: pyelftools decodes UTF-8 with surrogate escapes."""
    return os.fsdecode(value.encode("utf-8", "surrogateescape"))


def _header(stream: IO[bytes], offset: int, length: int) -> bytes:
    return os.pread(stream.fileno(), length, offset)
