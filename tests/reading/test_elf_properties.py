"""The lean reader against the library of record, and against bytes that no linker wrote."""

from __future__ import annotations

import os
import random
import signal
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from safepip.model.elf import Definitions, Elf, Flaw, Undefined
from safepip.reading.elf_files import elf, elf_library, elf_lookup, elf_pieces, elf_symbols
from support.elves import write
from support.fake_world import lib

FOLDERS = [sysconfig.get_path(name) for name in ("stdlib", "platlib")]
FOLDERS += ["/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-musl", "/usr/lib64"]
MUTANTS = int(os.environ.get("SAFEPIP_MUTANTS", "20000"))
NAMES = ("PyInit_math", "malloc", "sqrt")
SEED_MOST = 1 << 16  # bytes: larger seeds teach nothing and cost writing time


def objects(*folders: str) -> Iterator[str]:
    for folder in folders or FOLDERS:
        for parent, _, names in os.walk(folder):
            for name in names:
                path = f"{parent}/{name}"
                if ".so" in name and os.path.isfile(path) and not os.path.islink(path):
                    yield path


def by_library(path: str) -> Elf | None:
    handle = os.open(path, os.O_RDONLY)
    try:
        return elf_library.read(handle)
    finally:
        os.close(handle)


def test_the_lean_reader_equals_pyelftools_on_every_object_around() -> None:
    found = {path: elf.read(path) for path in objects()}
    elves = {path: value for path, value in found.items() if isinstance(value, Elf)}
    assert len(elves) > 20
    assert elves == {path: by_library(path) for path in elves}


def test_a_look_up_by_hash_finds_what_a_walk_of_the_whole_table_finds_in_every_object_around() -> None:
    compared = 0
    for path in [*objects(*FOLDERS[:2], FOLDERS[3]), *sorted(objects(FOLDERS[2]))[::20]]:
        handle = os.open(path, os.O_RDONLY)
        try:
            image = elf.open_image(handle)
            pieces = image if isinstance(image, Flaw) else elf_pieces.of(image)
            if isinstance(pieces, elf_pieces.Pieces):
                walked = set(elf_symbols.walk(pieces, None))
                assert walked == found(pieces, walked), path
                compared += len(walked)
        finally:
            os.close(handle)
    assert compared > 1000


def found(pieces: elf_pieces.Pieces, walked: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """By each table that the object has; names that it has not are among those asked for."""
    names = [name for _, name in walked] + [f"{name}_of_nobody" for _, name in walked]
    tables = pieces.values
    ways = [{tag for tag in tables if tag != other} for other in (elf_pieces.HASH, elf_pieces.GNU_HASH)]
    every = list[set[tuple[int, str]]]()
    for way in ways:
        if {elf_pieces.HASH, elf_pieces.GNU_HASH} & way:
            asked = elf_pieces.Pieces(pieces.image, {tag: tables[tag] for tag in way})
            every.append(
                {(at, name) for at, name in elf_lookup.find(asked, names) if asked.symbol(at).section}
            )
    return every[0] & every[-1]


def mutant(seed: bytes, dice: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(dice.randint(1, 4)):
        where = dice.choice(
            (dice.randrange(64), dice.randrange(len(data)), dice.randrange(min(len(data), 2048)))
        )
        where = min(where, len(data) - 1)
        match dice.randrange(5):
            case 0:
                del data[max(where, 1) :]
            case 1:
                data[where] ^= 1 << dice.randrange(8)
            case 2:
                data[where : where + dice.choice((1, 8, 64, 1024))] = bytes(8)
            case 3:
                data[where : where + 8] = dice.choice(
                    (b"\xff" * 8, b"\x7f" + b"\xff" * 7, bytes(4) + b"\xff" * 4)
                )
            case _:
                data[where : where + 4] = dice.randbytes(4)
    return bytes(data)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """A loop without end would hold up everything: end it with a name."""

    def ring(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("part", range(4))
def test_no_damage_makes_the_reader_raise_or_loop(part: int) -> None:
    dice = random.Random(part)
    small = [p for p in objects() if os.path.getsize(p) <= SEED_MOST]
    seeds = [Path(path).read_bytes() for path in dice.sample(sorted(small), 8)]
    seeds += [write(lib("libz.so.1", needs=["liba.so", "libb.so"], rpath="$ORIGIN", runpath="/opt"))] * 8
    handle = os.memfd_create("mutant")
    path = f"/proc/self/fd/{handle}"
    kinds = set[str]()
    for number in range(MUTANTS // 4):
        data = mutant(dice.choice(seeds), dice)
        os.ftruncate(handle, 0)
        os.pwrite(handle, data, 0)
        with within(30):
            value, asks = elf.read(path), elf_symbols.read_undefined(path)
            gives = elf_symbols.read_definitions(path, NAMES)
        assert isinstance(value, Elf | Flaw), (part, number)
        assert isinstance(asks, Undefined | Flaw), (part, number)
        assert isinstance(gives, Definitions | Flaw), (part, number)
        kinds.add(value.name if isinstance(value, Flaw) else "read")
    os.close(handle)
    assert kinds > {"read", "CUT_OFF", "DAMAGED", "NOT_ELF"}
