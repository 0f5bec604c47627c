"""What decides a removal besides RECORD, held against the target's own pip: who answers it, and in which locale."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.sandbox import Environment

NO_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
UTF8 = {"LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("terms") / "env"
    venv.create(folder, with_pip=True, symlinks=True)
    environment = Environment(folder)
    environment.add(
        "leaf", {"leaf.py": "x = 1\n", "leaves/__init__.py": "", "leaves/ünï.py": "", "leaves/日本.txt": ""}
    )
    return environment


def of_pip(environment: Environment, answer: str, env: Mapping[str, str]) -> tuple[int, set[str]]:
    """What the real one does to a copy, and how it ends."""
    copied = Environment(environment.prefix.parent / "copy")
    shutil.copytree(environment.prefix, copied.prefix, symlinks=True, copy_function=os.link)
    before = set(copied.tree())
    command = [str(copied.python), "-m", "pip", "uninstall", "leaf"]
    settings = {"PATH": os.environ["PATH"], "PIP_ROOT_USER_ACTION": "ignore", **env}
    done = subprocess.run(command, input=answer, env=settings, text=True, capture_output=True, check=False)
    gone = before - set(copied.tree())
    shutil.rmtree(copied.prefix)
    return done.returncode, gone


@pytest.mark.parametrize(
    ("answer", "env"),
    [
        pytest.param("", UTF8, id="nobody"),
        pytest.param("what?\ny\n", UTF8, id="something else first"),
        pytest.param("y\n", NO_UTF8, id="in a locale that cannot spell every name"),
    ],
)
def test_a_removal_goes_and_ends_as_with_pip(
    made: Environment, tmp_path: Path, answer: str, env: Mapping[str, str]
) -> None:
    code, gone = of_pip(made, answer, env)
    ours = Environment(tmp_path / "env")
    shutil.copytree(made.prefix, ours.prefix, symlinks=True, copy_function=os.link)
    before = set(ours.tree())
    planned = ours.safepip("uninstall", "--dry-run", "--json", "leaf", env=env).report["removal"]["files"]
    done = ours.safepip("uninstall", "leaf", env=env, stdin=answer)
    left = {path for path in ours.tree() if not path.startswith(".safepip")}
    assert (done.code, before - left) == (code, gone), done.err
    assert not gone or planned == len([path for path in gone if (made.prefix / path).is_file()])
    assert code == 0 or not (ours.prefix / ".safepip/vault/1").exists()
