"""Ways out of a refusal, each where it helps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.change import Halt, Reach, Removal, Why
from safepip.model.environment import Distribution
from safepip.model.report import Finding, FindingKind, Provider, Remedy, Severity, Shared, Verdict
from safepip.reasoning.verdict.remedy import mend, propose
from support.environments import PREFIX, at, dist, inventory, target

LEAVER, USER = dist("leaver", ["pkg/a.py"]), dist("user", ["pkg/a.py"], requires=["leaver"], version="3.0")
ABOVE, EXTRA = dist("above", requires=["user"]), dist("extra", requires=["leaver; extra == 'x'", "= odd"])
THERE = inventory(LEAVER, USER, ABOVE, EXTRA)
SAFEPIP = ("safepip", "--python", "/env/bin/python")
REFUSE = Severity.REFUSE


def verdict(*findings: Finding, shared: tuple[Shared, ...] = (), **more: object) -> Verdict:
    removal = Removal(leaving=(LEAVER,), **more)  # type: ignore[arg-type]
    return Verdict(target(), removal, findings, shared)


def lost(kind: FindingKind, who: str = "user", provider: str = "") -> Finding:
    return Finding(kind, REFUSE, who, "", provider=Provider(at(provider)) if provider else None)


def proposed(of: Verdict) -> list[tuple[str, list[tuple[str, ...]]]]:
    return [(way.title, [words[3:] for words in way.commands]) for way in propose(of, THERE)]


def mended(of: Verdict) -> tuple[Remedy, ...]:
    return mend(of, THERE)


WITH_IT = ("Remove what needs it as well: above, user", [("uninstall", "leaver", "above", "user")])
ANEW = (
    "If it was to be installed anew: do that in one step",
    [("install", "--no-deps", "--force-reinstall", "leaver==1.0")],
)
KEEP = ("Keep leaver: user needs it", list[tuple[str, ...]]())
SAFELY = (
    "Remove it safely: what others own as well stays, with their own bytes",
    [("uninstall", "--safe", "-y", "leaver")],
)
RESTORE = (
    "Remove it all the same, and at once put back the files of user",
    [
        ("uninstall", "--force", "-y", "leaver"),
        ("install", "--no-deps", "--force-reinstall", "user==3.0"),
    ],
)


def test_what_is_required_is_kept_or_goes_with_all_who_need_it() -> None:
    assert proposed(verdict(lost(FindingKind.REQUIREMENT_LOST))) == [KEEP, WITH_IT, ANEW]


def test_a_library_at_a_co_owned_path_is_saved_by_leaving_that_alone() -> None:
    shared = (Shared(at("pkg/a.py"), ("leaver", "user")),)
    library = lost(FindingKind.LIBRARY_LOST, provider="pkg/a.py")
    assert proposed(verdict(library, shared=shared)) == [SAFELY, KEEP, WITH_IT, ANEW]
    assert proposed(verdict(library, lost(FindingKind.FILE_LOST), shared=shared)) == [
        SAFELY,
        KEEP,
        RESTORE,
        ANEW,
    ]
    assert proposed(verdict(library)) == [KEEP, WITH_IT, ANEW]


def test_where_nothing_is_required_and_not_all_is_saved_putting_back_comes_first() -> None:
    both = verdict(lost(FindingKind.FILE_LOST), lost(FindingKind.LIBRARY_LOST))
    assert [title for title, _ in proposed(both)] == [RESTORE[0], KEEP[0], ANEW[0]]


def test_ones_own_code_is_no_distribution_that_could_go_as_well() -> None:
    own = verdict(lost(FindingKind.IMPORT_LOST, "my code"))
    assert proposed(own) == [("Keep leaver: my code needs it", []), ANEW]


def test_of_many_who_need_it_three_are_named() -> None:
    many = verdict(*(lost(FindingKind.IMPORT_LOST, name) for name in "abcda"))
    assert proposed(many)[0][0] == "Keep leaver: a, b, c and 1 more need it"


def test_what_a_package_manager_keeps_is_that_ones_to_remove() -> None:
    apt = (Reach(at("a"), Why.DPKG, LEAVER, "python3-a"), Reach(at("b"), Why.DPKG, LEAVER, "python3-a"))
    conda = (Reach(at("c"), Why.CONDA, LEAVER, "numpy=2.0=py312"),)
    beyond = lost(FindingKind.REACH_BEYOND, "leaver")
    assert propose(verdict(beyond, reaches=apt), THERE) == (
        Remedy("Remove it with apt, which keeps it", (("apt", "remove", "python3-a"),)),
    )
    assert propose(verdict(beyond, reaches=conda), THERE) == (
        Remedy("Remove it with conda, which keeps it", (("conda", "remove", "--prefix", PREFIX, "numpy"),)),
    )
    needed = proposed(verdict(beyond, lost(FindingKind.IMPORT_LOST), reaches=conda))
    assert [title for title, _ in needed] == ["Remove it with conda, which keeps it", KEEP[0]]


def test_rows_that_are_not_its_own_are_to_be_looked_at() -> None:
    reaches = (Reach(at("a"), Why.OUTSIDE, LEAVER),)
    look = (
        "Look at the RECORD of what is to go: these rows are not its own to delete",
        list[tuple[str, ...]](),
    )
    assert proposed(verdict(lost(FindingKind.REACH_BEYOND), reaches=reaches)) == [SAFELY, look]


def test_where_pip_would_stop_a_record_is_written_first() -> None:
    of = Verdict(
        target(), Removal(halt=Halt("bare", "no RECORD file", 1)), (lost(FindingKind.CANNOT_TELL, "bare"),)
    )
    assert proposed(of) == [
        (
            "Install bare over itself, which writes a RECORD, then remove it",
            [("install", "--ignore-installed", "--no-deps", "bare")],
        )
    ]


def test_where_pip_may_not_move_a_path_no_install_would_help() -> None:
    halt = Halt("fixed", "pip cannot move /env/bin/fixed", 2, stuck=True)
    of = Verdict(target(), Removal(halt=halt), (lost(FindingKind.CANNOT_TELL, "fixed"),))
    assert proposed(of) == [("Make that path writable for this user, then ask again", [])]


def test_nothing_can_be_removed_safely_where_nothing_would_leave() -> None:
    of = Verdict(target(), Removal(), (lost(FindingKind.REACH_BEYOND),))
    assert proposed(of) == []


def test_pip_is_renewed_and_a_protected_name_taken_out_of_the_configuration() -> None:
    of = verdict(
        lost(FindingKind.SELF, "pip"), lost(FindingKind.SELF, "safepip"), lost(FindingKind.PROTECTED)
    )
    assert proposed(of) == [
        ("Keep pip and safepip; to renew it:", [("install", "--upgrade", "pip", "safepip")]),
        (f"Take the name out of `protected` in {PREFIX}/.safepip/config.toml or your own configuration", []),
    ]


def test_what_is_not_refused_needs_no_way_out() -> None:
    warned = Finding(FindingKind.REQUIREMENT_LOST, Severity.WARN, "user", "")
    assert proposed(verdict(warned)) == []
    assert mended(verdict(warned)) == ()


@pytest.mark.parametrize(
    ("kinds", "names", "pinned"),
    [
        ([FindingKind.FILE_LOST], "user", "user==3.0"),
        ([FindingKind.FILE_LOST, FindingKind.LIBRARY_LOST], "user", "user==3.0"),
        ([FindingKind.LIBRARY_LOST], "leaver", "leaver==1.0"),
        ([FindingKind.LAST_COPY, FindingKind.IMPORT_LOST], "leaver", "leaver==1.0"),
    ],
)
def test_what_was_removed_all_the_same_is_mended_by_who_lost_files_or_else_by_who_left(
    kinds: list[FindingKind], names: str, pinned: str
) -> None:
    command = (*SAFEPIP, "install", "--no-deps", "--force-reinstall", pinned)
    assert mended(verdict(*map(lost, kinds))) == (Remedy(f"Put back {names}", (command,)),)


def test_files_that_are_not_the_environments_are_brought_back_by_no_install() -> None:
    assert mended(verdict(lost(FindingKind.REACH_BEYOND))) == ()
    own = Verdict(target(), Removal(leaving=(USER,)), (lost(FindingKind.FILE_LOST),))
    assert mended(own) == ()


def test_a_distribution_without_a_version_is_named_without_one() -> None:
    def nameless() -> Distribution:
        return dist("leaver", version="")

    of = Verdict(target(), Removal(leaving=(nameless(),)), (lost(FindingKind.LIBRARY_LOST),))
    assert mended(of)[0].commands == ((*SAFEPIP, "install", "--no-deps", "--force-reinstall", "leaver"),)


def test_three_who_need_it_are_all_named_and_four_leavers_are_cut_short() -> None:
    three = verdict(*(lost(FindingKind.IMPORT_LOST, name) for name in "abc"))
    assert proposed(three)[0][0] == "Keep leaver: a, b, c need it"
    leaving = tuple(dist(name) for name in "pqrs")
    for count, names in ((3, "p, q, r"), (4, "p, q, r and 1 more")):
        of = Verdict(target(), Removal(leaving=leaving[:count]), (lost(FindingKind.IMPORT_LOST),))
        assert proposed(of)[0][0] == f"Keep {names}: user needs them"


def test_of_what_goes_only_what_a_finding_names_is_to_be_kept() -> None:
    wanted, owner, other = (dist(name) for name in ("wanted", "owner", "other"))
    asked = replace(lost(FindingKind.REQUIREMENT_LOST), paths=(wanted.info,))
    bound = replace(lost(FindingKind.LIBRARY_LOST), provider=Provider(at("lib.so"), ("owner",)))
    for findings, names in (
        ((asked,), "wanted: user needs it"),
        ((asked, bound), "wanted, owner: user needs them"),
    ):
        of = Verdict(target(), Removal(leaving=(wanted, owner, other)), findings)
        assert proposed(of)[0][0] == f"Keep {names}"


def test_who_needs_it_through_several_others_goes_with_it() -> None:
    far = dist("far", requires=["above"])
    everybody = inventory(LEAVER, USER, ABOVE, far)
    ways = propose(
        verdict(*(lost(FindingKind.IMPORT_LOST, name) for name in ("leaver", "user", "above", "far"))),
        everybody,
    )
    assert ways[1].commands == ((*SAFEPIP, "uninstall", "leaver", "above", "far", "user"),)
    one = propose(verdict(lost(FindingKind.IMPORT_LOST)), everybody)
    assert one[1].commands == ((*SAFEPIP, "uninstall", "leaver", "above", "far", "user"),)
