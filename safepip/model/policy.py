"""What the owner of an environment wants: how bad each kind of finding is, and what is kept of changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from safepip.model.report import FindingKind, Severity


class Bounds(NamedTuple):
    """What is kept at most; the oldest goes first."""

    changes: int = 5
    bytes: int = 2 << 30  # that nothing else links
    days: float | None = None  # None: however old


class Known(NamedTuple):
    """Why a finding does not count: the file that says so, and for an ignore entry what it says."""

    source: str
    worst: Severity = Severity.REFUSE  # what is worse than it was in the baseline is new
    reason: str = ""
    until: str = ""  # its last day; "" for ever


@dataclass(frozen=True, slots=True)
class Policy:
    """What the configuration says of severities. A refusal may become a warning, never silence."""

    severity: Mapping[FindingKind, Severity] = field(default_factory=dict)
    protected: frozenset[str] = frozenset()
    timeout: float = 60.0  # seconds
    rollback: bool = False  # an install that breaks something is taken back unasked
    forbids_force: str = ""  # a file with `allow-force = false`, wherever it stands: an owner's word counts
    code: tuple[str, ...] = ()  # folders of sources that count like a survivor's
    # by fingerprint: what a look does not fail on, and entries whose last day is over
    ignored: Mapping[str, Known] = field(default_factory=dict)
    ended: Mapping[str, Known] = field(default_factory=dict)
    keeps: Bounds = field(default_factory=Bounds)
    stated: Mapping[FindingKind, str] = field(default_factory=dict)  # the file that each severity is from
