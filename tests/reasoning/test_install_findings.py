"""What an install does to those who stay, as findings and ways out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from safepip.model.arrival import Bound, Installed, Overwrite, Partner, Turn
from safepip.model.change import Removal
from safepip.model.elf import Binding
from safepip.model.environment import Distribution
from safepip.model.imports import Basis, Grade, ImportLoss
from safepip.model.paths import DistKey
from safepip.model.policy import Policy
from safepip.model.report import Finding, FindingKind, Provider, Remedy, Severity, Verdict
from safepip.model.survey import Answer, InUse, Need, Objects, SharedFile, Standing
from safepip.reasoning.libraries.losses import Grouped, Loss
from safepip.reasoning.requirements import Lost, LostRequirement
from safepip.reasoning.verdict import install_findings
from safepip.reasoning.verdict.evidence import Evidence
from support.environments import at, dist, inventory, target
from support.fake_world import FakeWorld

OLD = dist("lib", ["lib/a.so", "lib/b.py"], version="1.0")
NEW = dist("lib", ["lib/a.so", "other/c.so", "other/d.py", "other/e.py"], version="2.0")
OTHER = dist("other", ["other/c.so", "other/d.py", "other/e.py"], version="3.0")


def turn(
    *staying: Distribution,
    replaced: Sequence[Distribution] = (OLD,),
    arriving: Sequence[Distribution] = (NEW,),
    requested: Sequence[str] = (),
) -> Turn:
    return Turn(
        was=inventory(*staying, *replaced),
        now=inventory(*staying, *arriving),
        replaced=tuple(replaced),
        arriving=tuple(arriving),
        requested=frozenset(map(DistKey, requested)),
        taken={},
        altered=frozenset(),
        fresh=frozenset(),
    )


def evidence(of: Turn) -> Evidence:
    return Evidence(Removal(leaving=of.replaced), of.now, FakeWorld({}), Objects({}, {}))


def found(
    of: Turn,
    overwrites: Sequence[Overwrite] = (),
    bound: Sequence[Bound] = (),
    protected: Sequence[str] = (),
) -> list[Finding]:
    policy = Policy(protected=frozenset(protected))
    return list(install_findings.of(evidence(of), of, overwrites, bound, policy))


def builds(of: Turn, protected: Sequence[str] = ()) -> list[Finding]:
    """What such builds require is not installed here."""
    return [item for item in found(of, protected=protected) if item.kind is FindingKind.VARIANT_CHANGED]


def test_an_ordinary_upgrade_is_nothing_to_tell() -> None:
    assert found(turn(OTHER)) == []


def test_what_comes_without_what_it_requires_is_told_unless_the_version_before_lacked_it_too() -> None:
    old = replace(OLD, requires=("gone>1",))
    new = replace(NEW, requires=("gone>1", "other<3", "other>2", 'absent; extra == "x"', "= =", "a" * 9000))
    findings = found(turn(OTHER, replaced=(old,), arriving=(new,)))
    assert [(item.kind, item.severity, item.message) for item in findings] == [
        (
            FindingKind.REQUIREMENT_LOST,
            Severity.WARN,
            "lib 2.0 requires other<3, and 3.0 is installed",
        )
    ]


def test_a_version_that_is_found_no_longer_is_the_one_before_and_no_survivor() -> None:
    """In an environment that sees what lies below, pip leaves the version there alone and lays its own in front."""
    below = replace(OLD, requires=("third<2",))
    user = dist("user", requires=["lib<2"])
    of = replace(turn(below, user, replaced=()), now=inventory(NEW, user, below))
    assert (of.covered, of.superseded) == ((below,), (below,))
    assert of.installed == (Installed("lib", "2.0", "1.0"),)
    assert [lost.survivor for lost in install_findings.lost_requirements(of).requirements] == [user]
    behind = replace(of, now=inventory(below, user, NEW))
    assert (behind.covered, behind.installed) == ((), (Installed("lib", "2.0", None),))


def test_what_an_install_overwrites_is_told_by_the_library_first_and_both_are_named() -> None:
    files = [at(f"other/{name}") for name in ("d.py", "c.so", "e.py")]
    (finding,) = found(turn(OTHER), [Overwrite(path, OTHER, NEW) for path in files])
    assert finding == Finding(
        FindingKind.OVERWRITES,
        Severity.WARN,
        "other",
        "lib 2.0 overwrites other/c.so and 2 other files of other 3.0",
        paths=tuple(files),
        proof=("grep", "-l", "other/c.so", f"{OTHER.info}/RECORD"),
    )


def test_a_library_is_named_though_it_lies_deeper_than_a_source() -> None:
    items = [Overwrite(at(name), OTHER, NEW) for name in ("a.py", "other/z.so")]
    (finding,) = found(turn(OTHER), items)
    assert finding.message == "lib 2.0 overwrites other/z.so and 1 other file of other 3.0"


def test_overwrites_of_two_owners_are_told_apart_and_one_file_is_not_counted() -> None:
    third = dist("third", ["other/c.so"])
    items = [Overwrite(at("other/c.so"), OTHER, NEW), Overwrite(at("other/c.so"), third, NEW)]
    assert [item.message for item in found(turn(OTHER, third), items)] == [
        "lib 2.0 overwrites other/c.so of other 3.0",
        "lib 2.0 overwrites other/c.so of third 1.0",
    ]


def test_a_module_that_another_is_found_in_place_of_is_told_as_that() -> None:
    shadow = Overwrite(at("other/d.py"), OTHER, NEW, at("other/d/__init__.py"))
    overwrite = Overwrite(at("other/c.so"), OTHER, NEW)
    assert [finding.message for finding in found(turn(OTHER), [shadow, overwrite])] == [
        "lib 2.0 brings other/d/__init__.py, which is imported in place of other/d.py of other 3.0",
        "lib 2.0 overwrites other/c.so of other 3.0",
    ]


def test_who_overwrites_whom_is_seen_by_the_records_of_those_who_stay() -> None:
    same = dist("lib", ["other/c.so"], version="0.9")
    owners = {at("other/c.so"): (OTHER, OLD, NEW, same), at("other/d.py"): (OTHER,), at("x.py"): (OTHER,)}
    altered = [at("x.py"), at("other/d.py"), at("other/c.so"), at("nobodys.py")]
    assert list(install_findings.owners_overwritten(altered, turn(OTHER, same), owners)) == [
        Overwrite(at("other/c.so"), OTHER, NEW),
        Overwrite(at("other/d.py"), OTHER, NEW),
    ]


CPU = dist("torch", version="2.9.1+cpu")
CU12 = dist("torch", version="2.9.1+cu128", requires=["nvidia-cudnn-cu12", "nvidia-nccl-cu12", "numpy"])
CU13 = dist("torch", version="2.9.1+cu128", requires=["nvidia-cudnn-cu13", "= no name"])


def variants(was: Distribution, now: Distribution, requested: str = "", protected: str = "") -> list[Finding]:
    return builds(turn(replaced=[was], arriving=[now], requested=[requested]), [protected])


def test_another_build_that_nobody_named_is_told_with_its_cuda() -> None:
    assert variants(CPU, CU12) == [
        Finding(
            FindingKind.VARIANT_CHANGED,
            Severity.WARN,
            "torch",
            "torch 2.9.1+cpu becomes 2.9.1+cu128 (CUDA 12), another build, which nobody named",
            paths=(CPU.info,),
            proof=("/env/bin/python", "-m", "pip", "show", "torch"),
        )
    ]
    assert [item.message for item in variants(CU12, CU13)] == [
        "torch 2.9.1+cu128 (CUDA 12) becomes 2.9.1+cu128 (CUDA 13), another build, which nobody named"
    ]


def test_a_protected_variant_refuses() -> None:
    assert [item.severity for item in variants(CPU, CU12, protected="torch")] == [Severity.REFUSE]


def test_a_build_that_was_named_or_is_new_or_only_begins_or_ends_to_use_cuda_is_not_told() -> None:
    plain = replace(CU12, requires=())
    assert variants(CPU, CU12, requested="torch") == []
    assert builds(turn(replaced=[], arriving=[CU12])) == []
    assert variants(CU12, plain) == variants(plain, CU12) == variants(CU12, CU12) == []


NUMPY1, NUMPY2 = dist("numpy", version="1.26.4"), dist("numpy", version="2.1.0")
PARTNER = Partner(DistKey("numpy"), "_ARRAY_API", "NPY2", (), "its C structures changed")


def test_a_partner_is_at_stake_where_its_major_version_changes() -> None:
    def at_stake(was: Sequence[Distribution], now: Distribution) -> list[object]:
        return list(install_findings.partners_at_stake(turn(replaced=was, arriving=[now]), [PARTNER]))

    assert at_stake([NUMPY1], NUMPY2) == [(PARTNER, NUMPY1, NUMPY2)]
    assert at_stake([NUMPY2], NUMPY1) == [(PARTNER, NUMPY2, NUMPY1)]
    assert at_stake([NUMPY1], dist("numpy", version="1.27.0")) == []
    assert at_stake([], NUMPY2) == []
    assert at_stake([OLD], NEW) == []


def test_modules_that_a_partner_does_not_fit_any_more_are_counted() -> None:
    bound = Bound(OTHER, NUMPY2, "1.26.4", (at("other/c.so"),), "its C structures changed", "numpy.core.x")
    one, none = found(
        turn(OTHER, replaced=[NUMPY1], arriving=[NUMPY2]), bound=[bound, bound._replace(paths=())]
    )
    assert one == Finding(
        FindingKind.ABI_PARTNER,
        Severity.WARN,
        "other",
        "other 3.0 has 1 module built for numpy 1, and 2.1.0 comes: its C structures changed",
        paths=(at("other/c.so"),),
        proof=("grep", "-aoF", "-m1", "numpy.core.x", at("other/c.so")),
    )
    assert none.message.startswith("other 3.0 has modules built for numpy 1")


def lost(*requires: str, arriving: Sequence[Distribution] = (NEW,)) -> list[LostRequirement]:
    survivor = dist("user", requires=requires)
    return [*install_findings.lost_requirements(turn(survivor, arriving=arriving)).requirements]


def test_a_requirement_that_the_old_version_met_and_the_new_one_does_not_is_lost() -> None:
    user = dist("user", requires=["lib<2"])
    assert lost("lib<2") == [LostRequirement(user, OLD, "lib<2", extra=False)]


@pytest.mark.parametrize(
    "requirement",
    [
        "lib>=1",
        "lib<1",
        "lib>=2",
        "lib<2; extra == 'x'",
        "lib<2; sys_platform == 'win32'",
        "none",
        "= no name",
        "lib >> 1",
    ],
)
def test_one_that_both_meet_or_the_old_did_not_meet_or_nobody_asks_for_is_not_lost(requirement: str) -> None:
    assert lost(requirement) == []


def test_requirements_of_what_comes_and_of_what_is_replaced_by_nothing_are_pips_to_judge() -> None:
    coming = dist("other", requires=["lib<2"])
    assert install_findings.lost_requirements(turn(arriving=[NEW, coming])) == Lost((), ())
    assert lost("lib<2", arriving=[coming]) == []


def verdict(*findings: tuple[FindingKind, Severity, str]) -> Verdict:
    return Verdict(target(), Removal(), tuple(Finding(kind, how, who, "") for kind, how, who in findings))


FILE_LOST = (FindingKind.FILE_LOST, Severity.REFUSE, "other")
LIBRARY_LOST = (FindingKind.LIBRARY_LOST, Severity.REFUSE, "user")
SAFEPIP = ("safepip", "--python", "/env/bin/python")
NOT = Remedy("Do not install lib")
ANEW = (*SAFEPIP, "install", "--no-deps", "--force-reinstall")


def ways(
    of: Verdict, words: Sequence[str] = ("install", "lib"), into: Turn | None = None
) -> tuple[Remedy, ...]:
    return install_findings.remedies(of, into or turn(OTHER), words)


def test_what_is_not_refused_needs_no_way_out() -> None:
    assert ways(verdict((FindingKind.OVERWRITES, Severity.WARN, "other"))) == ()


def test_lost_files_are_laid_down_once_more_after_the_install_or_where_it_is_done() -> None:
    once_more = (*ANEW, "other==3.0")
    assert ways(verdict(FILE_LOST)) == (
        Remedy(
            "Install it, and lay down once more what loses files", ((*SAFEPIP, "install", "lib"), once_more)
        ),
        NOT,
    )
    assert ways(verdict(FILE_LOST), ())[0] == Remedy("Lay down once more what has lost files", (once_more,))


def test_where_nobody_who_stays_lost_them_what_came_is_laid_down_once_more() -> None:
    assert ways(verdict((FindingKind.FILE_LOST, Severity.REFUSE, "gone")), ())[0].commands == (
        (*ANEW, "lib==2.0"),
    )


@pytest.mark.parametrize(
    "kind",
    [
        FindingKind.LIBRARY_LOST,
        FindingKind.SYMBOL_LOST,
        FindingKind.REQUIREMENT_LOST,
        FindingKind.IMPORT_LOST,
    ],
)
def test_who_does_not_fit_any_more_is_renewed_in_the_same_step(kind: FindingKind) -> None:
    warned = (FindingKind.OVERWRITES, Severity.WARN, "warned")
    (renew, last) = ways(verdict((kind, Severity.REFUSE, "user"), (kind, Severity.REFUSE, "app"), warned))
    assert renew == Remedy(
        "Renew app, user in the same step; where they do not fit either, all is taken back",
        ((*SAFEPIP, "install", "--rollback", "--upgrade", "lib==2.0", "app", "user"),),
    )
    assert last == NOT


def test_what_could_not_be_looked_into_is_named_among_what_not_to_install() -> None:
    unknown = verdict((FindingKind.CANNOT_TELL, Severity.REFUSE, "sdist"))
    assert ways(unknown, into=turn(OTHER, requested=["sdist", "lib"])) == (
        Remedy("Do not install lib, sdist"),
    )
    alone = turn(OTHER, replaced=[], arriving=[], requested=["sdist"])
    assert ways(unknown, into=alone) == (Remedy("Do not install sdist"),)


def test_files_that_are_lost_by_no_replacement_are_no_matter_of_laying_down_anew() -> None:
    fresh = turn(OTHER, replaced=[])
    assert ways(verdict(FILE_LOST), into=fresh) == (NOT,)
    assert len(ways(verdict(FILE_LOST, LIBRARY_LOST), into=fresh)) == 2
    assert ways(verdict((FindingKind.VARIANT_CHANGED, Severity.REFUSE, "torch"))) == (NOT,)


def test_losses_of_code_and_requirements_are_told_as_for_a_removal_and_use_by_processes_is_not() -> None:
    of = turn(OTHER)
    chain = ("import user", "user.py:1", "import lib")
    looked = replace(
        evidence(of),
        imports=(ImportLoss(OTHER, OLD, "lib", at("lib/b.py"), chain, at("user.py"), 1),),
        requirements=Lost((LostRequirement(OTHER, OLD, "lib<2", extra=False),), ()),
        grades={(OTHER.info, OLD.key): Grade(Severity.WARN, Basis.GUARDED)},
        in_use=(InUse(1, "python", at("lib/a.so")),),
    )
    findings = list(install_findings.of(looked, of, (), (), Policy()))
    assert [(item.kind, item.severity) for item in findings] == [
        (FindingKind.IMPORT_LOST, Severity.REFUSE),
        (FindingKind.REQUIREMENT_LOST, Severity.WARN),
    ]
    assert findings[0].provider == Provider(at("lib/b.py"), ("lib",), "lib")


def test_a_module_that_is_nowhere_is_nobodys_loss_but_the_importers() -> None:
    of = turn(OTHER)
    chain = ("import user", "user.py:1", "import lib")
    loss = ImportLoss(OTHER, OLD, "lib", at("lib.py"), chain, at("user.py"), 1, absent=True)
    loss = replace(loss, lost=replace(OLD, version=""))
    (found,) = install_findings.of(replace(evidence(of), imports=(loss,)), of, (), (), Policy())
    assert found.message == f"{OTHER.name} would fail: user.py:1 imports lib, which is nowhere"
    assert (found.kind, found.paths, found.provider) == (FindingKind.IMPORT_LOST, (at("user.py"),), None)


def test_a_name_that_a_new_version_does_not_have_is_told_with_the_version() -> None:
    of = turn(OTHER)
    chain = ("import user", "user.py:1", "import lib.name")
    loss = ImportLoss(OTHER, NEW, "lib.name", at("lib.py"), chain, at("user.py"), 1, absent=True)
    (found,) = install_findings.of(replace(evidence(of), imports=(loss,)), of, (), (), Policy())
    assert (
        found.message == f"{OTHER.name} would fail: user.py:1 imports lib.name, which lib 2.0 does not have"
    )


def test_libraries_and_files_that_an_install_takes_are_told_as_for_a_removal() -> None:
    of = turn(OTHER)
    consumer = at("other/c.so")
    missing = Answer(Standing.MISSING, Binding(consumer, "a.so", None, None, ()))
    loss = Loss(
        FindingKind.LIBRARY_LOST,
        Need(consumer, consumer, "a.so"),
        None,
        missing,
        OTHER,
        ("import other",),
        at_import=True,
    )
    shared = SharedFile(at("other/d.py"), (OLD, OTHER), {}, 1)
    looked = replace(
        evidence(of), libraries=(Grouped(FindingKind.LIBRARY_LOST, "a.so", OTHER, (loss,)),), shares=(shared,)
    )
    found = install_findings.of(looked, of, (), (), Policy())
    assert [item.kind for item in found] == [FindingKind.LIBRARY_LOST, FindingKind.FILE_LOST]


def test_a_requirement_of_what_comes_hides_none_of_who_stays() -> None:
    coming, user = dist("coming", requires=["lib<2"]), dist("user", requires=["= odd", "lib<2"])
    now = inventory(coming, user, NEW)
    of = replace(turn(arriving=[NEW, coming]), now=now)
    assert [loss.survivor for loss in install_findings.lost_requirements(of).requirements] == [user]


def test_a_nameless_requirement_is_not_that_of_a_nameless_distribution() -> None:
    odd = replace(OLD, key=DistKey("XX")), replace(NEW, key=DistKey("XX"))
    of = turn(dist("user", requires=["= odd"]), replaced=[odd[0]], arriving=[odd[1]])
    assert install_findings.lost_requirements(of) == Lost((), ())


def test_of_files_without_a_library_the_one_nearer_the_top_is_named_and_two_are_counted() -> None:
    paths = [at("other/a/b.py"), at("other/a_longer_name.py")]
    (finding,) = found(turn(OTHER), [Overwrite(path, OTHER, NEW) for path in paths])
    assert "overwrites other/a_longer_name.py and 1 other file of other" in finding.message


def test_a_variant_that_was_named_hides_no_other() -> None:
    vision = (dist("vision", version="1+cpu"), dist("vision", version="1+cu128"))
    of = turn(replaced=[CPU, vision[0]], arriving=[CU12, vision[1]], requested=["torch"])
    assert [item.distribution for item in builds(of)] == ["vision"]


def test_all_releases_of_cuda_that_a_build_is_for_are_named() -> None:
    both = replace(CU12, requires=("a-cu12", "b-cu13"), version="2.9.2+x")
    assert [item.message for item in variants(CPU, both)] == [
        "torch 2.9.1+cpu becomes 2.9.2+x (CUDA 12, 13), another build, which nobody named"
    ]


def test_who_is_replaced_loses_no_file_to_what_comes() -> None:
    gone = dist("gone", ["other/c.so"])
    owners = {at("other/c.so"): (gone,)}
    of = turn(OTHER, replaced=[OLD, gone])
    assert list(install_findings.owners_overwritten([at("other/c.so")], of, owners)) == []
