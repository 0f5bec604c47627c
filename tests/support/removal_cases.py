"""Every way of removal that is known to be peculiar, each a small environment and the names to remove.

A case's name is the sentence it stands for. What pip does with it is not written down: pip is asked.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from support.boxes import Box

Build = Callable[[Box], tuple[str, ...]]
PKG = ("pkg/__init__.py", "pkg/a.py", "pkg/sub/b.py")


class Case(NamedTuple):
    build: Build
    system: bool = False  # no venv: a copy of the base prefix
    site: bool = False  # a venv that sees the system's packages
    versions: bool = False  # pips are known to differ, or it is the everyday case: run with each in every run
    backends: tuple[str, ...] = ("importlib", "pkg_resources")
    own_pip: bool = False

    @property
    def name(self) -> str:
        return self.build.__name__.replace("_", " ").strip()


CASES: list[Case] = []


def case(**how: bool | tuple[str, ...]) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        CASES.append(Case(build, **how))  # type: ignore[arg-type]
        return build

    return register


# Rows of RECORD


@case(versions=True)
def a_package_with_a_script_data_and_headers(box: Box) -> tuple[str, ...]:
    rows = (
        "../../../bin/tool",
        "../../../share/man/man1/t.1",
        "../../../etc/pkg/t.conf",
        "../../../include/t.h",
    )
    box.put("bin/tool", "bin/cmd", "share/man/man1/t.1", "etc/pkg/t.conf", "include/t.h", at=box.v)
    box.put(f"pkg/__pycache__/a.{box.tag}.pyc", "other.py")
    box.dist("pkg", *PKG, rows=rows, scripts="[console_scripts]\ncmd = pkg:x\n")
    return ("pkg",)


@case()
def a_row_of_a_missing_file_is_dropped_with_its_byte_code(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, rows=("pkg/gone.py", "gone.so", "nodir/x"))
    box.put(f"pkg/__pycache__/gone.{box.tag}.pyc", "gone.pyc", "other.py")
    return ("pkg",)


@case()
def the_pyc_beside_a_missing_module_goes_all_the_same(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("gone.py",))
    box.put("gone.pyc", "gone.pyo", f"__pycache__/gone.{box.tag}.pyc", "other.py")
    return ("pkg",)


@case(versions=True)
def spellings_of_one_path_are_one_file(box: Box) -> tuple[str, ...]:
    rows = (
        "pkg/a.py",
        "./pkg//a.py",
        "pkg/../pkg/a.py",
        "pkg/sub/../a.py",
        "nosuch/../pkg/a.py",
        "pkg/./sub/b.py",
    )
    box.dist("pkg", *PKG, rows=rows).put("other.py")
    return ("pkg",)


@case()
def dots_behind_a_missing_folder_still_climb(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("nosuch/../target.py",)).put("target.py", "other.py")
    return ("pkg",)


@case()
def dots_behind_a_link_climb_from_its_target(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("link/../target.py",)).put("target.py", "other.py")
    box.put("d/real/x", "d/target.py", at=box.v).link("link", box.v / "d/real")
    return ("pkg",)


@case()
def dots_behind_a_link_further_down_climb_from_its_target(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("pkg/link/../target.py",)).put("pkg/target.py", "other.py")
    box.put("d/real/x", "d/target.py", at=box.v).link("pkg/link", box.v / "d/real")
    return ("pkg",)


@case(versions=True)
def a_folder_row_takes_what_nobody_recorded(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", "pkg/data/x", rows=("pkg/data",)).put(
        "pkg/data/mine/n.txt", "other.py"
    )
    return ("pkg",)


@case()
def a_folder_row_takes_another_distributions_files(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("ns/",)).dist("b", "ns/b/x.py").put("other.py")
    return ("pkg",)


@case()
def a_folder_row_takes_another_distributions_metadata(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("b-1.0.dist-info",)).dist("b", "b.py")
    return ("pkg",)


@case()
def a_later_name_whose_metadata_an_earlier_one_took_is_not_installed(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("b-1.0.dist-info",)).dist("b", "b.py")
    return ("pkg", "b")


@case()
def a_later_name_whose_record_an_earlier_one_took_ends_it(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("b-1.0.dist-info/RECORD",)).dist("b", "b.py").dist("c", "c.py")
    return ("pkg", "b", "c")


@case()
def a_later_name_whose_entry_points_an_earlier_one_took_keeps_its_script(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("b-1.0.dist-info/entry_points.txt",)).put("cmd", at=box.bin)
    box.dist("b", "b.py", scripts="[console_scripts]\ncmd = b:x\n").put("other.py")
    return ("pkg", "b")


@case()
def a_row_may_name_the_whole_site_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("../site-packages",)).put("other.py")
    return ("pkg",)


def _stuck(row: str, sentence: str) -> None:
    def build(box: Box) -> tuple[str, ...]:
        box.dist("pkg", "pkg/__init__.py", "aaa.py", rows=(row,)).put("other.py").put("x", at=box.out)
        return ("pkg",)

    build.__name__ = sentence.replace(" ", "_")
    case(versions=row in {"..", "pkg/.."})(build)


for _row, _sentence in (
    (".", "a row that is a dot cannot be moved"),
    ("", "an empty row cannot be moved"),
    ("..", "a row of two dots cannot be moved"),
    ("../../..", "a row that climbs to nothing cannot be moved"),
    ("../../../..", "a row that climbs out to nothing is skipped"),
    ("pkg/..", "dots below a folder that goes whole do no harm"),
    ("pkg/.", "a dot below a folder is the folder"),
):
    _stuck(_row, _sentence)


@case()
def absolute_rows_count_inside_the_venv_only(box: Box) -> tuple[str, ...]:
    box.put("abs.txt", "d/abs.txt", at=box.out).put("abs.txt", "two.txt", at=box.v)
    rows = (box.v / "abs.txt", f"/{box.v}/two.txt", box.out / "abs.txt", box.out / "d", "/etc/hostname")
    box.dist("pkg", "pkg.py", rows=[str(row) for row in rows]).put("other.py")
    return ("pkg",)


@case()
def a_tilde_in_a_row_is_a_plain_name(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("~root/x", "~/y")).put("other.py", "~root/x", "~/y")
    return ("pkg",)


@case()
def rows_may_climb_to_the_venvs_own_files(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../pyvenv.cfg", "../../../bin/activate")).put("other.py")
    box.put("activate", at=box.bin)
    return ("pkg",)


@case()
def a_row_may_name_the_interpreter(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../bin/python",)).put("other.py")
    return ("pkg",)


@case()
def rows_that_climb_out_of_the_venv_are_skipped(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../../out/x.txt", "../" * 40 + "etc/hostname")).put("other.py")
    box.put("x.txt", at=box.out)
    return ("pkg",)


@case()
def rows_may_name_anothers_module_and_metadata(box: Box) -> tuple[str, ...]:
    rows = ("b.py", "b-1.0.dist-info/METADATA", "b-1.0.dist-info/RECORD", "b-1.0.dist-info/INSTALLER")
    box.dist("pkg", "pkg.py", rows=rows).dist("b", "b.py")
    return ("pkg",)


@case(versions=True)
def a_folder_whose_name_begins_like_the_venvs_counts_as_inside(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../../v2/precious.txt", "../../../../v-old")).put("other.py")
    box.put("precious.txt", "keep.txt", at=box.root / "v2").put("deep/x", at=box.root / "v-old")
    return ("pkg",)


@case(system=True)
def without_a_venv_rows_reach_everywhere(box: Box) -> tuple[str, ...]:
    box.put("precious.txt", "keep.txt", "d/mine", at=box.out)
    box.dist("pkg", "pkg.py", rows=(str(box.out / "precious.txt"), "../../../../out/d")).put("other.py")
    return ("pkg",)


@case()
def the_venv_by_its_own_name_goes_whole(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../../v",)).put("other.py")
    return ("pkg",)


@case()
def the_folder_lib_goes_whole(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../lib",)).put("other.py")
    return ("pkg",)


@case()
def of_a_linked_folder_only_the_link_goes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../lib64",)).put("other.py")
    return ("pkg",)


@case(versions=True)
def names_in_utf8(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/ünï.txt", "pkg/日本.py").put("other.py")
    return ("pkg",)


@case()
def a_latin_1_byte_in_record_ends_it(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", record=b"pkg/x.py,,\npkg/caf\xe9.txt,,\npkg-1.0.dist-info/RECORD,,\n")
    box.put("other.py")
    return ("pkg",)


@case()
def a_byte_order_mark_belongs_to_the_first_row(box: Box) -> tuple[str, ...]:
    record = "\ufeffpkg/x.py,,\npkg/y.py,,\npkg-1.0.dist-info/METADATA,,\npkg-1.0.dist-info/RECORD,,\n"
    box.dist("pkg", "pkg/x.py", "pkg/y.py", record=record).put("other.py")
    return ("pkg",)


@case()
def quotes_commas_and_doubled_quotes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/a,b.txt", 'pkg/q"q.txt', "pkg/plain").put("other.py")
    return ("pkg",)


@case()
def a_quote_within_a_field_is_itself(box: Box) -> tuple[str, ...]:
    record = 'pkg/q"q.txt,,\npkg/plain,,\npkg-1.0.dist-info/METADATA,,\npkg-1.0.dist-info/RECORD,,\n'
    box.dist("pkg", 'pkg/q"q.txt', "pkg/plain", record=record).put("other.py")
    return ("pkg",)


@case()
def windows_line_ends(box: Box) -> tuple[str, ...]:
    info = "pkg-1.0.dist-info"
    record = f"pkg/x.py,,\r\n{info}/METADATA,,\r\n{info}/INSTALLER,,\r\n{info}/RECORD,,\r\n"
    box.dist("pkg", "pkg/x.py", record=record).put("other.py")
    return ("pkg",)


@case()
def only_the_first_cell_counts_and_a_backslash_is_a_character(box: Box) -> tuple[str, ...]:
    info = "pkg-1.0.dist-info"
    record = f"pkg\\x.py,,\npkg/y.py\n{info}/METADATA\n{info}/RECORD,sha256=bad,notanumber,more,cells\n"
    box.dist("pkg", "pkg/x.py", "pkg/y.py", record=record).put("pkg\\x.py", "other.py")
    return ("pkg",)


@case()
def a_leading_blank_is_part_of_the_name(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", " pkg/sp.py").put("other.py", "pkg/sp.py")
    return ("pkg",)


@case()
def a_blank_line_in_record_ends_it(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", record="pkg/x.py,,\n\npkg-1.0.dist-info/RECORD,,\n").put("other.py")
    return ("pkg",)


@case()
def a_line_of_blanks_in_record_is_a_name(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", record="pkg/x.py,,\n   \npkg-1.0.dist-info/RECORD,,\n").put("other.py")
    return ("pkg",)


def _torn(character: str, sentence: str) -> None:
    def build(box: Box) -> tuple[str, ...]:
        name, info = f"pkg/a{character}b.txt", "pkg-1.0.dist-info"
        record = f'pkg/x.py,,\n"{name}",,\n{info}/METADATA,,\n{info}/INSTALLER,,\n{info}/RECORD,,\n'
        box.dist("pkg", "pkg/x.py", record=record).put(name, "other.py")
        return ("pkg",)

    build.__name__ = sentence.replace(" ", "_")
    case()(build)


for _character, _sentence in (
    ("\u2028", "a line separator tears a name"),
    ("\x85", "a next line character tears a name"),
    ("\x0c", "a form feed tears a name"),
    ("\n", "a newline tears a name even in quotes"),
):
    _torn(_character, _sentence)


@case()
def a_nul_in_a_name_is_dropped(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", record="pkg/x.py,,\npkg/\0nul,,\npkg-1.0.dist-info/RECORD,,\n").put(
        "other.py"
    )
    return ("pkg",)


@case()
def a_nul_in_a_folders_name(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", record="pkg/x.py,,\np\0kg/x,,\npkg-1.0.dist-info/RECORD,,\n").put("other.py")
    return ("pkg",)


@case()
def an_unclosed_quote_swallows_the_rest(box: Box) -> tuple[str, ...]:
    record = 'pkg/x.py,,\n"pkg/y.py,,\npkg-1.0.dist-info/METADATA,,\npkg-1.0.dist-info/RECORD,,\n'
    box.dist("pkg", "pkg/x.py", record=record).put("pkg/y.py", "other.py")
    return ("pkg",)


@case()
def a_field_longer_than_csv_takes_ends_it(box: Box) -> tuple[str, ...]:
    record = f"pkg/x.py,,\n{'n' * 140_000},,\npkg-1.0.dist-info/RECORD,,\n"
    box.dist("pkg", "pkg/x.py", record=record).put("other.py")
    return ("pkg",)


@case()
def a_name_longer_than_the_system_takes_is_dropped(box: Box) -> tuple[str, ...]:
    record = f"pkg/x.py,,\n{'n' * 5000},,\n{'m' * 5000}/x,,\npkg-1.0.dist-info/RECORD,,\n"
    box.dist("pkg", "pkg/x.py", record=record).put("other.py")
    return ("pkg",)


@case()
def a_row_below_a_plain_file_is_dropped(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", rows=("other.py/below",)).put("other.py")
    return ("pkg",)


@case(versions=True)
def names_that_end_in_a_star(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", "pkg/star*", "pkg2*", "pkg2x/y.txt").put("other.py", "pkg2/x", "pkg2*z")
    return ("pkg",)


@case()
def an_unrecorded_name_in_no_encoding_keeps_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py").put("other.py").put(os.fsdecode(b"pkg/caf\xe9.txt"))
    return ("pkg",)


@case()
def letter_case_and_percent_signs_are_literal(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/X.py", rows=("PKG/x.PY", "pkg/%41.txt")).put("other.py", "pkg/A.txt")
    return ("pkg",)


@case()
def an_empty_record_finds_nothing(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, record="")
    return ("pkg",)


@case()
def an_empty_record_and_a_script_of_an_entry_point(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, record="", scripts="[console_scripts]\ncmd = pkg:x\n").put("cmd", at=box.bin)
    return ("pkg",)


@case()
def a_record_without_the_metadatas_own_rows(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, record="pkg/__init__.py,,\n")
    return ("pkg",)


@case()
def a_record_of_missing_files_only(box: Box) -> tuple[str, ...]:
    box.dist("pkg", record="nosuch.py,,\n")
    return ("pkg",)


@case(versions=True)
def no_record(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, record=None)
    return ("pkg",)


@case()
def no_record_but_installed_files(box: Box) -> tuple[str, ...]:
    listed = "../pkg/a.py\nMETADATA\n../../outside\n../../../../bin/tool\n/nowhere/x\n./INSTALLER\n"
    box.dist("pkg", *PKG, record=None, info={"installed-files.txt": listed}).put("other.py")
    box.put("tool", at=box.bin).put("outside", at=box.sp.parent)
    return ("pkg",)


@case()
def a_record_that_is_a_link_is_read_through(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py").put("other.py")
    record = box.sp / "pkg-1.0.dist-info/RECORD"
    shutil.move(record, box.v / "RECORD")
    record.symlink_to(box.v / "RECORD")
    return ("pkg",)


@case(versions=True)
def record_is_a_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, record=None)
    (box.sp / "pkg-1.0.dist-info/RECORD").mkdir()
    return ("pkg",)


@case()
def record_cannot_be_read(box: Box) -> tuple[str, ...]:
    box.rootless = True
    box.dist("pkg", *PKG)
    (box.sp / "pkg-1.0.dist-info/RECORD").chmod(0)
    return ("pkg",)


@case(versions=True)
def a_middle_name_without_record_ends_it(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).dist("z", "z.py").dist("bad", "bad.py", record=None)
    return ("pkg", "bad", "z")


@case()
def record_is_a_link(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG)
    record = box.sp / "pkg-1.0.dist-info/RECORD"
    shutil.move(record, box.out / "R")
    record.symlink_to(box.out / "R")
    return ("pkg",)


@case(versions=True)
def an_empty_dist_info_folder(box: Box) -> tuple[str, ...]:
    (box.sp / "pkg-1.0.dist-info").mkdir()
    box.put("other.py")
    return ("pkg",)


@case(versions=True)
def unrecorded_files_in_dist_info_stay(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").put(
        "pkg-1.0.dist-info/REQUESTED", "pkg-1.0.dist-info/direct_url.json", text="{}"
    )
    box.put("other.py")
    return ("pkg",)


@case()
def installer_and_digests_are_not_asked(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").put("other.py").put("pkg-1.0.dist-info/INSTALLER", text="conda\n")
    box.put("pkg.py", text="# edited by hand\n")
    return ("pkg",)


# Folders


@case(versions=True)
def one_unrecorded_file_keeps_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, "pkg/sub2/c.py").put("pkg/sub/local.txt")
    return ("pkg",)


@case()
def a_leftover_name_keeps_its_folder_too(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).put("pkg/~hidden")
    return ("pkg",)


@case(versions=True)
def empty_folders_go_with_theirs(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG)
    (box.sp / "pkg/emptydir/deep").mkdir(parents=True)
    return ("pkg",)


@case()
def a_link_to_a_folder_goes_with_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).put("precious.txt", at=box.out).link("pkg/link", box.out)
    return ("pkg",)


@case()
def a_link_to_a_file_keeps_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).put("precious.txt", at=box.out).link("pkg/link", box.out / "precious.txt")
    return ("pkg",)


@case()
def a_broken_link_keeps_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).link("pkg/link", "nowhere")
    return ("pkg",)


@case()
def a_fifo_keeps_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG)
    os.mkfifo(box.sp / "pkg/fifo")
    return ("pkg",)


@case()
def a_link_to_its_own_folder_goes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).link("pkg/l1", box.sp / "pkg")
    return ("pkg",)


@case()
def a_namespace_parent_stays_empty(box: Box) -> tuple[str, ...]:
    box.dist("a", "ns/a/__init__.py", "ns/a/lib/x.so").dist("b", "deep/er/still/x.txt").put("other.py")
    return ("a", "b")


@case()
def a_recorded_init_beside_anothers_folder(box: Box) -> tuple[str, ...]:
    box.dist("a", "ns/__init__.py", "ns/a/x.so").dist("b", "ns/b/x.so").put("other.py")
    return ("a",)


@case()
def both_users_of_a_namespace_leave(box: Box) -> tuple[str, ...]:
    box.dist("a", "nv/a/lib/x.so").dist("b", "nv/b/lib/x.so").put("other.py")
    return ("a", "b")


@case()
def data_files_leave_their_parents_empty(box: Box) -> tuple[str, ...]:
    box.dist("a", "a.py", rows=("../../../share/doc/a/x.txt",)).put("other.py")
    box.put("share/doc/a/x.txt", at=box.v)
    return ("a",)


@case(versions=True)
def the_last_module_takes_the_site_folder(box: Box) -> tuple[str, ...]:
    box.dist("a", "a.py")
    (box.sp / "keepdir").mkdir()
    return ("a",)


@case()
def the_last_package_leaves_the_site_folder(box: Box) -> tuple[str, ...]:
    box.dist("a", "a/__init__.py")
    return ("a",)


@case()
def an_unrecorded_file_deep_below(box: Box) -> tuple[str, ...]:
    record = "a/x.txt,,\na-1.0.dist-info/METADATA,,\na-1.0.dist-info/RECORD,,\n"
    box.dist("a", "a/x.txt", "a/b/c/y.txt", record=record).put("other.py")
    return ("a",)


@case()
def a_folder_row_leaves_its_parent_empty(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("pkg/__pycache__",))
    box.put("pkg/__pycache__/stray.cpython-37.pyc", "other.py")
    return ("pkg",)


@case()
def a_row_in_the_venvs_top_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", "a.txt", rows=("../../../top.txt",)).put("other.py")
    box.put("top.txt", at=box.v)
    return ("pkg",)


@case()
def a_folder_with_the_name_of_a_module(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", rows=("folder.py",))
    box.put("folder.py/mine", f"__pycache__/folder.{box.tag}.pyc", "other.py")
    return ("pkg",)


@case()
def a_folder_that_holds_nothing_but_a_recorded_link_to_a_folder(box: Box) -> tuple[str, ...]:
    box.link("data/dl", box.out).put("other.py").dist("pkg", rows=("data/dl", "only")).put("only/mine")
    return ("pkg",)


@case()
def a_folder_that_cannot_be_listed_counts_as_empty(box: Box) -> tuple[str, ...]:
    box.rootless = True
    box.dist("pkg", *PKG)
    (box.sp / "pkg/sub/deep").mkdir()
    (box.sp / "pkg/sub/deep").chmod(0)
    return ("pkg",)


# Byte code


@case(versions=True)
def byte_code_of_the_running_python_goes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).put(f"pkg/__pycache__/a.{box.tag}.pyc", f"pkg/__pycache__/__init__.{box.tag}.pyc")
    box.put("other.py")
    return ("pkg",)


def _pycs(box: Box) -> tuple[str, ...]:
    tags = (box.tag, "cpython-37", f"{box.tag}.opt-1", f"{box.tag}.opt-2", "pypy310")
    return tuple(f"pkg/__pycache__/a.{tag}.pyc" for tag in tags)


@case(versions=True)
def other_tags_and_levels_stay(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).put(*_pycs(box)).put("other.py")
    return ("pkg",)


@case()
def recorded_byte_code_of_any_tag_goes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, *_pycs(box)[:2]).put("other.py")
    return ("pkg",)


@case()
def optimised_byte_code_under_pythonoptimize(box: Box) -> tuple[str, ...]:
    box.env = {"PYTHONOPTIMIZE": "1"}
    box.dist("pkg", *PKG).put(*_pycs(box)).put("other.py")
    return ("pkg",)


@case(versions=True)
def byte_code_of_no_row_stays(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG, "pkg/mod.pyi", "pkg/run.pyw", "pkg/.py")
    box.put(f"pkg/__pycache__/stray.{box.tag}.pyc", f"pkg/__pycache__/a.{box.tag}.pyc.123", "other.py")
    box.put(f"pkg/__pycache__/run.{box.tag}.pyc", f"pkg/__pycache__/mod.{box.tag}.pyc", "pkg/.pyc")
    return ("pkg",)


@case()
def byte_code_beside_its_module_goes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", *PKG).put("pkg/a.pyc", "pkg/a.pyo", "pkg/zz.pyc", "other.py")
    return ("pkg",)


@case(versions=True)
def a_modules_byte_code_leaves_that_of_others(box: Box) -> tuple[str, ...]:
    box.dist("six", "six.py").put(f"__pycache__/six.{box.tag}.pyc", f"__pycache__/other.{box.tag}.pyc")
    box.put("__pycache__/six.cpython-37.pyc", "__pycache__/precious.txt", "other.py")
    return ("six",)


@case()
def a_modules_byte_code_alone_takes_its_folder(box: Box) -> tuple[str, ...]:
    box.dist("six", "six.py").put(f"__pycache__/six.{box.tag}.pyc", "other.py")
    return ("six",)


@case()
def a_namespace_folder_of_two_modules(box: Box) -> tuple[str, ...]:
    box.dist("a", "ns/a.py").dist("b", "ns/b.py")
    box.put(f"ns/__pycache__/a.{box.tag}.pyc", f"ns/__pycache__/b.{box.tag}.pyc")
    return ("a",)


@case(versions=True)
def a_python_script_with_byte_code(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../bin/t.py",)).put("other.py")
    box.put("t.py", f"__pycache__/t.{box.tag}.pyc", at=box.bin)
    return ("pkg",)


@case(versions=True)
def byte_code_that_another_records(box: Box) -> tuple[str, ...]:
    box.dist("six", "six.py").dist("b", "b.py", f"__pycache__/b.{box.tag}.pyc")
    box.put(f"__pycache__/six.{box.tag}.pyc", "other.py")
    return ("six",)


@case(versions=True)
def only_byte_code_of_another_python(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py", "pkg/data.txt").put(
        "pkg/__pycache__/__init__.cpython-37.pyc", "other.py"
    )
    return ("pkg",)


@case(versions=True)
def a_cache_folder_that_is_a_link(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/__init__.py").put("other.py").put("cachereal/x.pyc", at=box.v)
    box.link("pkg/__pycache__", box.v / "cachereal")
    return ("pkg",)


@case(versions=True)
def recorded_byte_code_and_a_stray_of_another_python(box: Box) -> tuple[str, ...]:
    own = [f"pkg/__pycache__/{name}.{box.tag}.pyc" for name in ("a", "__init__")]
    box.dist("pkg", "pkg/__init__.py", "pkg/a.py", *own).put("other.py", "pkg/__pycache__/a.cpython-39.pyc")
    return ("pkg",)


@case()
def a_cache_prefix_outside(box: Box) -> tuple[str, ...]:
    box.env = {"PYTHONPYCACHEPREFIX": str(box.out / "cache")}
    box.dist("pkg", "pkg/a.py").put(f"pkg/__pycache__/a.{box.tag}.pyc", "other.py")
    box.put(f"a.{box.tag}.pyc", at=Path(f"{box.out}/cache{box.sp}/pkg"))
    return ("pkg",)


@case()
def a_cache_prefix_in_the_venv(box: Box) -> tuple[str, ...]:
    box.env = {"PYTHONPYCACHEPREFIX": str(box.v / "cache")}
    box.dist("pkg", "pkg/a.py").put(f"pkg/__pycache__/a.{box.tag}.pyc", "other.py")
    box.put(f"a.{box.tag}.pyc", at=Path(f"{box.v}/cache{box.sp}/pkg"))
    return ("pkg",)


# Scripts


@case(versions=True)
def scripts_of_entry_points_that_no_row_lists(box: Box) -> tuple[str, ...]:
    groups = "[console_scripts]\ncmd = pkg:x\nwithextra = pkg:x [e]\n[gui_scripts]\ngui = pkg:x\n[other]\nno = pkg:x\n"
    box.dist("pkg", "pkg.py", scripts=groups).put("other.py")
    box.put("cmd", "cmd.exe", "cmd-script.py", "cmd.exe.manifest", "withextra", "gui", "no", at=box.bin)
    return ("pkg",)


@case()
def an_old_script_by_its_row_and_a_new_one_by_its_entry_point(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", rows=("../../../bin/old",), scripts="[console_scripts]\nnew = pkg:x\n")
    box.put("other.py").put("old", "new", at=box.bin)
    return ("pkg",)


@case()
def a_script_of_two_goes_with_the_first(box: Box) -> tuple[str, ...]:
    for name in "ab":
        scripts = f"[console_scripts]\ncmd = {name}:x\n"
        box.dist(name, f"{name}.py", rows=("../../../bin/cmd",), scripts=scripts)
    box.put("cmd", at=box.bin)
    return ("a",)


@case()
def an_entry_point_named_python(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", scripts="[console_scripts]\npython = pkg:x\n").put("other.py")
    return ("pkg",)


@case()
def entry_points_that_climb(box: Box) -> tuple[str, ...]:
    names = ("../pyvenv.cfg", "../../out/precious.txt", f"{box.out}/abs.txt", "sub/tool", "../lib")
    lines = "".join(f"{name} = pkg:x\n" for name in names)
    box.dist("pkg", "pkg.py", scripts=f"[console_scripts]\n{lines}").put("other.py")
    box.put("precious.txt", "abs.txt", at=box.out).put("sub/tool", "sub/mine", at=box.bin)
    return ("pkg",)


@case()
def an_entry_point_named_like_a_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", scripts="[console_scripts]\nsub = pkg:x\n").put("other.py")
    box.put("sub/tool", "sub/mine", at=box.bin)
    return ("pkg",)


@case(versions=True)
def a_line_without_an_equals_sign_ends_it(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", scripts="[console_scripts]\ngarbage\ncmd = pkg:x\n").put("other.py")
    box.put("cmd", at=box.bin)
    return ("pkg",)


@case()
def entry_points_without_a_section(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", scripts="no section\ncmd = pkg:x\n").put("other.py").put("cmd", at=box.bin)
    return ("pkg",)


@case()
def an_invalid_reference_and_an_empty_name(box: Box) -> tuple[str, ...]:
    scripts = "[console_scripts]\n# c = d:e\ncmd = not a valid ref!\n= pkg:x\n"
    box.dist("pkg", "pkg.py", scripts=scripts).put("other.py").put("cmd", at=box.bin)
    return ("pkg",)


@case()
def an_entry_point_without_a_name_takes_the_scripts_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", scripts="[console_scripts]\n = pkg:x\n").put("other.py").put("x", at=box.bin)
    return ("pkg",)


@case(versions=True)
def a_latin_1_byte_in_entry_points_ends_it(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", scripts=b"[console_scripts]\ncmd\xe9 = pkg:x\n").put("other.py")
    return ("pkg",)


@case()
def names_in_the_metadatas_scripts_folder(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", info={"scripts/tool": "x"}).put("other.py").put("tool", "tool.bat", at=box.bin)
    return ("pkg",)


# Sharing, links, rights


@case(versions=True)
def co_owned_files_go_with_the_first_owner(box: Box) -> tuple[str, ...]:
    box.dist("a", "nv/__init__.py", "nv/dnn/lib.so", "nv/dnn/only_a.so")
    box.dist("b", "nv/__init__.py", "nv/dnn/lib.so", "nv/dnn/only_b.so")
    return ("a",)


@case()
def both_owners_in_one_command(box: Box) -> tuple[str, ...]:
    box.dist("a", "nv/dnn/lib.so").dist("b", "nv/dnn/lib.so").put("other.py")
    return ("a", "b")


@case()
def one_folder_and_a_file_each(box: Box) -> tuple[str, ...]:
    box.dist("a", "nv/dnn/a.so").dist("b", "nv/dnn/b.so").put("other.py")
    return ("a", "b")


def _joint(names: tuple[str, ...], sentence: str) -> None:
    def build(box: Box) -> tuple[str, ...]:
        box.dist("a", "nv/x.so", "nv/k/a.so").dist("b", "nv/k/b.so").put("other.py")
        return names

    build.__name__ = sentence.replace(" ", "_")
    case(versions=True)(build)


_joint(("a", "b"), "the order of names leaves a folder empty")
_joint(("b", "a"), "the order of names takes the folder whole")


@case()
def a_joint_removal_of_nested_files(box: Box) -> tuple[str, ...]:
    box.dist("a", "nv/__init__.py", "nv/a.so").dist("b", "nv/b.so", "nv/sub/c.so").put("other.py")
    return ("b", "a")


@case()
def a_joint_removal_with_an_unrecorded_file_below(box: Box) -> tuple[str, ...]:
    box.dist("a", "nv/x.so", "nv/k/a.so").dist("b", "nv/k/b.so").put("other.py", "nv/k/__pycache__/q.pyc")
    return ("a", "b")


@case()
def what_an_earlier_name_took_is_missing_for_a_later_one(box: Box) -> tuple[str, ...]:
    box.put("real/x.py", at=box.v).link("link", box.v / "real").put("other.py")
    box.dist("a", "a.py", rows=("link",)).dist("b", "b.py", rows=("link/x.py", "link/../y.py"))
    box.put("y.py", at=box.v).put("y.py")
    return ("a", "b")


@case()
def a_folder_that_a_link_led_to_is_gone(box: Box) -> tuple[str, ...]:
    box.link("pkg/link", "../a").put("other.py").dist("a", "a/x.py", "a/y.py").dist("pkg", "pkg/z.py")
    return ("a", "pkg")


@case()
def recorded_links_go_and_their_targets_stay(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.so.1.2", rows=("pkg/x.so", "pkg/x.so.1")).put("other.py")
    box.link("pkg/x.so", "x.so.1.2").put("ext.so", at=box.out).link("pkg/x.so.1", box.out / "ext.so")
    return ("pkg",)


@case(versions=True)
def recorded_but_broken_links_stay(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", rows=("pkg/broken", "broken2")).put("other.py")
    box.link("pkg/broken", "nowhere").link("broken2", "nowhere")
    return ("pkg",)


@case()
def a_link_and_its_target_in_a_folder_that_stays(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/v1.so", rows=("pkg/cur.so",)).put("other.py", "pkg/mine").link("pkg/cur.so", "v1.so")
    return ("pkg",)


@case()
def recorded_links_to_folders(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", rows=("pkg/dirlink", "toplink")).put("other.py").put("d/f", at=box.out)
    box.link("pkg/dirlink", box.out / "d").link("toplink", box.out / "d")
    return ("pkg",)


@case()
def a_recorded_loop_of_links(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", rows=("pkg/l1", "pkg/l2", "pkg/l1/x", "pkg/l1/../x.py")).put("other.py")
    box.link("pkg/l1", "l2").link("pkg/l2", "l1")
    return ("pkg",)


@case(versions=True)
def a_package_that_is_a_link_inside_the_venv(box: Box) -> tuple[str, ...]:
    box.put("real/x.py", "real/y.py", at=box.v).put("other.py").link("pkg", box.v / "real")
    box.dist("pkg", rows=("pkg/x.py", "pkg/y.py"))
    return ("pkg",)


@case()
def a_package_that_is_a_link_out_of_the_venv(box: Box) -> tuple[str, ...]:
    box.put("real/x.py", "real/y.py", at=box.out).put("other.py").link("pkg", box.out / "real")
    box.dist("pkg", rows=("pkg/x.py", "pkg/y.py"))
    return ("pkg",)


@case()
def a_package_that_is_a_link_to_anothers(box: Box) -> tuple[str, ...]:
    box.dist("b", "b/x.py", "b/y.py").put("other.py").link("pkg", "b").dist("pkg", rows=("pkg/x.py",))
    return ("pkg",)


@case()
def a_row_through_lib64(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", rows=(f"../../../lib64/{box.version}/site-packages/via.py",))
    box.put("other.py", "via.py")
    return ("pkg",)


@case(versions=True)
def a_site_folder_that_is_a_link_out_of_the_venv(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py").put("other.py")
    shutil.move(box.sp, box.out / "sp")
    box.sp.symlink_to(box.out / "sp")
    return ("pkg",)


@case()
def a_site_folder_that_is_a_link_inside_the_venv(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py").put("other.py")
    shutil.move(box.sp, box.v / "realsp")
    box.sp.symlink_to(box.v / "realsp")
    return ("pkg",)


@case(versions=True)
def a_venv_called_through_a_link(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py", scripts="[console_scripts]\ncmd = pkg:x\n").put("other.py").put(
        "cmd", at=box.bin
    )
    (box.root / "link").symlink_to("v")
    box.python = box.root / "link/bin/python"
    return ("pkg",)


@case()
def metadata_that_is_a_link(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.py").put("other.py")
    shutil.move(box.sp / "pkg-1.0.dist-info", box.out / "info")
    (box.sp / "pkg-1.0.dist-info").symlink_to(box.out / "info")
    return ("pkg",)


@case()
def hard_links_keep_their_bytes(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg/x.so").put("other.py")
    os.link(box.sp / "pkg/x.so", box.out / "x.so")
    return ("pkg",)


@case()
def a_read_only_file_goes(box: Box) -> tuple[str, ...]:
    box.rootless = True
    box.dist("pkg", *PKG).put("other.py")
    (box.sp / "pkg/a.py").chmod(0o444)
    return ("pkg",)


@case(versions=True)
def a_read_only_folder_that_must_stay(box: Box) -> tuple[str, ...]:
    box.rootless = True
    box.dist("aaa", "aaa/x.so").dist("pkg", *PKG).dist("zzz", "zzz.py").put("other.py", "pkg/sub/mine")
    (box.sp / "pkg/sub").chmod(0o555)
    return ("aaa", "pkg", "zzz")


@case(versions=True)
def a_read_only_site_folder(box: Box) -> tuple[str, ...]:
    box.rootless = True
    scripts = "[console_scripts]\ntool = pkg:x\n"
    box.dist("pkg", *PKG, "zz.py", scripts=scripts).put("other.py").put("tool", at=box.bin)
    box.put("pkg-1.0.dist-info/licenses/L").dist("pkg", *PKG, "pkg-1.0.dist-info/licenses/L", scripts=scripts)
    box.sp.chmod(0o555)
    return ("pkg",)


@case()
def a_read_only_scripts_folder(box: Box) -> tuple[str, ...]:
    box.rootless = True
    box.dist("pkg", *PKG, rows=("../../../bin/tool",)).put("other.py").put("tool", at=box.bin)
    box.bin.chmod(0o555)
    return ("pkg",)


@case()
def a_package_folder_that_cannot_be_listed(box: Box) -> tuple[str, ...]:
    box.rootless = True
    box.dist("pkg", "pkg/__init__.py").put("other.py")
    (box.sp / "pkg").chmod(0o300)
    return ("pkg",)


# Which distribution


@case(versions=True)
def what_is_not_installed_is_skipped(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py")
    return ("nosuch", "pkg")


@case()
def names_are_compared_in_canonical_form(box: Box) -> tuple[str, ...]:
    box.dist("foo_bar", "pkg.py").dist("Foo.Baz", "baz.py").put("other.py")
    return ("Foo.Bar", "FOO__baz")


@case()
def the_installed_name_ends_at_the_first_dash(box: Box) -> tuple[str, ...]:
    box.dist("foo-bar", "pkg.py").put("other.py")
    return ("foo-bar", "foo")


@case()
def a_name_twice_is_once(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "v1.py").dist("pkg", "v2.py", version="2.0").put("other.py")
    return ("pkg", "PKG")


def _twins(first: str, second: str) -> None:
    def build(box: Box) -> tuple[str, ...]:
        for version in (first, second):
            box.dist("pkg", f"pkg/v{version}.py", "pkg/common.py", version=version)
        box.put("other.py")
        return ("pkg",)

    build.__name__ = f"of two versions {first} and {second} one goes".replace(" ", "_")
    case(versions=True)(build)


for _first, _second in (("1.0", "2.0"), ("2.1", "1.1"), ("9.0", "10.0"), ("1.2", "1.10")):
    _twins(_first, _second)


@case()
def a_dist_info_beside_an_egg_info(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "v1.py").put("other.py", "v2.py")
    box.put("pkg-2.0.egg-info/PKG-INFO", text="Metadata-Version: 1.0\nName: pkg\nVersion: 2.0\n")
    box.put("pkg-2.0.egg-info/top_level.txt", text="v2\n")
    return ("pkg",)


@case(versions=True)
def the_folders_name_counts_and_not_metadata(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", folder="other_name-1.0.dist-info")
    return ("pkg", "other-name")


@case(versions=True)
def a_folder_without_a_version(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", folder="pkg.dist-info")
    return ("pkg",)


@case(versions=True)
def an_empty_metadata(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", metadata="").put("other.py")
    return ("pkg",)


@case(versions=True)
def a_missing_metadata(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").put("other.py")
    (box.sp / "pkg-1.0.dist-info/METADATA").unlink()
    return ("pkg",)


@case(versions=True, backends=("importlib",))
def metadata_without_a_version(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", metadata="Metadata-Version: 2.1\nName: pkg\n").put("other.py")
    return ("pkg",)


@case(backends=("importlib",))
def an_invalid_version(box: Box) -> tuple[str, ...]:
    text = "Metadata-Version: 2.1\nName: pkg\nVersion: not a version\n"
    box.dist("pkg", "pkg.py", metadata=text, version="not_a_version").put("other.py")
    return ("pkg",)


@case(versions=True)
def a_latin_1_byte_in_metadata_ends_it(box: Box) -> tuple[str, ...]:
    text = b"Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\nAuthor: caf\xe9\n"
    box.dist("pkg", "pkg.py", metadata=text).put("other.py")
    return ("pkg",)


@case(versions=True)
def a_leftover_of_a_killed_pip_is_nobody(box: Box) -> tuple[str, ...]:
    box.dist("~kg", "pkg.py").dist("b", "b.py").put("other.py")
    return ("pkg", "kg", "b")


@case()
def capitals_in_the_suffix(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", folder="PKG-1.0.DIST-INFO")
    return ("pkg",)


@case(versions=True)
def a_dist_info_that_is_a_plain_file(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.dist-info", "other.py")
    return ("pkg",)


def _everywhere(box: Box) -> None:
    box.dist("pkg", "pkg.py").put("cmd", at=box.home / ".local/bin")
    box.dist("pkg", "pkg.py", version="3.0", at=box.user_site, scripts="[console_scripts]\ncmd = pkg:x\n")


@case()
def a_venv_does_not_see_the_user_site(box: Box) -> tuple[str, ...]:
    _everywhere(box)
    box.put("cmd", at=box.bin)
    return ("pkg",)


@case(site=True)
def a_venv_comes_before_the_system(box: Box) -> tuple[str, ...]:
    _everywhere(box)
    box.dist("pkg", "pkg.py", version="2.0", at=box.system_site)
    return ("pkg",)


@case(site=True, versions=True)
def what_lies_in_the_system_is_left_alone(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", version="2.0", at=box.system_site).dist("good", "good.py")
    return ("pkg", "good")


@case(system=True)
def the_user_site_comes_before_the_system(box: Box) -> tuple[str, ...]:
    _everywhere(box)
    box.put("cmd", at=box.bin)
    return ("pkg",)


@case(system=True)
def the_user_sites_scripts_go_from_the_users_folder_only(box: Box) -> tuple[str, ...]:
    box.put("cmd", at=box.bin).put("cmd", at=box.home / ".local/bin")
    scripts = "[console_scripts]\ncmd = pkg:x\n"
    box.dist("pkg", "pkg.py", at=box.user_site, rows=("../../../bin/cmd",), scripts=scripts)
    return ("pkg",)


@case(system=True)
def without_user_site_the_systems_goes(box: Box) -> tuple[str, ...]:
    _everywhere(box)
    box.env = {"PYTHONNOUSERSITE": "1"}
    return ("pkg",)


@case(system=True)
def what_lies_in_the_standard_library_is_left_alone(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py", at=box.sp.parent)
    return ("pkg",)


@case()
def pythonpath_hides_the_site(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").dist("pkg", "pkg.py", version="2.0", at=box.out / "lib")
    box.env = {"PYTHONPATH": str(box.out / "lib")}
    return ("pkg",)


@case()
def pythonpath_inside_the_venv_is_deleted_from(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").dist("pkg", "pkg.py", version="2.0", at=box.v / "lib/more")
    box.env = {"PYTHONPATH": str(box.v / "lib/more")}
    return ("pkg",)


@case()
def a_folder_of_a_pth_file_comes_after_the_site(box: Box) -> tuple[str, ...]:
    box.put("x.pth", text=f"{box.v}/lib/more\n").dist("pkg", "pkg.py")
    box.dist("pkg", "pkg2.py", version="2.0", at=box.v / "lib/more")
    box.dist("late", "late.py", at=box.v / "lib/more")
    return ("pkg", "late")


@case()
def pythonpath_in_a_folder_whose_name_begins_like_the_venvs(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").dist("pkg", "pkg.py", version="2.0", at=box.root / "v2/lib")
    box.env = {"PYTHONPATH": str(box.root / "v2/lib")}
    return ("pkg",)


@case(system=True)
def without_a_venv_pythonpath_is_deleted_from(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py").dist("pkg", "pkg.py", version="2.0", at=box.out / "lib")
    box.env = {"PYTHONPATH": str(box.out / "lib")}
    return ("pkg",)


@case(backends=("importlib",))
def a_zip_on_pythonpath_hides(box: Box) -> tuple[str, ...]:
    box.dist("pkg", "pkg.py")
    with zipfile.ZipFile(box.out / "z.zip", "w") as bundle:
        bundle.writestr("pkg-2.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pkg\nVersion: 2.0\n")
        bundle.writestr("pkg-2.0.dist-info/RECORD", "")
    box.env = {"PYTHONPATH": str(box.out / "z.zip")}
    return ("pkg",)


@case(own_pip=True, versions=True)
def pip_itself_and_a_further_name(box: Box) -> tuple[str, ...]:
    box.put("other.py").dist("z", "z.py").put("pip", "pip3", "pip3.12", at=box.bin)
    box.install_pip()
    return ("pip", "z")


# Old forms and editable installs

_PKG_INFO = "Metadata-Version: 1.0\nName: pkg\nVersion: 1.0\n"


@case(versions=True)
def an_egg_info_folder_with_installed_files(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.egg-info/PKG-INFO", text=_PKG_INFO).put("pkg/__init__.py", "pkg/extra.txt", "other.py")
    listed = "../pkg/__init__.py\nPKG-INFO\ninstalled-files.txt\n../../../../bin/tool\n"
    box.put("pkg-1.0.egg-info/installed-files.txt", text=listed).put("tool", at=box.bin)
    box.put("pkg-1.0.egg-info/unlisted.txt", f"pkg/__pycache__/__init__.{box.tag}.pyc")
    return ("pkg",)


@case(versions=True)
def an_egg_info_folder_with_top_level(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.egg-info/PKG-INFO", text=_PKG_INFO).put(
        "pkg/__init__.py", "pkg/unlisted.txt", "nsp/x.py"
    )
    box.put("mod.py", "mod.pyc", "other.py", f"__pycache__/mod.{box.tag}.pyc")
    box.put("pkg-1.0.egg-info/top_level.txt", text="pkg\nmod\nnsp\n")
    box.put("pkg-1.0.egg-info/namespace_packages.txt", text="nsp\n")
    return ("pkg",)


@case(versions=True)
def hostile_names_in_top_level(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.egg-info/PKG-INFO", text=_PKG_INFO).put("pkg/x", "other.py").put("tool", at=box.bin)
    box.put("pkg-1.0.egg-info/top_level.txt", text="pkg\n../../../bin\n.\n")
    return ("pkg",)


@case()
def an_egg_info_folder_that_lists_nothing(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.egg-info/PKG-INFO", text=_PKG_INFO).put("pkg/x", "other.py")
    return ("pkg",)


@case()
def an_egg_info_folder_with_a_record(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.egg-info/PKG-INFO", text=_PKG_INFO).put("pkg/x", "other.py")
    box.put("pkg-1.0.egg-info/RECORD", text="pkg/x,,\n")
    return ("pkg",)


@case(versions=True)
def an_egg_info_file(box: Box) -> tuple[str, ...]:
    box.put("pkg-1.0.egg-info", text=_PKG_INFO).put("pkg/__init__.py", "other.py")
    return ("pkg",)


@case()
def an_egg_info_folder_without_a_version(box: Box) -> tuple[str, ...]:
    box.put("pkg.egg-info/PKG-INFO", text=_PKG_INFO).put("pkg.egg-info/top_level.txt", text="pkg\n")
    box.put("pkg/__init__.py", "other.py")
    return ("pkg",)


@case(versions=True)
def an_egg_folder_in_easy_install(box: Box) -> tuple[str, ...]:
    box.put(f"{box.egg}/EGG-INFO/PKG-INFO", text=_PKG_INFO).put(
        f"{box.egg}/pkg/__init__.py", f"{box.egg}/unlisted"
    )
    box.put("other.py").put("easy-install.pth", text=f"./{box.egg}\n./more.egg\n")
    return ("pkg",)


@case()
def an_egg_file_in_easy_install(box: Box) -> tuple[str, ...]:
    box.put("other.py").put("easy-install.pth", text=f"./{box.egg}")
    with zipfile.ZipFile(box.sp / box.egg, "w") as bundle:
        bundle.writestr("EGG-INFO/PKG-INFO", _PKG_INFO)
        bundle.writestr("pkg/__init__.py", "")
    return ("pkg",)


@case(versions=True)
def an_egg_file_with_a_command_and_a_script(box: Box) -> tuple[str, ...]:
    box.put("other.py").put("easy-install.pth", text=f"./{box.egg}\n").put("cmd", "tool", at=box.bin)
    with zipfile.ZipFile(box.sp / box.egg, "w") as bundle:
        bundle.writestr("EGG-INFO/PKG-INFO", _PKG_INFO)
        bundle.writestr("EGG-INFO/entry_points.txt", "[console_scripts]\ncmd = pkg:x\n")
        bundle.writestr("EGG-INFO/scripts/tool", "")
        bundle.writestr("pkg/__init__.py", "")
    return ("pkg",)


@case(versions=True)
def an_egg_in_no_pth_file(box: Box) -> tuple[str, ...]:
    box.put(f"{box.egg}/EGG-INFO/PKG-INFO", text=_PKG_INFO).put("other.py")
    return ("pkg",)


def _develop(box: Box) -> Path:
    source = box.out / "src"
    box.put("pkg.egg-info/PKG-INFO", at=source, text=_PKG_INFO).put("pkg/__init__.py", at=source)
    box.put("pkg.egg-info/top_level.txt", at=source, text="pkg\n")
    return source


@case(versions=True)
def a_develop_install(box: Box) -> tuple[str, ...]:
    source = _develop(box)
    box.put("pkg.egg-info/entry_points.txt", at=source, text="[console_scripts]\ncmd = pkg:x\n")
    box.put("pkg.egg-link", text=f"{source}\n.").put("easy-install.pth", text=f"{source}\n/else\n")
    box.put("other.py").put("cmd", at=box.bin)
    return ("pkg",)


@case(backends=("importlib",))
def an_egg_link_that_points_elsewhere(box: Box) -> tuple[str, ...]:
    source = _develop(box)
    box.put("x", at=box.out / "fake")
    box.put("pkg.egg-link", text=f"{box.out}/fake\n.").put("easy-install.pth", text=f"{source}\n").put(
        "other.py"
    )
    return ("pkg",)


@case()
def an_egg_link_without_easy_install(box: Box) -> tuple[str, ...]:
    box.put("pkg.egg-link", text=f"{_develop(box)}\n.").put("other.py")
    return ("pkg",)


@case(versions=True)
def an_editable_install(box: Box) -> tuple[str, ...]:
    source = box.out / "src"
    box.put("pkg/__init__.py", at=source).put("other.py", "__editable___pkg_finder.py")
    box.put("__editable__.pkg.pth", text=f"{source}\n")
    direct = f'{{"dir_info": {{"editable": true}}, "url": "file://{source}"}}'
    rows = ("__editable__.pkg.pth", "__editable___pkg_finder.py")
    box.dist("pkg", rows=rows, info={"direct_url.json": direct})
    return ("pkg",)


@case()
def an_editable_install_over_a_source_with_egg_info(box: Box) -> tuple[str, ...]:
    box.put("__editable__.pkg.pth", text=f"{_develop(box)}\n").dist("pkg", rows=("__editable__.pkg.pth",))
    return ("pkg",)


@case()
def egg_info_in_a_source_that_a_pth_file_names(box: Box) -> tuple[str, ...]:
    box.put("mine.pth", text=f"{_develop(box)}\n").put("other.py")
    return ("pkg",)
