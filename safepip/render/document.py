"""A report for programs: JSON, schema 1. Keys may be added; none of these changes its meaning."""

from __future__ import annotations

import json
from typing import Any

from safepip.errors import SafepipError
from safepip.model.environment import Distribution, Target
from safepip.model.report import Finding, Severity, Summary, Verdict
from safepip.render import notices

SCHEMA = 1


def dump(
    verdict: Verdict,
    *,
    files: bool = False,
    outcome: Summary | None = None,
    kept: dict[str, Any] | None = None,
) -> str:
    """The report as one line of JSON text; `files` adds the full list of paths that go, `outcome` what pip then did and `kept` what there is to undo it by."""
    way_back = {} if kept is None else {"kept": kept}
    done = {"outcome": {**_outcome(outcome), **way_back}} if outcome else {}
    return json.dumps(escaped({**report(verdict, files=files), **done}))


def dump_error(error: SafepipError) -> str:
    detail = {"reference": error.reference, "message": error.message, "hint": error.hint}
    return json.dumps(escaped({"schema": SCHEMA, "error": detail}))


def dump_document(document: dict[str, Any]) -> str:
    """Another command's report: it has its schema already."""
    return json.dumps(escaped(document))


def report(verdict: Verdict, *, files: bool) -> dict[str, Any]:
    removal = verdict.removal
    return {
        "schema": SCHEMA,
        "verdict": verdict.decision.value,
        "environment": environment(verdict.target),
        "removing": [{"name": dist.name, "version": dist.version} for dist in _removed(verdict)],
        "removal": {
            "files": len(removal.files),
            "bytes": verdict.bytes,
            "shared": [
                {"path": item.path, "owners": item.owners, "bytes_of": item.bytes_of}
                for item in verdict.shared
            ],
            "declined": removal.declined,
            **({"paths": removal.files} if files else {}),
        },
        "installing": [
            {"name": item.name, "version": item.version, "was": item.was} for item in verdict.installing
        ],
        "skipped": [
            {
                "name": skip.name,
                "reason": skip.reason,
                "like": skip.like,
                "module": skip.module or None,
            }
            for skip in removal.skipped
        ],
        "findings": [_finding(finding, verdict) for finding in verdict.findings],
        "unjudged": [{"subject": item.subject, "reason": item.reason} for item in verdict.unjudged],
        "remedies": [{"title": item.title, "commands": item.commands} for item in verdict.remedies],
        "weakened": verdict.remarks.weakened,
        "ended": verdict.remarks.ended,
    }


def environment(target: Target) -> dict[str, Any]:
    """Its paths are those inside the image, where there is one."""
    return {
        "python": target.executable,
        "version": target.version,
        "prefix": target.prefix,
        "root": target.root,
    }


def _removed(verdict: Verdict) -> tuple[Distribution, ...]:
    """What an install replaces is told with what comes in its place."""
    return () if verdict.installing else verdict.removal.leaving


def _outcome(outcome: Summary) -> dict[str, Any]:
    return {
        "pip_exit_code": outcome.pip_exit_code,
        "removed": outcome.removed,
        "remaining": outcome.remaining,
        "unplanned": outcome.unplanned,
    }


def _finding(finding: Finding, verdict: Verdict) -> dict[str, Any]:
    provider = finding.provider
    return {
        "kind": finding.kind.value,
        "severity": Severity(finding.severity).name.lower(),
        "distribution": finding.distribution,
        "soname": finding.soname or None,
        "paths": finding.paths,
        "provider": provider
        and {
            "path": provider.path,
            "owners": provider.owners,
            "bytes_of": provider.bytes_of,
            "rule": provider.how and provider.how.rule.value,
        },
        "consumers": [
            {"path": item.path, "distribution": item.distribution, "chain": item.chain}
            for item in finding.consumers
        ],
        "searched": [
            {"rule": step.rule.value, "path": step.path, "stated_by": step.stated_by}
            for step in finding.searched
        ],
        "message": finding.message,
        "proof": finding.proof,
        "broken_before": finding.broken_before,
        "fingerprint": notices.of_finding(finding, notices.removing(verdict)).fingerprint,
    }


def escaped(value: Any) -> Any:
    """Names that are no text become escapes: a surrogate in JSON would break its readers."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    return [escaped(item) for item in value] if isinstance(value, list | tuple) else value
