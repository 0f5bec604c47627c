"""A prefix of a few files that takes a millisecond to make: a real tree without an interpreter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from safepip.model.change import Removal
from safepip.model.environment import Inventory, Target
from safepip.model.paths import DistKey, TargetPath
from safepip.reading.disk import Disk
from safepip.reading.sites import site
from safepip.reasoning.changes import removal
from support import environments
from support.wheels import Contents, install

INSIDE = "lib/python3.12/site-packages"


class Small(NamedTuple):
    prefix: Path

    @property
    def site(self) -> Path:
        return self.prefix / INSIDE

    @property
    def target(self) -> Target:
        folder = TargetPath(str(self.site))
        return replace(
            environments.target(),
            executable=TargetPath(f"{self.prefix}/bin/python"),
            prefix=TargetPath(str(self.prefix)),
            scripts=TargetPath(f"{self.prefix}/bin"),
            sites=(folder,),
            path=(folder,),
        )

    def add(self, name: str, files: Contents, version: str = "1.0") -> Path:
        return install(self.site, name, files, version=version)

    def inventory(self) -> Inventory:
        return site.take_inventory(self.target)

    def plan(self, *names: str) -> Removal:
        return removal.plan([DistKey(name) for name in names], self.inventory(), Disk())


def small(folder: Path) -> Small:
    made = Small(folder / "env")
    (made.prefix / "bin").mkdir(parents=True)
    made.site.mkdir(parents=True)
    return made


def copy(of: Small, to: Path) -> Small:
    """With its times, and with files of its own."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(of.prefix, to, symlinks=True)
    return Small(to)


def delete(paths: Sequence[str], folders: Sequence[str]) -> None:
    """What pip's moving and deleting comes to."""
    for path in paths:
        os.unlink(path)
    for folder in folders:
        shutil.rmtree(folder)
