"""How an environment's pip is guarded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from safepip.model.paths import TargetPath


class GuardState(Enum):
    ON = "on"
    OFF = "off"
    STALE = "stale"  # files of another safepip, or not all of them


@dataclass(frozen=True, slots=True)
class Entry:
    """One way of calling pip, tried with a removal that removes nothing."""

    command: tuple[str, ...]  # without what it was told
    guarded: bool


@dataclass(frozen=True, slots=True)
class Guard:
    python: TargetPath
    site: TargetPath  # where the hook's files lie, or would
    state: GuardState
    entries: tuple[Entry, ...] = ()  # none where nothing was tried
