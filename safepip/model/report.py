"""What is said of a change: findings with their evidence, and the verdict they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, NamedTuple

from safepip.model.change import Removal
from safepip.model.elf import Step
from safepip.model.environment import Distribution, Target, Unjudged
from safepip.model.paths import TargetPath

if TYPE_CHECKING:
    from safepip.model.arrival import Installed


class Severity(IntEnum):
    NOTE = 0
    WARN = 1
    REFUSE = 2


class FindingKind(Enum):
    """Closed: each has a default severity and a meaning in the README."""

    LIBRARY_LOST = "library-lost"
    SYMBOL_LOST = "symbol-lost"
    FILE_LOST = "file-lost"
    IMPORT_LOST = "import-lost"
    REACH_BEYOND = "reach-beyond"
    SELF = "self"
    PROTECTED = "protected"
    LAST_COPY = "last-copy"
    REQUIREMENT_LOST = "requirement-lost"
    EXTRA_LOST = "extra-lost"
    COMMAND_LOST = "command-lost"
    FAMILY_SPLIT = "family-split"
    PROVIDER_CHANGED = "provider-changed"
    ORDER_RELIANT = "order-reliant"
    DLOPEN_HINT = "dlopen-hint"
    IN_USE = "in-use"
    CANNOT_TELL = "cannot-tell"
    SHARED_TRIVIAL = "shared-trivial"
    OVERWRITES = "overwrites"  # this and the next two: installs and upgrades only
    VARIANT_CHANGED = "variant-changed"
    ABI_PARTNER = "abi-partner"


@dataclass(frozen=True, slots=True)
class Provider:
    """What meets a need now."""

    path: TargetPath
    owners: tuple[str, ...] = ()
    bytes_of: str = ""  # the owner whose recorded size and digest the file has; "" where nobody's
    how: Step | None = None  # by which rule the loader binds it


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who loses something, and the way from an import name down to it."""

    path: TargetPath
    distribution: str
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    kind: FindingKind
    severity: Severity
    distribution: str  # the survivor that loses
    message: str  # one sentence for a person
    soname: str = ""
    paths: tuple[TargetPath, ...] = ()  # what it loses
    provider: Provider | None = None
    consumers: tuple[Consumer, ...] = ()
    searched: tuple[Step, ...] = ()  # where the loader would look afterwards
    proof: tuple[str, ...] = ()  # a command line of standard tools that shows it
    broken_before: bool = False  # does not work now either


class Decision(Enum):
    ALLOW = "allow"
    WARN = "warn"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Shared:
    """A co-owned path that goes."""

    path: TargetPath
    owners: tuple[str, ...]
    bytes_of: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A way out. Without commands it is advice: do not remove it."""

    title: str
    commands: tuple[tuple[str, ...], ...] = ()
    along: tuple[Distribution, ...] = ()  # who would go as well


@dataclass(frozen=True, slots=True)
class Summary:
    """What pip really did, held against the plan."""

    pip_exit_code: int
    removed: int  # files of the plan that are gone
    remaining: tuple[TargetPath, ...]  # planned, and still there
    unplanned: tuple[TargetPath, ...]  # vanished beside the plan


class Remarks(NamedTuple):
    """What the configuration and a baseline make of findings: nobody may learn that by a silence."""

    weakened: tuple[str, ...] = ()  # what made less of the guard, and the file or option that it is from
    ended: tuple[str, ...] = ()  # findings that count again, as an ignore entry's last day is over
    notes: tuple[str, ...] = ()  # why an option of the caller's changes nothing
    despite: str = ""  # what happens in spite of a refusal, for the first line; "": it stops here

    @property
    def lines(self) -> tuple[str, ...]:
        return (
            *(f"weakened: {said}" for said in self.weakened),
            *(f"no longer ignored: {said}" for said in self.ended),
            *self.notes,
        )


UNREMARKED = Remarks()


@dataclass(frozen=True, slots=True)
class Verdict:
    target: Target
    removal: Removal
    findings: tuple[Finding, ...] = ()  # worst first
    shared: tuple[Shared, ...] = ()
    overwritten: tuple[Distribution, ...] = ()
    hollow: tuple[Distribution, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    bytes: int = 0  # that the removal's files hold
    installing: tuple[Installed, ...] = ()  # of an install: `removal` is what it replaces, then
    remarks: Remarks = UNREMARKED

    @property
    def decision(self) -> Decision:
        worst = max((finding.severity for finding in self.findings), default=Severity.NOTE)
        return {Severity.REFUSE: Decision.REFUSE, Severity.WARN: Decision.WARN}.get(worst, Decision.ALLOW)

    @property
    def warned(self) -> bool:
        return any(finding.severity is Severity.WARN for finding in self.findings)
