"""One thing worth saying, in the form that machines compare: which rule, how bad, where, and a fingerprint.

A fingerprint holds no absolute path and no version: it stays the same on another machine and after an upgrade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from safepip.model.report import Finding, Severity, Verdict

if TYPE_CHECKING:  # a removal's report does without
    from safepip.model.audit import Audit, Mixed, Unneeded
    from safepip.model.diagnosis import Ailment, Diagnosis
    from safepip.model.policy import Known

_VERSION = re.compile(r"\d[\w.+]*")  # counts and versions come and go
_SEVERITIES = (Severity.NOTE, Severity.WARN, Severity.REFUSE)  # by a check's level


class Notice(NamedTuple):
    rule: str
    severity: Severity
    message: str
    fingerprint: str
    path: str = ""
    distribution: str = ""

    def is_known(self, listed: Mapping[str, Known]) -> bool:
        """Whether `listed` has it, and no better than it is now."""
        entry = listed.get(self.fingerprint)
        return entry is not None and self.severity <= entry.worst


class Page(NamedTuple):
    """What the reports that are not safepip's own are made of."""

    title: str
    prefix: str
    notices: tuple[Notice, ...]
    ways: Sequence[tuple[str, Sequence[Sequence[str]]]]
    known: Mapping[str, Known]  # by fingerprint, what does not count
    remarks: Sequence[str]  # what is to be known of the report itself


def fingerprint(*parts: str) -> str:
    """The same for the same parts, wherever and whenever."""
    import hashlib

    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:20]


def of_verdict(verdict: Verdict) -> Iterator[Notice]:
    for finding in verdict.findings:
        yield of_finding(finding, removing(verdict))


def headline(verdict: Verdict) -> str:
    going = ", ".join(f"{dist.name} {dist.version}".strip() for dist in verdict.removal.leaving)
    return f"safepip: removing {going or 'nothing'}: {verdict.decision.value}"


def removing(verdict: Verdict) -> str:
    """The keys of what goes, joined by `+`."""
    return "+".join(sorted(dist.key for dist in verdict.removal.leaving))


def of_finding(finding: Finding, going: str) -> Notice:
    """`going`: as `removing` says it."""
    what = finding.soname or _VERSION.sub("", finding.message)
    return Notice(
        finding.kind.value,
        finding.severity,
        finding.message,
        fingerprint("removal", going, finding.kind.value, finding.distribution, what),
        finding.paths[0] if finding.paths else "",
        finding.distribution,
    )


def of_mixed(item: Mixed) -> Notice:
    return Notice(
        "mixed-family",
        item.severity,
        item.message,
        fingerprint("doctor", "mixed-family", "", item.marks),
        item.builds[0].path if item.builds else "",
    )


def of_audit(audit: Audit) -> Iterator[Notice]:
    """What is worth a look in an audit: mixed runtimes and proposed cleanups; that something is needed is no notice."""
    yield from map(of_mixed, audit.mixed)
    for item in audit.unneeded:
        if item.command:
            names = sorted(dist.key for dist in item.dists)
            said = f"{', '.join(names)} {item.title}"
            yield Notice("unneeded", Severity.NOTE, said, of_unneeded(item))


def of_unneeded(item: Unneeded) -> str:
    """Its fingerprint."""
    return fingerprint("unneeded", *sorted(dist.key for dist in item.dists))


def of_ailment(item: Ailment) -> Notice:
    """Message and paths may name versions and folders: what is told apart is who, what and by which file's name."""
    what = item.soname or item.wants or item.marks or (item.path or "").rpartition("/")[2]
    return Notice(
        item.check.value,
        _SEVERITIES[item.level],
        item.message,
        fingerprint("doctor", item.check.value, item.distribution, what),
        item.path or "",
        item.distribution,
    )


def of_diagnosis(found: Diagnosis) -> Iterator[Notice]:
    return map(of_ailment, found.ailments)
