"""One file into one Elf value, whatever machine it is for and whatever has happened to it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from struct import pack_into, unpack_from

import pytest

from safepip.model.elf import Abi, Definitions, Elf, Flaw, Symbol
from safepip.reading.elf_files import elf, elf_library, elf_pieces, elf_symbols
from support import elves
from support.elves import write
from support.fake_world import lib

SEARCHING = lib(
    "libz.so.1", needs=["liba.so", "libb.so.2"], rpath="$ORIGIN/../z.libs", runpath="/opt:$ORIGIN"
)
GOOD = write(SEARCHING)


def put(folder: Path, data: bytes) -> str:
    path = folder / "object.so"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize(
    "value",
    [
        SEARCHING,
        lib(),
        lib("libnothing.so"),
        lib(needs=[f"lib{i}.so" for i in range(300)]),
        lib("", runpath=""),
        lib("lib\udcff\udcfe.so", needs=["libü.so"]),
        lib("liblong.so", rpath=":".join(f"/very/long/folder/{i}" for i in range(1500))),
        replace(lib(nodeflib=True, noopen=True), pie=True),
        replace(lib(), filters=("libf.so",), auxiliaries=("liba.so", "libb.so")),
        replace(lib(), type=2),
    ],
    ids=lambda value: str(value.soname)[:12] if isinstance(value, Elf) else None,
)
def test_what_a_linker_says_is_read_back(
    tmp_path: Path, value: Elf, bits: int, *, little_endian: bool
) -> None:
    value = replace(value, abi=Abi(bits, little_endian, 40))
    assert value == elf.read(put(tmp_path, write(value)))


def test_of_a_tag_that_stands_twice_the_last_counts(tmp_path: Path) -> None:
    data = GOOD.replace(b"\x0f" + bytes(7), b"\x1d" + bytes(7), 1)  # DT_RPATH becomes a second DT_RUNPATH
    assert replace(SEARCHING, rpath=None) == elf.read(put(tmp_path, data))


@pytest.mark.parametrize(
    ("flaw", "data"),
    [
        (Flaw.TOO_SHORT, b""),
        (Flaw.TOO_SHORT, b"\x7fELF"),
        (Flaw.TOO_SHORT, b"GROUP ( libz.so.1 )"),
        (Flaw.NOT_ELF, b"#!/bin/sh\n" * 20),
        (Flaw.NOT_ELF, GOOD[:6] + b"\x02" + GOOD[7:]),
        (Flaw.NOT_ELF, GOOD[:9] + b"\x01" + GOOD[10:]),
        (Flaw.WRONG_CLASS, GOOD[:4] + b"\x07" + GOOD[5:]),
        (Flaw.WRONG_ORDER, GOOD[:5] + b"\x02" + GOOD[6:]),
        (Flaw.WRONG_ABI, GOOD[:7] + b"\x09" + GOOD[8:]),
        (Flaw.WRONG_ABI_VERSION, GOOD[:8] + b"\x01" + GOOD[9:]),
        (Flaw.WRONG_TYPE, write(replace(SEARCHING, type=1))),
        (Flaw.WRONG_TYPE, write(replace(SEARCHING, type=4))),
        (Flaw.CUT_OFF, GOOD[:100]),
        (Flaw.CUT_OFF, GOOD[:-1]),
        (Flaw.DAMAGED, GOOD[:64] + bytes(len(GOOD) - 64)),
        (Flaw.DAMAGED, GOOD.replace(b"liba.so\0libb.so.2\0", bytes(18))),
        (Flaw.DAMAGED, write(replace(SEARCHING, filters=("",)))),  # which glibc takes for the program itself
    ],
)
def test_a_file_that_is_no_object_says_why(tmp_path: Path, flaw: Flaw, data: bytes) -> None:
    found = elf.read(put(tmp_path, data))
    assert flaw == found or (flaw is Flaw.DAMAGED and found == Elf(SEARCHING.abi, 3, dynamic=False))


def test_a_missing_file_a_folder_and_a_pipe_are_told_apart_and_none_blocks(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("text")
    os.mkfifo(tmp_path / "pipe")
    found = {
        name: elf.read(f"{tmp_path}/{name}")
        for name in ("gone", "", "pipe", "loop", "file/below", "x" * 300, "nul\0")
    }
    assert found == {
        "gone": Flaw.MISSING,
        "": Flaw.FOLDER,
        "pipe": Flaw.NOT_REGULAR,
        "loop": Flaw.LOOP,
        "file/below": Flaw.NOT_A_FOLDER,
        "x" * 300: Flaw.NAME_TOO_LONG,
        "nul\0": Flaw.MISSING,
    }
    assert elf.read("/dev/null") == Flaw.NOT_REGULAR


def test_a_string_that_lies_past_the_table_is_read_by_pyelftools(tmp_path: Path) -> None:
    """The loader does not look at DT_STRSZ either."""
    size = GOOD.index(b"\x0a" + bytes(7)) + 8
    short = GOOD[:size] + (1).to_bytes(8, "little") + GOOD[size + 8 :]
    path = put(tmp_path, short)
    handle = os.open(path, os.O_RDONLY)
    try:
        assert elf_library.read(handle) == SEARCHING
    finally:
        os.close(handle)
    assert elf.read(path) == SEARCHING


def test_a_hash_table_without_buckets_or_with_chains_in_a_circle_is_left_for_a_walk(tmp_path: Path) -> None:
    source, flags = "int one(void) { return 1; }", ["-Wl,--hash-style=sysv"]
    path = elves.compile_lib(tmp_path / "libz.so", source, flags=flags)
    good, whole = path.read_bytes(), elf_symbols.read_definitions(str(path), ["one", "two"])
    assert isinstance(whole, Definitions)
    assert whole.symbols == {Symbol("one", "")}
    start = hash_table(path)
    buckets, count = unpack_from("<II", good, start)
    for at, words in ((start, [0]), (start + 8 + 4 * buckets, range(count))):
        data = bytearray(good)
        pack_into(f"<{len(words)}I", data, at, *words)
        path.write_bytes(data)
        assert elf_symbols.read_definitions(str(path), ["one", "two"]) == whole


def hash_table(path: Path) -> int:
    """Where it lies in the file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        image = elf.open_image(handle)
        assert not isinstance(image, Flaw)
        pieces = elf_pieces.of(image)
        assert not isinstance(pieces, Flaw)
        return pieces.offset(elf_pieces.HASH)
    finally:
        os.close(handle)
