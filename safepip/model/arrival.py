"""What an install brings, as values: the wheels that pip would lay down, and what becomes of the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from safepip.model.environment import Claim, Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath


class Announced(NamedTuple):
    """One entry of pip's installation report."""

    key: DistKey
    name: str
    version: str
    url: str
    digest: str  # hexadecimal sha256 of the archive; "" where pip does not know it
    requested: bool  # the user named it
    requires: tuple[str, ...]
    requires_python: bool


class Content(NamedTuple):
    """What a file that arrives holds."""

    size: int
    copy: TargetPath | None = None  # where its bytes lie meanwhile; None: nobody asks for them


@dataclass(frozen=True, slots=True)
class Wheel:
    """An archive as it would be installed: paths are those of the target."""

    announced: Announced
    dist: Distribution
    contents: Mapping[TargetPath, Content]
    claims: Mapping[TargetPath, Claim]


@dataclass(frozen=True, slots=True)
class Laid:
    """Where a series of installs leads: what is gone in the end, and what lies there new."""

    replaced: tuple[Distribution, ...]
    gone: frozenset[TargetPath]  # files and folders of before
    taken: Mapping[TargetPath, Distribution]  # files that are absent in the end, by whose removal
    contents: Mapping[TargetPath, Content]


class Installed(NamedTuple):
    """For the report: what comes, and the version that it replaces."""

    name: str
    version: str
    was: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One environment before and after an install: what was listed, and which files are gone or other than before."""

    was: Inventory
    now: Inventory
    replaced: tuple[Distribution, ...]
    arriving: tuple[Distribution, ...]
    requested: frozenset[DistKey]
    taken: Mapping[TargetPath, Distribution | None]  # absent now; who took it, where that is known
    altered: frozenset[TargetPath]  # there before and now, with other bytes
    fresh: frozenset[TargetPath]

    @property
    def covered(self) -> tuple[Distribution, ...]:
        """Who stays where pip leaves it alone, and is found no longer: one of its name came to an earlier folder."""
        first = {dist.key: dist for dist in reversed(self.now.distributions)}
        new = {dist.key for dist in self.arriving if first[dist.key] == dist}
        return tuple(dist for dist in self.was.distributions if dist.key in new and dist not in self.replaced)

    @property
    def superseded(self) -> tuple[Distribution, ...]:
        """The versions of before."""
        return (*self.replaced, *self.covered)

    @property
    def installed(self) -> tuple[Installed, ...]:
        versions = {dist.key: dist.version for dist in self.superseded}
        return tuple(Installed(dist.name, dist.version, versions.get(dist.key)) for dist in self.arriving)


class Overwrite(NamedTuple):
    """A file of a distribution that stays, with the bytes of one that came, or a module that is found no longer."""

    path: TargetPath
    owner: Distribution
    by: Distribution
    instead: TargetPath | None = None  # what is found in place of the module


class Partner(NamedTuple):
    """Compiled modules take C structures from a distribution; nothing in their ELF headers says so."""

    distribution: DistKey
    holds: str  # a name in every module that was built for the versions before
    unless: str  # a name in those that were built for what comes; "" where there is none
    consumers: tuple[DistKey, ...]  # empty: whoever holds the name
    why: str
    since: str = (
        ""  # the version from which on no module that holds the one name, and not the other, can be imported
    )


class Bound(NamedTuple):
    """A survivor's modules that a partner's new major version does not fit."""

    survivor: Distribution
    partner: Distribution
    was: str
    paths: tuple[TargetPath, ...]
    why: str
    holds: str = ""  # the name in them that shows it
