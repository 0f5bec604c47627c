"""How a finding is made: its severity where the evidence says nothing else, and its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from safepip.model.paths import TargetPath
from safepip.model.report import Finding, FindingKind, Provider, Severity
from safepip.reasoning.changes import shares as co_owned
from safepip.reasoning.verdict.evidence import Evidence

DEFAULT_SEVERITY: Mapping[FindingKind, Severity] = {
    FindingKind.LIBRARY_LOST: Severity.REFUSE,
    FindingKind.SYMBOL_LOST: Severity.REFUSE,
    FindingKind.FILE_LOST: Severity.REFUSE,
    FindingKind.IMPORT_LOST: Severity.REFUSE,
    FindingKind.REACH_BEYOND: Severity.REFUSE,
    FindingKind.SELF: Severity.REFUSE,
    FindingKind.PROTECTED: Severity.REFUSE,
    FindingKind.LAST_COPY: Severity.WARN,
    FindingKind.REQUIREMENT_LOST: Severity.REFUSE,
    FindingKind.EXTRA_LOST: Severity.WARN,
    FindingKind.COMMAND_LOST: Severity.WARN,
    FindingKind.FAMILY_SPLIT: Severity.WARN,
    FindingKind.PROVIDER_CHANGED: Severity.WARN,
    FindingKind.ORDER_RELIANT: Severity.WARN,
    FindingKind.DLOPEN_HINT: Severity.WARN,
    FindingKind.IN_USE: Severity.WARN,
    FindingKind.CANNOT_TELL: Severity.REFUSE,
    FindingKind.SHARED_TRIVIAL: Severity.NOTE,
    FindingKind.OVERWRITES: Severity.WARN,
    FindingKind.VARIANT_CHANGED: Severity.WARN,
    FindingKind.ABI_PARTNER: Severity.WARN,
}


def finding(kind: FindingKind, distribution: str, message: str, **more: object) -> Finding:
    severity = more.pop("severity", DEFAULT_SEVERITY[kind])
    return Finding(kind, severity, distribution, message, **more)  # type: ignore[arg-type]


def provider(path: TargetPath, evidence: Evidence) -> Provider:
    for item in evidence.shares:
        if item.path == path:
            owners = tuple(dist.name for dist in item.owners)
            return Provider(path, owners, co_owned.bytes_of(item, evidence.removal.leaving))
    leaving = tuple(dist.name for dist in evidence.removal.leaving if path in (dist.files or ()))
    owners = leaving or tuple(dist.name for dist in evidence.inventory.owners([path]).get(path, ()))
    return Provider(path, owners, owners[0] if owners else "")


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(names: Iterable[str]) -> str:
    """The first three, and how many more."""
    listed = list(dict.fromkeys(names))
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
