"""`safepip init`: in that shell, pip means safepip. Run in the real shells, however they are started."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from support.sandbox import Environment, Run, run

REFUSED = 10
SAFEPIP = Path(sys.executable).parent / "safepip"
FILES = {
    "bash": [".bashrc", ".bash_profile", ".bash_env"],
    "zsh": [".zshenv"],
    "fish": [".config/fish/config.fish"],
}
LINES = {
    "bash": f'eval "$({SAFEPIP} init bash)"',
    "zsh": f'eval "$({SAFEPIP} init zsh)"',
    "fish": f"{SAFEPIP} init fish | source",
}
WAYS = {
    "bash, interactive": ["bash", "-i", "-c"],
    "bash, login": ["bash", "-l", "-c"],
    "bash -c": ["bash", "-c"],
    "zsh, interactive": ["zsh", "-i", "-c"],
    "zsh, login": ["zsh", "-l", "-c"],
    "zsh -c": ["zsh", "-c"],
    "fish, interactive": ["fish", "-i", "-c"],
    "fish, login": ["fish", "-l", "-c"],
    "fish -c": ["fish", "-c"],
}


class Home(NamedTuple):
    environment: Environment
    folder: Path

    @property
    def environ(self) -> Mapping[str, str]:
        return {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
            "ZDOTDIR": str(self.folder),
            "BASH_ENV": str(self.folder / ".bash_env"),
            "PATH": f"{self.environment.prefix / 'bin'}:/usr/bin:/bin",
        }


@pytest.fixture
def home(story: Environment, tmp_path: Path) -> Home:
    for script in story.prefix.glob("bin/pip*"):
        body = script.read_text().split("\n", 1)[1]
        script.unlink()
        script.write_text(f"#!{story.python}\n{body}")
        script.chmod(0o755)
    made = Home(story, tmp_path / "home")
    for shell, names in FILES.items():
        for name in names:
            path = made.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{LINES[shell]}\n{LINES[shell]}\n")  # twice is as good as once
    return made


def installed(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")


def at(home: Home, words: list[str], line: str) -> Run:
    path = home.environ["PATH"]
    setting = f"set -gx PATH {path.replace(':', ' ')};" if words[0] == "fish" else f"export PATH={path};"
    return run([*words, f"{setting} {line}"], env=home.environ, cwd=home.folder)


@pytest.mark.parametrize("way", WAYS)
def test_pip_means_safepip_and_everything_else_is_as_before(way: str, home: Home) -> None:
    words = WAYS[way]
    installed(words[0])
    before = home.environment.tree()
    calls = (
        ("pip", "pip3", "python -m pip", "python3 -m pip")
        if words[1:] == ["-c"]
        else ("pip", "python -m pip")
    )
    for call in calls:
        answer = at(home, words, f"{call} uninstall -y cudnn-cu13")
        assert (answer.code, "safepip: REFUSED: removing cudnn-cu13" in answer.err) == (REFUSED, True), call
    assert home.environment.tree() == before
    pips = run([str(home.environment.prefix / "bin/pip"), "--version"])
    assert at(home, words, "pip --version").out == pips.out
    assert (
        at(home, words, """python -c 'import sys; print(sys.argv[1:])' '' "a b" '*'""").out
        == "['', 'a b', '*']\n"
    )


@pytest.mark.parametrize("shell", LINES)
def test_a_removal_that_harms_nobody_goes_through(shell: str, home: Home) -> None:
    installed(shell)
    answer = at(home, [shell, "-c"], "pip uninstall -y leaf")
    assert (answer.code, "Successfully uninstalled leaf-1.0" in answer.out) == (0, True)


@pytest.mark.parametrize("shell", LINES)
def test_where_safepip_is_gone_pip_is_called(shell: str, home: Home) -> None:
    installed(shell)
    for name in FILES[shell]:
        code = run([str(SAFEPIP), "init", shell]).out.replace(str(SAFEPIP), "/nowhere/safepip")
        (home.folder / name).write_text(code)
    assert at(home, [shell, "-c"], "pip --version").out.startswith("pip ")
    assert at(home, [shell, "-c"], "python -m pip --version").out.startswith("pip ")


@pytest.mark.parametrize("shell", LINES)
def test_an_alias_of_the_same_name_does_not_break_the_code(shell: str, home: Home) -> None:
    installed(shell)
    if shell == "fish":
        pytest.skip("an alias of fish is a function")
    for name in FILES[shell]:
        path = home.folder / name
        path.write_text(
            f"shopt -s expand_aliases 2>/dev/null\nalias python=python3 pip=pip3\n{path.read_text()}"
        )
    assert at(home, [shell, "-c"], "eval 'pip uninstall -y cudnn-cu13'").code == REFUSED
    assert at(home, [shell, "-c"], "eval 'python -m pip uninstall -y cudnn-cu13'").code == REFUSED


def test_bash_completes_commands_options_and_installed_names(home: Home) -> None:
    def completed(*words: str) -> list[str]:
        line = " ".join(words)
        asked = f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _safepip_complete pip; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return at(home, ["bash", "-c"], asked).out.split()

    assert completed("pip", "und") == ["undo"]
    assert completed("pip", "lis") == ["list"]
    assert completed("pip", "uninstall", "lea") == ["leaf"]
    assert completed("pip", "uninstall", "--dr") == ["--dry-run"]
    assert completed("pip", "uninstall", "--ye") == ["--yes"]
    assert completed("pip", "guard", "o") == ["on", "off"]
    assert completed("pip", "explain", "library-") == ["library-lost"]


def test_fish_completes_as_the_person_types(home: Home) -> None:
    installed("fish")
    assert at(home, ["fish", "-c"], "complete -C 'pip uninstall lea'").out.split() == ["leaf"]
    assert at(home, ["fish", "-c"], "complete -C 'pip und'").out.split() == ["undo"]


def test_zsh_completes_at_the_keyboard(home: Home) -> None:
    installed("zsh")
    (home.folder / ".zshrc").write_text(
        f"autoload -U compinit; compinit -u\n{LINES['zsh']}\nPROMPT='ready> '\n"
    )
    main, side = pty.openpty()
    environ = {**os.environ, **home.environ, "TERM": "dumb"}
    process = subprocess.Popen(
        ["zsh", "-i"],
        stdin=side,
        stdout=side,
        stderr=side,
        env=environ,
        start_new_session=True,
        cwd=home.folder,
    )
    os.close(side)
    shown = typed(main, b"ready> ", f"export PATH={home.environ['PATH']}\n")
    shown += typed(main, b"ready> ", "pip show lea\t")
    shown += typed(main, b"leaf", "\n")
    shown += typed(main, b"Version: 1.0", "exit\n")
    process.wait(timeout=60)
    os.close(main)
    assert b"Name: leaf" in shown


def typed(terminal: int, awaited: bytes, text: str) -> bytes:
    """Wait until `awaited` is on the terminal, and type."""
    shown = b""
    end = time.monotonic() + 60
    while awaited not in shown and time.monotonic() < end:
        shown += os.read(terminal, 4096)
    os.write(terminal, text.encode())
    return shown


def test_init_wants_a_shell() -> None:
    answer = run([str(SAFEPIP), "init", "powershell"])
    assert (answer.code, "bash, zsh, fish" in answer.err) == (2, True)
