"""Every kind of finding and every check has a text of its own."""

from __future__ import annotations

import pytest

from safepip.model.diagnosis import Check
from safepip.model.report import FindingKind
from safepip.render import explanations
from safepip.render.terminal import Style


@pytest.mark.parametrize("name", [kind.value for kind in (*FindingKind, *Check)])
def test_a_name_is_explained_within_80_columns(name: str) -> None:
    found = explanations.find(name)
    assert found is not None
    said = explanations.show(name, found, Style())
    for part in ("Example", "What to do"):
        assert part in said
    prose = said.partition("By hand")[0]
    assert max(map(len, prose.splitlines())) <= 80
