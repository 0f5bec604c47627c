"""What is broken in an environment now, by named checks, and the commands that mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

from safepip.model.environment import Distribution, Target, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Standing


class Check(Enum):
    MISSING_LIBRARY = "missing-library"
    MISSING_SYMBOL = "missing-symbol"
    MISSING_MODULE = "missing-module"
    FAILING_IMPORT = "failing-import"
    UNMET_REQUIREMENT = "unmet-requirement"
    INCOMPLETE_EXTRA = "incomplete-extra"
    HOLLOW = "hollow"
    MISSING_FILE = "missing-file"
    OVERWRITTEN = "overwritten"
    DAMAGED_FILE = "damaged-file"
    ALTERED_FILE = "altered-file"
    FOREIGN_BUILD = "foreign-build"
    MIXED_FAMILY = "mixed-family"
    DUPLICATE_METADATA = "duplicate-metadata"
    DAMAGED_METADATA = "damaged-metadata"
    NO_RECORD = "no-record"
    LEFTOVERS = "leftovers"
    REACH_BEYOND = "reach-beyond"
    ENV_RELIANT = "env-reliant"
    LIB64_SPLIT = "lib64-split"


class Level(IntEnum):
    NOTE = 0
    WARN = 1  # works, or may
    ERROR = 2  # broken now


@dataclass(frozen=True, slots=True)
class Ailment:
    check: Check
    level: Level
    distribution: str  # whom it ails
    message: str
    path: TargetPath | None = None
    soname: str = ""
    how: Standing | None = None
    chain: tuple[str, ...] = ()
    paths: tuple[TargetPath, ...] = ()
    mended_by: tuple[DistKey, ...] = ()  # installing these anew brings back what is missing
    wants: str = ""  # the requirement that is not met, as it would be installed
    marks: str = ""  # what tells it from others of its check, where no name and no path does


class Hollow(NamedTuple):
    """Metadata whose files are gone, all or some."""

    dist: Distribution
    missing: tuple[TargetPath, ...]
    of: int

    @property
    def whole(self) -> bool:
        return len(self.missing) == self.of


class Overwritten(NamedTuple):
    path: TargetPath
    owners: tuple[str, ...]
    bytes_of: str  # "" where nobody's


class Stash(NamedTuple):
    """One of pip's `~name` folders, and what it was before pip moved it aside."""

    path: TargetPath
    original: TargetPath
    distribution: str
    in_the_way: bool  # what lies at `original` is whole again, or nothing is missed there


@dataclass(frozen=True, slots=True)
class Cure:
    """One step of a repair plan."""

    title: str
    command: tuple[str, ...]
    cures: tuple[Ailment, ...]
    note: str = ""
    loses_changes: bool = False  # that a person made: not for --fix, unless asked for by the check's name
    follows: bool = False  # the second half of the step before it

    @property
    def is_foreseen(self) -> bool:
        """Whether what it leads to was looked at: all that it puts in place is here."""
        return self.is_safepips and self.command[3] != "install"

    @property
    def is_safepips(self) -> bool:
        """Others are for a person to give."""
        return self.command[0] == "safepip"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    target: Target
    ailments: tuple[Ailment, ...]  # worst first
    hollow: tuple[Hollow, ...] = ()
    overwritten: tuple[Overwritten, ...] = ()
    cures: tuple[Cure, ...] = ()
    incurable: tuple[Ailment, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def broken(self) -> bool:
        return any(item.level is Level.ERROR for item in self.ailments)
