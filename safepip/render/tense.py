"""What was foreseen, told when it has come to pass."""

from __future__ import annotations

import re
from dataclasses import replace

from safepip.model.report import Verdict

_FORESEEN = {
    "could no longer": "can no longer",
    "would be bound": "is bound",
    "would find": "finds",
    "would get": "gets",
    "would fail": "fails",
    "would lose": "has lost",
    "would go": "went",
}


def done(verdict: Verdict) -> Verdict:
    """`verdict` of the world as it is now."""
    return replace(
        verdict, findings=tuple(replace(item, message=_told(item.message)) for item in verdict.findings)
    )


def _told(message: str) -> str:
    for foreseen, now in _FORESEEN.items():
        message = re.sub(rf"\b{foreseen}\b", now, message, count=1)
    return message
