"""Root over an environment that another user owns: looked at from its files alone, and nothing of it is executed."""

from __future__ import annotations

import json
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
_SAFEPIP = (sys.executable, "-P", "-m", "safepip", "--python")
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


def test_a_pip_of_another_user_that_is_first_on_the_path_is_not_started(
    tmp_path: Path,
) -> None:
    """Nor a python beside it: root may have such a folder on its PATH, by sudo."""
    script = Path(sys.executable).with_name("safepip")
    if os.geteuid() != 0 or not script.exists():
        pytest.skip("needs root and safepip's own command")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("pip", "python", "python3", "git", "uv"):
        (folder / name).write_text("#!/bin/sh\ntouch $SPRUNG\n")
        (folder / name).chmod(0o755)
        os.chown(folder / name, NOBODY, NOBODY)
    os.chown(folder, NOBODY, NOBODY)
    sprung = tmp_path / "sprung"
    env = {"SPRUNG": str(sprung), "PATH": f"{folder}:{script.parent}:{os.environ['PATH']}"}
    for words in (["uninstall", "--dry-run", "provider"], ["uninstall", "-y", "provider"]):
        said = run(["safepip", *words], env=env, cwd=tmp_path)
        assert (said.code, sprung.exists()) == (12, False), said.err


def test_a_cache_that_another_user_can_write_is_neither_believed_nor_written(
    foreign: Environment, tmp_path: Path
) -> None:
    """It says that nobody loses anything; and in place of the next file lies a link."""
    env = Environment(tmp_path / "env")
    shutil.copytree(foreign.prefix, env.prefix, symlinks=True)
    about = env.site / "survivor-1.0.dist-info/METADATA"
    about.write_text(about.read_text().replace("Requires-Dist: provider\n", ""))
    cache = tmp_path / "home/.cache/safepip/imports"
    words = ["uninstall", "--dry-run", "provider"]
    first = run([*_SAFEPIP, str(env.python), *words], env={"XDG_CACHE_HOME": str(tmp_path / "home/.cache")})
    (kept,) = cache.glob("weighed-provider-1.0.dist-info-*")
    content = json.loads(kept.read_text())
    content[3] |= {"losses": [], "grades": [], "unjudged": []}
    kept.write_text(json.dumps(content))
    believed = run(
        [*_SAFEPIP, str(env.python), *words], env={"XDG_CACHE_HOME": str(tmp_path / "home/.cache")}
    )
    for path in (tmp_path / "home", *(tmp_path / "home").rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    before = {path: path.read_bytes() for path in cache.iterdir()}
    planted = run([*_SAFEPIP, str(env.python), *words], env={"XDG_CACHE_HOME": str(tmp_path / "home/.cache")})
    assert (first.code, believed.code != first.code, planted.code) == (10, True, 10)
    assert {path: path.read_bytes() for path in cache.iterdir()} == before


def test_modules_in_the_working_folder_are_none_of_safepips(foreign: Environment, tmp_path: Path) -> None:
    for name in ("json", "csv", "ast", "pip", "tomllib", "zipfile", "hashlib", "dataclasses", "fcntl"):
        (tmp_path / f"{name}.py").write_text(TRAP)
    for name in ("packaging", "click", "elftools"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(TRAP)
    command = [sys.executable, "-m", "safepip", "--python", str(foreign.python)]
    for words in LOOKING:
        said = run([*command, *words], env={"SPRUNG": str(tmp_path / "sprung")}, cwd=tmp_path)
        assert said.code in {0, 10}, said.err
    assert not (tmp_path / "sprung").exists()
