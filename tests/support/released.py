"""Wheels as their projects publish them: fetched by pip, unpacked only as far as asked."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest


def fetch(requirement: str, folder: Path) -> Path:
    """The wheel alone, without what it requires, for CPython 3.12 on x86-64."""
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in (5, 12, 17, 27, 28, 34)]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", *platforms]
    old = ["--platform=manylinux1_x86_64", "--platform=manylinux2014_x86_64", "--python-version=3.12"]
    done = subprocess.run(
        [*command, *old, "-d", str(folder), requirement], capture_output=True, text=True, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        pytest.skip(f"{requirement} cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")
    return wheels[0]


def missing_from(wheel: Path, pattern: str, texts: list[str]) -> list[str]:
    """Which of `texts` stand nowhere in the file of `wheel` that fits `pattern`."""
    with zipfile.ZipFile(wheel) as content:
        names = [name for name in content.namelist() if fnmatchcase(name, pattern)]
        assert names, f"no {pattern} in {wheel.name}"
        left = {text: text.encode() for text in texts}
        for piece in _pieces(content, names[0]):
            left = {text: sought for text, sought in left.items() if sought not in piece}
            if not left:
                break
    return list(left)


def _pieces(content: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Of a library of a gigabyte no more than a little at once, each piece with the end of the one before."""
    tail = b""
    with content.open(name) as file:
        while block := file.read(1 << 24):
            yield tail + block
            tail = block[-200:]
