"""Needs that no search meets: what a known load or an earlier import brings, and what is opened later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from safepip.model.change import Removal
from safepip.model.elf import Abi, Elf
from safepip.model.environment import Distribution, Inventory
from safepip.model.known_loads import KnownLoad, Loads, When
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Standing
from safepip.reasoning.libraries import known_loads, losses, objects, searches
from safepip.reasoning.libraries.survey import Surveyor
from safepip.reasoning.verdict import library_findings
from safepip.reasoning.verdict.evidence import Evidence
from safepip.world import Changed
from support.environments import EXT, at, dist, files, inventory
from support.fake_world import Content, FakeWorld, Link, glibc, lib, program
from support.surveys import surveyed

CUDNN = {"nvidia/cudnn/lib/libcudnn.so.9": lib("libcudnn.so.9")}
TORCH = {f"torch/_C{EXT}": lib(needs=["libcudnn.so.9"])}
VISION = {f"vision/_C{EXT}": lib(needs=["libcudnn.so.9"])}
OPENS = KnownLoad("torch", ("libcudnn.so.*",), "nvidia/*/lib", "torch/__init__.py", "2.9.1")


Quoted = frozenset[tuple[str, str, str]]  # distribution, module, text
NOTHING: Quoted = frozenset()


def loads_of(known: Sequence[KnownLoad], quoted: Quoted = NOTHING) -> Loads:
    """Each distribution that quotes something does so in its `load.py`."""

    def quoting(dist: Distribution, module: str, text: str) -> list[TargetPath]:
        return [at(f"{dist.name}/load.py")] if (dist.name, module, text) in quoted else []

    return Loads(tuple(known), quoting)


def standings(
    contents: Mapping[str, Content], site: Inventory, known: Sequence[KnownLoad], quoted: Quoted = NOTHING
) -> dict[tuple[str, str], Standing]:
    world = FakeWorld(files(contents))
    everybody = objects.gather(site.distributions, site.target.scripts, world)
    surveyor = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), loads_of(known, quoted))
    answers = surveyor.survey(everybody.elves).answers
    return {
        (everybody.owner[need.root].name, need.wants): answer.standing for need, answer in answers.items()
    }


def messages(
    contents: Mapping[str, Content],
    dists: Sequence[Distribution],
    leaving: Distribution,
    known: Sequence[KnownLoad] = (),
    quoted: Quoted = NOTHING,
) -> list[tuple[str, str, str]]:
    """Kind, severity and sentence of each finding about libraries once `leaving` has gone."""
    world, gone = FakeWorld(files(contents)), frozenset(leaving.files or ())
    site = inventory(*dists)
    everybody = objects.gather(dists, site.target.scripts, world)
    now = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), loads_of(known, quoted))
    after = Changed(world, gone)
    then = now.without(after, gone)
    roots = [path for path in everybody.elves if path not in gone]
    worlds = losses.Worlds(now.survey(roots), then.survey(roots), everybody, site)
    evidence = Evidence(
        Removal(leaving=(leaving,), files=tuple(leaving.files or ())),
        site,
        after,
        everybody,
        libraries=losses.compare(worlds),
        known_loads=tuple(known),
    )
    return [(item.kind.value, item.severity.name, item.message) for item in library_findings.of(evidence)]


def test_a_library_that_is_opened_before_an_import_is_preloaded_from_any_entry_of_the_path() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", ["/second/nvidia/cudnn/lib/libcudnn.so.9"])
    contents = {**TORCH, "/second/nvidia/cudnn/lib/libcudnn.so.9": lib("libcudnn.so.9")}
    site = inventory(torch, cudnn)
    need = ("torch", "libcudnn.so.9")
    assert standings(contents, site, [OPENS]) == {need: Standing.ELSEWHERE}
    second = replace(site.target, path=(*site.target.path, TargetPath("/second")))
    assert standings(contents, replace(site, target=second), [OPENS]) == {need: Standing.PRELOADED}


def test_what_is_opened_later_meets_no_need_of_an_import() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    later = replace(OPENS, when=When.LATER)
    assert standings({**TORCH, **CUDNN}, inventory(torch, cudnn), [later]) == {
        ("torch", "libcudnn.so.9"): Standing.ELSEWHERE
    }


def test_what_one_distribution_opens_by_itself_serves_those_that_import_it_first() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    vision = dist("vision", [*VISION], requires=["torch"])
    contents = {**TORCH, **CUDNN, **VISION}
    assert standings(contents, inventory(torch, cudnn, vision), [OPENS]) == {
        ("torch", "libcudnn.so.9"): Standing.PRELOADED,
        ("vision", "libcudnn.so.9"): Standing.PRELOADED,
    }
    assert messages(contents, [torch, cudnn, vision], cudnn, [OPENS]) == [
        (
            "library-lost",
            "REFUSE",
            (
                "torch could no longer be loaded: it comes to need libcudnn.so.9, and nothing else provides it"
                " (it opens that itself now)"
            ),
        ),
        (
            "library-lost",
            "REFUSE",
            (
                "vision could no longer be loaded: it comes to need libcudnn.so.9, and nothing else provides it"
                " (counting on import torch coming first)"
            ),
        ),
    ]


RMM = {"librmm/lib64/librmm.so": lib("librmm.so")}
CUDF = {f"pylibcudf/_c{EXT}": lib(needs=["librmm.so"])}
LOADS_RMM: Quoted = frozenset({("librmm", "ctypes", "librmm.so")})


def test_a_library_that_its_own_package_opens_from_python_serves_those_that_require_the_package() -> None:
    """As librmm's load.py does: no path leads from pylibcudf's modules to it."""
    rmm = dist("librmm", [*RMM, "librmm/load.py"])
    cudf, other = dist("pylibcudf", [*CUDF], requires=["librmm"]), dist("other", [f"other/_c{EXT}"])
    contents = {**RMM, **CUDF, f"other/_c{EXT}": lib(needs=["librmm.so"])}
    site = inventory(rmm, cudf, other)
    need, others = ("pylibcudf", "librmm.so"), ("other", "librmm.so")
    assert standings(contents, site, []) == {need: Standing.ELSEWHERE, others: Standing.ELSEWHERE}
    assert standings(contents, site, [], LOADS_RMM) == {
        need: Standing.PRELOADED,
        others: Standing.ELSEWHERE,
    }


def test_a_library_that_cannot_load_itself_is_opened_by_nobody() -> None:
    rmm, cudf = dist("librmm", [*RMM, "librmm/load.py"]), dist("pylibcudf", [*CUDF], requires=["librmm"])
    contents = {**CUDF, "librmm/lib64/librmm.so": lib("librmm.so", needs=["libnone.so"])}
    assert standings(contents, inventory(rmm, cudf), [], LOADS_RMM) == {
        ("librmm", "libnone.so"): Standing.MISSING,
        ("pylibcudf", "librmm.so"): Standing.ELSEWHERE,
    }


def test_two_libraries_that_need_each_other_are_not_opened_for_each_other() -> None:
    contents = {
        "one/libone.so": lib("libone.so", needs=["libtwo.so"]),
        "two/libtwo.so": lib("libtwo.so", needs=["libone.so"]),
    }
    one = dist("one", ["one/libone.so", "one/load.py"], requires=["two"])
    two = dist("two", ["two/libtwo.so", "two/load.py"], requires=["one"])
    quoted: Quoted = frozenset({("one", "ctypes", "libone.so"), ("two", "ctypes", "libtwo.so")})
    assert set(standings(contents, inventory(one, two), [], quoted).values()) == {Standing.ELSEWHERE}


def test_who_removes_the_library_or_the_source_that_opens_it_breaks_those_that_it_served() -> None:
    cudf, rmm = dist("pylibcudf", [*CUDF], requires=["librmm"]), dist("librmm", [*RMM])
    loader = dist("librmm-loader", ["librmm/load.py"])
    contents: dict[str, Content] = {**RMM, **CUDF, "librmm/load.py": b""}
    assert [
        [
            (kind, severity)
            for kind, severity, _ in messages(contents, [rmm, cudf, loader], gone, [], LOADS_RMM)
        ]
        for gone in (rmm, loader)
    ] == [[("library-lost", "REFUSE")]] * 2


PATHFINDER = KnownLoad(
    "cuda-pathfinder", ("libcusolver.so.*",), "nvidia/*/lib", "its table", "1.9.1", When.LATER
)


def test_what_a_package_asks_of_cuda_pathfinder_is_loaded_when_those_that_require_it_are_imported() -> None:
    """As raft's load.py asks for "cusolver": from the folders that cuda-pathfinder looks in, and no other."""
    raft = dist("libraft", ["libraft/load.py"])
    user = dist("pylibraft", [f"pylibraft/_c{EXT}"], requires=["libraft"])
    solver = dist("nvidia-cusolver-cu12", ["nvidia/cusolver/lib/libcusolver.so.11"])
    contents = {
        f"pylibraft/_c{EXT}": lib(needs=["libcusolver.so.11"]),
        "nvidia/cusolver/lib/libcusolver.so.11": lib("libcusolver.so.11"),
    }
    asked: Quoted = frozenset({("libraft", "load_nvidia_dynamic_lib", "cusolver")})
    site, need = inventory(raft, user, solver), ("pylibraft", "libcusolver.so.11")
    assert standings(contents, site, [PATHFINDER], asked) == {need: Standing.PRELOADED}
    assert standings(contents, site, [PATHFINDER]) == {need: Standing.ELSEWHERE}
    assert standings(contents, site, [], asked) == {need: Standing.ELSEWHERE}


