"""Names of libraries in an object's bytes, where a program would find them to open at run time."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from safepip.reading.elf_files import elf_hints
from support.elves import compile_lib, write
from support.fake_world import lib

OPENS = """
const char *table[] = {"libnone.so.9", "libzlike.so", "not a libx.so.1 here", "libbad name.so", "x/libpath.so.2"};
const char *pick(int i) { return i < 0 ? "libpicked-1.so.10.2" : table[i]; }
"""
NOTE = """
__asm__(".pushsection .note.dlopen,\\"a\\",%note\\n.align 4\\n.long 4, 2f-1f, 0x407c0c0a\\n.asciz \\"FDO\\"\\n"
        "1: .asciz \\"{}\\"\\n2: .align 4\\n.popsection");
"""


def test_whole_strings_of_a_library_s_form_are_hints_and_needs_are_not(tmp_path: Path) -> None:
    needed = compile_lib(tmp_path / "libneeded.so.1", "int f(void) { return 1; }")
    path = compile_lib(tmp_path / "libopens.so", OPENS, needs=[needed])
    assert elf_hints.read(str(path)) == {"libnone.so.9", "libzlike.so", "libpicked-1.so.10.2"}


def test_without_section_headers_the_names_of_needs_are_still_no_hints(tmp_path: Path) -> None:
    strip = shutil.which("objcopy")
    if not strip:
        pytest.skip("needs objcopy")
    needed = compile_lib(tmp_path / "libneeded.so.1", "int f(void) { return 1; }")
    path = compile_lib(tmp_path / "libopens.so", OPENS, needs=[needed])
    data = bytearray(path.read_bytes())
    data[40:48], data[58:64] = bytes(8), bytes(6)
    path.write_bytes(data)
    assert elf_hints.read(str(path)) == {"libnone.so.9", "libzlike.so", "libpicked-1.so.10.2"}


def test_the_note_on_dlopen_lists_what_may_be_opened(tmp_path: Path) -> None:
    features = [
        {"feature": "x", "priority": "suggested", "soname": ["libnoted.so.2", "libnoted.so.1"]},
        {"soname": ["libother.so"]},
    ]
    text = json.dumps(features).replace('"', '\\\\\\"')
    path = compile_lib(tmp_path / "libnotes.so", NOTE.replace("{}", text))
    assert elf_hints.read(str(path)) == {"libnoted.so.2", "libnoted.so.1", "libother.so"}


def test_a_name_across_two_pieces_is_found(tmp_path: Path) -> None:
    filler = elf_hints._PIECE - 7  # noqa: SLF001
    source = f'const char text[] = "{"x" * 40}\\0"; const char wide[{filler}] = {{1}};\n'
    names = "".join(f'const char n{i}[] = "libname{i}.so.{i}";\n' for i in range(40))
    path = compile_lib(tmp_path / "libwide.so", source + names)
    assert elf_hints.read(str(path)) == {f"libname{i}.so.{i}" for i in range(40)}


def test_what_is_no_object_or_is_damaged_hints_at_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("libtext.so.1\0" * 9)
    assert elf_hints.read(f"{tmp_path}/text") == elf_hints.read(f"{tmp_path}/gone") == frozenset()
    dice = random.Random(3)
    seed = write(lib("libz.so.1", needs=["liba.so"]))
    seeds = [seed]
    if shutil.which("cc"):
        seeds.append(compile_lib(tmp_path / "libopens.so", OPENS).read_bytes())
    for _ in range(2000):
        data = bytearray(dice.choice(seeds))
        for _ in range(3):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (tmp_path / "mutant").write_bytes(data)
        assert isinstance(elf_hints.read(f"{tmp_path}/mutant"), frozenset)


def test_a_real_library_names_what_it_opens() -> None:
    libc = "/lib/x86_64-linux-gnu/libc.so.6"
    if not Path(libc).exists():
        pytest.skip("needs Debian's libc")
    assert "libgcc_s.so.1" in elf_hints.read(libc)  # for pthread_cancel and backtrace
    assert subprocess.run(["grep", "-q", "libgcc_s.so.1", libc], check=False).returncode == 0
