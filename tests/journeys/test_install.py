"""`safepip install`: judged before it happens with --dry-run, and after it as a transaction with a way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.sandbox import TAG, Environment, library, module
from support.wheels import make_wheel

REFUSED, BROKE = 10, 13
OFFLINE = ("--no-index", "--no-deps")


@pytest.fixture
def split(environment: Environment, tmp_path: Path) -> tuple[Environment, list[str]]:
    """Version 2 of `whole` gives its module to a new dependency, which pip lays down first."""
    old = make_wheel(tmp_path, "whole", {"whole/__init__.py": "", "whole/core.py": "x = 1\n"})
    new = make_wheel(tmp_path, "whole", {"whole_meta.py": ""}, version="2.0", requires=["whole-core"])
    core = make_wheel(tmp_path, "whole-core", {"whole/__init__.py": "", "whole/core.py": "x = 2\n"})
    assert environment.safepip("install", *OFFLINE, str(old)).code == 0
    return environment, ["install", "--no-index", str(new), str(core)]


def tree(environment: Environment) -> dict[str, bytes | str]:
    """Without safepip's own folder."""
    return {path: held for path, held in environment.tree().items() if not path.startswith(".safepip")}


def kinds(report: dict[str, object]) -> list[tuple[str, str, str]]:
    return [(one["kind"], one["severity"], one["distribution"]) for one in report["findings"]]  # type: ignore[attr-defined]


def test_the_old_versions_record_takes_what_the_new_dependency_has_just_brought(
    split: tuple[Environment, list[str]],
) -> None:
    environment, words = split
    before = tree(environment)
    answer = environment.safepip(*words, "--dry-run", "--json")
    assert (answer.code, answer.report["verdict"]) == (REFUSED, "refuse")
    assert ("file-lost", "refuse", "whole-core") in kinds(answer.report)
    assert answer.report["installing"] == [
        {"name": "whole-core", "version": "1.0", "was": None},
        {"name": "whole", "version": "2.0", "was": "1.0"},
    ]
    assert tree(environment) == before
    done = environment.safepip(*words)
    assert (done.code, (environment.site / "whole/core.py").exists()) == (BROKE, False)
    assert "BROKEN NOW: whole-core" in done.err
    assert environment.safepip("undo").code == 0
    assert tree(environment) == before


def test_rollback_leaves_the_environment_as_it_was(split: tuple[Environment, list[str]]) -> None:
    environment, words = split
    before = tree(environment)
    done = environment.safepip(*words, "--rollback")
    assert (done.code, tree(environment)) == (REFUSED, before)
    assert "TAKEN BACK" in done.err


def test_an_upgrade_that_keeps_everything_is_silent_and_keeps_nothing(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("user", {"user.py": "import leaf\n"}, requires=["leaf"])
    for version in ("1.0", "2.0"):
        wheel = make_wheel(tmp_path, "leaf", {"leaf.py": f"x = {version}\n"}, version=version)
        done = environment.safepip("install", "-q", *OFFLINE, str(wheel))
        assert (done.code, done.out, done.err) == (0, "", "")
    assert (environment.site / "leaf.py").read_text() == "x = 2.0\n"
    assert list((environment.prefix / ".safepip/vault").iterdir()) == []


def test_a_library_that_another_owns_is_overwritten_and_both_are_named(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("nccl-cu12", {"nccl/libnccl.so.2": library("libnccl.so.2") + b"twelve"})
    wheel = make_wheel(tmp_path, "nccl-cu13", {"nccl/libnccl.so.2": library("libnccl.so.2") + b"thirteen"})
    report = environment.safepip("install", *OFFLINE, "--dry-run", "--json", str(wheel)).report
    assert (report["verdict"], kinds(report)) == ("warn", [("overwrites", "warn", "nccl-cu12")])
    done = environment.safepip("install", *OFFLINE, str(wheel))
    assert (done.code, "nccl-cu13 1.0 overwrites nccl/libnccl.so.2" in " ".join(done.err.split())) == (
        0,
        True,
    )


def test_a_partner_that_moves_on_takes_a_needed_library_along(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("qt", {"qt/libqt.so.6": library("libqt.so.6")})
    environment.add(
        "pyqt",
        {"pyqt/__init__.py": "", f"pyqt/gui.{TAG}.so": module("libqt.so.6", runpath="$ORIGIN/../qt")},
        requires=["qt"],
    )
    wheel = make_wheel(tmp_path, "qt", {"qt/libqt.so.7": library("libqt.so.7")}, version="7.0")
    report = environment.safepip("install", *OFFLINE, "--dry-run", "--json", str(wheel)).report
    assert ("library-lost", "refuse", "pyqt") in kinds(report)
    done = environment.safepip("install", *OFFLINE, str(wheel))
    assert (done.code, "libqt.so.6" in done.err) == (BROKE, True)


def test_a_pip_that_fails_leaves_nothing_kept_where_it_changed_nothing(
    environment: Environment, tmp_path: Path
) -> None:
    before = tree(environment)
    done = environment.safepip("install", *OFFLINE, str(tmp_path / "nosuch-1.0-py3-none-any.whl"))
    assert done.code == 1
    assert tree(environment) == before
    assert list((environment.prefix / ".safepip/vault").iterdir()) == []


def test_an_install_into_another_folder_is_pips_alone(environment: Environment, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "leaf", {"leaf.py": "x = 1\n"})
    done = environment.safepip("install", *OFFLINE, "--target", str(tmp_path / "aside"), str(wheel))
    assert (done.code, (tmp_path / "aside/leaf.py").exists()) == (0, True)
    assert not (environment.prefix / ".safepip").exists()


def test_a_version_that_a_survivor_does_not_take_is_a_lost_requirement(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("base", {"base.py": ""})
    environment.add("user", {"user.py": "import base\n"}, requires=["base<2"])
    wheel = make_wheel(tmp_path, "base", {"base.py": ""}, version="2.0")
    report = environment.safepip("install", *OFFLINE, "--dry-run", "--json", str(wheel)).report
    assert kinds(report) == [("requirement-lost", "refuse", "user")]
