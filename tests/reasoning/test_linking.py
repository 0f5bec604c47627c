"""A load closure as a value: what met each need, where else was looked, and on what the answer rests."""

from __future__ import annotations

import pytest

from safepip.model.elf import Binding, Elf, Flaw, Loaded, Loading, Rule, Step
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reasoning.libraries import linking, searches
from safepip.world import Changed
from support.fake_world import Content, FakeWorld, HardLink, Link, glibc, lib, program

T = "libT.so.1"


def world(files: dict[str, Content]) -> FakeWorld:
    return FakeWorld({"/bin/python": program(), **files})


def path(text: str) -> TargetPath:
    return TargetPath(text)


def step(rule: Rule, at: str, by: str | None = None, element: str = "") -> Step:
    return Step(rule, path(at), path(by) if by else None, element)


def test_a_loading_tells_what_met_each_need_and_where_else_was_looked() -> None:
    files: dict[str, Content] = {
        "/e/m.so": lib("m.so", needs=[T], runpath="$ORIGIN/none:$ORIGIN/libs"),
        "/e/libs/libT.so.1": Link("libT.so.1.2"),
        "/e/libs/libT.so.1.2": lib(T, needs=["libc.so.6"]),
        "/lib/libc.so.6": lib("libc.so.6"),
    }
    found = linking.link(path("/e/m.so"), world(files), glibc(library_path="/opt"))
    assert found == Loading(
        path("/e/m.so"),
        objects=(
            Loaded(path("/e/m.so"), path("/e/m.so"), "m.so", None),
            Loaded(path("/e/libs/libT.so.1"), path("/e/libs/libT.so.1.2"), T, path("/e/m.so")),
            Loaded(path("/lib/libc.so.6"), path("/lib/libc.so.6"), "libc.so.6", path("/e/libs/libT.so.1")),
        ),
        bindings=(
            Binding(
                path("/e/m.so"),
                T,
                path("/e/libs/libT.so.1"),
                step(Rule.RUNPATH, "/e/libs/libT.so.1", "/e/m.so", "$ORIGIN/libs"),
                (
                    step(Rule.LIBRARY_PATH, "/opt/libT.so.1", element="/opt"),
                    step(Rule.RUNPATH, "/e/none/libT.so.1", "/e/m.so", "$ORIGIN/none"),
                ),
            ),
            Binding(
                path("/e/libs/libT.so.1"),
                "libc.so.6",
                path("/lib/libc.so.6"),
                step(Rule.DEFAULT, "/lib/libc.so.6"),
                (step(Rule.LIBRARY_PATH, "/opt/libc.so.6", element="/opt"),),
            ),
        ),
        crossed=frozenset(
            map(path, ("/e/m.so", "/e/libs/libT.so.1", "/e/libs/libT.so.1.2", "/lib/libc.so.6"))
        ),
    )


def test_an_answer_changes_only_where_what_it_crossed_goes() -> None:
    files: dict[str, Content] = {
        "/e/view": Link("/store/m"),
        "/store/m/m.so": lib("m.so", needs=[T], rpath="$ORIGIN/a:$ORIGIN/b"),
        "/store/m/a/libT.so.1": lib(T),
        "/store/m/b/libT.so.1": lib(T),
        "/store/m/other": b"",
    }
    now = world(files)
    before = linking.link(path("/e/view/m.so"), now, glibc())
    for gone in files:
        after = linking.link(path("/e/view/m.so"), Changed(now, frozenset({path(gone)})), glibc())
        assert (after != before) == (path(gone) in before.crossed), gone


def test_an_earlier_import_meets_only_what_no_search_finds_and_brings_nothing_along() -> None:
    files: dict[str, Content] = {
        "/e/m.so": lib("m.so", needs=["libfound.so", "libc10.so", "libgone.so"], runpath="/e/libs"),
        "/e/libs/libfound.so": lib("libfound.so"),
        "/torch/lib/libc10.so": lib("libc10.so", needs=["libnowhere.so"]),
    }
    fallback = {
        "libc10.so": path("/torch/lib/libc10.so"),
        "libfound.so": path("/torch/lib/libfound.so"),
    }
    found = linking.link(path("/e/m.so"), world(files), glibc(), fallback=fallback)
    met = {binding.wants: binding.how for binding in found.bindings}
    assert met == {
        "libfound.so": step(Rule.RUNPATH, "/e/libs/libfound.so", "/e/m.so", "/e/libs"),
        "libc10.so": step(Rule.PRELOADED, "/torch/lib/libc10.so"),
        "libgone.so": None,
    }
    assert [binding.wants for binding in found.missing] == ["libgone.so"]
    assert path("/torch/lib/libc10.so") in found.crossed


