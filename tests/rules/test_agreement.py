"""The comparison with the real loader on real objects, as much of it as any machine has."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "loader_agreement.py"


def test_every_extension_module_of_this_python_loads_as_the_real_loader_loads_it() -> None:
    if not shutil.which("cc") or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux")
    folders = (f"{sysconfig.get_path('stdlib')}/lib-dynload", sysconfig.get_path("platlib"))
    argument = ":".join([sys.executable, *folders])
    done = subprocess.run([sys.executable, SCRIPT, argument], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answers agree, 0 do not" in done.stdout
