"""Which names a question means, and who needs what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from safepip.model.answers import Declared, Looked, Opener, Use
from safepip.model.elf import Binding, Flaw, Loaded, Loading, Rule, Step
from safepip.model.environment import Distribution
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import TargetPath
from safepip.model.survey import Objects, Standing
from safepip.reasoning.health import questions
from safepip.reasoning.health.questions import Sought
from support.environments import EXT, at, dist, inventory
from support.fake_world import Content, lib
from support.surveys import Surveyed, surveyed

NAMES = ("libcudnn.so.9", "libcudnn_ops.so.9", "libGL.so.1")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("libcudnn.so.9", {"libcudnn.so.9"}),
        ("CUDNN", {"libcudnn.so.9", "libcudnn_ops.so.9"}),
        ("LIBCUDNN.*", {"libcudnn.so.9"}),
        ("libgl.so.?", {"libGL.so.1"}),
        ("lib[Gx]L*", {"libGL.so.1"}),
        ("cudnn*", set()),
        ("none", set()),
    ],
)
def test_a_name_is_meant_whole_or_by_a_pattern_or_by_a_part(query: str, expected: set[str]) -> None:
    assert questions.fitting(query, NAMES) == expected


MODULE, LIBRARY, CUDNN = at(f"torch/_C{EXT}"), at("torch/lib/libtorch.so"), at("nv/libcudnn.so.9.1")
CONTENTS: Mapping[str, Content] = {
    MODULE: lib(needs=["libtorch.so"], rpath="$ORIGIN/lib"),
    LIBRARY: lib("libtorch.so", needs=["libcudnn.so.9"], runpath="$ORIGIN/none:$ORIGIN/../../nv"),
    at("nv/libcudnn.so.9"): lib("libcudnn.so.9"),
}
TORCH, NV = dist("torch", [MODULE, LIBRARY]), dist("nv", ["nv/libcudnn.so.9"])


def test_a_library_is_known_by_its_file_and_its_soname_and_by_who_asks_for_it() -> None:
    owned = Objects(
        {}, {CUDNN: lib("libcudnn.so.9"), LIBRARY: lib(needs=["libnone.so.1"]), at("bin/tool"): lib()}
    )
    names = {"libcudnn.so.9.1", "libcudnn.so.9", "libtorch.so", "libnone.so.1"}
    assert questions.library_names(owned) == names
    assert questions.paths_named(frozenset(["libcudnn.so.9"]), owned) == (CUDNN,)
    assert questions.paths_named(frozenset(["libtorch.so", "libcudnn.so.9.1"]), owned) == (CUDNN, LIBRARY)


def uses(sought: Sought, there: Surveyed) -> tuple[Use, ...]:
    return questions.uses(sought, there.survey, there.objects, there.inventory)


def test_a_use_is_told_once_by_the_plainest_way_with_where_the_loader_looked() -> None:
    """libtorch.so is a root of its own too, but people import torch."""
    there = surveyed(CONTENTS, TORCH, NV)
    provider = at("nv/libcudnn.so.9")
    use = Use(
        LIBRARY,
        "torch",
        "libcudnn.so.9",
        Standing.SEARCHED,
        provider,
        "RUNPATH of libtorch.so: $ORIGIN/../../nv",
        ("import torch", f"torch/_C{EXT}", "libtorch.so", "libcudnn.so.9"),
        (Looked("RUNPATH of libtorch.so: $ORIGIN/none", at("torch/lib/none/libcudnn.so.9")),),
    )
    assert uses(Sought(frozenset(["libcudnn.so.9"]), frozenset()), there) == (use,)
    assert uses(Sought(frozenset(), frozenset([provider])), there) == (use,)
    assert uses(Sought(frozenset(["libcudnn.so.9"]), frozenset(), NV), there) == (use,)
    assert uses(Sought(frozenset(["libcudnn.so.9"]), frozenset(), TORCH), there) == ()
    assert uses(Sought(frozenset(["other.so"]), frozenset()), there) == ()


def test_only_the_surest_standing_of_a_need_is_told() -> None:
    """Alone the library finds nothing; opened by the module, it inherits its RPATH."""
    contents: Mapping[str, Content] = {
        MODULE: lib(needs=["libtorch.so"], rpath="$ORIGIN/lib:$ORIGIN/../nv"),
        LIBRARY: lib("libtorch.so", needs=["libcudnn.so.9"]),
        at("nv/libcudnn.so.9"): lib("libcudnn.so.9"),
    }
    (use,) = uses(Sought(frozenset(["libcudnn.so.9"]), frozenset()), surveyed(contents, TORCH, NV))
    assert (use.how, use.rule) == (Standing.SEARCHED, f"RPATH of _C{EXT}: $ORIGIN/../nv")


def test_what_is_not_found_comes_first_then_those_outside_what_is_asked_about_by_name() -> None:
    def module(name: str, *needs: str) -> tuple[Distribution, Mapping[str, Content]]:
        path = at(f"{name}/_m{EXT}")
        return dist(name, [path]), {path: lib(needs=needs, rpath="$ORIGIN/../nv")}

    (late, of_late), (early, of_early) = module("Zed", "libcudnn.so.9"), module("app", "libcudnn.so.9")
    (broken, of_broken) = module("broken", "libnone.so.1")
    there = surveyed({**CONTENTS, **of_late, **of_early, **of_broken}, TORCH, NV, late, early, broken)
    names = frozenset(["libcudnn.so.9", "libnone.so.1"])
    inside = frozenset([at(f"app/_m{EXT}")])
    assert [use.distribution for use in uses(Sought(names, frozenset()), there)] == [
        "broken",
        "app",
        "torch",
        "Zed",
    ]
    assert [use.distribution for use in uses(Sought(names, inside), there)] == [
        "broken",
        "torch",
        "Zed",
        "app",
    ]


def test_a_need_that_an_earlier_import_meets_names_it() -> None:
    vision = at(f"vision/_C{EXT}")
    contents = {**CONTENTS, vision: lib(needs=["libtorch.so"])}
    there = surveyed(contents, TORCH, NV, dist("vision", [vision], requires=["torch"]))
    use = next(
        item for item in uses(Sought(frozenset(["libtorch.so"]), frozenset()), there) if item.path == vision
    )
    assert (use.how, use.rule, use.bound_to) == (
        Standing.PRELOADED,
        "loaded by an earlier import torch",
        LIBRARY,
    )


def test_a_need_that_known_code_meets_says_so() -> None:
    bare: Mapping[str, Content] = {
        MODULE: lib(needs=["libcudnn.so.9"]),
        at("nv/libcudnn.so.9"): lib("libcudnn.so.9"),
    }
    opens = KnownLoad("torch", ("libcudnn.so.*",), "nv", "torch/__init__.py", "2.9.1")
    there = surveyed(bare, dist("torch", [MODULE]), NV, known=[opens])
    (use,) = uses(Sought(frozenset(["libcudnn.so.9"]), frozenset()), there)
    assert (use.how, use.rule) == (Standing.PRELOADED, "opened by known code before it")


def test_a_consumer_of_nobodys_is_its_roots() -> None:
    contents = {
        **CONTENTS,
        "/lib/libmid.so": lib("libmid.so", needs=["libend.so"]),
        "/lib/libend.so": lib("libend.so"),
    }
    contents[MODULE] = lib(needs=["libmid.so"])
    there = surveyed(contents, dist("torch", [MODULE]))
    (use,) = uses(Sought(frozenset(["libend.so"]), frozenset()), there)
    assert (use.path, use.distribution, use.rule) == ("/lib/libmid.so", "torch", "default folder /lib")
    nobodys = there._replace(objects=Objects({}, there.objects.elves))
    assert [item.distribution for item in uses(Sought(frozenset(["libend.so"]), frozenset()), nobodys)] == [
        ""
    ]


def test_the_import_of_the_package_that_a_distribution_is_named_after_is_plainest() -> None:
    """functorch/_C.so of torch reaches the same library, and comes first by the alphabet."""
    functorch = at(f"functorch/_C{EXT}")
    contents = {**CONTENTS, functorch: lib(needs=["libtorch.so"], rpath="$ORIGIN/../torch/lib")}
    there = surveyed(contents, dist("torch", [MODULE, LIBRARY, functorch]), NV)
    (use,) = uses(Sought(frozenset(["libcudnn.so.9"]), frozenset()), there)
    assert use.chain[0] == "import torch"


FOUND = TargetPath("/lib/libx.so.1")
DEFAULT = Step(Rule.DEFAULT, FOUND)


def said(how: Step | None, *earlier: Binding, flaw: Flaw | None = None) -> str:
    binding = Binding(MODULE, "libx.so.1", FOUND if how else None, how, (), flaw)
    loading = Loading(MODULE, (Loaded(MODULE, MODULE, None, None),), (*earlier, binding))
    return questions.rule_in_words(binding, loading)


def test_what_is_not_found_says_so_and_what_ended_the_search() -> None:
    assert said(None) == "found nowhere"
    assert said(None, flaw=Flaw.TOO_SHORT) == "search ended by: file too short"


def test_what_is_loaded_already_is_told_by_what_loaded_it() -> None:
    loaded = Step(Rule.LOADED, FOUND)
    first = Binding(LIBRARY, "libx.so.1", FOUND, DEFAULT, ())
    again = first._replace(how=loaded)
    other = first._replace(provider=TargetPath("/lib/liby.so"))
    assert said(loaded, other, again, first) == "loaded before for libtorch.so, by default folder /lib"
    assert said(loaded, other, again, first._replace(how=None)) == "loaded with the interpreter"


@pytest.mark.parametrize(
    ("step", "preloader", "words"),
    [
        (Step(Rule.RPATH, FOUND, LIBRARY, "$ORIGIN"), "", "RPATH of libtorch.so: $ORIGIN"),
        (Step(Rule.RUNPATH, FOUND, LIBRARY, "$ORIGIN/x"), "", "RUNPATH of libtorch.so: $ORIGIN/x"),
        (Step(Rule.RUNPATH, FOUND, None, "/opt"), "", "RUNPATH of : /opt"),
        (Step(Rule.LIBRARY_PATH, FOUND, None, "/lib"), "", "LD_LIBRARY_PATH: /lib"),
        (DEFAULT, "", "default folder /lib"),
        (Step(Rule.PRELOADED, FOUND), "import torch", "loaded by an earlier import torch"),
        (Step(Rule.PRELOADED, FOUND), "", "opened by known code before it"),
        (Step(Rule.CACHE, FOUND), "", "loader cache"),
        (Step(Rule.DIRECT, FOUND), "", "the path as written"),
    ],
)
def test_a_rule_in_words_says_who_stated_it(step: Step, preloader: str, words: str) -> None:
    assert questions.step_in_words(step, preloader) == words


def test_who_declares_a_distribution_is_told_with_the_line_and_whether_an_extra_asks() -> None:
    dep = dist("dep")
    there = inventory(
        dep,
        dist("plain", requires=["Dep>=1", "other"]),
        dist("marked", requires=["dep; python_version >= '3'"]),
        dist("under", requires=["dep; extra == 'fast'"], extras=["slow", "fast"]),
        dist("unlisted", requires=["dep; extra == 'fast'"], extras=["slow"]),
        dist("windows", requires=["dep; sys_platform == 'win32'"], extras=["fast"]),
        dist("unread", requires=["dep >> 3"]),
        replace(dist("dep", requires=["dep[x]"]), version="2.0"),
    )
    assert list(questions.declared(dep, there)) == [
        Declared("plain", "Dep>=1", extra=False),
        Declared("marked", "dep; python_version >= '3'", extra=False),
        Declared("under", "dep; extra == 'fast'", extra=True),
    ]


def test_who_is_known_to_open_a_library_is_told_once_with_where_that_was_read() -> None:
    loads = [
        KnownLoad("tensorflow", ("libcudnn.so.*", "libnccl.so.*"), "", "dso_loader", "2.21.0"),
        KnownLoad("tensorflow", ("libcudnn.so.*",), "", "read elsewhere", "2.21.0"),
        KnownLoad("jax-cuda*-pjrt", ("libcudnn.so.*",), "", "_load_nvidia_libraries", "0.12"),
    ]
    there = inventory(dist("numpy"), dist("tensorflow"), dist("jax-cuda12-pjrt"))
    assert list(questions.openers({"libnccl.so.2", "libcudnn.so.9", "libz.so.1"}, there, loads)) == [
        Opener("tensorflow", ("libcudnn.so.9", "libnccl.so.2"), "dso_loader"),
        Opener("jax-cuda12-pjrt", ("libcudnn.so.9",), "_load_nvidia_libraries"),
    ]


def test_whose_record_lists_a_name_is_told_there_or_not() -> None:
    bare = replace(dist("bare"), files=None)
    assert list(questions.recorders({"libcudnn.so.9"}, inventory(TORCH, NV, bare))) == [
        (NV, at("nv/libcudnn.so.9"))
    ]


@pytest.mark.parametrize(
    ("soname", "expected"),
    [
        ("libcudnn.so.9", ["nvidia-cudnn-cu12==9.10"]),
        ("libcudart12.so", []),
        ("libMKL_rt.so.2", []),
        ("libmkl.so.2", ["mkl"]),
        ("libz.so.1", []),
        ("libtbb12.so", ["intel_tbb>=1"]),
    ],
)
def test_a_requirement_is_found_by_the_heart_of_a_librarys_name(soname: str, expected: list[str]) -> None:
    lines = ["nvidia-cudnn-cu12==9.10", "mkl", "zlib", "intel_tbb>=1", "= no name"]
    assert list(questions.naming_stem(soname, lines)) == expected


def test_of_two_modules_the_one_that_finds_it_itself_is_told_then_the_one_near_the_top() -> None:
    deep, near = at(f"app/x/_m{EXT}"), at(f"app/a_long_name{EXT}")
    contents: Mapping[str, Content] = {
        deep: lib(needs=["libshared.so"], rpath="$ORIGIN/../lib"),
        near: lib(needs=["libshared.so"], rpath="$ORIGIN/lib"),
        at("app/lib/libshared.so"): lib("libshared.so", needs=["libend.so"], rpath="$ORIGIN"),
        at("app/lib/libend.so"): lib("libend.so"),
    }
    (use,) = uses(Sought(frozenset(["libend.so"]), frozenset()), surveyed(contents, dist("app", [*contents])))
    assert use.chain[:2] == ("import app", f"app/a_long_name{EXT}")


def test_a_module_of_the_consumers_own_distribution_is_plainer_than_anothers() -> None:
    other, own = at(f"a/_m{EXT}"), at(f"zed/x/_m{EXT}")
    contents: Mapping[str, Content] = {
        other: lib(needs=["libzed.so"], rpath="$ORIGIN/../zed"),
        own: lib(needs=["libzed.so"], rpath="$ORIGIN/.."),
        at("zed/libzed.so"): lib("libzed.so", needs=["libend.so"], rpath="$ORIGIN"),
        at("zed/libend.so"): lib("libend.so"),
    }
    zed = dist("zed-lib", [own, at("zed/libzed.so"), at("zed/libend.so")])
    (use,) = uses(Sought(frozenset(["libend.so"]), frozenset()), surveyed(contents, dist("a", [other]), zed))
    assert use.chain[0] == "import zed.x"


def test_a_distribution_of_two_words_is_named_after_a_module_with_an_underscore() -> None:
    first, named = at(f"aaa/_m{EXT}"), at(f"two_words/_m{EXT}")
    shared = at("two_words/libs.so")
    contents: Mapping[str, Content] = {
        first: lib(needs=["libs.so"], rpath="$ORIGIN/../two_words"),
        named: lib(needs=["libs.so"], rpath="$ORIGIN"),
        shared: lib("libs.so", needs=["libnone.so"]),
    }
    (use,) = uses(
        Sought(frozenset(["libnone.so"]), frozenset()),
        surveyed(contents, dist("two-words", [first, named, shared])),
    )
    assert use.chain[0] == "import two_words"


def test_an_extra_counts_where_the_targets_markers_say_nothing_of_extras() -> None:
    dep, user = dist("dep"), dist("user", requires=["dep; extra == 'x'"], extras=["x"])
    there = inventory(dep, user)
    bare = replace(there, target=replace(there.target, markers={}))
    assert list(questions.declared(dep, bare)) == [Declared("user", "dep; extra == 'x'", extra=True)]


@pytest.mark.parametrize(
    ("soname", "line", "found"),
    [
        ("libtbb.so", "tbb", True),
        ("libgl.so.1", "opengl", False),
        ("libabc_2-3.so", "a-b-c", True),
        ("libx2.so", "x", False),
    ],
)
def test_the_heart_of_a_name_has_three_letters_at_least_and_dashes_do_not_count(
    soname: str,
    line: str,
    found: bool,  # noqa: FBT001
) -> None:
    assert list(questions.naming_stem(soname, [line])) == ([line] if found else [])


def test_a_way_by_a_rule_of_its_own_is_plainer_than_one_where_another_had_it_loaded() -> None:
    first, second = at(f"torch/_a{EXT}"), at(f"torch/_b{EXT}")
    contents: Mapping[str, Content] = {
        first: lib(needs=["libcudnn.so.9", "libtorch.so"], rpath="$ORIGIN/../nv:$ORIGIN/lib"),
        second: lib(needs=["libtorch.so"], rpath="$ORIGIN/lib"),
        LIBRARY: lib("libtorch.so", needs=["libcudnn.so.9"], rpath="$ORIGIN/../../nv"),
        at("nv/libcudnn.so.9"): lib("libcudnn.so.9"),
    }
    there = surveyed(contents, dist("torch", [first, second, LIBRARY]), NV)
    found = uses(Sought(frozenset(["libcudnn.so.9"]), frozenset()), there)
    (use,) = (one for one in found if one.path == LIBRARY)
    assert use.chain[:2] == ("import torch", f"torch/_b{EXT}")
