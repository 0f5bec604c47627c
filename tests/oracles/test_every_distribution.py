"""Every distribution of a real environment, planned, then removed from a copy by its own pip.

`SAFEPIP_ORACLE_ENV` names an environment of one's own for it; it is copied by hard links and never changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.sites.site import take_inventory
from safepip.reasoning.changes.removal import plan
from support.targets import target_of

SMALL = (
    "flask",
    "requests",
    "pytest",
    "numpy",
    "six",
    "typing_extensions",
    "pyyaml",
    "zope.interface",
    "attrs",
)


class Copy(NamedTuple):
    original: Path
    venv: Path
    target: Target


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    named = os.environ.get("SAFEPIP_ORACLE_ENV")
    original = Path(named) if named else _small(tmp_path_factory.mktemp("original") / "env")
    venv = original.parent / f"{original.name}.oracle-{os.getpid()}"
    _link_tree(original, venv)
    try:
        probe = target_of(venv)
        version = next(dist.version for dist in take_inventory(probe).distributions if dist.key == "pip")
        yield Copy(original, venv, target_of(venv, pip=version))
        assert _listing(venv) == _listing(original)
    finally:
        shutil.rmtree(venv)


def test_the_plan_of_each_distribution_is_what_pip_deletes(copy: Copy) -> None:
    inventory = take_inventory(copy.target)
    wrong = {}
    for dist in inventory.distributions:
        removal = plan([dist.key], inventory, Disk())
        before = _listing(copy.venv)
        # pip's own files are read from the original, so that pip can remove itself.
        done = subprocess.run(
            [copy.venv / "bin/python", copy.original / _RUNNER, "uninstall", "-y", dist.name],
            capture_output=True,
            check=False,
            cwd="/",
        )
        gone = before - _listing(copy.venv)
        _restore(copy, gone)
        planned = _planned(removal, copy, before)
        if planned != gone or done.returncode:
            wrong[dist.name] = sorted(planned ^ gone)[:5]
    assert wrong == {}
    assert len(inventory.distributions) > len(SMALL)


def test_the_plan_of_all_at_once_is_what_pip_deletes(copy: Copy) -> None:
    inventory = take_inventory(copy.target)
    names = [dist.name for dist in inventory.distributions]
    removal = plan([dist.key for dist in inventory.distributions], inventory, Disk())
    before = _listing(copy.venv)
    subprocess.run(
        [copy.venv / "bin/python", copy.original / _RUNNER, "uninstall", "-y", *names],
        capture_output=True,
        check=True,
        cwd="/",
    )
    gone = before - _listing(copy.venv)
    _restore(copy, gone)
    assert sorted(_planned(removal, copy, before) ^ gone) == []


_RUNNER = Path(
    f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/pip/__pip-runner__.py"
)


def _small(venv: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    done = subprocess.run(
        [venv / "bin/python", "-m", "pip", "install", "-q", *SMALL],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no packages to be had: {done.stderr.strip()[-200:]}")
    return venv


def _link_tree(original: Path, venv: Path) -> None:
    """By hard links: pip moves and deletes names, and edits nothing in place but .pth files."""
    subprocess.run(["cp", "-al", original, venv], check=True)
    for path in venv.rglob("*.pth"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)


def _listing(venv: Path) -> frozenset[TargetPath]:
    found: set[TargetPath] = set()
    for here, folders, files in os.walk(venv):
        inside = here.removeprefix(str(venv))
        found.update(TargetPath(f"{inside}/{name}") for name in (*folders, *files))
    return frozenset(found)


def _planned(removal: Removal, copy: Copy, before: frozenset[TargetPath]) -> frozenset[TargetPath]:
    """The plan's paths below the environment, and what lies in the folders that go."""
    inside = {TargetPath(path.removeprefix(str(copy.venv))) for path in removal.gone}
    below = tuple(f"{folder.removeprefix(str(copy.venv))}/" for folder in removal.folders)
    return frozenset(inside.union(path for path in before if below and path.startswith(below)))


def _restore(copy: Copy, gone: frozenset[TargetPath]) -> None:
    for path in sorted(gone):
        source, goal = f"{copy.original}{path}", f"{copy.venv}{path}"
        if os.path.isdir(source) and not os.path.islink(source):
            os.mkdir(goal)
        else:
            os.link(source, goal, follow_symlinks=False)