def test_a_need_that_a_damaged_file_ends_says_so() -> None:
    files: dict[str, Content] = {
        "/e/m.so": lib("m.so", needs=[T], runpath="/a:/b"),
        "/a/libT.so.1": b"INPUT(libT.so.1.2)",
        "/b/libT.so.1": lib(T),
    }
    (need,) = linking.link(path("/e/m.so"), world(files), glibc()).missing
    assert (need.flaw, need.tried) == (Flaw.NOT_ELF, (step(Rule.RUNPATH, "/a/libT.so.1", "/e/m.so", "/a"),))


def test_roots_that_share_a_memo_are_linked_as_if_alone() -> None:
    files: dict[str, Content] = {
        "/e/p/one.so": lib(needs=[T, "libU.so"], rpath="$ORIGIN/../libs"),
        "/e/p/two.so": lib(needs=["libU.so", T, "libgone.so"], rpath="$ORIGIN/../libs"),
        "/e/q/three.so": lib(needs=[T], rpath="$ORIGIN/../libs"),
        "/e/q/four.so": lib(needs=[T], runpath="$ORIGIN/../libs"),
        "/e/q/five.so": lib(needs=[T, "libU.so"]),
        "/e/q/six.so": lib(needs=["libc.so.6", "libgone.so"]),
        "/e/p/seven.so": lib(needs=["libc.so.6", "$ORIGIN/beside.so"]),
        "/e/q/eight.so": lib(needs=["libc.so.6", "$ORIGIN/beside.so"]),
        "/e/q/nine.so": lib(needs=["libc.so.6"], nodeflib=True),
        "/e/q/beside.so": lib(),
        "/e/libs/libT.so.1": lib(T, needs=["libV.so"]),
        "/e/libs/libU.so": lib("libU.so", needs=[T]),
        "/e/libs/libV.so": lib("libV.so"),
        "/lib/libc.so.6": lib("libc.so.6"),
    }
    here = world(files)
    config = glibc(library_path="/opt")
    main = linking.main_program(here, config)
    memo = searches.Memo()
    for root in files:
        alone = linking.link(path(root), here, config)
        assert alone == linking.link(path(root), here, config, main=main, memo=memo)


def test_the_program_s_start_is_a_loading_of_its_own() -> None:
    files: dict[str, Content] = {
        "/bin/python": program(needs=["libpython3.so"], rpath="$ORIGIN/../lib/py"),
        "/lib/ld.so": lib("ld-linux-x86-64.so.2"),
        "/lib/py/libpython3.so": lib("libpython3.so", needs=["ld-linux-x86-64.so.2"]),
        "/e/m.so": lib(needs=["libpython3.so", "ld-linux-x86-64.so.2"]),
    }
    here = FakeWorld(files)
    start = linking.main_program(here, glibc())
    assert [item.path for item in start.objects] == [
        "/bin/python", "/lib/ld.so", "/bin/../lib/py/libpython3.so",
    ]  # fmt: skip
    assert start.loadable
    found = linking.link(path("/e/m.so"), here, glibc(), main=start)
    assert [item.path for item in found.objects] == ["/e/m.so"]
    assert [binding.how for binding in found.bindings] == [
        step(Rule.LOADED, "/bin/../lib/py/libpython3.so"),
        step(Rule.LOADED, "/lib/ld.so"),
    ]


def test_an_unreadable_interpreter_loads_nothing() -> None:
    here = FakeWorld({"/e/m.so": lib()})
    assert linking.main_program(here, glibc()).flaw is Flaw.MISSING
    assert linking.link(path("/e/m.so"), here, glibc()).flaw is Flaw.MISSING


def test_an_interpreter_that_is_no_object_loads_nothing() -> None:
    here = FakeWorld({"/e/m.so": lib(), "/bin/python": b"#!/bin/sh"})
    assert linking.main_program(here, glibc()) == Loading(path("/bin/python"), (), (), flaw=Flaw.NOT_ELF)


