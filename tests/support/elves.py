"""Real objects for the real loader: written byte by byte, so that no linker decides what stands in them."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from struct import pack

import pytest

from safepip.model.elf import Elf, Flaw
from safepip.model.environment import Libc
from support.fake_world import Broken, Content, HardLink, Link

MUSL_LOADER = Path("/lib/ld-musl-x86_64.so.1")
_GNU_STACK = 0x6474E551
_DT_NULL, _DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT = 0, 1, 4, 5, 6, 10, 11
_DT_SONAME, _DT_RPATH, _DT_RUNPATH = 14, 15, 29
_DT_FLAGS_1, _DT_AUXILIARY, _DT_FILTER = 0x6FFFFFFB, 0x7FFFFFFD, 0x7FFFFFFF

PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>
int main(int c, char **v) {
  struct link_map *m, *last = 0;
  void *self = dlopen(0, RTLD_LAZY);
  dlinfo(self, RTLD_DI_LINKMAP, &m);
  for (; m; last = m, m = m->l_next) printf("start %s\n", m->l_name);
  while (*++v) if (!dlopen(*v, RTLD_NOW)) printf("ERR %s\n", dlerror());
  for (m = last->l_next; m; m = m->l_next) printf("%s\n", m->l_name);
  return 0;
}
"""


def write(elf: Elf) -> bytes:
    """A shared object with exactly this dynamic section, and one empty symbol table."""
    strings = bytearray(b"\0")

    def at(text: str) -> int:
        strings.extend(os.fsencode(text) + b"\0")
        return len(strings) - len(os.fsencode(text)) - 1

    tags = [(_DT_NEEDED, at(name)) for name in elf.needed]
    tags += [(_DT_FILTER, at(name)) for name in elf.filters]
    tags += [(_DT_AUXILIARY, at(name)) for name in elf.auxiliaries]
    for tag, text in ((_DT_SONAME, elf.soname), (_DT_RPATH, elf.rpath), (_DT_RUNPATH, elf.runpath)):
        if text is not None:
            tags.append((tag, at(text)))
    flags = elf.noopen * 0x40 | elf.nodeflib * 0x800 | elf.pie * 0x08000000
    if flags:
        tags.append((_DT_FLAGS_1, flags))
    return _assemble(elf, tags, bytes(strings))


def _assemble(elf: Elf, tags: list[tuple[int, int]], strings: bytes) -> bytes:
    wide = elf.abi.bits == 64
    order = "<" if elf.abi.little_endian else ">"
    header, segment, entry, symbol = (64, 56, 16, 24) if wide else (52, 32, 8, 16)
    count = 4 if elf.interpreter else 3
    dynamic = header + count * segment
    table = dynamic + entry * (len(tags) + 6)
    symbols = (table + len(strings) + 7) & ~7
    hashes = symbols + symbol
    end = hashes + 16
    tags = [
        *tags, (_DT_STRTAB, table), (_DT_STRSZ, len(strings)), (_DT_SYMTAB, symbols),
        (_DT_SYMENT, symbol), (_DT_HASH, hashes), (_DT_NULL, 0),
    ]  # fmt: skip
    identity = bytes([0x7F, *b"ELF", 2 if wide else 1, 1 if elf.abi.little_endian else 2, 1]) + bytes(9)
    words = "QQQ" if wide else "III"
    head = identity + pack(
        f"{order}HHI{words}IHHHHHH",
        elf.type, elf.abi.machine, 1, 0, header, 0, 0, header, segment, count, 0, 0, 0,
    )  # fmt: skip
    program = os.fsencode(elf.interpreter or "") + b"\0"
    places = [(1, 0, end, 4096), (2 if elf.dynamic else 0, dynamic, entry * len(tags), 8)]
    places.append((_GNU_STACK, 0, 0, 16))  # without it glibc 2.41 takes the stack to be asked for as code
    if elf.interpreter:
        places.append((3, end, len(program), 1))
    segments = b"".join(
        pack(f"{order}IIQQQQQQ", kind, 6, start, start, start, size, size, align)
        if wide
        else pack(f"{order}8I", kind, start, start, start, size, size, 6, align)
        for kind, start, size, align in places
    )
    body = b"".join(pack(order + ("qQ" if wide else "iI"), *tag) for tag in tags) + strings
    hash_table = pack(f"{order}IIII", 1, 1, 0, 0)
    return (
        (head + segments + body).ljust(symbols, b"\0")
        + bytes(symbol)
        + hash_table
        + (program if elf.interpreter else b"")
    )