def test_a_plugin_that_no_import_reaches_is_lost_and_said_to_be_opened_later() -> None:
    contents = {
        "PyQt6/Qt6/plugins/imageformats/libqsvg.so": lib(
            needs=["libQt6Svg.so.6"], runpath="$ORIGIN/../../lib"
        ),
        "PyQt6/Qt6/lib/libQt6Svg.so.6": lib("libQt6Svg.so.6"),
    }
    plugin = dist("PyQt6-plugins", ["PyQt6/Qt6/plugins/imageformats/libqsvg.so"])
    svg = dist("PyQt6-Svg", ["PyQt6/Qt6/lib/libQt6Svg.so.6"])
    assert messages(contents, [plugin, svg], svg) == [
        (
            "library-lost",
            "REFUSE",
            (
                "PyQt6-plugins could no longer open libqsvg.so, which needs libQt6Svg.so.6;"
                " it is opened later, not at import"
            ),
        )
    ]


def test_a_last_copy_refuses_where_a_known_load_fails_without_it_and_warns_where_it_goes_on() -> None:
    """onnxruntime's CUDA provider waits for preload_dlls; MKL's TBB layer for an environment variable."""
    contents = {"ort/libprovider.so": lib(needs=["libcudnn.so.9"]), **CUDNN}
    ort, cudnn = dist("ort", ["ort/libprovider.so"]), dist("cudnn", [*CUDNN])
    load = KnownLoad("ort", ("libcudnn.so.*",), "nvidia/*/lib", "preload_dlls", "1", When.LATER)
    said = "libprovider.so of ort needs libcudnn.so.9, which the loader does not find now either; the last copy would go"
    assert messages(contents, [ort, cudnn], cudnn) == [("last-copy", "WARN", said)]
    assert messages(contents, [ort, cudnn], cudnn, [load]) == [("last-copy", "REFUSE", said)]
    declared = dist("ort", ["ort/libprovider.so"], requires=["cudnn"])
    assert messages(contents, [declared, cudnn], cudnn) == [("last-copy", "REFUSE", said)]
    goes_on = replace(load, required=False)
    assert messages(contents, [declared, cudnn], cudnn, [goes_on]) == [("last-copy", "WARN", said)]


