"""A real uv, installed once for all test runs of a machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

VERSION = "0.13.9"  # the one whose removals `reasoning.uv_removal` follows


def uv() -> Path:
    home = Path(tempfile.gettempdir()) / f"safepip-tests-uv-{os.getuid()}" / VERSION
    if not home.exists():
        home.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as folder:
            fresh = Path(folder) / "uv"
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "install",
                    "-q",
                    "--no-deps",
                    "--target",
                    fresh,
                    f"uv=={VERSION}",
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                pytest.skip(f"uv {VERSION} cannot be had: {done.stderr.strip()[-200:]}")
            try:
                fresh.rename(home)
            except OSError:  # another worker was first
                if not home.exists():
                    raise
    return home / "bin" / "uv"
