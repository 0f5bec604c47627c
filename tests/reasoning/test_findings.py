"""Each piece of evidence as a finding: whose, how bad, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from safepip.model.change import Halt, Reach, Removal, Why
from safepip.model.elf import Binding, Flaw
from safepip.model.environment import Claim, Distribution, EntryPoint, Mapped, Unjudged
from safepip.model.imports import Basis, Grade, ImportLoss
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Consumer, Finding, FindingKind, Provider, Severity
from safepip.model.survey import Answer, Hidden, Hint, InUse, Mention, Need, Objects, SharedFile, Standing
from safepip.reasoning.libraries.families import Split
from safepip.reasoning.libraries.losses import Grouped, Loss
from safepip.reasoning.requirements import Lost, LostRequirement
from safepip.reasoning.verdict import findings
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import count, provider, some
from safepip.reasoning.verdict.judge import judge
from support.environments import at, dist, inventory
from support.fake_world import FakeWorld, empty

LEAVER, STAYER = dist("leaver", ["pkg/a.py", "pkg/lib.so.1"]), dist("stayer", ["pkg/a.py", "st/b.so"])
BASE = Evidence(
    Removal(leaving=(LEAVER,), files=tuple(LEAVER.files or ())),
    inventory(LEAVER, STAYER),
    FakeWorld(empty(at("st/b.so"))),
    Objects({}, {}),
)
LIB = at("pkg/lib.so.1")


def found(evidence: Evidence) -> list[Finding]:
    return list(findings.of(evidence, Policy()))


def test_what_goes_and_cannot_be_read_belongs_to_nobody_and_a_consumer_to_its_owner() -> None:
    consumer = at("st/b.so")
    looked = replace(
        BASE,
        objects=Objects({consumer: STAYER}, {}),
        unreadable_going=((LIB, Flaw.CUT_OFF),),
        unreadable_consumers=((consumer, Flaw.DAMAGED),),
    )
    assert found(looked) == [
        Finding(
            FindingKind.CANNOT_TELL,
            Severity.REFUSE,
            "",
            "pkg/lib.so.1 would go and cannot be read: file is cut off",
            paths=(LIB,),
            proof=("readelf", "-d", LIB),
        ),
        Finding(
            FindingKind.CANNOT_TELL,
            Severity.REFUSE,
            "stayer",
            "st/b.so may need a library that would go, and cannot be read: damaged ELF structure",
            paths=(consumer,),
            proof=("readelf", "-d", consumer),
        ),
    ]


def test_what_goes_and_was_not_looked_into_refuses_and_what_stays_so_does_not() -> None:
    archive, hook, other = at("pkg.egg"), at("_pkg_editable.py"), at("other.egg")
    looked = replace(
        BASE,
        removal=Removal(leaving=(LEAVER,), files=(archive, hook, at("pkg/a.py"))),
        inventory=replace(
            BASE.inventory,
            unjudged=(Unjudged(other, "packed"), Unjudged(archive, "packed"), Unjudged(hook, "no table")),
        ),
    )
    assert found(looked) == [
        Finding(
            FindingKind.CANNOT_TELL,
            Severity.REFUSE,
            "",
            f"{name} would go: {why}",
            paths=(path,),
            proof=proof,
        )
        for name, why, path, proof in (
            ("pkg.egg", "packed", archive, ("unzip", "-l", archive)),
            ("_pkg_editable.py", "no table", hook, ("cat", hook)),
        )
    ]


def test_an_import_hook_that_builds_first_is_broken_where_its_program_goes() -> None:
    ninja, hook = TargetPath("/env/bin/ninja"), at("_proj_editable_loader.py")
    project, tool = dist("proj", ["_proj_editable_loader.py"]), dist("ninja", [ninja])
    everybody = inventory(project, tool)
    other = Mapped("other", TargetPath("/src/other"), at("_other.py"), TargetPath("/env/bin/meson"))
    mapped = (other, Mapped("proj", TargetPath("/src/proj"), hook, ninja))
    there = replace(everybody, target=replace(everybody.target, mapped=mapped))

    def losing(*dists: Distribution) -> list[Finding]:
        files = tuple(path for one in dists for path in one.files or ())
        return found(replace(BASE, removal=Removal(leaving=dists, files=files), inventory=there))

    assert losing(tool) == [
        Finding(
            FindingKind.IMPORT_LOST,
            Severity.REFUSE,
            "proj",
            "proj would fail: _proj_editable_loader.py runs bin/ninja when it is imported",
            paths=(ninja,),
            provider=Provider(ninja, ("ninja",), "ninja"),
            proof=("grep", "-n", "ninja", hook),
        )
    ]
    assert losing(tool, project) == losing(project) == []


def test_a_survivor_whose_record_is_damaged_may_own_what_goes() -> None:
    damaged = replace(STAYER, damage="RECORD has a line that is no row")
    assert found(replace(BASE, hidden=(Hidden(damaged, "pkg"),))) == [
        Finding(
            FindingKind.CANNOT_TELL,
            Severity.REFUSE,
            "stayer",
            "stayer may own some of what would go (pkg): RECORD has a line that is no row",
            paths=(TargetPath(f"{STAYER.info}/RECORD"),),
            proof=("tail", "-c", "200", f"{STAYER.info}/RECORD"),
        )
    ]


def test_a_process_that_uses_what_goes_is_warned_of() -> None:
    assert found(replace(BASE, in_use=(InUse(7, "python", LIB),))) == [
        Finding(
            FindingKind.IN_USE,
            Severity.WARN,
            "",
            "process 7 (python) has pkg/lib.so.1 in use",
            paths=(LIB,),
            proof=("grep", "lib.so.1", "/proc/7/maps"),
        )
    ]


def test_a_pip_of_safepips_own_is_not_the_environments() -> None:
    pip = dist("pip")
    target = replace(BASE.inventory.target, pip=BASE.inventory.target.pip._replace(location=None))
    looked = replace(BASE, removal=Removal(leaving=(pip,)), inventory=replace(BASE.inventory, target=target))
    assert found(looked) == []


def test_what_a_package_manager_keeps_is_not_told_as_taken_besides() -> None:
    reaches = (Reach(at("pkg/a.py"), Why.DPKG, LEAVER, "python3-leaver"),)
    (finding,) = found(replace(BASE, removal=replace(BASE.removal, reaches=reaches)))
    assert finding.message == "pip would delete pkg/a.py, which dpkg keeps (python3-leaver)"


@pytest.mark.parametrize(
    ("why", "proof"),
    [
        (Why.DPKG, ("dpkg", "-S", at("pkg/a.py"))),
        (Why.UNRECORDED, ("ls", "-ld", at("pkg/a.py"))),
        (Why.FOREIGN, ("grep", "-nF", "a.py", f"{LEAVER.info}/RECORD")),
    ],
)
def test_what_pip_would_take_beside_is_proved_by_who_lists_it(why: Why, proof: tuple[str, ...]) -> None:
    removal = replace(BASE.removal, reaches=(Reach(at("pkg/a.py"), why, LEAVER, "other"),))
    assert [finding.proof for finding in found(replace(BASE, removal=removal))] == [proof]


def test_what_an_egg_requires_is_proved_by_its_own_list() -> None:
    egg = replace(STAYER, info=at("stayer.egg-info"))
    losses = (LostRequirement(egg, LEAVER, "leaver", extra=False),)
    (finding,) = found(replace(BASE, requirements=Lost(losses, ())))
    assert finding.proof == ("grep", "-iE", "^leaver", f"{egg.info}/requires.txt")


def shared(path: str, *owners: Distribution, size: int = 1) -> SharedFile:
    claims = {one.key: Claim("", number) for number, one in enumerate(owners, 1)}
    return SharedFile(at(path), owners, claims, size)


def test_a_co_owned_file_is_lost_by_each_survivor_and_by_no_leaver() -> None:
    third = dist("third", ["pkg/a.py"])
    looked = replace(BASE, shares=(shared("pkg/a.py", LEAVER, STAYER, third, size=2),))
    first, second = found(looked)
    assert first == Finding(
        FindingKind.FILE_LOST,
        Severity.REFUSE,
        "stayer",
        "stayer would lose pkg/a.py, which it owns together with leaver and third",
        paths=(at("pkg/a.py"),),
        provider=Provider(at("pkg/a.py"), ("leaver", "stayer", "third"), "stayer"),
        proof=("grep", "-lF", "pkg/a.py", *(f"{one.info}/RECORD" for one in (LEAVER, STAYER, third))),
    )
    assert (second.distribution, second.broken_before) == ("third", True)


def test_of_many_lost_files_an_object_is_named_first() -> None:
    paths = ("pkg/deep/lib.so", "a.py", "z.so")
    items = tuple(shared(path, LEAVER, STAYER) for path in paths)
    looked = replace(BASE, shares=items, objects=Objects({at("pkg/deep/lib.so"): STAYER}, {}))
    (finding,) = found(looked)
    assert finding.message.startswith("stayer would lose pkg/deep/lib.so and 2 more,")
    assert finding.paths == (at("pkg/deep/lib.so"), at("a.py"), at("z.so"))


def test_files_of_no_consequence_are_one_note_and_a_launcher_a_warning() -> None:
    point = EntryPoint("console_scripts", "tool", "st:main")
    big, commander = dist("Big"), replace(STAYER, entry_points=(point,))
    items = (
        shared("LICENSE", LEAVER, STAYER),
        shared("README.md", LEAVER, big, STAYER),
        SharedFile(TargetPath("/env/bin/tool"), (LEAVER, commander), {}, 1),
    )
    command, trivial = found(replace(BASE, shares=items))
    assert (command.kind, command.severity) == (FindingKind.COMMAND_LOST, Severity.WARN)
    assert trivial == Finding(
        FindingKind.SHARED_TRIVIAL,
        Severity.NOTE,
        "Big",
        "2 co-owned files of no consequence would go as well (Big, stayer)",
        paths=(at("LICENSE"), at("README.md")),
        proof=("grep", "-lF", "LICENSE", f"{LEAVER.info}/RECORD", f"{STAYER.info}/RECORD"),
    )


def test_a_stub_is_only_warned_of() -> None:
    (finding,) = found(replace(BASE, shares=(shared("pkg/a.pyi", LEAVER, STAYER),)))
    assert (finding.kind, finding.severity) == (FindingKind.FILE_LOST, Severity.WARN)


def test_who_provides_a_path_is_who_leaves_with_it_or_else_who_lists_it() -> None:
    looked = replace(BASE, shares=(shared("pkg/a.py", LEAVER, STAYER, size=2),))
    assert provider(at("pkg/a.py"), looked) == Provider(at("pkg/a.py"), ("leaver", "stayer"), "stayer")
    assert provider(LIB, looked) == Provider(LIB, ("leaver",), "leaver")
    assert provider(at("st/b.so"), looked) == Provider(at("st/b.so"), ("stayer",), "stayer")
    assert provider(at("none"), looked) == Provider(at("none"))


def test_things_are_counted_and_the_first_three_named() -> None:
    assert [count(number, "file") for number in (0, 1, 2, 1234)] == [
        "0 files",
        "1 file",
        "2 files",
        "1,234 files",
    ]
    assert [some("abc"), some("abcd"), some(["a", "a", "b"])] == ["a, b, c", "a, b, c and 1 more", "a, b"]


def importing(*chain: str, line: int = 3) -> ImportLoss:
    return ImportLoss(STAYER, LEAVER, "pkg.a", at("pkg/a.py"), chain, at("st/x.py"), line)


def test_an_import_that_fails_is_told_by_the_statement_that_does_or_the_one_that_leads_to_it() -> None:
    direct = importing("import st", "st/x.py:3", "import pkg.a")
    beyond = importing("import st", "st/x.py:3", "other/y.py:9", "import pkg.a")
    (one,) = found(replace(BASE, imports=(direct, replace(direct, line=8))))
    assert one == Finding(
        FindingKind.IMPORT_LOST,
        Severity.REFUSE,
        "stayer",
        "stayer would fail: st/x.py:3 imports pkg.a, of leaver and 1 other import",
        paths=(at("pkg/a.py"),),
        provider=Provider(at("pkg/a.py"), ("leaver",), "leaver"),
        consumers=(Consumer(at("st/x.py"), "stayer", direct.chain),) * 2,
        proof=("sed", "-n", "3p", at("st/x.py")),
    )
    (leads,) = found(replace(BASE, imports=(beyond,)))
    assert leads.message == "stayer would fail: st/x.py:3 leads to an import of pkg.a, of leaver"


def test_an_import_that_another_file_serves_then_is_not_said_to_fail() -> None:
    loss = replace(importing("import st", "st/x.py:3", "import pkg.a"), instead=at("below/pkg/a.py"))
    (one,) = found(replace(BASE, imports=(loss,)))
    says = f"stayer would get another pkg.a, {at('below/pkg/a.py')}: st/x.py:3 imports pkg.a, of leaver"
    assert (one.severity, one.message) == (Severity.REFUSE, says)
    (same,) = found(replace(BASE, imports=(replace(loss, made_up=True),)))
    assert same == replace(one, severity=Severity.WARN)
    (both,) = found(replace(BASE, imports=(replace(loss, made_up=True), loss)))
    assert both.severity is Severity.REFUSE  # one that is not served is enough


def test_an_import_by_a_compiled_module_has_no_line_and_is_proven_by_the_name_in_it() -> None:
    (one,) = found(replace(BASE, imports=(importing("import st", "st/x.py", "import pkg.a", line=0),)))
    assert one.message == "stayer would fail: st/x.py imports pkg.a, of leaver"
    assert one.proof == ("grep", "-c", "pkg.a", at("st/x.py"))


def requirement(
    grade: Grade | None, *, extra: bool = False, in_use: str = ""
) -> list[tuple[FindingKind, Severity, str]]:
    written = "leaver>=1; extra == 'x'" if extra else "leaver>=1; x"
    loss = LostRequirement(STAYER, LEAVER, written, extra, in_use)
    grades = {} if grade is None else {(STAYER.info, LEAVER.key): grade}
    looked = found(replace(BASE, requirements=Lost((loss,), ()), grades=grades))
    return [(item.kind, item.severity, item.message) for item in looked]


def test_a_lost_requirement_is_told_by_the_evidence_that_decided() -> None:
    lost, extra = FindingKind.REQUIREMENT_LOST, FindingKind.EXTRA_LOST
    shown = Grade(Severity.WARN, Basis.GUARDED, at("st/x.py"), 4)
    why = "which is imported where a failure is caught"
    assert requirement(None) == [(lost, Severity.REFUSE, "stayer requires leaver>=1")]
    assert requirement(shown) == [(lost, Severity.WARN, f"stayer requires leaver, {why} (st/x.py:4)")]
    assert requirement(replace(shown, line=0)) == [
        (lost, Severity.WARN, f"stayer requires leaver, {why} (st/x.py)")
    ]
    assert requirement(Grade(Severity.REFUSE, Basis.KNOWN_LOAD)) == [
        (lost, Severity.REFUSE, "stayer requires leaver, which is known to be opened at run time")
    ]
    assert requirement(Grade(Severity.REFUSE, Basis.COMPILED, at("st/x.so"), 0, "_dep")) == [
        (
            lost,
            Severity.REFUSE,
            "stayer requires leaver, whose _dep is named in a compiled module (st/x.so)",
        )
    ]
    assert requirement(Grade(Severity.NOTE, Basis.NOWHERE)) == []
    assert requirement(None, extra=True) == [
        (extra, Severity.WARN, "stayer has an extra that requires leaver>=1")
    ]
    assert requirement(replace(shown, severity=Severity.REFUSE), extra=True) == [
        (extra, Severity.WARN, f"stayer has an extra that requires leaver, {why} (st/x.py:4)")
    ]


def test_an_extra_that_is_in_use_is_named_and_weighs_as_a_requirement_where_its_libraries_are_opened() -> (
    None
):
    opened, explained = Grade(Severity.REFUSE, Basis.KNOWN_LOAD), Grade(Severity.WARN, Basis.FOR_EXTRA)
    requires = "stayer[x] requires leaver, which"
    assert requirement(opened, extra=True, in_use="x") == [
        (FindingKind.REQUIREMENT_LOST, Severity.REFUSE, f"{requires} is known to be opened at run time")
    ]
    assert requirement(explained, extra=True, in_use="x") == [
        (FindingKind.EXTRA_LOST, Severity.WARN, f"{requires} was installed for nothing else")
    ]


CONSUMER, OTHER = at("st/b.so"), TargetPath("/usr/lib/lib.so.1")


def library(
    kind: FindingKind,
    *,
    was: Answer | None = None,
    chain: Sequence[str] = ("import st", "lib.so.1"),
    at_import: bool = True,
    lacking: Sequence[str] = (),
) -> Finding:
    missing = Answer(Standing.MISSING, Binding(CONSUMER, "lib.so.1", None, None, ()))
    need = Need(CONSUMER, CONSUMER, "lib.so.1")
    loss = Loss(kind, need, was, missing, STAYER, tuple(chain), at_import, tuple(lacking))
    (finding,) = found(replace(BASE, libraries=(Grouped(kind, "lib.so.1", STAYER, (loss,)),)))
    return finding


def met(standing: Standing, preloader: TargetPath | None = None) -> Answer:
    return Answer(standing, Binding(CONSUMER, "lib.so.1", LIB, None, ()), LIB, preloader)


LOST = "stayer could no longer be loaded: it comes to need lib.so.1, and nothing else provides it"


@pytest.mark.parametrize(
    ("was", "chain", "message"),
    [
        (None, ("import st",), LOST),
        (met(Standing.SEARCHED), ("import st",), LOST),
        (met(Standing.PRELOADED), ("import st",), f"{LOST} (it opens that itself now)"),
        (
            met(Standing.PRELOADED, at("t/_C.so")),
            ("import st",),
            f"{LOST} (counting on an earlier import now)",
        ),
        (
            met(Standing.PRELOADED),
            ("import st", "libc10.so, loaded by import torch", "lib.so.1"),
            f"{LOST} (counting on import torch coming first)",
        ),
    ],
)
def test_a_library_that_is_lost_is_told_with_what_the_loss_counts_on(
    was: Answer | None, chain: Sequence[str], message: str
) -> None:
    assert library(FindingKind.LIBRARY_LOST, was=was, chain=chain).message == message


def test_a_library_that_an_earlier_import_lacks_is_proved_by_the_object_that_needs_it() -> None:
    cause = Answer(Standing.MISSING, Binding(at("t/lib/libt.so"), "lib.so.1", None, None, ()))
    loss = Loss(
        FindingKind.LIBRARY_LOST,
        Need(CONSUMER, CONSUMER, "lib.so.1"),
        None,
        cause,
        STAYER,
        ("import st", "libt.so, loaded by import t", "lib.so.1"),
        at_import=True,
    )
    (finding,) = found(
        replace(BASE, libraries=(Grouped(FindingKind.LIBRARY_LOST, "lib.so.1", STAYER, (loss,)),))
    )
    assert finding.proof == ("readelf", "-d", at("t/lib/libt.so"))


def test_names_that_are_lacking_are_proved_by_the_tables_of_both_objects() -> None:
    now = Answer(
        Standing.SEARCHED, Binding(CONSUMER, "lib.so.1", at("other/lib.so.1"), None, ()), at("other/lib.so.1")
    )
    need = Need(CONSUMER, CONSUMER, "lib.so.1")
    loss = Loss(FindingKind.SYMBOL_LOST, need, None, now, STAYER, ("import st", "lib.so.1"), at_import=True)
    (finding,) = found(
        replace(BASE, libraries=(Grouped(FindingKind.SYMBOL_LOST, "lib.so.1", STAYER, (loss,)),))
    )
    assert finding.proof == ("nm", "-D", CONSUMER, at("other/lib.so.1"))


def test_other_changes_of_a_librarys_provider_are_told_each_in_its_way() -> None:
    kinds = (
        (FindingKind.SYMBOL_LOST, "b.so of stayer would be bound to another lib.so.1, which lacks a, b"),
        (
            FindingKind.ORDER_RELIANT,
            "b.so of stayer would find lib.so.1 only after another import has loaded it",
        ),
        (FindingKind.PROVIDER_CHANGED, "b.so of stayer would be bound to another lib.so.1"),
        (
            FindingKind.LAST_COPY,
            "b.so of stayer needs lib.so.1, which the loader does not find now either; the last copy would go",
        ),
    )
    for kind, message in kinds:
        assert library(kind, was=met(Standing.SEARCHED), lacking=("a", "b")).message == message
    later = library(FindingKind.LIBRARY_LOST, at_import=False)
    assert later.message == (
        "stayer could no longer open b.so, which needs lib.so.1; it is opened later, not at import"
    )
    assert (later.paths, later.provider) == ((), None)


def test_a_family_that_is_split_names_one_member_of_each_place() -> None:
    one, two = at("a/libcudnn.so.9"), at("b/libcudnn_ops.so.9")
    split = Split("cuDNN (9)", STAYER, CONSUMER, ((one, "libcudnn.so.9"), (two, "libcudnn_ops.so.9")))
    assert found(replace(BASE, splits=(split,))) == [
        Finding(
            FindingKind.FAMILY_SPLIT,
            Severity.WARN,
            "stayer",
            "st/b.so would load parts of cuDNN (9) from two places: libcudnn.so.9 from a, libcudnn_ops.so.9 from b",
            soname="libcudnn_ops.so.9",
            paths=(one, two),
            consumers=(Consumer(CONSUMER, "stayer"),),
            proof=("readelf", "-d", CONSUMER),
        )
    ]


def test_a_hint_that_is_named_comes_before_one_that_is_only_known() -> None:
    known = Hint(STAYER, LEAVER, at("pkg/libk.so.1"), (), "opened on demand")
    named = Hint(STAYER, LEAVER, LIB, (Mention("lib.so.1", at("st/x.py"), 5),), "opened on demand")
    (both,) = found(replace(BASE, hints=(known, named)))
    assert both == Finding(
        FindingKind.DLOPEN_HINT,
        Severity.WARN,
        "stayer",
        "stayer may open lib.so.1, libk.so.1 at run time: st/x.py:5 names it, and the last copy would go"
        " (opened on demand)",
        soname="lib.so.1",
        paths=(LIB, at("pkg/libk.so.1")),
        provider=Provider(LIB, ("leaver",), "leaver"),
        consumers=(Consumer(at("st/x.py"), "stayer"),),
        proof=("grep", "-c", "lib.so.1", at("st/x.py")),
    )
    (only,) = found(replace(BASE, hints=(known,)))
    assert (only.message, only.soname, only.proof) == (
        "stayer is known to open libk.so.1 at run time: opened on demand",
        "libk.so.1",
        (),
    )


def test_a_requirement_is_proved_by_the_line_that_states_it_and_one_that_is_a_note_hides_no_other() -> None:
    second = replace(dist("second"), key=DistKey("second-one"))
    losses = (
        LostRequirement(STAYER, LEAVER, "leaver", extra=False),
        LostRequirement(STAYER, second, "second", extra=False),
    )
    grades = {(STAYER.info, LEAVER.key): Grade(Severity.NOTE, Basis.NOWHERE)}
    assert found(replace(BASE, requirements=Lost(losses, ()), grades=grades)) == [
        Finding(
            FindingKind.REQUIREMENT_LOST,
            Severity.REFUSE,
            "stayer",
            "stayer requires second",
            paths=(second.info,),
            proof=("grep", "-iE", "^Requires-Dist: second[-_.]+one", f"{STAYER.info}/METADATA"),
        )
    ]


def test_of_two_lost_files_the_one_nearer_the_top_is_named_and_bytes_of_nobody_broke_nothing_before() -> None:
    items = tuple(shared(path, LEAVER, STAYER, size=9) for path in ("a/b", "a_long_name.py"))
    (finding,) = found(replace(BASE, shares=items))
    assert finding.message.startswith("stayer would lose a_long_name.py and 1 more,")
    assert (finding.provider, finding.broken_before) == (
        Provider(at("a_long_name.py"), ("leaver", "stayer"), ""),
        False,
    )


def test_a_leaver_without_a_record_provides_nothing() -> None:
    bare = replace(LEAVER, files=None)
    looked = replace(BASE, removal=Removal(leaving=(bare,)), inventory=inventory(bare, STAYER))
    assert provider(at("st/b.so"), looked) == Provider(at("st/b.so"), ("stayer",), "stayer")


def test_what_guards_itself_says_why() -> None:
    pip, safepip = dist("pip"), dist("safepip")
    looked = replace(BASE, removal=Removal(leaving=(pip, safepip, LEAVER)))
    policy = Policy(protected=frozenset({"leaver"}))
    assert [(item.message, item.paths) for item in findings.of(looked, policy)] == [
        ("the environment would be left without pip", (pip.info,)),
        ("safepip itself would go", (safepip.info,)),
        ("the configuration protects leaver", ()),
    ]
    proofs = [item.proof for item in findings.of(looked, policy)][:2]
    assert proofs == [("ls", "-d", pip.info), ("ls", "-d", safepip.info)]


@pytest.mark.parametrize(
    ("leaving", "message"),
    [
        ((), "pip would stop at bare: no RECORD file"),
        ((LEAVER, STAYER), "pip would stop at bare after it has removed leaver, stayer: no RECORD file"),
    ],
)
def test_where_pip_would_stop_is_told_with_what_has_gone_by_then(
    leaving: tuple[Distribution, ...], message: str
) -> None:
    looked = replace(BASE, removal=Removal(leaving=leaving, halt=Halt("bare", "no RECORD file", 1)))
    assert [item.message for item in found(looked)] == [message]


def test_two_reaches_of_one_reason_are_one_and_told_of_the_leaver_where_they_are_nobodys() -> None:
    reaches = tuple(Reach(TargetPath(f"/etc/{name}"), Why.OUTSIDE, LEAVER) for name in "ab")
    (finding,) = found(replace(BASE, removal=replace(BASE.removal, reaches=reaches)))
    assert (finding.distribution, finding.message) == (
        "leaver",
        "pip would also delete /etc/a and 1 more, which lies outside the environment",
    )


def last_copy(*known: KnownLoad, requires: Sequence[str] = ()) -> Severity:
    survivor = dist("stayer", requires=requires)
    need = Need(CONSUMER, CONSUMER, "lib.so.1")
    missing = Answer(Standing.MISSING, Binding(CONSUMER, "lib.so.1", None, None, ()))
    loss = Loss(
        FindingKind.LAST_COPY, need, met(Standing.ELSEWHERE), missing, survivor, ("x",), at_import=True
    )
    group = Grouped(FindingKind.LAST_COPY, "lib.so.1", survivor, (loss,))
    third = dist("third", ["third/lib.so.1", "third/xlib.so.1"])
    near = dist("near", ["pkg/xlib.so.1"])
    there = inventory(LEAVER, survivor, third, near)
    removal = Removal(leaving=(LEAVER, near))
    (finding,) = found(
        replace(BASE, removal=removal, inventory=there, libraries=(group,), known_loads=tuple(known))
    )
    return finding.severity


def test_a_last_copy_is_missed_by_who_requires_a_leaver_that_has_it_or_is_known_to_need_it() -> None:
    load = KnownLoad("stayer", ("lib.so.*",), "", "read", "1")
    goes_on = replace(load, required=False)
    assert last_copy(requires=["leaver"]) is Severity.REFUSE
    assert last_copy(requires=["third"]) is Severity.WARN
    assert last_copy(requires=["near"]) is Severity.WARN
    assert last_copy(goes_on, load) is Severity.REFUSE
    assert last_copy(goes_on, requires=["leaver"]) is Severity.WARN


def test_the_worst_comes_first() -> None:
    pip = dist("pip")
    looked = replace(
        BASE,
        removal=Removal(leaving=(pip,)),
        shares=(shared("LICENSE", pip, STAYER), shared("x.pyi", pip, STAYER)),
        in_use=(InUse(1, "python", LIB),),
    )
    verdict = judge(looked, Policy(protected=frozenset({"pip"})))
    assert [item.severity for item in verdict.findings] == [
        Severity.REFUSE,
        Severity.REFUSE,
        Severity.WARN,
        Severity.WARN,
        Severity.NOTE,
    ]
    assert [item.kind for item in verdict.findings][2:4] == [FindingKind.FILE_LOST, FindingKind.IN_USE]
