"""Which paths pip puts on its list for one distribution, in each form that one can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from safepip.model.change import Edit
from safepip.model.environment import Distribution, EntryPoint, Install, PipInUse, Target
from safepip.model.paths import TargetPath
from safepip.reasoning.changes.candidates import Candidates, gather
from support.environments import PREFIX, SITE, at, dist, target
from support.fake_world import Content, FakeWorld, Link, empty

NONE = frozenset[TargetPath]()
BIN = TargetPath(f"{PREFIX}/bin")


def candidates(
    recorded: set[TargetPath], named: frozenset[TargetPath] = NONE, declined: frozenset[TargetPath] = NONE
) -> Candidates:
    return Candidates(frozenset(recorded), named, NONE, declined)


def gathered(of: Distribution, files: Mapping[str, Content], into: Target | None = None) -> Candidates:
    return gather(of, into or target(), FakeWorld(files))


WHEEL = dist("pkg", ["pkg/a.py", "pkg/.py"])
RECORD = at("pkg-1.0.dist-info/RECORD")
CACHE = at("pkg/__pycache__")


def compiled_of(pip: PipInUse, *byte_code: str) -> frozenset[TargetPath]:
    files = empty(at("pkg/a.py"), at("pkg/.py"), RECORD, *byte_code)
    return gathered(WHEEL, files, replace(target(), pip=pip)).compiled


def test_byte_code_beside_a_module_and_in_the_cache_of_this_python_is_taken_with_it() -> None:
    there = [f"{CACHE}/a.cpython-312.pyc", at("pkg/a.pyc"), at("pkg/a.pyo")]
    others = [f"{CACHE}/a.cpython-311.pyc", f"{CACHE}/a.cpython-312.opt-1.pyc", f"{CACHE}/.cpython-312.pyc"]
    assert compiled_of(PipInUse("26.3", SITE), *there, *others) == frozenset(there)


@pytest.mark.parametrize(
    ("pip", "taken"),
    [
        (PipInUse("26.3", SITE, optimize="2"), f"{CACHE}/a.cpython-312.opt-2.pyc"),
        (
            PipInUse("26.3", SITE, pycache_prefix=TargetPath(f"{PREFIX}/cache/")),
            f"{PREFIX}/cache{SITE}/pkg/a.cpython-312.pyc",
        ),
        (PipInUse("26.1", SITE), CACHE),
    ],
)
def test_where_byte_code_lies_is_for_pips_own_process_to_say(pip: PipInUse, taken: str) -> None:
    there = [f"{CACHE}/a.cpython-312.opt-2.pyc", f"{PREFIX}/cache{SITE}/pkg/a.cpython-312.pyc"]
    assert compiled_of(pip, *there) == frozenset({taken})


def test_rows_are_taken_by_where_their_folder_really_lies() -> None:
    pkg = replace(WHEEL, as_written=(at("linked/a.txt"), RECORD, at("pkg/../b.txt")))
    files = {**empty(at("real/a.txt"), at("pkg/x"), at("b.txt"), RECORD), at("linked"): Link(at("real"))}
    assert gathered(pkg, files) == candidates({at("real/a.txt"), at("b.txt"), RECORD})


def test_a_link_is_taken_where_it_leads_somewhere() -> None:
    pkg = dist("pkg", ["good", "broken"])
    files = {**empty(RECORD, at("other")), at("good"): Link(at("other")), at("broken"): Link("nowhere")}
    assert gathered(pkg, files) == candidates({at("good"), RECORD})


def test_beside_a_link_a_row_that_is_not_there_is_left_out() -> None:
    pkg = dist("pkg", ["absent", "good"])
    files = {**empty(RECORD, at("other")), at("good"): Link(at("other"))}
    assert gathered(pkg, files) == candidates({at("good"), RECORD})


def test_rows_of_folders_that_are_not_there_or_hold_nothing_that_is_listed_are_left_out() -> None:
    pkg = dist("pkg", ["none/a.txt", "pkg.txt/inside"])
    assert gathered(pkg, empty(RECORD, at("pkg.txt"))) == candidates({RECORD})


def test_in_a_folder_that_cannot_be_listed_each_row_is_asked_for() -> None:
    class Unlisted(FakeWorld):
        def entries(self, _: TargetPath) -> tuple[()]:
            return ()

    world = Unlisted(empty(at("pkg/a.py"), RECORD))
    assert gather(WHEEL, target(), world) == candidates({at("pkg/a.py"), RECORD})


def test_launchers_go_by_the_names_of_entry_points_with_those_of_distutils() -> None:
    points = [
        EntryPoint("console_scripts", "tool", "pkg:main"),
        EntryPoint("gui_scripts", "window", "pkg:main"),
        EntryPoint("pytest11", "plugin", "pkg"),
        EntryPoint("console_scripts", "recorded", "pkg:main"),
    ]
    pkg = dist("pkg", ["pkg.txt", f"{BIN}/recorded"], entry_points=points)
    scripts = {TargetPath(f"{BIN}/{name}") for name in ("tool", "window", "old")}
    files = empty(
        at("pkg.txt"), RECORD, *scripts, f"{BIN}/recorded", f"{BIN}/plugin", f"{pkg.info}/scripts/old"
    )
    assert gathered(pkg, files) == candidates(
        {at("pkg.txt"), RECORD, TargetPath(f"{BIN}/recorded")}, named=frozenset(scripts)
    )


@pytest.mark.parametrize(
    ("location", "folder"), [("/home/me/.local/site", "/home/me/.local/bin"), (SITE, BIN)]
)
def test_launchers_of_a_user_site_lie_in_its_own_folder(location: str, folder: str) -> None:
    user = replace(
        target(),
        prefix=TargetPath("/"),
        user_site=TargetPath("/home/me/.local/site"),
        user_scripts=TargetPath("/home/me/.local/bin"),
    )
    point = EntryPoint("console_scripts", "tool", "pkg:main")
    pkg = replace(dist("pkg", entry_points=[point]), location=TargetPath(location))
    files = empty("/home/me/.local/bin/tool", f"{BIN}/tool", "/home/me/.local/site/x")
    assert gathered(pkg, files, user).named == {f"{folder}/tool"}


EGG_INFO = TargetPath(f"{SITE}/pkg-1.0.egg-info")
OLD = replace(dist("pkg"), info=EGG_INFO, install=Install.EGG_INFO_FOLDER, files=None)


def test_an_egg_info_folder_goes_with_what_its_list_names() -> None:
    listed = replace(OLD, files=(at("pkg/a.txt"), TargetPath(f"{EGG_INFO}/PKG-INFO")))
    files = empty(at("pkg/a.txt"), at("pkg/b.txt"), f"{EGG_INFO}/PKG-INFO")
    assert gathered(listed, files) == candidates(
        {EGG_INFO, at("pkg/a.txt"), TargetPath(f"{EGG_INFO}/PKG-INFO")}
    )
    written = replace(listed, as_written=(at("pkg/b.txt"),))
    assert gathered(written, files) == candidates({EGG_INFO, at("pkg/b.txt")})


def test_without_a_list_it_goes_with_its_top_level_names() -> None:
    topped = replace(OLD, top_level=("pkg", "_pkg", "gone"))
    files = empty(at("pkg/a.txt"), at("_pkg.py"), at("_pkg.pyc"), f"{EGG_INFO}/PKG-INFO")
    assert gathered(topped, files) == candidates({EGG_INFO, at("pkg"), at("_pkg.py"), at("_pkg.pyc")})
    assert gathered(OLD, files) == candidates({EGG_INFO})


def test_an_egg_goes_whole_and_its_line_in_easy_install() -> None:
    egg = TargetPath(f"{SITE}/pkg-1.0-py3.12.egg")
    pkg = replace(OLD, location=egg, info=TargetPath(f"{egg}/EGG-INFO"), install=Install.EGG)
    found = gathered(pkg, empty(f"{egg}/pkg/a.py", f"{egg}/EGG-INFO/PKG-INFO"))
    assert found == candidates({egg})._replace(edits=(Edit(at("easy-install.pth"), "./pkg-1.0-py3.12.egg"),))


def test_a_link_to_a_project_outside_the_environment_keeps_its_line() -> None:
    link = TargetPath("/other/site/pkg.egg-link")
    pkg = replace(OLD, location=TargetPath("/src"), install=Install.EGG_LINK, egg_link=link)
    declined = frozenset({link, TargetPath("/other/site/easy-install.pth")})
    assert gathered(pkg, empty(link)) == candidates(set(), declined=declined)


@pytest.mark.parametrize("form", [Install.EGG_INFO_FILE, Install.OTHER, Install.UNRECORDED, Install.EGG_LINK])
def test_forms_that_pip_cannot_list_give_nothing(form: Install) -> None:
    assert gathered(replace(WHEEL, install=form), empty(at("pkg/a.py"), RECORD)) == candidates(set())


def test_a_row_that_ends_in_a_slash_or_a_dot_is_taken_as_it_is() -> None:
    pkg = dist("pkg", ["tree/", "tree/.", "other/.."])
    files = empty(at("tree/x"), at("other/x"), RECORD)
    assert gathered(pkg, files).recorded == {at("tree/"), at("tree/."), at("other/.."), RECORD}


def test_rows_at_the_root_of_the_system_are_the_systems() -> None:
    system = replace(target(), prefix=TargetPath("/usr"), base_prefix=TargetPath("/usr"))
    found = gathered(dist("pkg", ["/top.txt", "/gone.txt"]), empty("/top.txt", RECORD), system)
    assert found.recorded == {"/top.txt", RECORD}


def test_only_modules_have_byte_code() -> None:
    pkg = dist("pkg", ["pkg/data.txt", "pkg/x.y"])
    files = empty(
        at("pkg/data.txt"),
        at("pkg/x.y"),
        RECORD,
        at("pkg/data..pyc"),
        at("pkg/x.pyc"),
        f"{CACHE}/data..cpython-312.pyc",
    )
    assert gathered(pkg, files).compiled == set()


def test_an_old_form_takes_its_optimised_byte_code_too() -> None:
    topped = replace(OLD, top_level=("one",))
    assert gathered(topped, empty(at("one.pyo"), f"{EGG_INFO}/PKG-INFO")).recorded == {
        EGG_INFO,
        at("one.pyo"),
    }


def test_a_user_site_without_scripts_of_its_own_uses_the_environments() -> None:
    user = replace(target(), prefix=TargetPath("/"), user_site=SITE)
    pkg = dist("pkg", entry_points=[EntryPoint("console_scripts", "tool", "pkg:main")])
    assert gathered(pkg, empty(f"{BIN}/tool"), user).named == {f"{BIN}/tool"}


def test_a_developed_project_is_the_users_by_where_its_link_lies() -> None:
    user = replace(
        target(),
        prefix=TargetPath("/"),
        user_site=TargetPath("/home/me/.local/site"),
        user_scripts=TargetPath("/home/me/.local/bin"),
    )
    point = EntryPoint("console_scripts", "tool", "pkg:main")
    link = TargetPath("/home/me/.local/site/pkg.egg-link")
    pkg = replace(
        OLD, location=TargetPath("/src"), install=Install.EGG_LINK, egg_link=link, entry_points=(point,)
    )
    files = empty("/home/me/.local/bin/tool", f"{BIN}/tool", link)
    assert gathered(pkg, files, user).named == {"/home/me/.local/bin/tool"}
