"""What is handed to pip, and what comes back, with a pip of a few lines that says what it was given."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from safepip.acting.pip import command, spool, uninstall
from safepip.errors import SafepipError
from safepip.grammar import pip_grammar
from safepip.model.environment import PipInUse, Target
from safepip.model.paths import TargetPath
from safepip.model.request import Uninstall
from safepip.reading.pythons.targets import read_target

TELLS = """
import os, sys
print(sys.argv[1:], os.environ.get("_PIP_RUNNING_IN_SUBPROCESS"), sys.stdin.read(), sep="|")
sys.exit(len(sys.argv))
"""
COUNTS = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda n, _: os.write(1, signal.Signals(n).name.encode() + b"\\n"))
os.write(1, b"ready\\n")
while b"q" not in os.read(0, 100):
    pass
os.write(1, b"end\\n")
"""
HANDS_OVER = """
import os, sys
from safepip.acting import pip
from safepip.grammar import pip_grammar
from safepip.reading.pythons.targets import read_target
sys.exit(pip.uninstall(pip_grammar.parse(sys.argv[2:]), read_target(sys.argv[1], os.environ), os.environ))
"""

HEARS = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # nohup's children are deaf to it
IN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"  # the session's own terminal


def parsed(*arguments: str) -> Uninstall:
    request = pip_grammar.parse(arguments)
    assert isinstance(request, Uninstall)
    return request


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    return venv


def put_pip(venv: Path, text: str) -> Path:
    [site] = venv.glob("lib/python*/site-packages")
    (site / "pip").mkdir()
    (site / "pip/__init__.py").write_text('__version__ = "26.3"\n')
    (site / "pip/__main__.py").write_text(text)
    return venv / "bin/python"


def target(python: Path) -> Target:
    return read_target(str(python), os.environ)


def hand_over(python: Path, *arguments: str, **how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HANDS_OVER, python, *arguments],
        check=False, capture_output=True, text=True, input=how.get("typed", ""), cwd=how.get("cwd"),
    )  # fmt: skip


def test_the_targets_own_pip_gets_the_users_words_streams_and_ends_the_command(environment: Path) -> None:
    python = put_pip(environment, TELLS)
    done = hand_over(python, "-q", "uninstall", "--dry-run", "-yr", "r.txt", "six", "--force", typed="typed")
    assert (done.stdout, done.stderr, done.returncode) == (
        "['-q', 'uninstall', '-yr', 'r.txt', 'six']|1|typed\n", "", 6
    )  # fmt: skip


def test_without_a_pip_in_the_target_safepips_own_is_pointed_at_it(environment: Path) -> None:
    without = target(environment / "bin/python")
    assert command(without) == (sys.executable, "-m", "pip", "--python", str(environment / "bin/python"))
    done = hand_over(environment / "bin/python", "uninstall", "-y", "no-such-thing")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        0, "WARNING: Skipping no-such-thing as it is not installed."
    )  # fmt: skip


def test_a_pip_in_the_current_folder_is_not_run_in_its_place(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = target(put_pip(environment, TELLS))
    monkeypatch.chdir(tmp_path)
    assert command(here) == (str(environment / "bin/python"), "-m", "pip")
    Path("pip.py").touch()
    with pytest.raises(SafepipError, match=r"python -m pip would run pip\.py in the current folder"):
        command(here)


def test_an_interpreter_that_cannot_be_started_is_named(environment: Path) -> None:
    there = target(put_pip(environment, TELLS))
    (environment / "bin/python").unlink()
    with pytest.raises(SafepipError, match=r"bin/python cannot be started: No such file"):
        uninstall(parsed("uninstall", "six"), there, os.environ)


def start(python: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HEARS + HANDS_OVER, python, "uninstall", "six"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_safepip_alone_is_passed_on(number: signal.Signals, environment: Path) -> None:
    process = start(put_pip(environment, COUNTS))
    assert process.stdout is not None
    process.send_signal(number)
    assert process.stdout.readline() == f"{number.name}\n".encode()
    assert process.communicate(b"q")[0] == b"end\n"
    assert process.returncode == 0


def test_pip_ended_by_a_signal_shows_in_the_exit_code(environment: Path) -> None:
    done = hand_over(put_pip(environment, "import os; os.kill(os.getpid(), 15)"), "uninstall", "six")
    assert done.returncode == 128 + 15


def test_a_ctrl_c_at_the_terminal_reaches_pip_once(environment: Path) -> None:
    python = put_pip(environment, COUNTS)
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL + HANDS_OVER, python, "uninstall", "six"],
        stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
    )  # fmt: skip
    os.close(inner)
    said = b""
    for wait_for, then_type in ((b"ready", b"\x03"), (b"SIGINT", b"q\n"), (b"end", b"")):
        while wait_for not in said:
            said += os.read(terminal, 100)
        os.write(terminal, then_type)
    assert process.wait() == 0
    os.close(terminal)
    assert said.count(b"SIGINT") == 1


def test_plain_files_are_handed_over_as_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "r.txt").touch()
    request = parsed("uninstall", "-r", str(tmp_path / "r.txt"), "-r", "/nowhere/r.txt", "-r", str(tmp_path))
    with spool(request) as spooled:
        assert spooled == request


def test_a_stream_is_read_once_and_its_copy_handed_over(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"six\n")
    os.close(writing)
    os.mkfifo(tmp_path / "fifo")
    feeder = subprocess.Popen(["/bin/sh", "-c", f"echo idna > {tmp_path}/fifo"])
    request = parsed(
        "uninstall", f"-yr/dev/fd/{reading}", "x", f"--requirem={tmp_path}/fifo", "-r", "plain.txt"
    )
    with spool(request) as spooled:
        one, two, plain = spooled.requirement_files
        assert (Path(one).read_text(), Path(two).read_text(), plain) == ("six\n", "idna\n", "plain.txt")
        assert spooled.pip_arguments == (
            "uninstall",
            f"-yr{one}",
            "x",
            f"--requirem={two}",
            "-r",
            "plain.txt",
        )
        assert Path(one).parent.stat().st_mode & 0o777 == 0o700
    assert not Path(one).parent.exists()
    assert feeder.wait() == 0
    os.close(reading)


def test_a_copy_is_removed_when_the_judging_ends_in_an_error() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    spooling = spool(parsed("uninstall", "-r", f"/dev/fd/{reading}"))
    copy = Path(spooling.__enter__().requirement_files[0])
    os.close(reading)
    assert copy.exists()
    error = SafepipError("no-verdict", "no verdict")
    assert not spooling.__exit__(SafepipError, error, None)
    assert not copy.parent.exists()


def test_an_older_pip_of_the_target_needs_no_python_option(environment: Path) -> None:
    """The option came with pip 22.3; the target's own pip is told by who runs it."""
    there = target(put_pip(environment, TELLS))
    assert there.pip == PipInUse("26.3", TargetPath(there.sites[0]), "importlib")
    done = hand_over(environment / "bin/python", "--python", "/elsewhere", "uninstall", "six")
    assert done.stdout == "['uninstall', 'six']|1|\n"