def test_without_default_folders_no_entry_of_the_cache_below_one_is_taken() -> None:
    """DF_1_NODEFLIB (dl-load.c:_dl_map_object)."""
    here = world(
        {
            "/e/m.so": lib(needs=["libT.so", "libU.so"], nodeflib=True),
            "/lib/libT.so": lib(),
            "/opt/libU.so": lib(),
        }
    )
    config = glibc(cache={"libT.so": "/lib/libT.so", "libU.so": "/opt/libU.so"})
    found = linking.link(path("/e/m.so"), here, config)
    assert [binding.provider for binding in found.bindings] == [None, "/opt/libU.so"]


def test_what_an_earlier_import_has_loaded_meets_a_need_though_its_file_has_gone() -> None:
    here = world({"/e/m.so": lib(needs=["libT.so"])})
    found = linking.link(path("/e/m.so"), here, glibc(), fallback={"libT.so": path("/gone/libT.so")})
    assert (found.bindings[0].provider, found.bindings[0].how) == (
        "/gone/libT.so",
        step(Rule.PRELOADED, "/gone/libT.so"),
    )
    assert found.crossed == {"/e/m.so"}


def test_a_root_that_is_not_there_or_no_object_loads_nothing() -> None:
    here = world({"/e/text.so": b""})
    assert linking.link(path("/e/gone.so"), here, glibc()).flaw is Flaw.MISSING
    assert linking.link(path("/e/text.so"), here, glibc()).flaw is Flaw.NOT_ELF


def test_what_the_interpreter_has_loaded_is_not_loaded_again_by_another_name_of_the_file() -> None:
    here = FakeWorld(
        {
            "/bin/python": program(needs=["libpython3.so"]),
            "/lib/libpython3.so": lib("libpython3.so"),
            "/e/hard.so": HardLink("/lib/libpython3.so"),
        }
    )
    assert linking.link(path("/e/hard.so"), here, glibc()).objects == ()


def test_a_loaded_file_is_known_by_the_name_under_which_it_was_found_again() -> None:
    here = world(
        {
            "/e/m.so": lib(needs=["libT.so.1", "libalias.so", "libend.so"], rpath="$ORIGIN"),
            "/e/libT.so.1": lib("libT.so.1"),
            "/e/libalias.so": Link("libT.so.1"),
            "/e/libend.so": lib("libend.so", needs=["libalias.so", "/e/libT.so.1"]),
        }
    )
    found = linking.link(path("/e/m.so"), here, glibc())
    assert [item.path for item in found.objects] == ["/e/m.so", "/e/libT.so.1", "/e/libend.so"]
    assert [(one.wants, one.provider, one.how and one.how.rule) for one in found.bindings[3:]] == [
        ("libalias.so", "/e/libT.so.1", Rule.LOADED),
        ("/e/libT.so.1", "/e/libT.so.1", Rule.LOADED),
    ]


def test_a_root_that_a_link_leads_to_rests_on_the_link() -> None:
    here = world({"/e/m.so": Link("real.so"), "/e/real.so": lib()})
    assert linking.link(path("/e/m.so"), here, glibc()).crossed == {"/e/m.so", "/e/real.so"}


def test_what_stands_twice_in_a_list_is_tried_once() -> None:
    found = linking.link(
        path("/e/m.so"), world({"/e/m.so": lib(needs=[T], rpath="/a:/b:/a/")}), glibc(defaults=())
    )
    assert [item.path for item in found.bindings[0].tried] == ["/a/libT.so.1", "/b/libT.so.1"]


def test_a_library_with_both_tags_hands_its_rpath_to_nobody() -> None:
    files: dict[str, Content] = {
        "/e/m.so": lib(needs=["libU.so"], rpath="/own", runpath="/e/libs"),
        "/e/libs/libU.so": lib("libU.so", needs=[T]),
        "/own/libT.so.1": lib(T),
    }
    assert [one.wants for one in linking.link(path("/e/m.so"), world(files), glibc()).missing] == [T]