def test_a_folder_of_variants_for_this_processor_is_asked_anew_of_a_world_that_has_lost_it() -> None:
    """The search remembers of each folder which variants it has; a removal may take one."""
    variant = "two/glibc-hwcaps/x86-64-v3/libz.so"
    contents = {
        f"app/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/../two"),
        variant: lib("libz.so"),
        "two/libz.so": lib("libz.so"),
    }
    app, fast, plain = dist("app", [f"app/_m{EXT}"]), dist("fast", [variant]), dist("two", ["two/libz.so"])
    world, gone = FakeWorld(files(contents)), frozenset({at("two/glibc-hwcaps"), at(variant)})
    site = inventory(app, fast, plain)
    everybody = objects.gather(site.distributions, site.target.scripts, world)
    config = glibc(main="/usr/bin/python3.12", hwcaps=["glibc-hwcaps/x86-64-v3"])
    now = Surveyor(world, everybody, site, config, Loads())
    then = now.without(Changed(world, gone), gone)
    bound = [
        answer.provider
        for surveyor in (now, then)
        for answer in surveyor.survey([at(f"app/_m{EXT}")]).answers.values()
    ]
    assert bound == [at(variant), at("two/libz.so")]


def test_what_is_asked_again_is_answered_again() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    site, world = inventory(torch, cudnn), FakeWorld(files({**TORCH, **CUDNN}))
    everybody = objects.gather(site.distributions, site.target.scripts, world)
    surveyor = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), Loads((OPENS,)))
    assert surveyor.survey(everybody.elves) == surveyor.survey(everybody.elves)
    assert (surveyor.holds("libcudnn.so.9"), surveyor.holds("libother.so")) == (True, False)


