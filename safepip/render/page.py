"""An audit as one page to look at: everything it shows is in the file, and nothing is loaded from outside.

What comes from the environment reaches the page as JSON only, and its script puts it there as text.
"""

from __future__ import annotations

import json
from typing import Any

from safepip.model.audit import Audit, Judged
from safepip.model.report import Finding, Severity
from safepip.render import tables
from safepip.render.document import environment, escaped

PLACE = "@DATA@"


def show(audit: Audit, template: str) -> str:
    """`template` is page.html, with a place for the data."""
    text = json.dumps(escaped(_data(audit)), separators=(",", ":"))
    for char in "<>&\u2028\u2029":  # no name can end the script element
        text = text.replace(char, f"\\u{ord(char):04x}")
    return template.replace(PLACE, text, 1)


def _data(audit: Audit) -> dict[str, Any]:
    return {
        "environment": environment(audit.target),
        "distributions": [_distribution(item) for item in audit.judged],
        "mixed": [{"family": item.family, "message": item.message} for item in audit.mixed],
        "unneeded": [
            {
                "names": [dist.name for dist in item.dists],
                "title": item.title,
                "command": tables.command(item.command) if item.command else "",
            }
            for item in audit.unneeded
        ],
    }


def _distribution(item: Judged) -> dict[str, Any]:
    libraries = {path.rpartition("/")[2] for path in item.dist.files or () if ".so" in path}
    return {
        "name": item.dist.name,
        "version": item.dist.version,
        "verdict": item.verdict.decision.value,
        "bytes": item.bytes,
        "size": item.verdict.bytes,
        "libraries": sorted(libraries),
        "reasons": [
            _reason(finding) for finding in item.verdict.findings if finding.severity is not Severity.NOTE
        ],
    }


def _reason(finding: Finding) -> dict[str, Any]:
    return {
        "distribution": finding.distribution,
        "kind": finding.kind.value,
        "severity": finding.severity.name.lower(),
        "message": finding.message,
        "chain": finding.consumers[0].chain if finding.consumers else (),
    }
