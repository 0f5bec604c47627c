"""What an install can do to those who are there, each kind on small wheels: foretold, and found when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support import trees
from support.elves import compile_lib
from support.sandbox import TAG, Environment, library, module, run
from support.wheels import make_wheel

REFUSED, BROKE, UNJUDGED, WRONG_USAGE = 10, 13, 12, 2
Told = list[tuple[str, str, str]]


def kinds(report: dict[str, Any]) -> Told:
    return [(one["kind"], one["severity"], one["distribution"]) for one in report["findings"]]


def brought(report: dict[str, Any]) -> set[tuple[str, str, str | None]]:
    return {(one["name"], one["version"], one["was"]) for one in report["installing"]}


def judged(environment: Environment, *wheels: Path, words: Sequence[str] = ("--no-deps",)) -> Told:
    """The same before and after; and where it is done, it is taken back."""
    before = trees.snapshot(environment.prefix)
    asked = ["install", "--no-index", *words, *map(str, wheels), "--json"]
    foretold = environment.safepip(*asked, "--dry-run")
    assert trees.snapshot(environment.prefix) == before
    done = environment.safepip(*asked)
    codes = {"refuse": (REFUSED, BROKE), "warn": (0, 0), "allow": (0, 0)}[foretold.report["verdict"]]
    assert (foretold.code, done.code) == codes
    assert kinds(done.report) == kinds(foretold.report)
    assert brought(done.report) == brought(foretold.report)
    if done.report["verdict"] != "allow":
        assert environment.safepip("undo").code == 0
        assert trees.snapshot(environment.prefix) == before
    return kinds(foretold.report)


def test_an_install_that_pip_has_announced_in_a_file_is_judged_as_a_dry_run_is(
    environment: Environment, tmp_path: Path
) -> None:
    old = make_wheel(tmp_path, "whole", {"whole/__init__.py": "", "whole/core.py": "x = 1\n"})
    assert environment.safepip("install", "--no-index", str(old)).code == 0
    new = [
        make_wheel(tmp_path, "part", {"whole/core.py": "x = 2\n"}),
        make_wheel(tmp_path, "whole", {"whole/__init__.py": ""}, version="2.0", requires=["part"]),
    ]
    words = ["install", "--no-index", "--find-links", str(tmp_path), *map(str, new)]
    plan = tmp_path / "plan.json"
    pip = [str(environment.python), "-m", "pip", *words, "--dry-run", "-q", "--report", str(plan)]
    assert run(pip).code == 0
    before = trees.snapshot(environment.prefix)
    told = environment.safepip("audit", "--plan", str(plan), "--json")
    foretold = environment.safepip(*words, "--dry-run", "--json").report
    assert (told.code, told.report["findings"]) == (REFUSED, foretold["findings"])
    assert brought(told.report) == brought(foretold)
    assert trees.snapshot(environment.prefix) == before
    assert environment.safepip("audit", "--plan", str(plan), "--remove", "whole").code == WRONG_USAGE
    plan.write_text("{}")
    assert environment.safepip("audit", "--plan", str(plan)).code == UNJUDGED


def codecs(name: str, number: str) -> dict[str, str | bytes]:
    """A module with libraries of its own beside it, as wheels for Linux have them."""
    form, codec = f"libformat-{number}.so.1", f"libcodec-{number}.so.1"
    return {
        "cv/__init__.py": "",
        f"cv/cv.{TAG}.so": module(form, codec, runpath=f"$ORIGIN/../{name}.libs"),
        f"{name}.libs/{form}": library(form, codec),
        f"{name}.libs/{codec}": library(codec),
    }


def test_a_distribution_that_is_split_loses_what_its_new_dependency_brings(
    environment: Environment, tmp_path: Path
) -> None:
    """pip lays the dependency down first, then removes the old version by its RECORD."""
    old = make_wheel(tmp_path, "whole", {"whole/__init__.py": "", "whole/core.py": "x = 1\n"})
    assert environment.safepip("install", "--no-index", str(old)).code == 0
    new = make_wheel(tmp_path, "whole", {"whole_meta.py": ""}, version="2.0", requires=["whole-core"])
    core = make_wheel(tmp_path, "whole-core", {"whole/__init__.py": "", "whole/core.py": "x = 2\n"})
    assert judged(environment, new, core, words=()) == [("file-lost", "refuse", "whole-core")]


def test_a_distribution_that_hands_its_files_over_in_the_right_order_loses_nothing(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("whole", {"whole/core.py": "x = 1\n"})
    new = make_wheel(tmp_path, "whole", {"whole_meta.py": ""}, version="2.0")
    core = make_wheel(tmp_path, "core", {"whole/core.py": "x = 2\n"}, requires=["whole"])
    assert judged(environment, new, core, words=()) == []


def test_a_partner_that_moves_alone_takes_a_library_along(environment: Environment, tmp_path: Path) -> None:
    environment.add("qt", {"qt/libqt.so.6": library("libqt.so.6")})
    gui = module("libqt.so.6", runpath="$ORIGIN/../qt")
    environment.add("pyqt", {"pyqt/__init__.py": "", f"pyqt/gui.{TAG}.so": gui}, requires=["qt"])
    wheel = make_wheel(tmp_path, "qt", {"qt/libqt.so.7": library("libqt.so.7")}, version="7.0")
    assert ("library-lost", "refuse", "pyqt") in judged(environment, wheel)


def test_a_symbol_that_a_need_of_a_need_no_longer_has_is_lost(
    environment: Environment, tmp_path: Path
) -> None:
    """The module binds it by way of a library that does not use it itself."""
    old = compile_lib(tmp_path / "old/libq.so.6", "int f(void) { return 1; } int g(void) { return 2; }")
    new = compile_lib(tmp_path / "new/libq.so.6", "int f(void) { return 1; }")
    middle = compile_lib(tmp_path / "libm9.so", "", needs=[old], flags=["-Wl,-rpath,$ORIGIN/../qt"])
    gui = "int g(void); int call(void) { return g(); }"
    root = compile_lib(tmp_path / "gui.so", gui, needs=[middle], flags=["-Wl,-rpath,$ORIGIN/../middle"])
    environment.add("qt", {"qt/libq.so.6": old.read_bytes()})
    environment.add("middle", {"middle/libm9.so": middle.read_bytes()})
    environment.add("pyqt", {"pyqt/__init__.py": "", f"pyqt/gui.{TAG}.so": root.read_bytes()})
    wheel = make_wheel(tmp_path, "qt", {"qt/libq.so.6": new.read_bytes()}, version="7.0")
    assert judged(environment, wheel) == [("symbol-lost", "refuse", "pyqt")]


def test_modules_that_were_built_for_the_major_version_before_are_told(
    environment: Environment, tmp_path: Path
) -> None:
    """Those that were built for both are not."""
    environment.add("numpy", {"numpy/__init__.py": ""}, version="1.26.4")
    old, both = b"numpy.core._multiarray_umath\0", b"numpy._core._multiarray_umath\0"
    environment.add("h5py", {f"h5py/a.{TAG}.so": module() + old}, requires=["numpy"])
    environment.add("scipy", {f"scipy/a.{TAG}.so": module() + old + both}, requires=["numpy"])
    wheel = make_wheel(tmp_path, "numpy", {"numpy/__init__.py": ""}, version="2.0.0")
    assert judged(environment, wheel) == [("abi-partner", "warn", "h5py")]


def test_a_second_owner_that_overwrites_a_module_is_told_and_nothing_of_its_libraries(
    environment: Environment, tmp_path: Path
) -> None:
    """The first one's libraries lie there unused: nobody opens them any more."""
    environment.add("first", codecs("first", "1"))
    wheel = make_wheel(tmp_path, "second", codecs("second", "2"))
    assert judged(environment, wheel) == [("overwrites", "warn", "first")]


