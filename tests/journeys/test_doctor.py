"""`safepip doctor` on environments that are really broken, and the commands that really mend them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from safepip.commands import damage
from safepip.commands.scene import Scene
from safepip.model.elf import Definitions, Symbol, Undefined
from support.environments import at, dist
from support.fake_world import FakeWorld, Table, lib
from support.sandbox import TAG, Environment, Run, library, module
from support.wheels import make_wheel

BROKEN = 10


def diagnosis(environment: Environment, *arguments: str) -> dict[str, Any]:
    return environment.safepip("doctor", "--json", *arguments).report


def found(report: dict[str, Any], *severities: str) -> list[tuple[str, str | None, str | None]]:
    return [
        (item["check"], item["distribution"], item["soname"])
        for item in report["broken"]
        if item["severity"] in (severities or ("error", "warn"))
    ]


def commands(report: dict[str, Any]) -> list[list[str]]:
    return [command[3:] for remedy in report["remedies"] for command in remedy["commands"]]


def fix(environment: Environment, wheels: Path | None = None, *arguments: str) -> Run:
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)} if wheels else {}
    return environment.safepip("doctor", "--fix", "-y", "--json", *arguments, env=index)


def remove_by_pip(environment: Environment, *names: str) -> None:
    subprocess.run(
        [environment.python, "-m", "pip", "uninstall", "-y", *names], check=True, capture_output=True
    )


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


def test_a_healthy_environment_is_said_to_be_healthy(environment: Environment) -> None:
    environment.add("leaf", {"leaf.py": "x = 1\n"})
    answer = environment.safepip("doctor", "--json")
    assert (answer.code, answer.report["broken"], answer.report["remedies"]) == (0, [], [])


def test_after_the_accident_the_hollow_distribution_is_installed_anew_in_its_own_version(
    story: Environment, wheels: Path
) -> None:
    make_wheel(
        wheels,
        "cudnn-cu12",
        {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9") + b"twelve"},
        version="9.10",
    )
    remove_by_pip(story, "cudnn-cu13")
    answer = story.safepip("doctor", "--json")
    report = answer.report
    assert answer.code == BROKEN
    assert found(report) == [
        ("hollow", "cudnn-cu12", None),
        ("missing-library", "torch", "libcudnn.so.9"),
        ("unmet-requirement", "torch", None),
    ]
    assert report["hollow"][0] | {"paths": []} == {
        "name": "cudnn-cu12",
        "version": "9.10",
        "missing": 1,
        "of": 1,
        "paths": [],
    }
    assert commands(report) == [["install", "--no-deps", "--force-reinstall", "cudnn-cu12==9.10"]]
    mended = fix(story, wheels)
    assert (mended.code, found(mended.report)) == (0, [])
    assert (story.site / "cudnn/lib/libcudnn.so.9").read_bytes().endswith(b"twelve")


def test_what_another_import_loads_no_more_is_one_finding_and_mended_with_that_import(
    environment: Environment,
) -> None:
    """torchvision's module finds torch's libraries only because torch is imported before it."""
    environment.add("cudnn", {"nv/lib/libcudnn.so.9": library("libcudnn.so.9")}, version="9.10")
    environment.add(
        "torch",
        {
            "torch/__init__.py": "from torch import _C\n",
            f"torch/_C.{TAG}.so": module(
                "libc10.so", "libtorch.so", "libcudnn.so.9", runpath="$ORIGIN/lib:$ORIGIN/../nv/lib"
            ),
            "torch/lib/libc10.so": library("libc10.so"),
            "torch/lib/libtorch.so": library("libtorch.so"),
        },
        requires=["cudnn"],
    )
    files: dict[str, str | bytes] = {
        "torchvision/__init__.py": "",
        f"torchvision/_C.{TAG}.so": module("libc10.so", "libtorch.so"),
    }
    environment.add("torchvision", files, requires=["torch"])
    (environment.site / "nv/lib/libcudnn.so.9").unlink()
    report = diagnosis(environment)
    assert commands(report) == [["install", "--no-deps", "--force-reinstall", "cudnn==9.10"]]
    assert report["incurable"] == []
    assert [item["soname"] for item in report["broken"] if item["distribution"] == "torchvision"] == [
        "libc10.so",
        "libtorch.so",
    ]
    said = " ".join(environment.safepip("doctor").out.split())
    assert f"libc10.so, libtorch.so are not found, though they are there: _C.{TAG}.so of torchvision" in said


def test_what_safepip_itself_removed_is_put_back_from_what_it_kept(story: Environment) -> None:
    story.safepip("uninstall", "-y", "--force", "cudnn-cu13")
    report = diagnosis(story)
    assert (commands(report)[0], report["remedies"][0]["foreseen"]) == (["undo", "1"], True)
    assert found(fix(story).report, "error") == []


def test_what_was_removed_whole_is_put_back_too_unless_something_has_taken_its_place(
    environment: Environment, wheels: Path
) -> None:
    environment.add("lib", {"lib.py": "x = 1\n"}, version="1.5")
    environment.add("app", {"app.py": "import lib\n"}, requires=["lib>=1.2"])
    environment.add("old", {"old.py": ""}, requires=["lib<1"])
    environment.safepip("uninstall", "-y", "--force", "lib")
    assert commands(diagnosis(environment)) == [["undo", "1"], ["install", "lib<1"]]
    (environment.site / "lib.py").write_text("")
    assert commands(diagnosis(environment)) == [["install", "lib>=1.2,<1"]]
    (environment.site / "lib.py").unlink()
    mended = fix(environment, wheels)
    assert (mended.report["done"], mended.report["failed"]) == (
        ["Undo change 1, which removed lib"],
        "Install what is required: lib<1",
    )
    assert found(mended.report) == [("unmet-requirement", "old", None)]


def test_a_name_that_an_upgrade_took_comes_back_by_its_undo_and_one_that_was_never_there_does_not(
    environment: Environment, wheels: Path
) -> None:
    wheel = make_wheel(wheels, "lib", {"lib.py": ""}, version="2.0")
    environment.add("lib", {"lib/__init__.py": "two = 2\n"}, version="1.0")
    environment.add("user", {"user.py": "from lib import two\n"}, requires=["lib"])
    environment.add("third", {"third.py": "from lib import three\n"}, requires=["lib"])
    assert environment.safepip("install", "-q", "--no-index", str(wheel)).code == 13
    before = environment.tree()
    report = diagnosis(environment)
    assert found(report) == [("failing-import", "third", None), ("failing-import", "user", None)]
    assert commands(report) == [["undo", "1"]]
    assert report["remedies"][0]["cures"] == [report["broken"][1]["fingerprint"]]
    assert report["incurable"] == [report["broken"][0]["fingerprint"]]
    assert environment.tree() == before
    assert found(fix(environment).report) == [("failing-import", "third", None)]
    assert (environment.site / "lib/__init__.py").read_text() == "two = 2\n"


def test_an_undo_that_would_break_what_came_later_is_no_cure(environment: Environment, wheels: Path) -> None:
    wheel = make_wheel(wheels, "lib", {"lib/__init__.py": "new = 1\n"}, version="2.0")
    environment.add("lib", {"lib/__init__.py": "old = 1\n"}, version="1.0")
    environment.add("user", {"user.py": "from lib import old\n"}, requires=["lib"])
    environment.safepip("install", "-q", "--no-index", str(wheel))
    environment.add("later", {"later.py": "from lib import new\n"}, requires=["lib"])
    report = diagnosis(environment)
    assert found(report) == [("failing-import", "user", None)]
    assert (commands(report), len(report["incurable"])) == ([], 1)


def test_an_intruder_that_nobody_needs_is_removed_safely(story: Environment, wheels: Path) -> None:
    make_wheel(
        wheels,
        "cudnn-cu12",
        {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9") + b"twelve"},
        version="9.10",
    )
    report = diagnosis(story)
    path = str(story.site / "cudnn/lib/libcudnn.so.9")
    assert found(report) == [("overwritten", "cudnn-cu12", None), ("mixed-family", None, None)]
    assert report["overwritten"] == [
        {"path": path, "owners": ["cudnn-cu12", "cudnn-cu13"], "bytes_of": "cudnn-cu13"}
    ]
    assert commands(report) == [["uninstall", "--safe", "-y", "cudnn-cu13"]]
    mended = fix(story, wheels)
    assert (mended.code, found(mended.report)) == (0, [])
    assert Path(path).read_bytes().endswith(b"twelve")


def test_a_requirement_that_is_not_installed_and_the_import_that_fails_by_it(
    environment: Environment, wheels: Path
) -> None:
    make_wheel(wheels, "lib", {"lib/__init__.py": ""}, version="1.5")
    environment.add("app", {"app/__init__.py": "import lib\n"}, requires=["lib>=1.2"])
    environment.add("other", {"other.py": ""}, requires=["lib<2"])
    report = diagnosis(environment)
    assert sorted(found(report)) == [
        ("missing-module", "app", None),
        ("unmet-requirement", "app", None),
        ("unmet-requirement", "other", None),
    ]
    assert commands(report) == [["install", "lib>=1.2,<2"]]
    assert [remedy["foreseen"] for remedy in report["remedies"]] == [False]
    said = " ".join(environment.safepip("doctor").out.split())
    assert "step 1 fetches what is not here: tried by RECORDs and requirements alone" in said
    assert found(fix(environment, wheels).report) == []


def test_an_extra_that_was_asked_for_and_lost_a_library_to_pip(
    environment: Environment, wheels: Path
) -> None:
    """tensorflow[and-cuda] without its cuDNN: pip check says nothing, and the import works."""
    parts = ("cublas", "cudnn", "nccl")
    for name in parts:
        make_wheel(wheels, name, {f"nv/{name}/lib{name}.so.1": library(f"lib{name}.so.1")}, version="9.1")
        environment.add(name, {f"nv/{name}/lib{name}.so.1": library(f"lib{name}.so.1")}, version="9.1")
    listed = [f"{name}<10; extra == 'gpu'\nProvides-Extra: gpu" for name in parts]
    info = environment.add("flow", {"flow.py": ""}, requires=listed)
    (info / "REQUESTED").touch()
    judged = environment.safepip("uninstall", "--dry-run", "--json", "cudnn")
    assert (judged.code, judged.report["findings"][0]["message"]) == (
        BROKEN,
        "flow[gpu] requires cudnn, which holds libraries, which are opened without an import",
    )
    assert environment.safepip("audit", "--json").report["unneeded"][0]["names"] == ["flow"]
    remove_by_pip(environment, "cudnn")
    report = diagnosis(environment)
    assert found(report) == [("incomplete-extra", "flow", None)]
    assert commands(report) == [["install", "cudnn<10"]]
    assert found(fix(environment, wheels).report) == []


def test_an_import_of_what_is_nowhere_though_nobody_declares_it(environment: Environment) -> None:
    environment.add("app", {"app/__init__.py": "import lib_that_is_nowhere\n"})
    environment.add("guarded", {"guarded.py": "try:\n    import nothing\nexcept ImportError:\n    pass\n"})
    environment.add(
        "carrier",
        {"carrier/__init__.py": "", "carrier/a.py": "import carried\n", "carrier/own/carried.py": ""},
    )
    environment.add("user", {"user.py": "from yaml import (  # fast\n    load,\n)\n"}, requires=["PyYAML>=5"])
    report = diagnosis(environment)
    assert sorted(found(report)) == [
        ("missing-module", "app", None),
        ("missing-module", "user", None),
        ("unmet-requirement", "user", None),
    ]
    assert len(report["incurable"]) == 1
    assert commands(report) == [["install", "PyYAML>=5"]]


def test_an_import_that_raises_over_a_version_or_takes_what_is_not_there(
    environment: Environment,
) -> None:
    table = {"num/__init__.py": "__version__ = '1.26.4'\n", "num/t.py": "T = {'no_such_name': 1}\n"}
    environment.add("num", table, version="1.26.4")
    check = "import num as n\nif n.__version__ < '2.0.2':\n    raise ImportError\n"
    environment.add(
        "pan", {"pan/__init__.py": "from pan import compat\n", "pan/compat.py": check}, requires=["num>=2"]
    )
    environment.add("user", {"user.py": "import pan\n"}, requires=["pan"])
    environment.add("taker", {"taker.py": "from num import no_such_name\n"}, requires=["num"])
    environment.add("inner", {"inner.py": "import num.no_module.x\n"}, requires=["num"])
    environment.add("lucky", {"lucky.py": "from num import __version__\n"}, requires=["num"])
    environment.add("dated", {"dated.py": "from collections import (\n    Mapping,\n)\n"})
    both = "try:\n    from collections import Mapping\nexcept ImportError:\n    from collections.abc import Mapping\n"
    environment.add("both", {"both.py": both})
    report = diagnosis(environment)
    assert sorted(found(report)) == [
        ("failing-import", "dated", None),
        ("failing-import", "inner", None),
        ("failing-import", "pan", None),
        ("failing-import", "taker", None),
        ("failing-import", "user", None),
        ("unmet-requirement", "pan", None),
    ]
    for name in ("pan", "user", "taker", "inner", "lucky", "dated", "both"):
        works = name in {"lucky", "both"}
        done = subprocess.run([environment.python, "-c", f"import {name}"], capture_output=True, check=False)
        assert (done.returncode == 0) is works
    assert commands(report) == [["install", "num>=2"]]


def test_modules_that_are_built_for_another_python(environment: Environment, wheels: Path) -> None:
    """As pip lays them down with --target and --python-version."""
    other = ".cpython-36m-x86_64-linux-gnu.so"
    make_wheel(wheels, "lxml", {"lxml/__init__.py": "", f"lxml/etree.{TAG}.so": module("libm.so.6")})
    environment.add("lxml", {"lxml/__init__.py": "", f"lxml/etree{other}": module("libm.so.6")})
    environment.add("user", {"user.py": "from lxml import etree\n"}, requires=["lxml"])
    report = diagnosis(environment)
    assert found(report) == [("missing-module", "user", None), ("foreign-build", "lxml", None)]
    assert commands(report) == [["install", "--no-deps", "--force-reinstall", "lxml==1.0"]]
    assert found(fix(environment, wheels).report) == []


def test_modules_that_are_built_for_an_earlier_numpy(environment: Environment) -> None:
    """None of 247 modules so built could be imported under NumPy 2.3, and all that are built for both can."""
    old = module("libm.so.6") + b"\0numpy.core._multiarray_umath\0"
    both = old + b"numpy._core._multiarray_umath\0"
    environment.add("numpy", {"numpy/__init__.py": ""}, version="2.3")
    environment.add("old", {"old.py": "import old_\n", f"old_.{TAG}.so": old}, requires=["numpy>=1.20"])
    environment.add("core", {"core/__init__.py": "", "core/core.abi3.so": old}, requires=["numpy"])
    environment.add("new", {f"new.{TAG}.so": both}, requires=["numpy"])
    environment.add("aside", {"aside/__init__.py": "", f"aside/x.{TAG}.so": old}, requires=["numpy"])
    environment.add("other", {f"other.{TAG}.so": old})
    wrong = [("failing-import", name, None) for name in ("core", "old")]
    assert sorted(found(diagnosis(environment))) == wrong
    environment.add("numpy", {"numpy/__init__.py": ""}, version="1.26")
    shutil.rmtree(environment.site / "numpy-2.3.dist-info")
    assert found(diagnosis(environment)) == []


def test_a_module_that_somebody_deleted(environment: Environment, wheels: Path) -> None:
    files = {"app/__init__.py": "from app import core\n", "app/core.py": "", "app/data.txt": "x"}
    make_wheel(wheels, "app", files)
    environment.add("app", files)
    (environment.site / "app/core.py").unlink()
    report = diagnosis(environment)
    assert found(report) == [("missing-file", "app", None), ("missing-module", "app", None)]
    assert commands(report) == [["install", "--no-deps", "--force-reinstall", "app==1.0"]]
    assert found(fix(environment, wheels).report) == []


def test_a_module_that_somebody_edited(environment: Environment, wheels: Path) -> None:
    make_wheel(wheels, "app", {"app.py": "x = 1\n"})
    environment.add("app", {"app.py": "x = 1\n"})
    (environment.site / "app.py").write_text("x = 2\n")
    report = diagnosis(environment)
    assert found(report) == [("altered-file", "app", None)]
    make_wheel(wheels, "lib", {"lib.py": ""})
    environment.add("user", {"user.py": ""}, requires=["lib"])
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    done = environment.safepip("doctor", "--fix", "-y", env=index)
    assert (done.code, (environment.site / "app.py").read_text()) == (0, "x = 2\n")
    asked, left_out = done.out.split("Left to you, for --fix does not do it\n")
    assert ("install lib\n" in asked, "app" in asked.partition("To mend it")[2]) == (True, False)
    assert left_out.splitlines()[0] == "  1. Install app 1.0 anew"
    assert found(fix(environment, wheels, "--only", "altered-file").report) == []
    assert (environment.site / "app.py").read_text() == "x = 1\n"


def test_a_rebuilt_module_may_begin_with_either_function_that_an_import_looks_for() -> None:
    """PEP 793: cryptography 50.0.2 for CPython 3.15 has PyModExport__rust and no PyInit__rust."""
    user = dist("user", [f"{name}.abi3t.so" for name in ("init", "export", "other")])
    paths = [at(f"{name}.abi3t.so") for name in ("init", "export", "other")]
    starts = ("PyInit_init", "PyModExport_export", "PyInit_export")
    tables: dict[str, Table] = {
        path: Table(Undefined(frozenset()), Definitions(frozenset({Symbol(start, "")})))
        for path, start in zip(paths, starts, strict=True)
    }
    world = FakeWorld(dict.fromkeys(paths, lib()), tables)
    sized = SimpleNamespace(elf=world.elf, definitions=world.definitions, size=lambda _: 1)
    scene = cast("Scene", SimpleNamespace(disk=sized))
    assert damage.of([(user, path) for path in paths], scene) == {
        at("other.abi3t.so"): "it has no PyInit_other, so it is another module"
    }


def test_objects_cut_off_emptied_or_of_another_module_are_broken_and_a_half_edited_source_too(
    environment: Environment, wheels: Path
) -> None:
    files: dict[str, str | bytes] = {
        name: module("libm.so.6") for name in (f"one.{TAG}.so", f"two.{TAG}.so", "lib/libthree.so")
    }
    make_wheel(wheels, "app", files)
    environment.add("app", files)
    environment.add("other", {"other.py": "x = 1\n", "more.py": "y = 1\n"})
    (environment.site / f"one.{TAG}.so").write_bytes(module("libm.so.6")[:200])
    (environment.site / f"two.{TAG}.so").write_bytes(module("libc.so.6", "libm.so.6"))
    (environment.site / "lib/libthree.so").write_bytes(b"")
    (environment.site / "other.py").write_text("x = (\n")
    report = diagnosis(environment)
    assert found(report, "error") == [("damaged-file", "app", None), ("altered-file", "other", None)]
    assert [item["paths"] for item in report["broken"] if item["check"] == "damaged-file"] == [
        [str(environment.site / name) for name in files]
    ]
    assert commands(report)[0] == ["install", "--no-deps", "--force-reinstall", "app==1.0"]
    mended = fix(environment, wheels)
    assert found(mended.report, "error") == [("altered-file", "other", None)]
    assert (environment.site / "other.py").read_text() == "x = (\n"


def test_distributions_without_record_or_metadata_are_laid_over_themselves(
    environment: Environment, wheels: Path
) -> None:
    for name, file in {"bare": "RECORD", "torn": "METADATA"}.items():
        make_wheel(wheels, name, {f"{name}.py": ""})
        (environment.add(name, {f"{name}.py": ""}) / file).unlink()
    report = diagnosis(environment)
    assert sorted(found(report)) == [("damaged-metadata", "torn", None), ("no-record", "bare", None)]
    assert [sorted(command) for command in commands(report)] == [
        sorted(["install", "--no-deps", "--ignore-installed", "bare==1.0", "torn==1.0"])
    ]
    assert found(fix(environment, wheels).report) == []


def test_what_pip_moved_aside_and_never_put_back(environment: Environment) -> None:
    """pip killed after it had moved a package and its metadata to `~`-names."""
    info = environment.add("numpy", {"numpy/__init__.py": "x = 1\n", "numpy/core/a.py": ""})
    before = environment.tree()
    os.rename(environment.site / "numpy", environment.site / "~umpy")
    os.rename(info, environment.site / f"~{info.name[1:]}")
    report = diagnosis(environment)
    assert found(report) == [("leftovers", "numpy", None)]
    assert commands(report) == [["doctor", "--fix", "--only", "leftovers"]]
    mended = fix(environment)
    assert (mended.code, found(mended.report)) == (0, [])
    assert environment.tree() == before


def test_what_pip_left_of_a_removal_that_it_had_done_is_let_go(environment: Environment) -> None:
    info = environment.add("numpy", {"numpy/__init__.py": "x = 1\n"})
    before = environment.tree()
    shutil.copytree(environment.site / "numpy", environment.site / "~umpy")
    shutil.copytree(info, environment.site / f"~{info.name[1:]}")
    assert found(diagnosis(environment)) == [("leftovers", "numpy", None)]
    fix(environment)
    assert environment.tree() == before


def test_what_pip_left_of_an_earlier_version_beside_a_whole_one_is_only_told_and_not_put_back(
    environment: Environment,
) -> None:
    environment.add("Flask", {"flask/__init__.py": "x = 1\n", "flask/app.py": ""})
    before = environment.tree()
    (environment.site / "~lask").mkdir()
    for name in ("__init__.py", "of_another_version.py"):
        (environment.site / "~lask" / name).write_text("old\n")
    (environment.site / "~lask-0.9.dist-info").mkdir()
    (environment.site / "~lask-0.9.dist-info/METADATA").write_text("Name: Flask\nVersion: 0.9\n")
    answer = environment.safepip("doctor", "--json")
    assert (answer.code, found(answer.report)) == (0, [("leftovers", "Flask", None)])
    assert "~lask, ~lask-0.9.dist-info is left of a removal of Flask" in answer.report["broken"][0]["message"]
    fix(environment)
    assert environment.tree() == before


def test_a_stash_that_a_link_stands_before_is_not_followed(environment: Environment, tmp_path: Path) -> None:
    info = environment.add("numpy", {"numpy/__init__.py": "x = 1\n"})
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(environment.site / "numpy")
    os.symlink(outside, environment.site / "~umpy")
    os.rename(info, environment.site / f"~{info.name[1:]}")
    fix(environment)
    assert (list(outside.iterdir()), (environment.site / "~umpy").is_symlink()) == ([], True)


def test_of_metadata_of_two_versions_that_of_the_files_is_left(
    environment: Environment, wheels: Path
) -> None:
    """Which of them pip sees is up to the file system; where it is the right one, it comes back in a second step."""
    for version in ("1.0", "2.0"):
        files = {"app.py": f"x = {version}\n"}
        make_wheel(wheels, "app", files, version=version)
        environment.add("app", files, version=version)
    assert found(diagnosis(environment)) == [("duplicate-metadata", "app", None)]
    assert found(fix(environment, wheels).report) == []
    assert [path.name for path in environment.site.glob("app*")] in (
        ["app.py", "app-2.0.dist-info"],
        ["app-2.0.dist-info", "app.py"],
    )
    assert (environment.site / "app.py").read_text() == "x = 2.0\n"


def test_a_row_that_reaches_for_what_belongs_to_the_environment(environment: Environment) -> None:
    info = environment.add("odd", {"odd.py": ""})
    with (info / "RECORD").open("a") as record:
        record.write("../../../pyvenv.cfg,,\n")
    report = diagnosis(environment, "--only", "reach-beyond")
    assert found(report) == [("reach-beyond", "odd", None)]


def test_a_library_that_only_a_variable_finds(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "libfar.so.1").write_bytes(library("libfar.so.1"))
    environment.add("app", {f"app.{TAG}.so": module("libfar.so.1")})
    with_variable = environment.safepip("doctor", "--json", env={"LD_LIBRARY_PATH": str(tmp_path)}).report
    assert found(with_variable) == [("env-reliant", "app", "libfar.so.1")]
    assert ("missing-library", "app", "libfar.so.1") in found(diagnosis(environment))


def test_a_lib64_that_is_no_link(environment: Environment) -> None:
    lib64 = environment.prefix / "lib64"
    if lib64.is_symlink():
        lib64.unlink()
    (lib64 / environment.site.parent.name / "site-packages").mkdir(parents=True)
    assert found(diagnosis(environment)) == [("lib64-split", None, None)]


def test_what_no_import_comes_to_is_a_warning_if_a_module_and_a_note_if_a_library(
    environment: Environment,
) -> None:
    """numba's tbbpool and nvshmem's transports: the environment works without what they need."""
    environment.add(
        "numba", {"numba/__init__.py": "", f"numba/tbbpool.{TAG}.so": module("libtbb-of-numba.so.12")}
    )
    environment.add(
        "nvshmem", {"nvshmem/lib/transport.so.3": library("transport.so.3", "libucs-nowhere.so.0")}
    )
    answer = environment.safepip("doctor", "--json")
    assert answer.code == 0
    assert found(answer.report, "warn") == [("missing-library", "numba", "libtbb-of-numba.so.12")]
    assert found(answer.report, "note") == [("missing-library", "nvshmem", "libucs-nowhere.so.0")]


def test_the_core_of_a_package_that_is_loaded_by_name_counts_as_imported(environment: Environment) -> None:
    """cv2/__init__.py imports its extension module by a name that it makes up."""
    environment.add("opencv", {"cv2/__init__.py": "", f"cv2/cv2.{TAG}.so": module("libGL-nowhere.so.1")})
    answer = environment.safepip("doctor", "--json")
    assert (answer.code, found(answer.report)) == (10, [("missing-library", "opencv", "libGL-nowhere.so.1")])
    assert answer.report["remedies"] == []
    assert len(answer.report["incurable"]) == 1


def test_checks_are_chosen_by_name(story: Environment) -> None:
    assert found(diagnosis(story, "--only", "hollow")) == []
    assert found(diagnosis(story, "--skip", "overwritten", "--skip", "mixed-family")) == []
    listed = story.safepip("doctor", "--list").out
    assert "missing-library" in listed
    assert max(map(len, listed.splitlines())) <= 80


def test_a_local_version_label_is_kept(environment: Environment) -> None:
    environment.add("torch", {"torch/__init__.py": "", "torch/a.py": ""}, version="2.9.1+cu128")
    (environment.site / "torch/a.py").unlink()
    report = diagnosis(environment)
    assert commands(report) == [["install", "--no-deps", "--force-reinstall", "torch==2.9.1+cu128"]]
    assert "+cu128" in report["remedies"][0]["note"]


def test_nothing_is_touched_without_fix_and_nobody_is_asked_without_a_terminal(story: Environment) -> None:
    before = story.tree()
    story.safepip("doctor")
    unasked = story.safepip("doctor", "--fix")
    assert unasked.code == 2
    assert "Give -y" in unasked.err
    assert story.tree() == before


def test_a_step_that_makes_things_worse_ends_the_plan_with_the_way_back(
    environment: Environment, wheels: Path
) -> None:
    make_wheel(wheels, "lib", {"lib/__init__.py": ""}, version="1.0")
    environment.add("lib", {"lib/__init__.py": "", "lib/two.py": ""}, version="2.0")
    environment.add("app", {"app.py": ""}, requires=["lib<2"])
    environment.add("other", {"other.py": "import lib.two\n"}, requires=["lib"])
    answer = fix(environment, wheels)
    assert (answer.code, answer.report["done"], answer.report["failed"]) == (
        13,
        [],
        "Install what is required: lib<2",
    )
    assert found(answer.report) == [("failing-import", "other", None)]
    assert "it made things worse" in answer.err
    assert commands(answer.report) == [["undo", "1"]]


def test_a_step_that_fails_ends_the_plan_and_is_named(environment: Environment, wheels: Path) -> None:
    environment.add("app", {"app.py": "", "more.py": ""})
    (environment.site / "more.py").unlink()
    answer = fix(environment, wheels)
    assert answer.code == BROKEN
    assert (answer.report["done"], answer.report["failed"]) == ([], "Install app 1.0 anew")


def test_a_report_fits_80_columns(story: Environment) -> None:
    remove_by_pip(story, "cudnn-cu13")
    out = story.safepip("doctor").out
    lines = [line for line in out.splitlines() if "safepip --python" not in line]
    assert max(map(len, lines)) <= 80
    assert out.splitlines()[0].startswith("safepip: 3 things broken in")


def test_every_check_and_every_kind_is_explained(environment: Environment) -> None:
    overview = environment.safepip("explain").out
    assert max(map(len, overview.splitlines())) <= 80
    assert "library-lost" in overview
    said = environment.safepip("explain", "hollow").out
    assert "What to do" in said
    assert environment.safepip("explain", "nonsense").code == 2
    told = environment.safepip("explain", "hollow", env={"SAFEPIP_JSON": "1"}).report
    assert [item["kind"] for item in told["explanations"]] == ["hollow"]
    assert len(environment.safepip("explain", "--json").report["explanations"]) > 30
    asked = environment.safepip("explain", "nonsense", env={"SAFEPIP_JSON": "1"})
    assert (asked.code, asked.report["error"]["reference"]) == (2, "no-such-kind")
    assert "Perhaps `safepip explain library-lost`" in environment.safepip("explain", "libary-lost").err
    slip = environment.safepip("doctor", "--only", "holow")
    assert (slip.code, "there is no check 'holow' (hollow?)" in slip.err) == (2, True)
    assert environment.safepip("doctor", "--skip", "x").code == 2
