from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.model.environment import PipInUse, Target
from safepip.model.request import PipSettings, Refused, Uninstall
from safepip.reading.pythons.targets import read_target
from safepip.reasoning.changes.admission import refused
from support.environments import target

NOTHING = PipSettings()
ASKED = Uninstall(("uninstall", "six"), ("six",))
SYSTEM = replace(target(), prefix=target().base_prefix, externally_managed=True)
MANAGED = Refused(
    "externally-managed-environment: /usr is kept by the system's package manager"
    " (--break-system-packages overrides)",
    1,
)


def test_an_ordinary_environment_is_open() -> None:
    assert refused(ASKED, NOTHING, target()) is None
    assert refused(replace(ASKED, require_venv=True), PipSettings(require_venv=True), target()) is None


def test_what_a_systems_package_manager_keeps_is_closed_until_it_is_lifted() -> None:
    assert refused(ASKED, NOTHING, SYSTEM) == MANAGED
    assert refused(replace(ASKED, break_system_packages=True), NOTHING, SYSTEM) is None
    assert refused(ASKED, PipSettings(break_system_packages=True), SYSTEM) is None


def test_pip_before_23_does_not_know_of_it() -> None:
    assert refused(ASKED, NOTHING, replace(SYSTEM, pip=PipInUse("22.3.1", None))) is None
    assert refused(ASKED, NOTHING, replace(SYSTEM, pip=PipInUse("23.0", None))) == MANAGED


def test_a_virtual_environment_can_be_required() -> None:
    required = Refused("Could not find an activated virtualenv (required).", 3)
    assert refused(replace(ASKED, require_venv=True), NOTHING, SYSTEM) == required
    assert refused(ASKED, PipSettings(require_venv=True), SYSTEM) == required


def system() -> Target:
    python = Path("/usr/bin/python3")
    if not python.exists():
        pytest.skip("the system has no Python")
    found = read_target(str(python), os.environ)
    if found.pip.location is None or not found.externally_managed:
        pytest.skip("the system's Python has no pip, or is not managed")
    return found


@pytest.mark.parametrize(
    ("option", "asked"),
    [
        ("--isolated", ASKED),
        ("--require-virtualenv", replace(ASKED, require_venv=True)),
        ("--break-system-packages", replace(ASKED, break_system_packages=True)),
    ],
)
def test_the_systems_own_pip_ends_the_same_way(option: str, asked: Uninstall) -> None:
    found = system()
    pip = [found.executable, "-m", "pip", "uninstall", "-y", option, "no-such-distribution"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        pip, env={**environ, "PIP_CONFIG_FILE": os.devnull}, check=False, capture_output=True
    )
    mine = refused(asked, NOTHING, found)
    assert done.returncode == (mine.exit_code if mine else 0)