def test_a_library_that_is_recorded_as_a_link_out_of_the_environment_is_its_recorders() -> None:
    """As `uv pip install --link-mode=symlink` leaves everything. $ORIGIN is the folder of the link."""
    provider, user = dist("provider", ["provider/libq.so.1"]), dist("user", [f"user/_c{EXT}"])
    contents: dict[str, Content] = {
        "provider/libq.so.1": Link("/cache/1/libq.so.1"),
        f"user/_c{EXT}": Link("/cache/2/_c.so"),
        "/cache/1/libq.so.1": lib("libq.so.1"),
        "/cache/2/_c.so": lib(needs=["libq.so.1"], runpath="$ORIGIN/../provider"),
    }
    world, site = FakeWorld(files(contents)), inventory(provider, user)
    everybody = objects.gather(site.distributions, site.target.scripts, world)
    surveyor = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), Loads())
    [(need, answer)] = surveyor.survey([at(f"user/_c{EXT}")]).answers.items()
    assert (need.consumer, answer.provider) == (at(f"user/_c{EXT}"), at("provider/libq.so.1"))
    assert messages(contents, [provider, user], provider) == [
        (
            "library-lost",
            "REFUSE",
            "user could no longer be loaded: it comes to need libq.so.1, and nothing else provides it",
        )
    ]


def test_a_program_is_a_process_of_its_own_which_the_interpreter_lends_nothing() -> None:
    contents: dict[str, Content] = {
        "/usr/bin/python3.12": program(needs=["libpython3.so"], rpath="/usr/lib/py"),
        "/usr/lib/py/libpython3.so": lib("libpython3.so"),
        "/env/bin/tool": program(needs=["libpython3.so", "libown.so"], rpath="$ORIGIN/../lib"),
        "/env/lib/libown.so": lib("libown.so"),
        f"app/_m{EXT}": lib(needs=["libpython3.so"]),
    }
    app = dist("app", ["/env/bin/tool", "/env/lib/libown.so", f"app/_m{EXT}"])
    there = surveyed(contents, app)
    assert {(need.root, need.wants): answer.standing for need, answer in there.survey.answers.items()} == {
        ("/env/bin/tool", "libpython3.so"): Standing.MISSING,
        ("/env/bin/tool", "libown.so"): Standing.SEARCHED,
        (at(f"app/_m{EXT}"), "libpython3.so"): Standing.SEARCHED,
    }


ARM = Abi(64, little_endian=True, machine=183)


def test_an_object_of_another_machine_is_no_copy_and_no_import_that_comes_first() -> None:
    torch = {
        f"torch/_C{EXT}": lib(needs=["libown.so"], rpath="$ORIGIN", abi=ARM),
        "torch/libown.so": lib("libown.so", abi=ARM),
    }
    vision = {f"vision/_C{EXT}": lib(needs=["libown.so"])}
    first, second = dist("torch", [*torch]), dist("vision", [*vision], requires=["torch"])
    assert (
        standings({**torch, **vision}, inventory(first, second), ())["vision", "libown.so"]
        is Standing.MISSING
    )


