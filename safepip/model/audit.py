"""What an audit finds: the verdict of each removal, what nobody needs, and what is mixed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from safepip.model.environment import Distribution, Target, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import FindingKind, Severity, Verdict


class Reason(NamedTuple):
    """Why one survivor needs a distribution: the strongest of its reasons."""

    distribution: str
    kind: FindingKind
    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One distribution, as if it were removed alone."""

    dist: Distribution
    verdict: Verdict
    needed_by: tuple[Reason, ...]  # strongest first
    bytes: int  # that removing it would free
    in_code: bool = False  # the code that was named imports it

    @property
    def left_alone(self) -> str:
        """Why pip would not touch it, "" where it would: it lies below the environment, or dpkg's pip spares it."""
        skipped = self.verdict.removal.skipped
        return skipped[0].reason if skipped and not self.verdict.removal.leaving else ""

    @property
    def has_commands(self) -> bool:
        return any(point.group in {"console_scripts", "gui_scripts"} for point in self.dist.entry_points)


class Spare(Enum):
    """Why nothing installed needs something, in honest words."""

    CUDA = "of another CUDA than the one in use"
    LEFTOVER = "installed for something that has gone"
    ASKED_FOR = "asked for by name"
    TOOL = "gives commands"


@dataclass(frozen=True, slots=True)
class Unneeded:
    """Distributions that can go together; with a command where they are proposed."""

    why: Spare
    dists: tuple[Distribution, ...]
    bytes: int
    title: str
    command: tuple[str, ...] = ()


class Build(NamedTuple):
    """One build of a runtime library."""

    path: TargetPath
    soname: str
    owners: tuple[str, ...]
    bytes_of: str
    version: str  # of the distribution whose bytes it holds


class Bound(NamedTuple):
    distribution: str
    consumer: TargetPath
    provider: TargetPath


@dataclass(frozen=True, slots=True)
class Mixed:
    """Several builds of one runtime, or one that took another's place, and who is bound to which."""

    family: str
    builds: tuple[Build, ...]
    bound: tuple[Bound, ...]
    message: str
    overwritten: tuple[DistKey, ...] = ()  # who is required by users that run on another owner's bytes

    @property
    def severity(self) -> Severity:
        """That several builds are there harms hardly anybody; that one took another's place is worth a look."""
        return Severity.WARN if self.overwritten else Severity.NOTE

    @property
    def marks(self) -> str:
        """Runtime and owners of its builds."""
        return "+".join([self.family, *sorted({build.bytes_of for build in self.builds})])


@dataclass(frozen=True, slots=True)
class Together:
    """A set that was named to be removed: as one, and which part of it may go."""

    verdict: Verdict
    may_go: tuple[Distribution, ...]
    must_stay: tuple[Judged, ...]
    bytes: int  # that `may_go` frees
    commands: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Audit:
    target: Target
    judged: tuple[Judged, ...]
    unneeded: tuple[Unneeded, ...] = ()
    mixed: tuple[Mixed, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    bytes: int = 0  # of all files together
    freed: int = 0  # by deleting them all
