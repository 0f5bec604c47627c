"""What uv would delete, which is not what pip would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.change import Halt, Removal, Skip
from safepip.model.environment import Distribution, Fault, Install
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes.uv_removal import plan
from support.environments import PREFIX, SITE, at, dist, inventory
from support.fake_world import Content, FakeWorld, Link, empty


def planned(
    *dists: Distribution,
    names: tuple[str, ...] = ("pkg",),
    more: dict[str, Content] | None = None,
    folders: tuple[str, ...] = (),
) -> Removal:
    files: dict[str, Content] = {path: b"" for one in dists for path in one.files or ()}
    world = FakeWorld({**files, at("stays.py"): b"", **(more or {})}, folders=folders)
    return plan([DistKey(name) for name in names], inventory(*dists), world)


def test_emptied_folders_and_byte_code_of_their_modules_go_up_to_the_site() -> None:
    pkg = dist("pkg", ["pkg/sub/a.py", "top.py"])
    more: dict[str, Content] = {
        at("pkg/sub/__pycache__/stray.txt"): b"",
        at("__pycache__/top.cpython-312.pyc"): b"",
    }
    assert planned(pkg, more=more) == Removal(
        leaving=(pkg,),
        files=(
            at("pkg-1.0.dist-info/RECORD"),
            at("pkg/sub/__pycache__/stray.txt"),
            at("pkg/sub/a.py"),
            at("top.py"),
        ),
        folders=(at("pkg"), at("pkg-1.0.dist-info")),
    )


def test_a_folder_with_something_unrecorded_in_it_stays_with_those_above() -> None:
    pkg = dist("pkg", ["pkg/sub/a.py"])
    removal = planned(pkg, more={at("pkg/sub/own.cfg"): b""})
    assert removal.folders == (at("pkg-1.0.dist-info"),)
    assert planned(pkg, folders=(at("pkg/empty"),)).folders == (at("pkg-1.0.dist-info"), at("pkg/sub"))


def test_all_of_a_name_go_and_a_name_of_nobody_is_skipped() -> None:
    old, new = dist("pkg", ["pkg.py"]), dist("pkg", ["pkg.py", "new.py"], version="2.0")
    removal = planned(old, new, names=("pkg", "none", "pkg"))
    assert (removal.leaving, removal.skipped) == ((old, new), (Skip("none", "not installed"),))
    assert removal.files == tuple(sorted({*(old.files or ()), *(new.files or ())}))


def test_what_a_survivor_lists_is_shared() -> None:
    pkg, other = dist("pkg", ["nv/lib.so", "nv/own.so"]), dist("other", ["nv/lib.so"])
    removal = planned(pkg, other)
    assert (removal.shared, removal.reaches) == ((at("nv/lib.so"),), ())


def test_a_row_that_is_not_there_takes_nothing_and_empties_nothing() -> None:
    pkg = dist("pkg", ["gone/a.py", "pkg.py"])
    there = empty(at("pkg.py"), at("pkg-1.0.dist-info/RECORD"), at("gone/__pycache__/a.cpython-312.pyc"))
    removal = plan([pkg.key], inventory(pkg), FakeWorld(there))
    assert removal.files == (at("pkg-1.0.dist-info/RECORD"), at("pkg.py"))


def test_a_row_that_is_a_folder_takes_all_in_it() -> None:
    pkg = dist("pkg", ["pkg.py", "tree"])
    files = empty(
        at("pkg.py"), at("pkg-1.0.dist-info/RECORD"), at("tree/inner/file"), at("tree/__pycache__/x.pyc")
    )
    removal = plan([pkg.key], inventory(pkg), FakeWorld(files))
    assert removal.files == tuple(sorted(files))
    assert removal.folders == (at("pkg-1.0.dist-info"), at("tree"))


def test_rows_outside_the_schemes_folders_are_left_and_those_of_scripts_and_data_go() -> None:
    inside = TargetPath(f"{PREFIX}/share/pkg/data")
    pkg = dist("pkg", ["/outside.txt", inside, f"{PREFIX}/bin/tool"])
    removal = planned(pkg)
    assert removal.declined == ("/outside.txt",)
    assert removal.files == (f"{PREFIX}/bin/tool", at("pkg-1.0.dist-info/RECORD"), inside)
    assert removal.folders == (at("pkg-1.0.dist-info"),)


def test_a_broken_link_goes_and_what_a_link_leads_to_is_taken_by_its_real_path() -> None:
    pkg = replace(
        dist("pkg", ["broken", "real/a.py"]),
        as_written=(at("broken"), at("linked/a.py"), at("pkg-1.0.dist-info/RECORD")),
    )
    more: dict[str, Content] = {
        at("broken"): Link("nowhere"),
        at("linked"): Link(at("real")),
        at("real/b.py"): b"",
    }
    assert planned(pkg, more=more).files == (at("broken"), at("pkg-1.0.dist-info/RECORD"), at("real/a.py"))


def test_an_emptied_folder_that_a_link_leads_to_stops_uv() -> None:
    """remove_dir of a link fails with ENOTDIR."""
    pkg = replace(dist("pkg", ["real/a.py"]), as_written=(at("linked/a.py"), at("pkg-1.0.dist-info/RECORD")))
    halt = Halt("pkg", f"uv cannot remove {SITE}/linked, a link, and stops halfway", 2, stuck=True)
    assert planned(pkg, more={at("linked"): Link(at("real"))}) == Removal(halt=halt)


RECORDED = dist("pkg", ["pkg.py"])


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (
            replace(RECORDED, install=Install.EGG_INFO_FOLDER),
            "safepip does not follow how uv removes an egg-info folder",
        ),
        (replace(RECORDED, faults=(Fault.RECORD_BROKEN,)), "RECORD has a line that is no row"),
        (replace(RECORDED, files=None), "no RECORD file"),
    ],
)
def test_one_that_uv_cannot_read_ends_it_before_anything_goes(odd: Distribution, reason: str) -> None:
    first = dist("first", ["first.py"])
    assert planned(first, odd, names=("first", "none", "pkg")) == Removal(
        skipped=(Skip("none", "not installed"),), halt=Halt("pkg", reason, 2)
    )