def test_an_object_for_another_machine_is_opened_as_its_own_loader_would() -> None:
    tool, own = at("arm/bin/tool"), at("arm/bin/libown.so")
    contents: dict[str, Content] = {
        tool: Elf(ARM, 3, interpreter="/lib/ld.so", needed=("libown.so",), rpath="$ORIGIN", pie=True),
        own: lib("libown.so", abi=ARM),
    }
    arm = dist("arm", [tool, own])
    world, site = FakeWorld(files(contents)), inventory(arm)
    everybody = objects.gather(site.distributions, site.target.scripts, world)
    alien = replace(glibc(main=tool), abi=ARM)
    config = replace(glibc(main="/usr/bin/python3.12"), others={ARM: alien})
    survey = Surveyor(world, everybody, site, config, Loads()).survey([tool])
    assert {need.wants: answer.standing for need, answer in survey.answers.items()} == {
        "libown.so": Standing.SEARCHED
    }


def test_what_an_earlier_import_may_do_without_it_does_not_bring() -> None:
    """An auxiliary filter may be missing: the import works, and has loaded no such library."""
    torch = {f"torch/_C{EXT}": replace(lib(), auxiliaries=("libgone.so", "libnone.so"))}
    vision = {f"vision/_C{EXT}": lib(needs=["libnone.so"])}
    first, second = dist("torch", [*torch]), dist("vision", [*vision], requires=["torch"])
    assert standings({**torch, **vision}, inventory(first, second), ()) == {
        ("vision", "libnone.so"): Standing.MISSING
    }


def test_a_need_of_its_own_distribution_is_met_by_another_before_by_itself() -> None:
    """Both have it loaded; what is imported first by any user is the required one."""
    contents: dict[str, Content] = {
        f"base/_m{EXT}": lib(needs=["libx.so"], rpath="$ORIGIN"),
        "base/libx.so": lib("libx.so"),
        f"user/_a{EXT}": lib(needs=["libx.so"], rpath="$ORIGIN"),
        "user/libx.so": lib("libx.so"),
        f"user/_b{EXT}": lib(needs=["libx.so"]),
    }
    base = dist("base", [f"base/_m{EXT}", "base/libx.so"])
    user = dist("user", [f"user/_a{EXT}", "user/libx.so", f"user/_b{EXT}"], requires=["base"])
    answers = surveyed(contents, base, user).survey.answers
    (answer,) = [one for need, one in answers.items() if need.root == at(f"user/_b{EXT}")]
    assert (answer.standing, answer.provider, answer.preloader) == (
        Standing.PRELOADED,
        at("base/libx.so"),
        at(f"base/_m{EXT}"),
    )


def test_an_import_under_way_does_not_keep_another_from_coming_first() -> None:
    contents: dict[str, Content] = {
        f"a/_m{EXT}": lib(needs=["libx.so"]),
        f"a/_other{EXT}": lib(needs=["libx.so"], rpath="$ORIGIN"),
        "a/libx.so": lib("libx.so"),
    }
    answers = surveyed(contents, dist("a", [*contents])).survey.answers
    assert {need.root: one.standing for need, one in answers.items()} == {
        at(f"a/_m{EXT}"): Standing.PRELOADED,
        at(f"a/_other{EXT}"): Standing.SEARCHED,
    }


def test_a_library_that_names_an_interpreter_is_no_program_and_one_of_fixed_place_is() -> None:
    """libc.so.6 can be run, too, and is loaded into the interpreter's process like any library."""
    libc, tool = at("x/libc.so.6"), at("x/bin/tool")
    contents: dict[str, Content] = {
        "/usr/bin/python3.12": program(needs=["libpy.so"], rpath="/usr/lib/py"),
        "/usr/lib/py/libpy.so": lib("libpy.so"),
        libc: replace(lib("libc.so.6", needs=["libpy.so"]), interpreter="/lib/ld.so"),
        tool: replace(program(needs=["libpy.so"]), pie=False, type=2),
    }
    answers = surveyed(contents, dist("x", [libc, tool])).survey.answers
    assert {need.root: one.standing for need, one in answers.items()} == {
        libc: Standing.SEARCHED,
        tool: Standing.MISSING,
    }


