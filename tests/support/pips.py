"""Real pips of several versions, each installed once for all test runs of a machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
NEWEST = importlib.metadata.version("pip")  # of the interpreter that runs the tests


class Pip(NamedTuple):
    version: str
    python: str  # 3.11

    @property
    def backend(self) -> str:
        return "importlib" if int(self.python.split(".")[1]) >= 11 else "pkg_resources"


def interpreter(version: str) -> Path:
    """A base CPython of that version, or the test is skipped."""
    own = Path(getattr(sys, "_base_executable", sys.executable))
    if version == RUNNING:
        return own.resolve()
    candidates = [*Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python{version}")]
    on_path = shutil.which(f"python{version}")
    for candidate in [*candidates, *([Path(on_path)] if on_path else [])]:
        if subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate.resolve()
    pytest.skip(f"no Python {version} on this machine")


def runner(pip: Pip) -> Path:
    """The file that runs this pip under whatever interpreter opens it."""
    own = importlib.util.find_spec("pip")
    if own and own.origin and pip == Pip(NEWEST, RUNNING):
        return Path(own.origin).parent / "__pip-runner__.py"
    home = Path(tempfile.gettempdir()) / f"safepip-tests-pips-{os.getuid()}" / f"{pip.version}-{pip.python}"
    if not home.exists():
        _install(pip, home)
    return home / "pip" / "__pip-runner__.py"


def _install(pip: Pip, home: Path) -> None:
    home.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        fresh = Path(folder) / "pip"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile"),
                *("--target", fresh, f"pip=={pip.version}"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"pip {pip.version} cannot be had: {done.stderr.strip()[-200:]}")
        subprocess.run([interpreter(pip.python), "-m", "compileall", "-q", fresh], check=False)
        try:
            fresh.rename(home)
        except OSError:  # another worker was first
            if not home.exists():
                raise
