"""Every script tells what it is for when it is asked, and does nothing else then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
RUN = sorted(path.name for path in SCRIPTS.glob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("script", RUN)
def test_a_script_asked_for_help_says_what_it_does_and_does_nothing(script: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / script), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    first = (SCRIPTS / script).read_text().splitlines()[0].strip('"')
    assert (done.returncode, first in done.stdout) == (0, True), done.stderr
    assert list(tmp_path.iterdir()) == []