@pytest.mark.parametrize(("protected", "severity"), [("", "warn"), ("torch", "refuse")])
def test_another_build_of_what_nobody_named_is_told(
    protected: str, severity: str, environment: Environment, tmp_path: Path
) -> None:
    environment.add("torch", {"torch.py": ""}, version="2.9.1+cu128")
    (environment.prefix / ".safepip").mkdir(mode=0o700)
    (environment.prefix / ".safepip/config.toml").write_text(
        f"protected = {[protected] if protected else []}\n"
    )
    make_wheel(tmp_path, "torch", {"torch.py": ""}, version="2.9.2+cpu")
    tool = make_wheel(tmp_path, "tool", {"tool.py": ""}, requires=["torch>2.9.1"])
    told = judged(environment, tool, words=("--find-links", str(tmp_path)))
    assert told == [("variant-changed", severity, "torch")]


def test_a_module_that_a_new_version_no_longer_has_is_a_lost_import(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("base", {"base/__init__.py": "", "base/old.py": ""})
    environment.add("user", {"user.py": "import base.old\n"}, requires=["base"])
    environment.add("taker", {"taker.py": "from base import old\n"})
    wheel = make_wheel(tmp_path, "base", {"base/__init__.py": "", "base/new.py": ""}, version="2.0")
    assert judged(environment, wheel) == [
        ("import-lost", "refuse", "taker"),
        ("import-lost", "refuse", "user"),
    ]


def test_a_module_that_was_compiled_and_is_a_source_now_is_the_same_module(
    environment: Environment, tmp_path: Path
) -> None:
    """As pydantic 1 and 2 are; what is inside and has gone is missed by those alone who import it."""
    compiled = {f"base/{name}.{TAG}.so": module() for name in ("__init__", "old", "main")}
    environment.add("base", {**compiled, "base/__init__.py": "", "base/old.py": "", "base/main.py": ""})
    environment.add("user", {"user.py": "import base.main\n"}, requires=["base"])
    environment.add("other", {"other.py": "import base.old\n"}, requires=["base"])
    wheel = make_wheel(tmp_path, "base", {"base/__init__.py": "", "base/main.py": ""}, version="2.0")
    assert judged(environment, wheel) == [("import-lost", "refuse", "other")]


def test_a_name_that_a_new_version_no_longer_binds_is_a_lost_import_by_whichever_of_the_two_moves(
    environment: Environment, tmp_path: Path
) -> None:
    """As Flask 2.2 and Werkzeug 3 are, whose requirements all hold."""
    environment.add("base", {"base/__init__.py": "", "base/urls.py": "def quote(): pass\nkept = 1\n"})
    environment.add("user", {"user.py": "from base.urls import kept, quote\n"}, requires=["base"])
    environment.add("asks", {"asks.py": "import base.urls as b\nX = b.quote\n"}, requires=["base"])
    environment.add(
        "careful", {"careful.py": "try:\n    from base.urls import quote\nexcept ImportError: pass\n"}
    )
    base = make_wheel(tmp_path, "base", {"base/__init__.py": "", "base/urls.py": "kept = 1\n"}, version="2.0")
    user = make_wheel(tmp_path, "user", {"user.py": "from base.urls import new\n"}, version="0.9")
    assert judged(environment, base) == [
        ("import-lost", "refuse", "asks"),
        ("import-lost", "refuse", "user"),
    ]
    assert judged(environment, user) == [("import-lost", "refuse", "user")]


def test_a_name_that_a_module_answers_for_by_code_is_lost_where_nothing_writes_it_any_more(
    environment: Environment, tmp_path: Path
) -> None:
    """As huggingface_hub does for all, and flask for its version."""
    lazy = "def __getattr__(name):\n    if name in {}:\n        return 1\n    raise AttributeError(name)\n"
    environment.add("base", {"base/__init__.py": lazy.format(("kept", "gone", "moved"))})
    users = {f"user_{name}": f"from base import {name}\n" for name in ("kept", "gone", "moved")}
    for user, source in users.items():
        environment.add(user, {f"{user}.py": source}, requires=["base"])
    new = {"base/__init__.py": lazy.format(("kept",)), "base/other.py": "moved = 1\n"}
    wheel = make_wheel(tmp_path, "base", new, version="2.0")
    assert judged(environment, wheel) == [("import-lost", "refuse", "user_gone")]


def test_a_name_that_an_overwriting_module_does_not_bind_is_a_lost_import(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("original", {"base/__init__.py": "x = 1\n"})
    environment.add("user", {"user.py": "from base import x\n"})
    fork = make_wheel(tmp_path, "fork", {"base/__init__.py": "y = 1\n"})
    assert judged(environment, fork) == [
        ("import-lost", "refuse", "user"),
        ("overwrites", "warn", "original"),
    ]


def test_a_package_that_is_found_in_place_of_anothers_module_takes_it_from_its_users(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("geo", {"geo.py": "x = 1\n"})
    environment.add("user", {"user.py": "from geo import x\n"})
    wheel = make_wheel(tmp_path, "geo-extra", {"geo/__init__.py": ""})
    assert judged(environment, wheel) == [("import-lost", "refuse", "user"), ("overwrites", "warn", "geo")]


def test_a_requirement_that_the_new_version_does_not_meet_is_lost_and_an_extras_is_not(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("base", {"base.py": ""})
    environment.add("user", {"user.py": "import base\n"}, requires=["base<2"])
    guarded = "try:\n    import base\nexcept ImportError:\n    base = None\n"
    info = environment.add("other", {"other.py": guarded}, requires=["base<2; extra == 'all'"])
    with (info / "METADATA").open("a") as metadata:
        metadata.write("Provides-Extra: all\n")
    wheel = make_wheel(tmp_path, "base", {"base.py": ""}, version="2.0")
    assert judged(environment, wheel) == [("requirement-lost", "refuse", "user")]


def test_a_new_version_that_imports_what_is_nowhere_has_lost_its_import_and_so_have_its_users(
    environment: Environment, tmp_path: Path
) -> None:
    """The module that it asks for is there, and raises for want of another."""
    given_up = "try:\n    from cleaner import clean\nexcept ImportError:\n    raise ImportError('moved away') from None\n"
    environment.add("parser", {"parser/__init__.py": "", "parser/clean.py": given_up})
    environment.add("base", {"base/__init__.py": "", "base/core.py": ""}, requires=["parser"])
    environment.add("user", {"user.py": "import base\n"}, requires=["base"])
    new = {
        "base/__init__.py": "from .core import x\n",
        "base/core.py": "from parser.clean import clean as x\n",
    }
    wheel = make_wheel(tmp_path, "base", new, version="2.0", requires=["parser"])
    assert judged(environment, wheel) == [
        ("import-lost", "refuse", "base"),
        ("import-lost", "refuse", "user"),
    ]


def test_what_could_not_be_imported_before_either_is_not_told_nor_what_never_was_there(
    environment: Environment, tmp_path: Path
) -> None:
    plugin = {"base.py": "", "base_plugin.py": "import host\n", "guarded.py": "import other\n"}
    environment.add("base", plugin)
    guarded = {**plugin, "guarded.py": "try:\n    import other\nexcept ImportError:\n    import another\n"}
    wheels = [
        make_wheel(tmp_path, "base", {**guarded, "base.py": "x = 1\n"}, version="2.0"),
        make_wheel(tmp_path, "fresh", {"fresh.py": "import nowhere\n"}),
    ]
    assert judged(environment, *wheels) == []
