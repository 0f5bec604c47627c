"""SARIF 2.1.0: what code scanning and CI dashboards read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from safepip.model.report import Severity
from safepip.render import explanations
from safepip.render.document import escaped
from safepip.render.notices import Notice

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVEL = {Severity.REFUSE: "error", Severity.WARN: "warning", Severity.NOTE: "note"}
BASE = "PREFIX"


def dump(notices: Sequence[Notice], known: frozenset[str], prefix: str, version: str) -> str:
    """One run; paths are relative to the environment's prefix. `known`: fingerprints of a baseline."""
    rules = sorted({notice.rule for notice in notices})
    run = {
        "tool": {"driver": {"name": "safepip", "version": version, "rules": [_rule(rule) for rule in rules]}},
        "originalUriBaseIds": {BASE: {"uri": f"file://{_quoted(prefix)}/"}},
        "results": [_result(notice, rules, known, prefix) for notice in notices],
    }
    return json.dumps(escaped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})) + "\n"


def _rule(name: str) -> dict[str, Any]:
    found = explanations.find(name)
    said = found.meaning if found else name
    return {"id": name, "shortDescription": {"text": said}, "help": {"text": found.remedy if found else said}}


def _result(notice: Notice, rules: Iterable[str], known: frozenset[str], prefix: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": notice.rule,
        "ruleIndex": list(rules).index(notice.rule),
        "level": LEVEL[notice.severity],
        "message": {"text": notice.message},
        "partialFingerprints": {"safepip/v1": notice.fingerprint},
        "locations": [{"physicalLocation": {"artifactLocation": _location(notice.path, prefix)}}],
    }
    if known:
        result["baselineState"] = "unchanged" if notice.fingerprint in known else "new"
    return result


def _location(path: str, prefix: str) -> dict[str, str]:
    if path.startswith(f"{prefix}/"):
        return {"uri": _quoted(path.removeprefix(f"{prefix}/")), "uriBaseId": BASE}
    return {"uri": f"file://{_quoted(path)}"} if path else {"uri": "pyvenv.cfg", "uriBaseId": BASE}


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"))
