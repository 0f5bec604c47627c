"""Loads that ELF does not show: libraries that a program opens by itself, by name or from a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath


class When(Enum):
    """At which moment a library is opened."""

    IMPORT = "import"  # before the distribution's own modules need it: such a need is met
    LATER = "later"  # when it is first used, or when the user asks for it


@dataclass(frozen=True, slots=True)
class KnownLoad:
    """One entry of known_loads.toml: `distribution` opens `sonames` from `folder` of any sys.path entry."""

    distribution: str  # pattern of its key
    sonames: tuple[str, ...]  # patterns of file names
    folder: str  # pattern below a sys.path entry; "" where the loader is given a bare name
    source: str  # where this was read
    version: str  # of the distribution that was read
    when: When = When.IMPORT
    required: bool = True  # False: it goes on without


def _unread(dist: Distribution, module: str, text: str) -> Sequence[TargetPath]:  # noqa: ARG001
    return ()


@dataclass(frozen=True, slots=True)
class Loads:
    """What opens libraries and no object shows: the table, and the sources of the environment's own packages."""

    known: tuple[KnownLoad, ...] = ()
    quoting: Callable[[Distribution, str, str], Sequence[TargetPath]] = (
        _unread  # a distribution's sources that import a module and hold a text in quotes
    )
