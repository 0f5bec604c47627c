"""What is answered to `safepip why`: where something lies, who needs it, and by which rule each gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from safepip.model.change import Package
from safepip.model.environment import Target, Unjudged
from safepip.model.paths import TargetPath
from safepip.model.survey import Standing


class Match(NamedTuple):
    """One file that the question is about."""

    path: TargetPath
    soname: str = ""  # "" where it is no shared library
    owners: tuple[str, ...] = ()
    bytes_of: str = ""
    bytes: int = 0
    package: Package | None = None  # of dpkg or conda


class Named(NamedTuple):
    """An installed distribution."""

    name: str
    version: str


class Use(NamedTuple):
    """One object's need, and what it is really bound to."""

    path: TargetPath
    distribution: str
    wants: str
    how: Standing
    bound_to: TargetPath | None
    rule: str  # in words
    chain: tuple[str, ...]
    searched: tuple[Looked, ...] = ()  # where the loader looked before it found it, or in vain


class Looked(NamedTuple):
    rule: str
    path: TargetPath


class Declared(NamedTuple):
    """A Requires-Dist line that names the distribution in question."""

    distribution: str
    requirement: str
    extra: bool


class Importer(NamedTuple):
    """A source that imports the module in question."""

    distribution: str
    path: TargetPath
    line: int
    guarded: bool  # importing goes on where it fails, or it stands in a function


class Opener(NamedTuple):
    """Who is known to open what is in question at run time, where no metadata and no object says so."""

    distribution: str
    names: tuple[str, ...]
    source: str  # where that was read


class Bringer(NamedTuple):
    """Who would bring what is missing, and how that is known."""

    distribution: str
    because: str
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    query: str
    target: Target
    matches: tuple[Match, ...] = ()
    needed_by: tuple[Use, ...] = ()
    required_by: tuple[Declared, ...] = ()
    imported_by: tuple[Importer, ...] = ()
    opened_by: tuple[Opener, ...] = ()
    elsewhere: tuple[Looked, ...] = ()  # existing files of that name outside what matched
    brought_by: tuple[Bringer, ...] = ()
    distributions: tuple[Named, ...] = ()  # installed ones that are meant
    unjudged: tuple[Unjudged, ...] = ()  # of those
    like: tuple[str, ...] = ()  # names that may have been meant where there is nothing of this one

    @property
    def is_empty(self) -> bool:
        return not (self.matches or self.distributions or self.is_needed)

    @property
    def is_needed(self) -> bool:
        return bool(self.needed_by or self.required_by or self.imported_by or self.opened_by)
