"""Environments that each test may change: copies of links, made from one venv with pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from support.sandbox import TAG, Environment, library, module


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One venv with pip, made once; each test works on a copy of links."""
    folder = tmp_path_factory.mktemp("template") / "env"
    venv.create(folder, with_pip=True, symlinks=True)
    python = str(folder / "bin/python")
    alone = [python, "-m", "pip", "uninstall", "-qqy", "setuptools"]  # a Python before 3.12 brings it
    subprocess.run(alone, check=True)
    return folder


@pytest.fixture
def environment(template: Path, tmp_path: Path) -> Environment:
    shutil.copytree(template, tmp_path / "env", symlinks=True, copy_function=os.link)
    return Environment(tmp_path / "env")


@pytest.fixture
def story(environment: Environment) -> Environment:
    """The accident in small: two distributions own one library, and an extension module needs it."""
    environment.add(
        "cudnn-cu12", {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9") + b"twelve"}, version="9.10"
    )
    environment.add(
        "cudnn-cu13", {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9") + b"thirteen"}, version="9.19"
    )
    environment.add(
        "torch",
        {
            "torch/__init__.py": "",
            f"torch/_C.{TAG}.so": module("libcudnn.so.9", runpath="$ORIGIN/../cudnn/lib"),
        },
        version="2.9.1",
        requires=["cudnn-cu12==9.10"],
    )
    environment.add("leaf", {"leaf.py": "x = 1\n"})
    return environment
