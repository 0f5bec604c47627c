"""What is not safepip's goes to pip unchanged: arguments, streams, environment, signals, exit code.

Each line below is run by pip and by safepip, without a terminal and on one, from the same folder with the same
home. A sample is run by default, all of them where SAFEPIP_TEST_ALL is set.
"""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from support.wheels import install, make_wheel

COMMANDS = [
    "install",
    "download",
    "uninstall",
    "freeze",
    "inspect",
    "list",
    "show",
    "check",
    "config",
    "search",
    "cache",
    "index",
    "wheel",
    "hash",
    "completion",
    "debug",
    "help",
    "lock",
]
PASSED = [command for command in COMMANDS if command not in {"uninstall", "help"}]
LINES = [
    *(f"{command} --help" for command in PASSED),
    *(f"help {command}" for command in PASSED),
    *(f"{command} --nonsense" for command in PASSED),
    *(f"{command} -q" for command in ("list", "freeze", "check", "inspect", "debug", "show", "hash", "wheel")),
    *(f"{command} -vv" for command in ("list", "freeze", "check", "show leaf", "cache dir", "config list")),
    *(f"-q {command}" for command in ("list", "freeze", "show leaf", "nonsense", "cache dir")),
    *(f"--no-color {command}" for command in ("list", "show nosuch", "install", "unins leaf")),
    *(f"--isolated {command}" for command in ("list", "config list", "freeze")),
    *(f"--disable-pip-version-check {command}" for command in ("list", "check", "show leaf", "install nosuch")),
    *(f"--log log.txt {command}" for command in ("check", "show leaf")),
    *(f"--cache-dir=elsewhere {command}" for command in ("cache dir", "list")),
    *(f"--proxy x:1 --timeout 1 {command}" for command in ("list", "show nosuch")),
    *(f"list --format={name}" for name in ("columns", "freeze", "json", "nonsense")),
    *(f"list {flag}" for flag in ("--user", "--local", "--editable", "--not-required", "--exclude leaf", "-e", "--pre")),
    *(f"list {word}" for word in ("leaf", "--", "-", "'a b'", "''", "uninstall", "--exclude-editable")),
    *(f"list --path {path}" for path in (".", "nowhere", "''")),
    *(f"show {names}" for names in ("leaf", "nosuch", "leaf nosuch", "-f leaf", "LEAF", "Le_af", "''", "--verbose leaf", "uninstall")),
    *(f"freeze {flag}" for flag in ("--all", "-l", "--user", "--exclude leaf", "-r missing.txt", "-r wanted.txt", "--path .")),
    *(f"check {words}" for words in ("leaf", "--user", "-h")),
    *(f"config {words}" for words in (
        "", "list", "get nothing", "get global.timeout", "set global.timeout 7", "--user set global.timeout 9",
        "--site list", "--global list", "debug", "unset nothing", "nonsense", "edit --editor true", "set onlyone",
    )),
    *(f"cache {words}" for words in ("", "dir", "info", "list", "list leaf", "purge", "remove", "remove leaf", "nonsense", "list --format abspath")),
    *(f"hash {words}" for words in ("", "wanted.txt", "nowhere", "-a sha512 wanted.txt", "--algorithm md5 wanted.txt", "wanted.txt wanted.txt")),
    *(f"index {words}" for words in ("", "versions", "versions nosuch", "versions nosuch --json", "nonsense", "versions a b")),
    *(f"install {words}" for words in (
        "", "nosuch", "nosuch==1", "leaf", "-q leaf", "-r wanted.txt", "-r nowhere.txt", "--upgrade leaf", "leaf==2",
        "--target there {wheel}", "--dry-run --report - --quiet {wheel}", "--no-deps --target there {wheel} -q", "./nowhere",
        "'odd name'", "leaf=1", "-e .", "--prefix here {wheel}", "uninstall", "--user --target x y",
    )),
    *(f"download {words}" for words in ("", "nosuch", "--no-deps {wheel}", "-d there --no-deps {wheel}", "-r nowhere.txt")),
    *(f"wheel {words}" for words in ("", "nosuch", "--no-deps {wheel} -w there", "-r nowhere.txt", ".")),
    *(f"completion {words}" for words in ("", "--bash", "--zsh", "--fish", "--powershell", "--bash --zsh", "nonsense")),
    *("inspect", "inspect --local", "inspect --path .", "inspect extra", "debug", "debug --verbose", "help nonsense", "help list extra"),
    *("nonsense", "instal", "LIST", "-", "'list '", "un install", "--nonsense list", "--no- list", "-z list", "search"),
    *("--python", "--log", "--python nowhere/python nonsense --python"),
    *("lock nosuch", "lock -r wanted.txt", "lock {wheel} -o -"),
]  # fmt: skip
EVERY = 1 if os.environ.get("SAFEPIP_TEST_ALL") else 20
SAMPLE = [*LINES[::EVERY]]


