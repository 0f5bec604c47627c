"""An earlier report, JSON or SARIF: the fingerprints of what is known, and how bad each was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from safepip.errors import SafepipError
from safepip.model.policy import Known
from safepip.model.report import Severity

MARK = "safepip/v1"
WORDS = {  # of a finding, of a check, and of SARIF; what is told without any is a note
    "refuse": Severity.REFUSE,
    "error": Severity.REFUSE,
    "warn": Severity.WARN,
    "warning": Severity.WARN,
}


def read(path: str) -> dict[str, Known]:
    """Every fingerprint in the report at `path`, with the worst that it stands for there."""
    found: dict[str, Known] = {}
    try:
        with open(path, "rb") as stream:
            for mark, severity in _fingerprints(json.load(stream)):
                if mark not in found or found[mark].worst < severity:
                    found[mark] = Known(path, severity)
    except OSError as error:
        raise SafepipError("baseline", f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SafepipError(
            "baseline", f"{path} is no report: {error}", "Make one with --format json or --format sarif."
        ) from error
    return found


def _fingerprints(value: Any, word: object = None) -> Iterator[tuple[str, Severity]]:
    """`word`: how bad what lies around `value` is."""
    if isinstance(value, dict):
        word = value.get("severity", value.get("level", word))
        for key, item in value.items():
            if key in {"fingerprint", MARK} and isinstance(item, str):
                yield item, WORDS.get(str(word), Severity.NOTE)
            else:
                yield from _fingerprints(item, word)
    elif isinstance(value, list):
        for item in value:
            yield from _fingerprints(item, word)
