"""Every release of CPython as a target, and builds that are none: its own pip and its own loader have the last word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from safepip.model.change import Removal
from safepip.model.paths import DistKey
from safepip.reading.disk import Disk
from safepip.reading.pythons.targets import read_target
from safepip.reading.sites.site import take_inventory
from safepip.reasoning.changes.removal import plan
from support.elves import compile_lib
from support.pips import interpreter
from support.wheels import install

RELEASES = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
BUILDS = ("/usr/bin/python3.11d", "/usr/bin/pypy3")  # with assertions; another implementation
MODULE = """
#include <Python.h>
int need(void);
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "_c", 0, -1, 0};
PyMODINIT_FUNC PyInit__c(void) { need(); return PyModule_Create(&def); }
"""
ASK = "import json, sysconfig as s, sys; print(json.dumps([s.get_path('include'), s.get_config_var('EXT_SUFFIX'), s.get_path('purelib')]))"


class Made(NamedTuple):
    python: Path
    site: Path
    environ: dict[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self.environ, cwd="/")

    def plan(self, *names: str) -> Removal:
        target = read_target(str(self.python), self.environ)
        return plan([DistKey(name) for name in names], take_inventory(target), Disk())

    def verdict(self, name: str) -> tuple[str, list[str]]:
        command = [sys.executable, "-m", "safepip", "--python", str(self.python), "uninstall", "--dry-run"]
        environ = {**os.environ, "XDG_CONFIG_HOME": "/nonexistent"}
        done = subprocess.run(
            [*command, "--json", name], capture_output=True, text=True, check=False, env=environ
        )
        report = json.loads(done.stdout)
        return report["verdict"], [item["kind"] for item in report["findings"]]

    def tree(self) -> set[str]:
        return {
            f"{at}/{name}"
            for at, folders, files in os.walk(self.python.parent.parent)
            for name in (*folders, *files)
        }


def make(base: Path, tmp_path: Path) -> Made:
    """A venv with the pip that comes with `base`, and an extension module built for it."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    folder = tmp_path / "env"
    done = subprocess.run([base, "-m", "venv", folder], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{base} makes no venv: {done.stdout[-200:]}{done.stderr[-200:]}")
    python = folder / "bin/python"
    said = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True).stdout
    include, suffix, site = json.loads(said)
    if not Path(include, "Python.h").exists():
        pytest.skip(f"no headers of {base}")
    made = Made(python, Path(site), environ)
    library = compile_lib(tmp_path / "libneed.so.1", "int need(void) { return 1; }")
    built = compile_lib(
        tmp_path / "_c.so", MODULE, needs=[library], flags=[f"-I{include}", "-Wl,-rpath,$ORIGIN/../need"]
    )
    install(made.site, "need", {"need/libneed.so.1": library.read_bytes(), "need/__init__.py": ""})
    install(
        made.site,
        "user",
        {"user/__init__.py": "from user import _c\n", f"user/_c{suffix}": built.read_bytes()},
    )
    install(made.site, "leaf", {"leaf/__init__.py": "", "leaf.py": ""})
    return made


def bases() -> list[object]:
    releases = [pytest.param(release, id=release) for release in RELEASES]
    return [*releases, *(pytest.param(build, id=Path(build).name) for build in BUILDS)]


@pytest.mark.parametrize("base", bases())
def test_the_plan_is_its_own_pips_and_the_verdict_what_its_own_loader_says(base: str, tmp_path: Path) -> None:
    if base.startswith("/") and not Path(base).exists():
        pytest.skip(f"no {base} on this machine")
    made = make(Path(base) if base.startswith("/") else interpreter(base), tmp_path)
    assert made.run("-c", "import user").returncode == 0
    assert made.verdict("leaf") == ("allow", [])
    assert made.verdict("need") == ("refuse", ["library-lost"])
    assert made.verdict("pip") == ("refuse", ["self"])
    for name, works in (("leaf", 0), ("need", 1), ("pip", 1)):
        planned, before = made.plan(name), made.tree()
        done = made.run("-m", "pip", "uninstall", "-y", name)
        gone = before - made.tree()
        below = tuple(f"{folder}/" for folder in planned.folders)
        inside = {path for path in before if below and path.startswith(below)}
        assert (done.returncode, gone) == (0, inside | {*planned.files, *planned.folders}), done.stderr
        assert made.run("-c", "import user").returncode == works
    shutil.rmtree(made.python.parent.parent)
