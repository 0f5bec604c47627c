"""Whether one version can meet what two distributions say."""

from __future__ import annotations

import pytest

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.paths import DistKey
from safepip.reasoning.health.repair import Means, plan
from safepip.reasoning.health.versions import breaks_another
from support.environments import dist, inventory

LIB = DistKey("lib")


@pytest.mark.parametrize(
    ("wants", "other", "breaks"),
    [
        ("lib<2", "lib>=2", True),
        ("lib<2", "lib>=1.5", False),
        ("lib<2", "lib", False),
        ("lib>3", "lib<=3", True),
        ("lib>3", "lib!=3.1", False),
        ("lib==1.*", "lib>=2", True),
        ("lib==1.*", "lib>1.2", False),
        ("lib~=1.4", "lib>=2", True),
        ("lib~=1.4", "lib>=1.9", False),
        ("lib<0", "lib>=0", True),
        ("lib===odd", "lib>=2", True),
        ("lib<2", "lib>=3", False),  # which the installed one does not meet either
        ("lib<2", "lib>=2; extra == 'all'", False),
        ("lib<2", "lib @ https://example.org/lib.whl", False),
        ("lib<2", "lib>=!", False),
        ("lib<!", "lib>=2", False),
        ("lib<2", "another>=2", False),
    ],
)
def test_what_no_version_meets_together_with_what_is_met_now_breaks_it(
    wants: str, other: str, *, breaks: bool
) -> None:
    there = inventory(dist("lib", version="2.5"), dist("user", requires=[other]))
    assert breaks_another(wants, LIB, there) is breaks


def test_what_is_not_there_breaks_nothing_and_nothing_breaks_itself() -> None:
    assert not breaks_another("lib<2", LIB, inventory(dist("user", requires=["lib>=2"])))
    assert not breaks_another("lib<2", LIB, inventory(dist("lib", version="2.5", requires=["lib>=2"])))


def test_a_requirement_that_would_break_another_has_no_cure() -> None:
    old = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "old", "unmet", wants="lib<2")
    there = inventory(dist("lib", version="2.5"), dist("user", requires=["lib>=2"]), dist("old"))
    assert plan((old,), there, Means()) == ((), (old,))
