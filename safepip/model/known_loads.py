"""Loads that ELF does not show: libraries that a program opens by itself, by name or from a folder."""

from __future__ import annotations

from dataclasses import dataclass

from safepip.model.paths import DistKey


@dataclass(frozen=True, slots=True)
class KnownLoad:
    """One entry of known_loads.toml: `distribution` opens `sonames` from `folder` of any sys.path entry."""

    distribution: DistKey
    sonames: tuple[str, ...]  # patterns
    folder: str  # pattern below a sys.path entry
    source: str  # where this was read
    version: str  # of the distribution that was read
