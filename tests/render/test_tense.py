from __future__ import annotations

import pytest

from safepip.model.change import Removal
from safepip.model.report import Finding, FindingKind, Severity, Verdict
from safepip.render import tense
from support import environments


@pytest.mark.parametrize(
    ("foreseen", "told"),
    [
        (
            "a would lose x.py, which it owns together with b",
            "a has lost x.py, which it owns together with b",
        ),
        ("x.so of a would be bound to another lib.so.1", "x.so of a is bound to another lib.so.1"),
        ("a could no longer be loaded: why", "a can no longer be loaded: why"),
        ("a would fail: a/b.py:1 imports c", "a fails: a/b.py:1 imports c"),
        ("a would get another b, /b.py: a.py:1 imports b", "a gets another b, /b.py: a.py:1 imports b"),
        ("it needs x.so, and the last copy would go", "it needs x.so, and the last copy went"),
        ("a requires b", "a requires b"),
    ],
)
def test_what_has_come_to_pass_is_not_told_as_if_it_were_to_come(foreseen: str, told: str) -> None:
    finding = Finding(FindingKind.FILE_LOST, Severity.REFUSE, "a", foreseen)
    verdict = tense.done(Verdict(environments.target(), Removal(), (finding,)))
    assert [item.message for item in verdict.findings] == [told]
