"""What happened to people, made again from the real wheels: the guard asked before, pip let loose, and the check run after.

And the guard let loose: whoever then does only what the first way out says is well.
"""

from __future__ import annotations

import ctypes.util
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.pips import interpreter
from support.sandbox import Run, run

CASES: Mapping[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text())
QUIET = {"PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": "", "QT_QPA_PLATFORM": "offscreen"}


def made(case: Mapping[str, Any], folder: Path) -> Path:
    """The Python of an environment in which the case's steps were installed."""
    subprocess.run([interpreter("3.12"), "-m", "venv", folder], check=True)  # the versions are for that one
    python = folder / "bin/python"
    for step in case["install"]:
        subprocess.run([python, "-m", "pip", "install", "-q", *step], check=True)
    return python


def last_words(python: Path, code: str) -> str:
    """How `code` ended: "" where it worked, else the last line of its error."""
    done = run([str(python), "-c", code], env={"PATH": "/usr/bin:/bin", **QUIET})
    lines = [line for line in done.err.splitlines() if line.strip()]
    return "" if done.code == 0 else (lines or [f"exit code {done.code}"])[-1]


def asked(python: Path, case: Mapping[str, Any]) -> dict[str, Any]:
    words = ["uninstall", *case["remove"]] if "remove" in case else ["install", *case["upgrade"]]
    command = [
        sys.executable,
        "-m",
        "safepip",
        "--python",
        str(python),
        *words[:1],
        "--dry-run",
        "--json",
        *words[1:],
    ]
    answer: Run = run(command, env={"PATH": "/usr/bin:/bin", "HOME": str(python.parent)})
    return answer.report


def names(finding: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Whether `finding` is what a case wants: its kind, and the library, path and distribution named there."""
    losing = {finding["distribution"], *(consumer["distribution"] for consumer in finding["consumers"])}
    return (
        finding["kind"] == wanted["kind"]
        and wanted.get("soname") in {None, finding["soname"]}
        and wanted.get("distribution") in {None, *losing}
        and any(path.endswith(wanted.get("path", "")) for path in finding["paths"] or [""])
    )


def each(*verdicts: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=() if case.get("small") else pytest.mark.large)
            for name, case in CASES.items()
            if case["verdict"] in verdicts
        ],
    )


@each("allow", "warn", "refuse")
def test_what_happened_to_people_is_foreseen(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if "lacking" in case and ctypes.util.find_library(case["lacking"].removeprefix("lib").partition(".")[0]):
        pytest.skip(f"this machine has a {case['lacking']} of its own")
    python = made(case, tmp_path / "env")
    assert case["before"] in last_words(python, case["run"])

    report = asked(python, case)
    assert report["verdict"] == case["verdict"]
    unnamed = [
        wanted
        for wanted in case["findings"]
        if not any(names(finding, wanted) for finding in report["findings"])
    ]
    assert unnamed == []

    change = ["uninstall", "-y", *case["remove"]] if "remove" in case else ["install", *case["upgrade"]]
    subprocess.run([python, "-m", "pip", *change, "-q"], check=True)
    after = last_words(python, case["run"])
    assert case["after"] in after
    assert bool(after) == bool(case["after"])


def broken(python: Path) -> set[str]:
    report = run([sys.executable, "-m", "safepip", "--python", str(python), "doctor", "--json"]).report
    return {item["fingerprint"] for item in report["broken"] if item["severity"] == "refuse"}


@each("refuse")
def test_a_program_that_follows_only_the_first_way_out_reaches_a_working_environment(
    name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    python = made(case, tmp_path / "env")
    works, ill = last_words(python, case["run"]), broken(python)
    words = ["uninstall", "-y", *case["remove"]] if "remove" in case else ["install", "-q", *case["upgrade"]]

    told = run([sys.executable, "-m", "safepip", "--python", str(python), *words, "--json"])
    assert (told.report["verdict"], told.code) == ("refuse", 10 if "remove" in case else 13)
    for command in told.report["remedies"][0]["commands"]:
        assert run([sys.executable, "-m", *command]).code in {0, 13}

    assert last_words(python, case["run"]) in {works, ""}
    assert broken(python) <= ill