def moved(files: Mapping[str, Content], root: str) -> dict[str, Content]:
    """`files` below `root`, and `@` in what they say replaced by it."""
    return {f"{root}/{path}": _moved(content, root) for path, content in files.items()}


def at_home(elf: Elf, root: str) -> Elf:
    return replace(
        elf,
        needed=tuple(name.replace("@", root) for name in elf.needed),
        rpath=elf.rpath and elf.rpath.replace("@", root),
        runpath=elf.runpath and elf.runpath.replace("@", root),
    )


def _moved(content: Content, root: str) -> Content:
    if isinstance(content, Elf):
        return at_home(content, root)
    if isinstance(content, Link):
        return Link(content.target.replace("@", root))
    return HardLink(f"{root}/{content.path}") if isinstance(content, HardLink) else content


def lay_out(files: Mapping[str, Content]) -> None:
    """Make the files for real."""
    for path, content in sorted(files.items(), key=lambda item: isinstance(item[1], HardLink)):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        match content:
            case Elf():
                Path(path).write_bytes(write(content))
            case bytes():
                Path(path).write_bytes(content)
            case Broken(data, _):
                Path(path).write_bytes(data)
            case Link(target):
                Path(path).symlink_to(target)
            case HardLink(other):
                Path(path).hardlink_to(other)
            case Flaw.FOLDER:
                Path(path).mkdir()
            case Flaw():
                raise NotImplementedError(content)


def program_at(path: Path, libc: Libc, main: Elf) -> None:
    """A program that opens its argument, with the search lists and needs of `main`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = []
    if main.rpath is not None:
        flags.append(f"-Wl,--disable-new-dtags,-rpath,{main.rpath}")
    if main.runpath is not None:
        flags.append(f"-Wl,--enable-new-dtags,-rpath,{main.runpath}")
    shutil.copy(_compiled(libc, tuple(flags), main.needed), path)


@functools.cache
def _compiled(libc: Libc, flags: Sequence[str], needs: Sequence[str]) -> Path:
    compiler = "musl-gcc" if libc is Libc.MUSL else "cc"
    if not shutil.which(compiler) or (libc is Libc.MUSL and not MUSL_LOADER.exists()):
        pytest.skip(f"needs {compiler} and its loader")
    folder = Path(tempfile.mkdtemp(prefix="safepip-test-"))
    (folder / "main.c").write_text(PROGRAM)
    (folder / "stub.c").write_text("")
    for name in needs:
        stub = [compiler, "-shared", f"-Wl,-soname,{name}", "-o", f"{folder}/{name}", f"{folder}/stub.c"]
        subprocess.run(stub, check=True)
    subprocess.run(
        [
            compiler, "-o", f"{folder}/main", f"{folder}/main.c", *flags,
            "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", f"-L{folder}", *(f"-l:{n}" for n in needs), "-ldl",
        ],
        check=True,
    )  # fmt: skip
    return folder / "main"


def run(
    program: Path,
    root: Path | None,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    around: Sequence[str] = (),
    first: Sequence[Path] = (),
) -> str:
    """What the real loader said when `root` was opened after `first`: lines of paths and one of an error."""
    opened = [str(path) for path in (*first, root) if path is not None]
    done = subprocess.run(
        [*around, str(program), *opened],
        env={"PATH": os.environ["PATH"], **environ},
        cwd=cwd,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    return done.stdout + done.stderr


def compile_lib(
    path: Path,
    source: str,
    *,
    versions: str = "",
    needs: Sequence[Path] = (),
    flags: Sequence[str] = (),
    libc: Libc = Libc.GLIBC,
) -> Path:
    """A shared object from C, its file name as SONAME; `versions` is a linker's version script."""
    compiler = "musl-gcc" if libc is Libc.MUSL else "cc"
    if not shutil.which(compiler):
        pytest.skip(f"needs {compiler}")
    path.parent.mkdir(parents=True, exist_ok=True)
    code = path.with_suffix(".c")
    code.write_text(source)
    extra = list(flags)
    if versions:
        path.with_suffix(".map").write_text(versions)
        extra.append(f"-Wl,--version-script={path.with_suffix('.map')}")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(path), str(code), f"-Wl,-soname,{path.name}", "-Wl,--no-as-needed",
         *extra, *(str(need) for need in needs)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return path
