"""Names of libraries that go: who would miss them, and where something stronger is said already."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from safepip.model.change import Removal
from safepip.model.elf import Binding
from safepip.model.environment import Claim, Distribution
from safepip.model.imports import Basis, Grade
from safepip.model.known_loads import KnownLoad, When
from safepip.model.report import FindingKind, Severity
from safepip.model.survey import Answer, Mention, Need, SharedFile, Standing
from safepip.reasoning.libraries import objects
from safepip.reasoning.libraries.losses import Grouped, Loss
from safepip.reasoning.requirements import Lost, LostRequirement
from safepip.reasoning.verdict import hints, library_findings
from safepip.reasoning.verdict.evidence import Evidence
from safepip.world import Changed
from support.environments import at, dist, files, inventory
from support.fake_world import Content, FakeWorld, glibc, lib

CUBLAS = {"nvidia/cublas/lib/libcublas.so.12": lib("libcublas.so.12")}
ENGINE = {"ct2.libs/libct2.so": lib("libct2.so")}
BLAS, CT2 = dist("cublas", [*CUBLAS]), dist("ctranslate2", [*ENGINE, "ct2/load.py"])
NAMED = Mention("libcublas.so.12", at("ct2.libs/libct2.so"))


def evidence(
    contents: Mapping[str, Content], dists: Sequence[Distribution], leaving: Distribution
) -> Evidence:
    world = FakeWorld(files(contents))
    removal = Removal(
        leaving=(leaving,),
        files=tuple(at(path) for path in sorted(contents) if at(path) in (leaving.files or ())),
    )
    site = inventory(*dists)
    everybody = objects.gather(dists, site.target.scripts, world)
    return Evidence(removal, site, Changed(world, removal.gone), everybody)


def said(
    looked: Evidence,
    mentions: Sequence[Mention] = (NAMED,),
    *,
    cache: Mapping[str, str] | None = None,
    library_path: str = "",
) -> list[tuple[str, str, str]]:
    """Kind, survivor and sentence of each hint; `mentions` stand in files of ctranslate2."""

    def named(survivor: Distribution, names: Collection[str]) -> list[Mention]:
        return [item for item in mentions if item.path in (survivor.files or ()) and item.soname in names]

    staying = {
        name
        for path, elf in looked.objects.elves.items()
        if path not in looked.removal.gone
        for name in objects.names(path, elf)
    }
    gone = hints.names_going(looked, staying.__contains__, glibc(cache=cache, library_path=library_path))
    found = replace(looked, hints=tuple(hints.find(looked, gone, named)))
    return [(item.kind.value, item.distribution, item.message) for item in library_findings.of(found)]


WARNED = [
    (
        "dlopen-hint",
        "ctranslate2",
        "ctranslate2 may open libcublas.so.12 at run time: ct2.libs/libct2.so names it, and the last copy would go",
    )
]


def test_a_survivor_that_names_the_last_copy_warns() -> None:
    assert said(evidence({**CUBLAS, **ENGINE}, [BLAS, CT2], BLAS)) == WARNED


def test_a_source_is_named_with_its_line() -> None:
    source = Mention("libcublas.so.12", at("ct2/load.py"), 7)
    assert said(evidence({**CUBLAS, **ENGINE}, [BLAS, CT2], BLAS), [source]) == [
        (
            "dlopen-hint",
            "ctranslate2",
            "ctranslate2 may open libcublas.so.12 at run time: ct2/load.py:7 names it, and the last copy would go",
        )
    ]


def test_another_copy_in_the_environment_or_on_the_system_silences_it() -> None:
    second = dist("second", ["second/libcublas.so.12"])
    contents = {**CUBLAS, **ENGINE, "second/libcublas.so.12": lib("libcublas.so.12")}
    assert said(evidence(contents, [BLAS, CT2, second], BLAS)) == []
    plain = evidence({**CUBLAS, **ENGINE}, [BLAS, CT2], BLAS)
    assert said(plain, cache={"libcublas.so.12": "/usr/lib/libcublas.so.12"}) == []
    contents = {**CUBLAS, **ENGINE, "/opt/cuda/libcublas.so.12": lib("libcublas.so.12")}
    assert said(evidence(contents, [BLAS, CT2], BLAS), library_path="/opt/none:/opt/cuda") == []


def test_who_leaves_as_well_misses_nothing() -> None:
    both = dist("cublas", [*CUBLAS, *ENGINE])
    mention = Mention("libcublas.so.12", at("ct2.libs/libct2.so"))
    assert said(evidence({**CUBLAS, **ENGINE}, [both, CT2], both), [mention]) == []


def test_a_lost_requirement_of_the_same_pair_says_it_already_unless_it_is_a_note() -> None:
    looked = evidence({**CUBLAS, **ENGINE}, [BLAS, CT2], BLAS)
    loss = LostRequirement(CT2, BLAS, "cublas", extra=False)
    told = replace(looked, requirements=Lost((loss,), ()))
    assert said(told) == []
    note = {(CT2.info, BLAS.key): Grade(Severity.NOTE, Basis.NOWHERE)}
    assert said(replace(told, grades=note)) == WARNED


def test_a_lost_file_of_the_survivor_s_own_says_it_already() -> None:
    path = "nvidia/cublas/lib/libcublas.so.12"
    owner = dist("ctranslate2", [*ENGINE, path])
    looked = evidence({**CUBLAS, **ENGINE}, [BLAS, owner], BLAS)
    shared = SharedFile(at(path), (BLAS, owner), {BLAS.key: Claim("", 9), owner.key: Claim("", 9)}, 9)
    assert said(replace(looked, shares=(shared,))) == []


def test_what_a_known_load_opens_is_said_with_how_that_is_known() -> None:
    load = KnownLoad(
        "ctranslate2", ("libcublas.so.*",), "", "opened at the first work on a GPU", "4.8.5", When.LATER
    )
    looked = replace(evidence({**CUBLAS, **ENGINE}, [BLAS, CT2], BLAS), known_loads=(load,))
    assert said(looked, []) == [
        (
            "dlopen-hint",
            "ctranslate2",
            "ctranslate2 is known to open libcublas.so.12 at run time: opened at the first work on a GPU",
        )
    ]


def test_several_files_of_one_pair_are_one_finding() -> None:
    contents = {**CUBLAS, "nvidia/cublas/lib/libcublasLt.so.12": lib("libcublasLt.so.12"), **ENGINE}
    blas = dist("cublas", [path for path in contents if path.startswith("nvidia")])
    mentions = [NAMED, NAMED._replace(soname="libcublasLt.so.12")]
    assert said(evidence(contents, [blas, CT2], blas), mentions) == [
        (
            "dlopen-hint",
            "ctranslate2",
            (
                "ctranslate2 may open libcublas.so.12, libcublasLt.so.12 at run time: ct2.libs/libct2.so names it,"
                " and the last copy would go"
            ),
        )
    ]


def test_an_extension_module_that_goes_is_no_library_that_anybody_opens_by_name() -> None:
    contents = {"cublas/_m.so": lib(), **ENGINE}
    blas = dist("cublas", ["cublas/_m.so"])
    mention = Mention("_m.so", at("ct2.libs/libct2.so"))
    assert said(evidence(contents, [blas, CT2], blas), [mention]) == []


def test_a_library_need_of_the_same_pair_that_got_worse_says_it_already() -> None:
    looked = evidence({**CUBLAS, **ENGINE}, [BLAS, CT2], BLAS)
    missing = Answer(Standing.MISSING, Binding(NAMED.path, "libcublas.so.12", None, None, ()))
    need = Need(NAMED.path, NAMED.path, "libcublas.so.12")

    def told(wants: str) -> Evidence:
        loss = Loss(FindingKind.LIBRARY_LOST, need, None, missing, CT2, ("import ct2",), at_import=True)
        return replace(looked, libraries=(Grouped(FindingKind.LIBRARY_LOST, wants, CT2, (loss,)),))

    assert [kind for kind, _, _ in said(told("libcublas.so.12"))] == ["library-lost"]
    assert [kind for kind, _, _ in said(told("libother.so"))] == ["library-lost", "dlopen-hint"]


def test_a_file_of_two_names_is_one_hint_and_what_goes_and_is_no_library_hides_none_behind_it() -> None:
    contents: dict[str, Content] = {
        "a/readme.so.txt": b"",
        "nv/libcublas.so.12.8": lib("libcublas.so.12"),
        **ENGINE,
    }
    blas = dist("cublas", ["a/readme.so.txt", "nv/libcublas.so.12.8"])
    looked = evidence(contents, [blas, CT2], blas)
    gone = hints.names_going(looked, lambda _: False, glibc())
    path = at("nv/libcublas.so.12.8")
    assert gone == {name: hints.Going(path, blas) for name in ("libcublas.so.12", "libcublas.so.12.8")}
    mentions = [NAMED, NAMED._replace(soname="libcublas.so.12.8")]
    found = list(hints.find(looked, gone, lambda *_: mentions))
    assert [(hint.path, hint.mentions) for hint in found] == [(path, (NAMED,))]


def test_a_library_that_cannot_be_read_goes_by_its_file_name() -> None:
    contents: dict[str, Content] = {"nv/libcublas.so.12": b"", **ENGINE}
    blas = dist("cublas", ["nv/libcublas.so.12"])
    assert set(hints.names_going(evidence(contents, [blas, CT2], blas), lambda _: False, glibc())) == {
        "libcublas.so.12"
    }


def test_each_folder_of_the_variable_that_is_absolute_is_looked_into() -> None:
    contents = {**CUBLAS, **ENGINE, "/two/libcublas.so.12": lib(), "/libcublas.so.12": lib()}
    looked = evidence(contents, [BLAS, CT2], BLAS)
    assert said(looked, library_path="/one;/two") == []
    assert said(looked, library_path="relative:") == WARNED
