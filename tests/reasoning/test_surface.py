"""Where using a distribution begins."""

from __future__ import annotations

import pytest

from safepip.model.environment import Distribution, EntryPoint
from safepip.model.paths import DistKey
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.surface import Start, starts, top_modules, topmost_names
from safepip.reasoning.dependents import leading_to, users_of
from support.environments import EXT, dist, files, inventory, target
from support.fake_world import FakeWorld


def tops(*names: str, stays: tuple[str, ...] = (), recorded: tuple[str, ...] = ()) -> tuple[str, ...]:
    look = Finder(FakeWorld(files(dict.fromkeys((*names, *stays), b""))), target())
    return top_modules(dist("pkg", (*names, *recorded)), inventory(), look)


def test_top_modules_are_packages_and_modules_plain_names_first() -> None:
    names = ("zed.py", "_c.abi3.so", "pkg/__init__.py", "pkg/inner.py", f"fast{EXT}", "data.json", "a-b.py")
    assert tops(*names) == ("fast", "pkg", "zed", "_c")


def test_in_a_namespace_the_topmost_names_that_have_a_file_begin() -> None:
    names = ("google/cloud/storage/__init__.py", "google/cloud/storage/blob.py", "google/auth.py")
    assert tops(*names) == ("google.auth", "google.cloud.storage")
    assert tops("ns/one/a.py", "ns/two.py") == ("ns.two", "ns.one.a")


def test_inside_a_package_of_another_the_names_of_its_own_files_begin() -> None:
    assert tops(f"PyQt6/QtCharts{EXT}", "PyQt6/charts/__init__.py", stays=("PyQt6/__init__.py",)) == (
        "PyQt6.QtCharts",
        "PyQt6.charts",
    )


@pytest.mark.parametrize(
    "name", ["tests/test_a.py", "docs/conf.py", "pkg-data/a.py", "__init__.py", "a b/c.py", "pkg/libx.so.1"]
)
def test_side_folders_and_what_no_import_can_name_are_no_beginning(name: str) -> None:
    assert tops(name) == ()


def test_a_module_that_is_shipped_as_byte_code_alone_begins_and_the_cache_of_one_does_not() -> None:
    assert tops("old.pyc", "pkg/__init__.pyc", "__pycache__/other.cpython-312.pyc") == ("old", "pkg")


def test_a_recorded_file_that_is_not_there_is_no_beginning() -> None:
    assert tops("pkg.py", recorded=("gone/__init__.py", "other.py")) == ("pkg",)


def started(*points: tuple[str, str, str], there: tuple[str, ...] = ("host",)) -> list[Start]:
    of = dist("pkg", entry_points=[EntryPoint(*point) for point in points])
    return list(starts(of, ("pkg",), inventory(*map(dist, there))))[1:]


def test_commands_begin_with_their_module() -> None:
    assert started(("console_scripts", "tool", "pkg.cli:main"), ("gui_scripts", "win", " pkg.win ")) == [
        Start("pkg.cli", "command tool"),
        Start("pkg.win", "command win"),
    ]


def test_a_command_that_asks_for_an_extra_or_names_no_module_is_none() -> None:
    assert (
        started(("console_scripts", "tool", "pkg.cli:main [fast]"), ("console_scripts", "x", ":main")) == []
    )


@pytest.mark.parametrize(
    ("group", "there"),
    [("host", True), ("host.plugins", True), ("Host_x", True), ("hosts", False), ("x.host", False)],
)
def test_a_plugin_is_loaded_by_the_program_that_its_group_is_named_after(group: str, there: bool) -> None:  # noqa: FBT001
    expected = [Start("pkg.plug", f"plugin it ({group})")] if there else []
    assert started((group, "it", "pkg.plug:Plugin")) == expected


def test_a_group_may_be_named_after_a_program_of_several_words() -> None:
    assert started(("two_words.more", "it", "pkg"), there=("two-words",)) == [
        Start("pkg", "plugin it (two_words.more)")
    ]


def test_a_plugin_that_stops_its_host_names_it() -> None:
    point = ("pytest11", "cov", "pkg.plug")
    assert started(point, there=("pytest",)) == [
        Start("pkg.plug", "plugin cov (pytest11)", DistKey("pytest"))
    ]
    assert started(point) == []


def test_users_are_those_who_declare_it_without_an_extra_directly_or_through_others() -> None:
    base, left, right = dist("base"), dist("left", requires=["base>=1"]), dist("right", requires=["Base"])
    top = dist("top", requires=["left", "right", "= odd"])
    extra = dist("extra", requires=["base; extra == 'x'"])
    staying = [base, left, right, top, extra]

    def names(found: tuple[Distribution, ...]) -> list[str]:
        return sorted(one.name for one in found)

    assert names(users_of(base, staying)) == ["left", "right"]
    assert names(leading_to([base], staying)) == ["base", "left", "right", "top"]
    assert names(leading_to([], staying)) == []


def test_what_is_no_beginning_hides_none_after_it() -> None:
    assert tops("notes.txt", "tests/a.py", "zed.py", "one/__init__.py") == ("one", "zed")
    assert started(("console_scripts", "x", ":y"), ("console_scripts", "tool", "pkg:main")) == [
        Start("pkg", "command tool")
    ]


def test_a_namespace_of_libraries_and_a_data_file_of_a_package_are_no_modules() -> None:
    assert tops("ns/libx.so", "ns/data.txt", "solo.so") == ("solo", "ns.libx")


def test_what_removals_may_take_are_topmost_names_and_below_shared_ones_the_packages() -> None:
    one = dist("one", ["google/cloud/a.py", "google/top.py", "single/inner/x.py", "mod.abi3.so", "a-b/x.py"])
    two = dist("two", ["google/auth/b.py", "/env/bin/tool", "google/c-d/x.py"])
    assert topmost_names(inventory(one, two)) == {"google", "google.cloud", "google.auth", "single", "mod"}
    assert topmost_names(inventory(one)) == {"google", "single", "mod"}
    assert topmost_names(inventory()) == frozenset()
