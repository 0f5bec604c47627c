"""A change of an environment, as a value: what pip would delete, before it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath


class Why(Enum):
    """Why a removal takes a path that is not the distribution's to take."""

    OUTSIDE = "lies outside the environment"
    ENVIRONMENT = "belongs to the environment itself"
    FOREIGN = "belongs to another distribution"
    LAUNCHER = "is another distribution's command"
    UNRECORDED = "is recorded by nobody"
    DPKG = "dpkg keeps"
    CONDA = "conda keeps"


class Package(NamedTuple):
    """What keeps a distribution beside pip."""

    by: Why
    name: str  # there: `python3-numpy`, `numpy=2.3.5`


class Reach(NamedTuple):
    path: TargetPath
    why: Why
    dist: Distribution  # whose removal takes it
    owner: str = ""  # the other distribution's name, or the package's


class Skip(NamedTuple):
    """A name that pip leaves alone with exit code 0."""

    name: str
    reason: str  # "not installed", "outside environment …", "in the standard library", "no files were found"
    like: tuple[str, ...] = ()  # of what is installed, the names that may have been meant
    module: str = ""  # that has the name, of those who are named in `like`

    @property
    def said(self) -> str:
        """Why it is left alone, and what may have been meant."""
        who = ", ".join(self.like)
        meant = f"{self.module} is a module of {who}" if self.module else f"{who} is"
        return f"{self.reason} ({meant})" if who else self.reason


class Halt(NamedTuple):
    """Where pip stops with an error: the names before it are gone by then, those after it are not tried."""

    name: str
    reason: str
    exit_code: int
    stuck: bool = False  # at what it may not move or delete, not at what is recorded


class Edit(NamedTuple):
    """A line that pip takes out of a `.pth` file, which itself stays."""

    file: TargetPath
    line: str


@dataclass(frozen=True, slots=True)
class Removal:
    """Exactly what pip would delete for a list of names, taken one after the other.

    Paths are physical: every link of the folder part resolved, the last part as it is.
    """

    leaving: tuple[Distribution, ...] = ()
    files: tuple[TargetPath, ...] = ()  # files and links that vanish, those in `folders` too, sorted
    folders: tuple[TargetPath, ...] = ()  # folders that vanish whole, the topmost ones
    shared: tuple[TargetPath, ...] = ()  # of `files`: those that a surviving distribution's RECORD lists
    reaches: tuple[Reach, ...] = ()
    declined: tuple[TargetPath, ...] = ()  # rows that pip itself skips
    skipped: tuple[Skip, ...] = ()
    halt: Halt | None = None
    edits: tuple[Edit, ...] = ()

    @property
    def gone(self) -> frozenset[TargetPath]:
        return frozenset(self.files).union(self.folders)