class Place(NamedTuple):
    """An environment whose pip is the first on the PATH, and safepip before it."""

    folder: Path
    prefix: Path

    @property
    def environ(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "SAFEPIP"))}
        return {
            **kept,
            "PATH": f"{self.folder / 'tools'}:{self.prefix / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "home/config"),
            "PIP_CACHE_DIR": str(self.folder / "home/cache"),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "COLUMNS": "90",
        }

    def fresh(self) -> Path:
        """The folder to work in, with the same content each time."""
        for name in ("home", "work"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        (self.folder / "work/wanted.txt").write_text("leaf\n")
        return self.folder / "work"


@pytest.fixture(scope="module")
def place(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("pass-through")
    prefix = folder / "env"
    shutil.copytree(template, prefix, symlinks=True, copy_function=os.link)
    for script in prefix.glob("bin/pip*"):
        text = script.read_text().replace(str(template), str(prefix))
        script.unlink()
        script.write_text(text)
        script.chmod(0o755)
    site = next(prefix.glob("lib/python3*/site-packages"))
    install(site, "leaf", {"leaf.py": "x = 1\n"})
    install(site, "needy", {"needy.py": ""}, requires=["absent"])
    (folder / "wheels").mkdir()
    make_wheel(folder / "wheels", "fresh", {"fresh.py": "y = 2\n"})
    (folder / "tools").mkdir()
    (folder / "tools/safepip").symlink_to(Path(sys.executable).parent / "safepip")
    return Place(folder, prefix)


class Answer(NamedTuple):
    code: int
    out: bytes
    err: bytes


def words(line: str, place: Place) -> list[str]:
    return shlex.split(line.replace("{wheel}", str(place.folder / "wheels/fresh-1.0-py3-none-any.whl")))


def piped(program: str, arguments: list[str], place: Place, environ: Mapping[str, str] = {}) -> Answer:
    done = subprocess.run(
        [place.folder / "tools/safepip" if program == "safepip" else place.prefix / "bin/pip", *arguments],
        input=b"",
        capture_output=True,
        check=False,
        cwd=place.fresh(),
        env={**place.environ, **environ},
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def on_terminal(program: str, arguments: list[str], place: Place) -> Answer:
    main, side = pty.openpty()
    process = subprocess.Popen(
        [place.folder / "tools/safepip" if program == "safepip" else place.prefix / "bin/pip", *arguments],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=place.fresh(),
        env={**place.environ, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(side)
    shown = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        shown += chunk
    os.close(main)
    return Answer(process.wait(), shown, b"")


@pytest.mark.parametrize("line", SAMPLE)
def test_streams_and_exit_code_are_pips(line: str, place: Place) -> None:
    arguments = words(line, place)
    assert piped("safepip", arguments, place) == piped("pip", arguments, place)


@pytest.mark.parametrize("line", SAMPLE[::3])
def test_on_a_terminal_it_looks_as_with_pip(line: str, place: Place) -> None:
    arguments = words(line, place)
    assert on_terminal("safepip", arguments, place) == on_terminal("pip", arguments, place)


@pytest.mark.parametrize("shown", [piped, on_terminal])
@pytest.mark.parametrize("options", ["", "-q", "-v --no-deps"])
def test_a_harmless_install_looks_as_with_pip_and_leaves_the_same(
    shown: Callable[[str, list[str], Place], Answer], options: str, place: Place
) -> None:
    answers, trees = [], []
    for program in ("pip", "safepip"):
        answers.append(shown(program, words(f"install {options} {{wheel}}", place), place))
        trees.append({str(path) for path in place.prefix.rglob("*") if ".safepip" not in path.parts})
        piped("pip", ["uninstall", "-y", "fresh"], place)
    assert answers[0].code == 0
    assert answers[0] == answers[1]
    assert trees[0] == trees[1]
    assert any(path.endswith("fresh.py") for path in trees[0])


def test_the_lines_tried_are_many_and_each_stands_once() -> None:
    assert len(set(LINES)) == len(LINES) > 200


def test_a_slip_in_a_command_of_safepips_own_is_told_before_pip_objects(place: Place) -> None:
    ours, pips = piped("safepip", ["undu"], place), piped("pip", ["undu"], place)
    assert (ours.code, ours.out) == (pips.code, pips.out)
    assert ours.err == b"safepip: 'undu' goes to pip; perhaps `safepip undo` was meant\n" + pips.err


def test_completion_answers_as_pips_own(place: Place) -> None:
    asked = {"PIP_AUTO_COMPLETE": "1", "COMP_WORDS": "pip lis", "COMP_CWORD": "1"}
    answer = piped("safepip", [], place, asked)
    assert answer == piped("pip", [], place, asked)
    assert answer.out.split() == [b"list"]


def test_the_version_is_pips_on_standard_output_and_safepips_beside_it(place: Place) -> None:
    ours, pips = piped("safepip", ["--version"], place), piped("pip", ["--version"], place)
    assert (ours.code, ours.out) == (0, pips.out)
    assert ours.err.startswith(b"safepip ")


def test_pip_sees_the_callers_arguments_environment_folder_and_process(place: Place, tmp_path: Path) -> None:
    fake = tmp_path / "pip"
    fake.write_text('#!/bin/sh\necho "$$|$PWD|$#|$*"\nenv\nexec cat\n')
    fake.chmod(0o755)
    environ = {**place.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    process = subprocess.Popen(
        [place.folder / "tools/safepip", "download", "a b", "--", "", "*"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**environ, "PATH": f"{place.folder / 'tools'}:{environ['PATH']}", "PWD": str(tmp_path)},
    )
    out = process.communicate(b"typed")[0].decode().splitlines()
    assert out[0] == f"{process.pid}|{tmp_path}|5|download a b --  *"
    assert out[-1] == "typed"
    assert {line for line in out[1:-1] if line.startswith("SAFEPIP")} == set()


def test_a_signal_ends_pip_itself(place: Place, tmp_path: Path) -> None:
    fake = tmp_path / "pip"
    fake.write_text("#!/bin/sh\necho ready\nexec sleep 60\n")
    fake.chmod(0o755)
    process = subprocess.Popen(
        [place.folder / "tools/safepip", "list"],
        stdout=subprocess.PIPE,
        env={**place.environ, "PATH": f"{place.folder / 'tools'}:{tmp_path}:/usr/bin:/bin"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.terminate()
    assert process.wait() == -signal.SIGTERM


def test_a_pip_that_is_safepip_under_another_name_is_passed_over(place: Place, tmp_path: Path) -> None:
    (tmp_path / "wrapper").mkdir()
    wrapper = tmp_path / "wrapper/pip"
    wrapper.write_text('#!/bin/sh\nexec safepip "$@"\n')
    wrapper.chmod(0o755)
    (tmp_path / "link").mkdir()
    (tmp_path / "link/pip").symlink_to(place.folder / "tools/safepip")
    for folder in ("wrapper", "link"):
        path = f"{tmp_path / folder}:{place.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", "pip --version"],
            capture_output=True,
            text=True,
            check=False,
            env={**place.environ, "PATH": path},
            cwd=tmp_path,
        )
        assert (done.returncode, str(place.prefix) in done.stdout) == (0, True)


def test_nothing_of_the_judge_is_loaded_on_the_way(place: Place) -> None:
    """And no module of the standard library that a plain start does not load, either."""
    code = (
        "import os, sys; from safepip.commands import pass_through as p;"
        "os.execve = lambda *_: print(*sorted(m for m in sys.modules if m not in start), sep='\\n');"
        "p.go(['list'], os.environ, 'safepip')"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; start = set(sys.modules); {code}"],
        capture_output=True,
        text=True,
        check=True,
        env=place.environ,
    )
    assert done.stdout.split() == [
        "__future__",
        "safepip",
        "safepip.acting",
        "safepip.acting.mark",
        "safepip.commands",
        "safepip.commands.pass_through",
        "safepip.grammar",
        "safepip.grammar.options",
        "safepip.model",
        "safepip.model.variables",
        "safepip.reading",
        "safepip.reading.pythons",
        "safepip.reading.pythons.calling",
    ]
