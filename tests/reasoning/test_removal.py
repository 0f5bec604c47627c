"""What a plan says besides the paths, which a real pip is asked for elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.change import Edit, Halt, Removal, Skip
from safepip.model.environment import Distribution, EntryPoint, Fault, Install, Inventory, PipInUse
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes.removal import plan
from safepip.world import Changed, Kind
from support.environments import PREFIX, SITE, STDLIB, at, dist, inventory, target
from support.fake_world import Content, FakeWorld, Link, empty


def world(*dists: Distribution, more: dict[str, Content] | None = None) -> FakeWorld:
    files: dict[str, Content] = {path: b"" for one in dists for path in one.files or ()}
    return FakeWorld({**files, f"{SITE}/other.py": b"", **(more or {})})


def keys(*names: str) -> list[DistKey]:
    return [DistKey(name) for name in names]


@pytest.mark.parametrize("name", ["caf\udce9", "ünder", "-pkg", "two words"])
def test_pip_passes_over_what_has_no_name_that_a_project_can_have(name: str) -> None:
    odd = dist(name, ["pkg.py"])
    said = "pip passes over what has no name that a project can have"
    assert plan(keys(name), inventory(odd), world(odd)) == Removal(skipped=(Skip(name, said),))


def test_a_plan_names_files_the_topmost_folders_and_who_leaves() -> None:
    pkg = dist("pkg", ["pkg/__init__.py", "pkg/sub/b.so", "pkg.py"])
    pyc = at("pkg/__pycache__/__init__.cpython-312.pyc")
    assert plan(keys("pkg"), inventory(pkg), world(pkg, more={pyc: b""})) == Removal(
        leaving=(pkg,),
        files=(
            at("pkg-1.0.dist-info/RECORD"),
            at("pkg.py"),
            at("pkg/__init__.py"),
            pyc,
            at("pkg/sub/b.so"),
        ),
        folders=(at("pkg"), at("pkg-1.0.dist-info")),
    )


def test_a_name_that_is_not_installed_is_skipped_and_the_next_goes_on() -> None:
    pkg = dist("pkg", ["pkg.py"])
    removal = plan(keys("nosuch", "pkg"), inventory(pkg), world(pkg))
    assert (removal.skipped, removal.leaving) == ((Skip("nosuch", "not installed"),), (pkg,))


def test_what_lies_outside_the_venv_is_skipped_with_its_place() -> None:
    outside = TargetPath("/usr/lib/python3.12/site-packages")
    info = TargetPath(f"{outside}/pkg-1.0.dist-info")
    pkg = replace(dist("pkg"), location=outside, info=info, files=(TargetPath(f"{info}/RECORD"),))
    removal = plan(keys("pkg"), inventory(pkg), world(pkg))
    assert removal == Removal(skipped=(Skip("pkg", f"at {outside}, outside environment {PREFIX}"),))


def test_nothing_found_is_a_skip() -> None:
    pkg = replace(dist("pkg"), files=())
    disk = world(pkg, more={at("pkg-1.0.dist-info/RECORD"): b""})
    assert plan(keys("pkg"), inventory(pkg), disk) == Removal(skipped=(Skip("pkg", "no files were found"),))


def test_without_a_record_pip_stops_there_and_what_went_before_is_gone() -> None:
    first, last = dist("first", ["first.py"]), dist("last", ["last.py"])
    bare = replace(dist("bare"), files=None)
    disk = world(first, last, more={f"{bare.info}/METADATA": b""})
    removal = plan(keys("first", "bare", "last"), inventory(first, bare, last), disk)
    assert (removal.leaving, removal.halt) == ((first,), Halt("bare", "no RECORD file", 1))


def test_a_broken_record_stops_pip_with_a_traceback() -> None:
    pkg = replace(dist("pkg"), files=None, faults=(Fault.RECORD_BROKEN,))
    removal = plan(keys("pkg"), inventory(pkg), world(more={f"{pkg.info}/RECORD": b""}))
    assert removal == Removal(halt=Halt("pkg", "RECORD has a line that is no row", 2))


def test_rows_that_pip_itself_skips_are_declined() -> None:
    pkg = dist("pkg", ["pkg.py", "/home/me/notes.txt", "/home/me/missing.txt"])
    disk = FakeWorld({path: b"" for path in (pkg.files or ()) if "missing" not in path})
    removal = plan(keys("pkg"), inventory(pkg), disk)
    assert (removal.declined, removal.reaches) == (("/home/me/notes.txt",), ())


def test_a_name_twice_is_taken_once() -> None:
    pkg = dist("pkg", ["pkg.py"])
    other = replace(dist("pkg", ["pkg2.py"], version="2.0"))
    removal = plan(keys("pkg", "pkg"), inventory(pkg, other), world(pkg, other))
    assert removal.leaving == (pkg,)


def test_the_second_of_a_name_survives_and_shares() -> None:
    old, new = dist("pkg", ["pkg.py"]), dist("pkg", ["pkg.py"], version="2.0")
    removal = plan(keys("pkg"), inventory(old, new), world(old, new))
    assert (removal.leaving, removal.shared) == ((old,), (at("pkg.py"),))


def test_a_developed_project_loses_its_line_and_keeps_its_source() -> None:
    source = TargetPath("/home/me/src")
    link, pth = at("pkg.egg-link"), at("easy-install.pth")
    pkg = replace(
        dist("pkg"),
        location=source,
        info=TargetPath(f"{source}/pkg.egg-info"),
        install=Install.EGG_LINK,
        files=None,
        egg_link=link,
    )
    more: dict[str, Content] = {link: b"", pth: b"", f"{source}/pkg.egg-info/PKG-INFO": b""}
    removal = plan(keys("pkg"), inventory(pkg), world(more=more))
    assert removal == Removal(leaving=(pkg,), files=(link,), edits=(Edit(pth, source),))


def test_a_pip_that_does_not_put_back_leaves_what_it_has_moved() -> None:
    pkg = replace(dist("pkg", ["aaa.py", "zzz.py"]), as_written=(at("aaa.py"), at("zzz.py"), at("b/..")))
    more: dict[str, Content] = {at("b/x"): b""}
    halt = Halt("pkg", f"pip cannot move {SITE}/b/..", 2, stuck=True)
    env = inventory(pkg)
    assert plan(keys("pkg"), env, world(pkg, more=more)) == Removal(halt=halt)
    older = Inventory(replace(target(), pip=PipInUse("26.2", None)), env.distributions)
    removal = plan(keys("pkg"), older, world(pkg, more=more))
    assert (removal.files, removal.halt) == ((at("aaa.py"),), halt)


def test_a_link_that_is_gone_leads_nowhere() -> None:
    base = FakeWorld({"/a/link": Link("/b"), "/b/x": b"", "/a/y": b""})
    after = Changed(base, frozenset({TargetPath("/a/link")}))
    assert after.real(TargetPath("/a/link/x")) == "/a/link/x"
    assert after.real(TargetPath("/a/link/../y")) == "/a/y"
    assert base.real(TargetPath("/a/link/x")) == "/b/x"
    assert after.kind(TargetPath("/a/link")) is None
    assert after.kind(TargetPath("/b/x")) is Kind.FILE


def test_removing_nothing_changes_nothing() -> None:
    pkg = dist("pkg", ["pkg.py"])
    assert plan([], inventory(pkg), world(pkg)) == Removal()


def with_pip(version: str, backend: str = "importlib", *dists: Distribution) -> Inventory:
    return Inventory(replace(target(), pip=PipInUse(version, None, backend)), dists)


def halted(fault: Fault, version: str = "26.3", backend: str = "importlib") -> Halt | None:
    pkg = replace(dist("pkg", ["pkg.py"]), faults=(fault,))
    return plan(keys("pkg"), with_pip(version, backend, pkg), world(pkg)).halt


def test_metadata_that_cannot_be_decoded_stops_pip_before_anything_else() -> None:
    assert halted(Fault.METADATA_UNDECODABLE) == Halt("pkg", "METADATA is not UTF-8", 2)


@pytest.mark.parametrize(
    ("version", "backend", "stops"),
    [("24.0", "importlib", True), ("24.1", "importlib", False), ("24.0", "pkg_resources", False)],
)
def test_metadata_without_a_version_stops_an_older_pip(version: str, backend: str, stops: bool) -> None:  # noqa: FBT001
    expected = Halt("pkg", "METADATA is missing or has no Version", 2) if stops else None
    assert halted(Fault.METADATA_WITHOUT_VERSION, version, backend) == expected


@pytest.mark.parametrize(
    ("fault", "version", "backend", "code"),
    [
        (Fault.ENTRY_POINTS_UNDECODABLE, "26.2", "importlib", 2),
        (Fault.ENTRY_POINTS_UNDECODABLE, "26.3", "importlib", 1),
        (Fault.ENTRY_POINTS_UNDECODABLE, "26.3", "pkg_resources", 1),
        (Fault.ENTRY_POINTS_BROKEN, "26.2", "pkg_resources", 2),
        (Fault.ENTRY_POINTS_BROKEN, "26.3", "pkg_resources", 1),
        (Fault.ENTRY_POINTS_BROKEN, "26.3", "importlib", 2),
    ],
)
def test_entry_points_that_cannot_be_read_stop_pip_by_a_traceback_or_a_message(
    fault: Fault, version: str, backend: str, code: int
) -> None:
    assert halted(fault, version, backend) == Halt("pkg", fault.value, code)


@pytest.mark.parametrize(("backend", "code"), [("importlib", 1), ("pkg_resources", 2)])
def test_a_record_that_may_not_be_read_is_none_to_importlib(backend: str, code: int) -> None:
    pkg = replace(dist("pkg"), files=None, faults=(Fault.RECORD_UNREADABLE,))
    removal = plan(keys("pkg"), with_pip("26.3", backend, pkg), world(more={f"{pkg.info}/RECORD": b""}))
    assert removal.halt == Halt("pkg", "no RECORD file", code)


def test_what_distutils_installed_is_not_pips_to_remove() -> None:
    pkg = replace(dist("pkg"), install=Install.EGG_INFO_FILE, files=None)
    removal = plan(keys("pkg"), inventory(pkg), world(more={pkg.info: b""}))
    assert removal.halt == Halt("pkg", "installed by distutils: one file holds its metadata", 1)


def test_what_lies_in_the_standard_library_is_skipped() -> None:
    system = replace(target(), prefix=target().base_prefix)
    info = TargetPath(f"{STDLIB}/pkg-1.0.dist-info")
    pkg = replace(dist("pkg"), location=STDLIB, info=info, files=(TargetPath(f"{info}/RECORD"),))
    removal = plan(keys("pkg"), Inventory(system, (pkg,)), world(pkg))
    assert removal == Removal(skipped=(Skip("pkg", "in the standard library"),))


@pytest.mark.parametrize(("version", "ends"), [("23.2.1", True), ("23.3", False)])
def test_a_folder_that_can_be_moved_and_not_deleted_ends_an_older_pip(version: str, ends: bool) -> None:  # noqa: FBT001
    pkg = dist("pkg", ["pkg/sub/a.txt"])
    disk = FakeWorld(empty(*(pkg.files or ())), locked=[at("pkg/sub")])
    removal = plan(keys("pkg"), with_pip(version, "importlib", pkg), disk)
    assert removal.files == tuple(sorted(pkg.files or ()))
    assert removal.halt == (Halt("pkg", f"pip cannot delete {SITE}/pkg/sub", 2, stuck=True) if ends else None)


def test_a_folder_that_pip_only_emptied_has_lost_what_it_held() -> None:
    """shutil.move copies it first; since 26.3 pip puts back what it moved."""
    pkg = dist("pkg", ["pkg/a.txt"])
    disk = FakeWorld(empty(*(pkg.files or ())), locked=[SITE])
    info = at("pkg-1.0.dist-info")
    halt = Halt("pkg", f"pip cannot move {info}/", 2, stuck=True)
    for version in ("26.2", "26.3"):
        assert plan(keys("pkg"), with_pip(version, "importlib", pkg), disk) == Removal(
            leaving=(pkg,), files=(TargetPath(f"{info}/RECORD"),), halt=halt
        )


def test_a_command_goes_only_while_the_file_that_names_it_is_there() -> None:
    """An earlier name on the line may have taken it."""
    point = EntryPoint("console_scripts", "tool", "pkg:main")
    pkg = dist("pkg", ["pkg.txt"], entry_points=[point])
    tool = TargetPath(f"{PREFIX}/bin/tool")
    there = world(pkg, more={tool: b"", f"{pkg.info}/entry_points.txt": b""})
    assert tool in plan(keys("pkg"), inventory(pkg), there).files
    assert tool not in plan(keys("pkg"), inventory(pkg), world(pkg, more={tool: b""})).files


def test_a_distribution_whose_metadata_an_earlier_name_took_is_not_installed_any_more() -> None:
    greedy = dist("greedy", ["pkg-1.0.dist-info/RECORD"])
    pkg = dist("pkg", ["pkg.txt"])
    removal = plan(keys("greedy", "pkg"), inventory(greedy, pkg), world(greedy, pkg))
    assert (removal.leaving, removal.skipped) == ((greedy,), (Skip("pkg", "not installed"),))


def test_an_edit_of_a_file_that_is_not_there_is_none() -> None:
    egg = TargetPath(f"{SITE}/pkg-1.0-py3.12.egg")
    pkg = replace(
        dist("pkg"), location=egg, info=TargetPath(f"{egg}/EGG-INFO"), install=Install.EGG, files=None
    )
    disk = world(more={f"{egg}/EGG-INFO/PKG-INFO": b""})
    assert plan(keys("pkg"), inventory(pkg), disk).edits == ()


def test_a_developed_project_without_its_link_is_not_installed() -> None:
    source = TargetPath("/home/me/src")
    info = TargetPath(f"{source}/pkg.egg-info")
    pkg = replace(
        dist("pkg"),
        location=source,
        info=info,
        install=Install.EGG_LINK,
        files=None,
        egg_link=at("pkg.egg-link"),
    )
    removal = plan(keys("pkg"), inventory(pkg), world(more={f"{info}/PKG-INFO": b""}))
    assert removal == Removal(skipped=(Skip("pkg", "not installed"),))


def test_any_of_the_two_lists_is_a_record() -> None:
    pkg = replace(dist("pkg"), files=(at("pkg.py"),))
    for name, reason in (("RECORD", None), ("installed-files.txt", None), ("METADATA", "no RECORD file")):
        halt = plan(keys("pkg"), inventory(pkg), world(pkg, more={f"{pkg.info}/{name}": b""})).halt
        assert (halt.reason if halt else None) == reason
