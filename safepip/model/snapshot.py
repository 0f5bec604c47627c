"""A part of the disk as it was before somebody else's work, and how it differs afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from safepip.model.paths import TargetPath


class Seen(NamedTuple):
    """One name as it was: a folder (d), a file (f) or a link (l)."""

    kind: str
    mode: int
    mtime: int  # nanoseconds
    size: int
    inode: int
    goal: str = ""  # of a link


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was below `home`, by path relative to it, as far as it was looked at."""

    home: TargetPath
    number: int  # of the vault's folder that the second names lie in
    command: tuple[str, ...]
    seen: Mapping[str, Seen]
    kept: Mapping[str, int]  # under which number the bytes of a file lie there
    looked: frozenset[str]  # folders whose names are all in `seen`

    @property
    def folder(self) -> str:
        return f"{self.home}/.safepip/vault/{self.number}"


@dataclass(slots=True)
class Difference:
    """Paths relative to the home. What has changed its kind is gone and fresh."""

    gone: list[str] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)  # files with other bytes
    fresh: list[str] = field(default_factory=list)
    gone_folders: dict[str, None] = field(default_factory=dict)  # the outer ones first, as the next
    fresh_folders: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)  # folders that stay and whose names changed

    def __bool__(self) -> bool:
        """Byte code alone is no change: Python writes it when it likes."""
        moved = [*self.gone, *self.altered, *self.fresh]
        return bool(self.gone_folders) or any("__pycache__/" not in path for path in moved)
