"""Where inputs are laid: a small prefix in memory, and what lies beside it and must stay as it is."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from safepip.model.elf import Elf
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.reading.elf_files import elf
from support.small import INSIDE, Small
from support.wheels import Contents

NAMES = ("odd", "provider", "survivor")


class Place(NamedTuple):
    """One worker's folder."""

    root: Path

    @property
    def env(self) -> Small:
        return Small(self.root / "a/b/c/env")

    @property
    def input(self) -> Path:
        """Where a file that belongs to no environment is laid."""
        return self.root / "input"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def kept(self) -> Path:
        """Outside the environment; climbing rows and paths of the mutators lead to it."""
        return self.root / "a/outside/kept.txt"

    @property
    def target(self) -> Target:
        """The small environment with the interpreter that runs this."""
        real = TargetPath(os.path.realpath(sys.executable))
        return replace(self.env.target, interpreter=real, stdlib=TargetPath(os.path.dirname(os.__file__)))

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "PIP_CONFIG_FILE": str(self.root / "pip.conf"),
        }

    def make(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in (self.env.site, self.env.prefix / "bin", self.home, self.kept.parent):
            folder.mkdir(parents=True)
        self.kept.write_text("kept")

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def anew(self) -> None:
        """An empty environment."""
        shutil.rmtree(self.env.prefix)
        self.env.site.mkdir(parents=True)
        (self.env.prefix / "bin").mkdir()

    def add(self, name: str, files: Contents, requires: Sequence[str] = ()) -> Path:
        from support.wheels import install

        return install(self.env.site, name, files, requires=requires)


def place(name: str) -> Place:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  the file system in memory
    made = Place(Path(os.path.realpath(tempfile.mkdtemp(prefix=f"safepip-{name}-", dir=memory))))
    made.make()
    return made


def real_objects() -> list[bytes]:
    """Extension modules of the Python that runs this, as linkers make them."""
    folder = f"{os.path.dirname(os.__file__)}/lib-dynload"
    found = [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.endswith(".so")]
    small = [path for path in found if os.path.getsize(path) < 1 << 16 and isinstance(elf.read(path), Elf)]
    return [Path(path).read_bytes() for path in small[:4]]


def inside(path: str, prefix: Path) -> bool:
    return os.path.realpath(os.path.dirname(path)).startswith(f"{prefix}/") or path == str(prefix)


SITE = INSIDE
