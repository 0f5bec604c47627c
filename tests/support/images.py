"""A small image, as a container's layers leave it: an interpreter, its loader and its standard library, nothing that could run."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from safepip.model.elf import Abi
from support.elves import write
from support.fake_world import X86_64, lib, program
from support.sandbox import Run, run
from support.wheels import Contents, install

LOADER = "/lib64/ld-linux-x86-64.so.2"
I386 = Abi(32, little_endian=True, machine=3)
AARCH64 = Abi(64, little_endian=True, machine=183)
S390X = Abi(64, little_endian=False, machine=22)
NAMES = {X86_64: "x86_64-linux-gnu", AARCH64: "aarch64-linux-gnu", S390X: "s390x-linux-gnu"}
LOADERS = {
    X86_64: LOADER,
    AARCH64: "/lib/ld-linux-aarch64.so.1",
    S390X: "/lib/ld64.so.1",
    I386: "/lib/ld-linux.so.2",
}


class Image(NamedTuple):
    root: Path
    abi: Abi
    site: Path

    @property
    def suffix(self) -> str:
        return f".cpython-312-{NAMES[self.abi]}.so"

    def add(self, name: str, files: Contents, *, requires: Sequence[str] = ()) -> Path:
        return install(self.site, name, files, requires=requires)

    def library(self, path: str, soname: str, *needs: str) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(write(lib(soname, needs=needs, abi=self.abi)))

    def module(self, *needs: str, runpath: str | None = None) -> bytes:
        return write(lib(needs=needs, runpath=runpath, abi=self.abi))

    def safepip(self, *arguments: str, env: dict[str, str] | None = None) -> Run:
        import sys

        return run([sys.executable, "-m", "safepip", "--root", str(self.root), *arguments], env=env)


def make_image(root: Path, abi: Abi = X86_64, *, prefix: str = "/usr/local") -> Image:
    """Python 3.12 of `prefix` for `abi`, with the folders that its loader looks in by itself."""
    home = root / prefix.lstrip("/")
    stdlib = home / "lib/python3.12"
    site = stdlib / "site-packages"
    site.mkdir(parents=True)
    (stdlib / "os.py").write_text("")
    (stdlib / "site.py").write_text("")
    (stdlib / f"_sysconfigdata__linux_{NAMES[abi]}.py").write_text(
        f"build_time_vars = {{'SOABI': 'cpython-312-{NAMES[abi]}'}}\n"
    )
    header = home / "include/python3.12/patchlevel.h"
    header.parent.mkdir(parents=True)
    header.write_text('#define PY_VERSION "3.12.7"\n')
    binary = home / "bin/python3.12"
    binary.parent.mkdir(parents=True)
    main = replace(program(), abi=abi, interpreter=LOADERS[abi])
    binary.write_bytes(write(main))
    (home / "bin/python3").symlink_to("python3.12")
    put_loader(root, abi)
    install(site, "pip", {"pip/__init__.py": '__version__ = "26.3"\n', "pip/__main__.py": ""}, version="26.3")
    return Image(root, abi, site)


def put_loader(root: Path, abi: Abi) -> None:
    """As far as it is read: an ELF file that holds its version and its folders as text."""
    place = root / LOADERS[abi].lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    folders = b"".join(folder + b"\0" for folder in default_folders(abi))
    said = b"\0stable release version 2.36.\0" + b"\0" + folders + b"\0"
    place.write_bytes(write(lib(place.name, abi=abi)) + said)


def default_folders(abi: Abi) -> list[bytes]:
    name = NAMES.get(abi, "i386-linux-gnu").encode()
    return [b"/lib/%s/" % name, b"/usr/lib/%s/" % name, b"/lib/", b"/usr/lib/"]


def needs_tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}")
    return found
