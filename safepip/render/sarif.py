"""SARIF 2.1.0: what code scanning and CI dashboards read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from safepip.model.report import Severity
from safepip.render import explanations
from safepip.render.document import escaped
from safepip.render.notices import Notice, Page

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVEL = {Severity.REFUSE: "error", Severity.WARN: "warning", Severity.NOTE: "note"}
BASE = "PREFIX"


def dump(page: Page, version: str) -> str:
    """One run; paths are relative to the environment's prefix."""
    rules = sorted({notice.rule for notice in page.notices})
    run = {
        "tool": {"driver": {"name": "safepip", "version": version, "rules": [_rule(rule) for rule in rules]}},
        "originalUriBaseIds": {BASE: {"uri": f"file://{_quoted(page.prefix)}/"}},
        "invocations": [
            {"executionSuccessful": True, "toolExecutionNotifications": [*map(_remark, page.remarks)]}
        ],
        "results": [_result(notice, rules, page) for notice in page.notices],
    }
    return json.dumps(escaped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})) + "\n"


def _rule(name: str) -> dict[str, Any]:
    found = explanations.find(name)
    said = found.meaning if found else name
    return {"id": name, "shortDescription": {"text": said}, "help": {"text": found.remedy if found else said}}


def _remark(said: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": said}}


def _result(notice: Notice, rules: Iterable[str], page: Page) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": notice.rule,
        "ruleIndex": list(rules).index(notice.rule),
        "level": LEVEL[notice.severity],
        "message": {"text": notice.message},
        "partialFingerprints": {"safepip/v1": notice.fingerprint},
        "locations": [{"physicalLocation": {"artifactLocation": _location(notice.path, page.prefix)}}],
    }
    entry = page.known.get(notice.fingerprint)
    if entry is not None and entry.reason:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": entry.reason}]
    elif any(not item.reason for item in page.known.values()):
        worse = "updated" if entry else "new"
        result["baselineState"] = "unchanged" if notice.is_known(page.known) else worse
    return result


def _location(path: str, prefix: str) -> dict[str, str]:
    if path.startswith(f"{prefix}/"):
        return {"uri": _quoted(path.removeprefix(f"{prefix}/")), "uriBaseId": BASE}
    return {"uri": f"file://{_quoted(path)}"} if path else {"uri": "pyvenv.cfg", "uriBaseId": BASE}


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"))
