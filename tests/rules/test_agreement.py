"""The comparison with the real loader on real objects, as much of it as any machine has."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def compared_by(script: str) -> str:
    if not shutil.which("cc") or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux")
    folders = (f"{sysconfig.get_path('stdlib')}/lib-dynload", sysconfig.get_path("platlib"))
    argument = ":".join([sys.executable, *folders])
    done = subprocess.run(
        [sys.executable, SCRIPTS / script, argument], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_extension_module_of_this_python_loads_as_the_real_loader_loads_it() -> None:
    assert "answers agree, 0 do not" in compared_by("loader_agreement.py")


def test_every_extension_module_of_this_python_lacks_the_symbols_that_the_real_loader_misses() -> None:
    assert ", 0 disagreements" in compared_by("symbol_agreement.py")
