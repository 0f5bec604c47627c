"""Root over an environment that another user owns: looked at from its files alone, and nothing of it is executed."""

from __future__ import annotations

import os
import shutil
import sys
import venv
from pathlib import Path

import pytest

from support.sandbox import Environment, Run, run

NOBODY = 65534
LOOKING = (
    ["uninstall", "--dry-run", "provider"],
    ["audit"],
    ["doctor"],
    ["why", "provider"],
    ["history"],
)
ACTING = (
    ["uninstall", "-y", "leaf"],
    ["uninstall", "-y", "--safe", "leaf"],
    ["install", "--dry-run", "leaf"],
    ["guard", "on"],
    ["guard", "status"],
    ["doctor", "--fix", "-y"],
)
TRAP = "import os; open(os.environ['SPRUNG'], 'w').close()\n"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """It holds a trap at every place from which an interpreter that starts there would run code."""
    if os.geteuid() != 0 or not shutil.which("strace"):
        pytest.skip("needs root and strace")
    prefix = tmp_path_factory.mktemp("foreign") / "env"
    venv.create(prefix, with_pip=False, symlinks=True)
    env = Environment(prefix)
    env.add("provider", {"provider.py": ""})
    env.add("leaf", {"leaf.py": ""})
    env.add("survivor", {"survivor.py": "import provider\n"}, requires=["provider"])
    traps = [
        "sitecustomize.py",
        "usercustomize.py",
        "pip.py",
        "packaging/__init__.py",
        "click.py",
        "elftools/__init__.py",
        "trap.pth",
    ]
    for name in (*traps, "pip/__init__.py", "pip/__main__.py"):
        (env.site / name).parent.mkdir(exist_ok=True)
        (env.site / name).write_text(TRAP)
    (env.site / "pip/__init__.py").write_text(f'{TRAP}__version__ = "26.3"\n')
    for path in (prefix, *prefix.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return env


def started(env: Environment, words: list[str], folder: Path) -> tuple[Run, list[str], bool]:
    """What safepip says, the programs of the environment that it starts, and whether a trap was sprung."""
    log, sprung = folder / "log", folder / "sprung"
    command = ["strace", "-f", "-o", str(log), "-e", "trace=execve", sys.executable, "-P", "-m", "safepip"]
    said = run([*command, "--python", str(env.python), *words], env={"SPRUNG": str(sprung)}, cwd=env.site)
    lines = [line for line in log.read_text().splitlines() if f'execve("{env.prefix}' in line]
    return said, lines, sprung.exists()


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_root_looks_at_a_users_environment_and_executes_nothing_of_it(
    foreign: Environment, tmp_path: Path, words: list[str]
) -> None:
    said, programs, sprung = started(foreign, words, tmp_path)
    assert (programs, sprung, said.code in {0, 10}) == ([], False, True), said.err


@pytest.mark.parametrize("words", ACTING, ids=" ".join)
def test_root_starts_no_python_of_a_users_environment_to_change_it(
    foreign: Environment, tmp_path: Path, words: list[str]
) -> None:
    before = foreign.tree()
    _, programs, sprung = started(foreign, words, tmp_path)
    assert (programs, sprung, foreign.tree()) == ([], False, before)


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_a_python_that_is_a_script_of_another_user_is_not_run(
    foreign: Environment, tmp_path: Path, words: list[str]
) -> None:
    prefix = tmp_path / "env"
    shutil.copytree(foreign.prefix, prefix, symlinks=True)
    python = prefix / "bin/python"
    python.unlink()
    python.write_text(f'#!/bin/sh\ntouch $SPRUNG\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    os.chown(python, NOBODY, NOBODY)
    said, programs, sprung = started(Environment(prefix), words, tmp_path)
    assert (programs, sprung, said.code) == ([], False, 12)
    assert "another user" in said.err