def test_a_copy_is_known_by_its_soname_or_else_by_its_file() -> None:
    contents: dict[str, Content] = {
        f"a/_m{EXT}": lib(needs=["libx.so.1", "libfile.so"]),
        "far/libx.so.1.2": lib("libx.so.1"),
        "far/libfile.so": lib(),
    }
    answers = surveyed(contents, dist("a", [*contents])).survey.answers
    assert {need.wants: one.standing for need, one in answers.items()} == {
        "libx.so.1": Standing.ELSEWHERE,
        "libfile.so": Standing.ELSEWHERE,
    }


def test_a_load_of_several_names_opens_each_of_them() -> None:
    both = replace(OPENS, sonames=("libother.so.*", "libcudnn.so.*"))
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    assert standings({**TORCH, **CUDNN}, inventory(torch, cudnn), [both]) == {
        ("torch", "libcudnn.so.9"): Standing.PRELOADED
    }


def test_a_known_load_may_be_of_each_distribution_of_a_pattern() -> None:
    wide, other = replace(OPENS, distribution="torch-cu*"), replace(OPENS, distribution="vision-cu*")
    named = {
        key: known_loads.of_distribution(DistKey(key), [wide, other, OPENS])
        for key in ("torch-cu12", "torch", "rest")
    }
    assert named == {"torch-cu12": [wide], "torch": [OPENS], "rest": []}


def test_origin_in_a_needed_name_is_the_folder_of_each_object_that_says_it() -> None:
    """glibc expands DST in DT_NEEDED (expand_dst in elf/dl-deps.c), whatever search lists there are."""
    there = surveyed(
        {
            **{f"{name}/_m{EXT}": lib(needs=["$ORIGIN/libx.so"]) for name in ("one", "two")},
            "one/libx.so": lib(),
        },
        dist("one", [f"one/_m{EXT}", "one/libx.so"]),
        dist("two", [f"two/_m{EXT}"]),
    )
    assert {need.root: answer.provider for need, answer in there.survey.answers.items()} == {
        at(f"one/_m{EXT}"): at("one/libx.so"),
        at(f"two/_m{EXT}"): None,
    }


def test_after_a_removal_a_search_stands_that_came_by_nothing_that_goes() -> None:
    near, far = at("near.so"), at("far.so")
    found = {path: searches.Found((), None, None, None, (), None, frozenset({path})) for path in (near, far)}
    memo = searches.Memo({(path,): item for path, item in found.items()})
    memo.folders.variants.update({at("a"): (), at("b"): (at("b/v3"),)})
    left = memo.without(frozenset({near}))
    assert left.searches == {(far,): found[far]}
    assert left.folders.variants == {at("a"): ()}  # what is not there now will not be there then


def test_what_no_import_names_and_what_is_of_another_machine_hide_no_module_that_an_earlier_import_runs() -> (
    None
):
    contents: dict[str, Content] = {
        f"first/_module{EXT}": lib(needs=["libx.so.1"], rpath="$ORIGIN/libs"),
        f"first/_a{EXT}": lib(needs=["libx.so.1"], abi=Abi(32, little_endian=True, machine=3)),
        "first/y.so.1": lib("y.so.1", needs=["libx.so.1"], rpath="$ORIGIN/libs"),
        "first/libs/libx.so.1": lib("libx.so.1"),
        f"user/_m{EXT}": lib(needs=["libx.so.1"]),
    }
    first = dist("first", [path for path in contents if path.startswith("first")])
    there = surveyed(contents, first, dist("user", [f"user/_m{EXT}"], requires=["first"]))
    (answer,) = (found for need, found in there.survey.answers.items() if need.root == at(f"user/_m{EXT}"))
    assert (answer.standing, answer.provider) == (Standing.PRELOADED, at("first/libs/libx.so.1"))
