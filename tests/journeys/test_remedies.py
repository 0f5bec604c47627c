"""Every kind of way out, tried: the commands are run as they stand, and afterwards nothing is broken."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from support.sandbox import TAG, Environment, Run, library, module, run
from support.wheels import Contents, make_wheel


@pytest.fixture
def index(tmp_path: Path) -> dict[str, str]:
    """A package index that is a folder, as pip's own settings name it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    return {"PIP_FIND_LINKS": str(folder), "PIP_NO_INDEX": "1"}


def add(environment: Environment, index: dict[str, str], name: str, files: Contents, **more: Any) -> None:
    environment.add(name, files, **more)
    make_wheel(Path(index["PIP_FIND_LINKS"]), name, files, **more)


def follow(remedy: dict[str, Any], index: dict[str, str]) -> list[Run]:
    """Run a remedy's commands, by the safepip under test."""
    assert all(command[0] == "safepip" for command in remedy["commands"])
    return [
        run([sys.executable, "-m", "safepip", *command[1:], *_yes(command)], env=index)
        for command in remedy["commands"]
    ]


def _yes(command: list[str]) -> list[str]:
    return ["-y"] if "uninstall" in command and "-y" not in command else []


@pytest.fixture
def shared(environment: Environment, index: dict[str, str]) -> Environment:
    """One library of two owners; the bytes are those of the one that is to go, and torch needs it."""
    add(
        environment,
        index,
        "cudnn-cu12",
        {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9") + b"twelve"},
        version="9.10",
    )
    add(
        environment,
        index,
        "cudnn-cu13",
        {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9") + b"thirteen"},
        version="9.19",
    )
    files: Contents = {
        f"torch/_C.{TAG}.so": module("libcudnn.so.9", runpath="$ORIGIN/../cudnn/lib"),
        "torch/__init__.py": "",
    }
    add(environment, index, "torch", files, requires=["cudnn-cu12"])
    return environment


def remedies(environment: Environment, *names: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = environment.safepip("uninstall", "--dry-run", "--json", *names).report[
        "remedies"
    ]
    return found


def test_removing_safely_leaves_the_survivor_with_its_own_bytes(
    shared: Environment, index: dict[str, str]
) -> None:
    ways = remedies(shared, "cudnn-cu13")
    assert "--safe" in ways[0]["commands"][0]
    assert [step.code for step in follow(ways[0], index)] == [0]
    assert (shared.site / "cudnn/lib/libcudnn.so.9").read_bytes().endswith(b"twelve")
    assert not (shared.site / "cudnn_cu13-9.19.dist-info").exists()


def test_forcing_it_and_reinstalling_the_survivor_mends_what_was_broken(
    shared: Environment, index: dict[str, str]
) -> None:
    way = next(
        way
        for way in remedies(shared, "cudnn-cu13")
        if "--force" in [word for command in way["commands"] for word in command]
    )
    assert [step.code for step in follow(way, index)] == [13, 0]
    assert (shared.site / "cudnn/lib/libcudnn.so.9").read_bytes().endswith(b"twelve")


def test_what_safepip_says_after_a_forced_removal_mends_it(
    shared: Environment, index: dict[str, str]
) -> None:
    said = shared.safepip("uninstall", "--force", "-y", "cudnn-cu13", env=index).err
    command = next(line.split() for line in said.splitlines() if "--force-reinstall" in line)
    assert run([sys.executable, "-m", *command], env=index).code == 0
    assert (shared.site / "cudnn/lib/libcudnn.so.9").read_bytes().endswith(b"twelve")


def test_keeping_it_is_advice_without_commands_and_comes_first_where_it_is_plainly_needed(
    environment: Environment, index: dict[str, str]
) -> None:
    add(environment, index, "dep", {"dep.py": ""})
    add(environment, index, "app", {"app.py": "import dep\n"}, requires=["dep"])
    ways = remedies(environment, "dep")
    assert (ways[0]["title"], ways[0]["commands"]) == ("Keep dep: app needs it", [])


def test_removing_the_consumers_as_well_is_allowed_and_complete(
    environment: Environment, index: dict[str, str]
) -> None:
    add(environment, index, "dep", {"dep.py": ""})
    add(environment, index, "app", {"app.py": "import dep\n"}, requires=["dep"])
    add(environment, index, "top", {"top.py": "import app\n"}, requires=["app"])
    way = next(
        way for way in remedies(environment, "dep") if way["title"].startswith("Remove what needs it as well")
    )
    assert [step.code for step in follow(way, index)] == [0]
    assert not [name for name in ("dep", "app", "top") if (environment.site / f"{name}.py").exists()]


def test_whoever_imports_one_of_the_set_without_declaring_it_goes_as_well(
    environment: Environment, index: dict[str, str]
) -> None:
    add(environment, index, "dep", {"dep.py": ""})
    add(environment, index, "app", {"app.py": "import dep\n"}, requires=["dep"])
    add(environment, index, "top", {"top.py": ""}, requires=["app"])
    add(environment, index, "silent", {"silent.py": "import top\n"})
    way = next(way for way in remedies(environment, "dep") if way["commands"])
    assert way["title"] == "Remove what needs it as well: app, silent, top"
    assert [step.code for step in follow(way, index)] == [0]


def test_replacing_it_in_one_step_never_leaves_it_missing(
    environment: Environment, index: dict[str, str]
) -> None:
    add(environment, index, "dep", {"dep.py": ""})
    add(environment, index, "app", {"app.py": "import dep\n"}, requires=["dep"])
    way = next(
        way
        for way in remedies(environment, "dep")
        if way["title"].startswith("If it was to be installed anew")
    )
    assert [step.code for step in follow(way, index)] == [0]
    assert (environment.site / "dep.py").exists()


def test_a_distribution_without_record_is_installed_over_itself(
    environment: Environment, index: dict[str, str]
) -> None:
    add(environment, index, "bare", {"bare.py": ""})
    (environment.site / "bare-1.0.dist-info" / "RECORD").unlink()
    way = next(way for way in remedies(environment, "bare") if way["commands"])
    assert [step.code for step in follow(way, index)] == [0]
    assert environment.safepip("uninstall", "--dry-run", "bare").code == 0
