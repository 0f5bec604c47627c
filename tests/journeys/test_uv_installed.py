"""Environments that uv made and filled: files are second names of its cache, and nothing may be written through them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from support.sandbox import Environment, Run
from support.uvs import uv
from support.wheels import make_wheel

OLD = {"pkg/__init__.py": "", "pkg/core.py": "VERSION = 'old'\n"}
NEW = {"pkg/__init__.py": "", "pkg/core.py": "VERSION = 'new'\n", "pkg/more.py": ""}
LEAF = {"leaf.py": "", "leaf.pth": "/nowhere\n"}


class Shop(NamedTuple):
    environment: Environment
    wheels: Path
    cache: Path

    def kept(self) -> dict[str, bytes]:
        """What uv's cache holds: equal before and after means that nothing was written through a link."""
        found = [path for path in self.cache.rglob("*") if path.is_file() and path.suffix != ".lock"]
        return {str(path): path.read_bytes() for path in found}

    def uv(self, *words: str) -> None:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.wheels), "UV_CACHE_DIR": str(self.cache)}
        environ |= {"UV_LINK_MODE": "hardlink", "UV_NO_INDEX": "1", "UV_FIND_LINKS": str(self.wheels)}
        subprocess.run([uv(), "-q", "--offline", *words], check=True, env=environ, capture_output=True)

    def safepip(self, *words: str) -> Run:
        settings = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "UV_CACHE_DIR": str(self.wheels / "none"),
        }
        return self.environment.safepip(*words, env=settings)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(Environment(tmp_path / "env"), tmp_path / "wheels", tmp_path / "cache")
    made.wheels.mkdir()
    for name, files in (("old", OLD), ("new", NEW), ("leaf", LEAF)):
        make_wheel(made.wheels, name, files)
    made.uv("venv", "--python", sys.executable, str(made.environment.prefix))
    for name in ("old", "new", "leaf"):
        made.uv("pip", "install", "--python", str(made.environment.python), name)
    return made


def test_what_uv_installed_is_removed_and_put_back_without_a_pip_inside(shop: Shop) -> None:
    before, kept = shop.environment.tree(), shop.kept()
    core = shop.environment.site / "leaf.py"
    assert core.stat().st_nlink > 1
    assert (shop.environment.site / "leaf-1.0.dist-info/INSTALLER").read_text().strip() == "uv"
    assert not (shop.environment.site / "pip").exists()
    planned = shop.safepip("uninstall", "--dry-run", "--json", "leaf").report
    removed = shop.safepip("uninstall", "-y", "leaf")
    gone = before.keys() - shop.environment.tree().keys()
    files = {name for name in gone if not name.endswith(".dist-info")}
    assert (removed.code, planned["verdict"], planned["removal"]["files"]) == (0, "allow", len(files))
    assert shop.safepip("undo").code == 0
    after = {name: data for name, data in shop.environment.tree().items() if not name.startswith(".safepip")}
    assert (after, shop.kept()) == (before, kept)


def test_a_safe_removal_writes_nothing_into_uvs_cache(shop: Shop) -> None:
    """The survivor's own bytes take the place of the leaver's, which are uv's as well."""
    kept, core = shop.kept(), shop.environment.site / "pkg/core.py"
    assert core.read_text() == NEW["pkg/core.py"]
    assert shop.safepip("uninstall", "-y", "new").code == 10
    assert shop.safepip("uninstall", "--safe", "-y", "new").code == 0
    assert (core.read_text(), shop.kept()) == (OLD["pkg/core.py"], kept)
    assert shop.safepip("undo").code == 0
    assert (core.read_text(), shop.kept()) == (NEW["pkg/core.py"], kept)


def test_what_mends_an_environment_of_uvs_writes_nothing_into_its_cache(shop: Shop) -> None:
    kept = shop.kept()
    shop.safepip("uninstall", "--force", "-y", "new")
    assert shop.safepip("doctor", "--fix", "-y").code in {0, 10}
    assert shop.kept() == kept
