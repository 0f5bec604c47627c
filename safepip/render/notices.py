"""One thing worth saying, in the form that machines compare: which rule, how bad, where, and a fingerprint.

A fingerprint holds no absolute path and no version: it stays the same on another machine and after an upgrade.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from safepip.model.report import Finding, Severity, Verdict

if TYPE_CHECKING:  # a removal's report does without
    from safepip.model.audit import Audit, Mixed
    from safepip.model.diagnosis import Ailment, Diagnosis

_VERSION = re.compile(r"\d[\w.+]*")  # counts and versions come and go
_SEVERITIES = (Severity.NOTE, Severity.WARN, Severity.REFUSE)  # by a check's level


class Notice(NamedTuple):
    rule: str
    severity: Severity
    message: str
    fingerprint: str
    path: str = ""
    distribution: str = ""


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
    who = sorted({build.bytes_of or "" for build in item.builds})
    return Notice(
        "mixed-family",
        Severity.WARN,
        item.message,
        fingerprint("mixed-family", item.family, *who),
        item.builds[0].path if item.builds else "",
    )


def of_audit(audit: Audit) -> Iterator[Notice]:
    """What is worth a look in an audit: mixed runtimes and proposed cleanups; that something is needed is no notice."""
    yield from map(of_mixed, audit.mixed)
    for item in audit.unneeded:
        if item.command:
            names = sorted(dist.key for dist in item.dists)
            said = f"{', '.join(names)} {item.title}"
            yield Notice("unneeded", Severity.NOTE, said, fingerprint("unneeded", *names))


def of_ailment(item: Ailment) -> Notice:
    """Message and paths may name versions and folders: what is told apart is who, what and by which file's name."""
    what = item.soname or item.wants or (item.path or "").rpartition("/")[2]
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


def new(notices: Iterable[Notice], known: frozenset[str]) -> tuple[Notice, ...]:
    """Those that a baseline does not have."""
    return tuple(notice for notice in notices if notice.fingerprint not in known)
