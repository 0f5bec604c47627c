"""A removal with all who need it is proposed as a set that the judge lets go, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from safepip.model.change import Removal
from safepip.model.environment import Distribution
from safepip.model.paths import DistKey
from safepip.model.report import Finding, FindingKind, Provider, Severity, Verdict
from safepip.reasoning.verdict import joint
from safepip.reasoning.verdict.joint import MOST_TRIED, is_wanted, proven, without
from safepip.reasoning.verdict.remedy import propose
from support.environments import SITE, dist, inventory, target

DEP, APP = dist("dep"), dist("app", requires=["dep"])
PLUGIN, ABOVE = dist("plugin"), dist("above", requires=["plugin"])
THERE = inventory(DEP, APP, PLUGIN, ABOVE)
BY_KEY = {one.key: one for one in THERE.distributions}


def verdict(keys: Sequence[DistKey], *refused: tuple[str, FindingKind]) -> Verdict:
    findings = tuple(Finding(kind, Severity.REFUSE, who, "") for who, kind in refused)
    found = Verdict(target(), Removal(tuple(BY_KEY[key] for key in keys)), findings)
    return Verdict(target(), found.removal, findings, remedies=propose(found, THERE))


def judging(
    refusals: Mapping[str, tuple[str, FindingKind]],
) -> tuple[Callable[[Sequence[DistKey]], Verdict], list[str]]:
    asked = []

    def judged(keys: Sequence[DistKey]) -> Verdict:
        asked.append("+".join(keys))
        refused = refusals.get(asked[-1])
        return verdict(keys, *([refused] if refused else []))

    return judged, asked


def sets(of: Verdict) -> list[tuple[tuple[str, ...], list[Distribution]]]:
    return [(item.commands[0][4:], list(item.along)) for item in of.remedies if item.along]


REFUSED = verdict([DEP.key], ("app", FindingKind.IMPORT_LOST))


def test_a_set_that_is_allowed_is_proposed_as_it_is() -> None:
    judged, asked = judging({})
    assert proven(REFUSED, THERE, judged) == REFUSED
    assert asked == ["dep+app"]


def test_who_needs_one_of_the_set_and_says_so_nowhere_goes_too_with_those_above_it() -> None:
    for kind in (FindingKind.IMPORT_LOST, FindingKind.FILE_LOST):
        judged, asked = judging({"dep+app": ("plugin", kind)})
        assert sets(proven(REFUSED, THERE, judged)) == [
            (("dep", "above", "app", "plugin"), [ABOVE, APP, PLUGIN])
        ]
        assert asked == ["dep+app", "dep+above+app+plugin"]


def test_a_set_that_is_refused_for_what_nobody_can_join_is_not_proposed() -> None:
    for refusal in (("plugin", FindingKind.SELF), ("my code", FindingKind.IMPORT_LOST)):
        judged, _ = judging({"dep+app": refusal})
        found = proven(REFUSED, THERE, judged)
        assert found.remedies == tuple(item for item in REFUSED.remedies if not item.along)
        assert found == without(REFUSED)


def test_a_set_that_nobody_would_give_up_is_not_even_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "MOST_TOGETHER", 0)
    judged, asked = judging({})
    assert (proven(REFUSED, THERE, judged), asked) == (without(REFUSED), [])


def test_it_is_given_up_after_a_few_sets() -> None:
    chain = [dist(f"one{number}") for number in range(MOST_TRIED + 2)]
    there = inventory(DEP, *chain)
    asked = []

    def judged(keys: Sequence[DistKey]) -> Verdict:
        asked.append(len(keys))
        leaving = tuple(one for one in there.distributions if one.key in keys)
        next_one = Finding(FindingKind.IMPORT_LOST, Severity.REFUSE, f"one{len(keys) - 1}", "")
        return Verdict(target(), Removal(leaving), (next_one,))

    first = judged([DEP.key])
    proposed = Verdict(target(), first.removal, first.findings, remedies=propose(first, there))
    assert sets(proven(proposed, there, judged)) == []
    assert asked == [1, 2, 3, 4, 5]


def only(*keys: DistKey, missing: Mapping[str, Sequence[Distribution]]) -> tuple[list[str], list[str]]:
    """The ways out of removing `keys` where of each set those of `missing` are missed, and the sets judged."""
    asked = []

    def judged(wanted: Sequence[DistKey]) -> Verdict:
        asked.append("+".join(wanted))
        findings = [
            Finding(
                FindingKind.LIBRARY_LOST, Severity.REFUSE, "app", "", provider=Provider(SITE, (one.name,))
            )
            for one in missing.get(asked[-1], ())
        ]
        found = Verdict(target(), Removal(tuple(BY_KEY[key] for key in wanted)), tuple(findings))
        return replace(found, remedies=propose(found, THERE) if findings else ())

    first = judged(keys)
    asked.clear()
    assert is_wanted(first) or not missing
    return [item.title for item in proven(without(first), THERE, judged).remedies], asked


def test_of_several_those_that_nobody_misses_may_go_alone() -> None:
    titles, asked = only(DEP.key, ABOVE.key, PLUGIN.key, missing={"dep+above+plugin": [DEP]})
    assert titles[:2] == ["Remove only above, plugin", "Keep dep: app needs it"]
    assert asked == ["above+plugin"]
    titles, asked = only(
        DEP.key, ABOVE.key, PLUGIN.key, missing={"dep+above+plugin": [DEP], "above+plugin": [PLUGIN]}
    )
    assert (titles[0], asked) == ("Remove only above", ["above+plugin", "above"])


def test_nothing_goes_alone_where_all_of_it_is_missed_or_one_thing_was_named() -> None:
    pair = {"dep+plugin": [DEP, PLUGIN]}
    for keys, missing in (((DEP.key, PLUGIN.key), pair), ((DEP.key,), {"dep": [DEP]})):
        titles, asked = only(*keys, missing=missing)
        assert (titles[0].partition(" ")[0], asked) == ("Keep", [])
    titles, asked = only(DEP.key, PLUGIN.key, missing={"dep+plugin": [DEP], "plugin": [PLUGIN]})
    assert (titles[0], asked) == ("Keep dep: app needs it", ["plugin"])


def test_a_smaller_set_is_given_up_after_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "MOST_TRIED", 1)
    missing = {"dep+above+plugin": [DEP], "above+plugin": [PLUGIN]}
    titles, asked = only(DEP.key, ABOVE.key, PLUGIN.key, missing=missing)
    assert (titles[0], asked) == ("Keep dep: app needs it", ["above+plugin"])