def test_an_entry_of_the_cache_is_below_a_default_folder_by_whole_names() -> None:
    here = world({"/e/m.so": lib(needs=["libU.so"], nodeflib=True), "/lib64/libU.so": lib()})
    found = linking.link(path("/e/m.so"), here, glibc(cache={"libU.so": "/lib64/libU.so"}))
    assert found.loadable


def test_odd_elements_of_a_list_are_folders_as_the_kernel_would_take_them() -> None:
    here = world({"/e/m.so": lib(needs=[T], rpath="//:rel/:")})
    config = glibc(defaults=(), cwd="/home/me/")
    tried = [item.path for item in linking.link(path("/e/m.so"), here, config).bindings[0].tried]
    assert tried == ["/libT.so.1", "/home/me/rel/libT.so.1", "/home/me//libT.so.1"]


@pytest.mark.parametrize("libc", Libc)
def test_a_search_that_was_made_for_another_root_is_no_answer_where_other_lists_count(libc: Libc) -> None:
    """musl inherits a RUNPATH, glibc an RPATH: two roots reach one library and find different ends."""
    musl = libc is Libc.MUSL

    def root(folder: str) -> Elf:
        return lib(needs=["/e/libS.so"], runpath=folder if musl else None, rpath=None if musl else folder)

    files: dict[str, Content] = {
        "/e/a.so": root("/first"),
        "/e/b.so": root("/second"),
        "/e/c.so": lib(needs=["/e/libS.so"]),
        "/e/libS.so": lib("libS.so", needs=[T], runpath="/none" if musl else None),
        "/first/libT.so.1": lib(T),
        "/second/libT.so.1": lib(T),
        "/lib/libT.so.1": lib(T),
    }
    here, config, memo = world(files), glibc(libc=libc), searches.Memo()
    main = linking.main_program(here, config)
    bound = [
        linking.link(path(f"/e/{name}.so"), here, config, main=main, memo=memo).bindings[-1].provider
        for name in "abc"
    ]
    assert bound == ["/first/libT.so.1", "/second/libT.so.1", "/lib/libT.so.1"]


def test_an_error_that_ends_one_list_leaves_the_next_to_be_searched() -> None:
    """ELOOP in a folder that is there (dl-load.c:open_path): the rest of that list is not tried."""
    here = world(
        {
            "/e/m.so": lib(needs=[T], rpath="/a:/b:/c"),
            "/a/libT.so.1": Link("libT.so.1"),
            "/b/libT.so.1": lib(T),
            "/lib/libT.so.1": lib(T),
        }
    )
    found = linking.link(path("/e/m.so"), here, glibc()).bindings[0]
    assert (found.provider, [item.path for item in found.tried]) == ("/lib/libT.so.1", ["/a/libT.so.1"])


@pytest.mark.parametrize(
    ("module", "rule"),
    [
        (lib(needs=["x.so"], rpath="/e/libs"), Rule.RPATH),
        (lib(needs=["x.so"], runpath="/e/libs"), Rule.RUNPATH),
        (lib(needs=["x.so"], rpath="/none", runpath="/e/libs"), Rule.RUNPATH),
    ],
)
def test_of_musl_a_step_says_which_of_the_two_tags_it_goes_by(module: Elf, rule: Rule) -> None:
    """decode_dyn takes DT_RPATH, then DT_RUNPATH over it."""
    files: dict[str, Content] = {"/e/m.so": module, "/e/libs/x.so": lib()}
    found = linking.link(path("/e/m.so"), world(files), glibc(libc=Libc.MUSL))
    assert [one.how for one in found.bindings] == [step(rule, "/e/libs/x.so", "/e/m.so", "/e/libs")]


def test_of_musl_the_loader_itself_is_the_c_library() -> None:
    """load_library answers to reserved names with ldso, whose file is the program's interpreter."""
    files: dict[str, Content] = {"/bin/python": program(needs=["libc.so"]), "/lib/ld.so": lib()}
    found = linking.main_program(FakeWorld(files), glibc(libc=Libc.MUSL))
    assert [one.provider for one in found.bindings] == ["/lib/ld.so"]


def test_an_interpreter_that_is_no_object_is_in_no_process() -> None:
    found = linking.main_program(FakeWorld({"/bin/python": program(), "/lib/ld.so": b"#!"}), glibc())
    assert [one.path for one in found.objects] == ["/bin/python"]
