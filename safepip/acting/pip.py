"""Runs pip: as the target's own, else safepip's with `--python`. What pip says and how it ends is passed on."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import NoReturn

from safepip.acting import mark
from safepip.errors import SafepipError
from safepip.model.environment import Target
from safepip.model.request import Uninstall

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MODULE = ("-m", "pip")
_MOST = 1 << 26  # bytes of a requirement file that come through a pipe


def command(target: Target) -> tuple[str, ...]:
    """The words that start a pip which acts on `target`."""
    _refuse_shadow()
    if target.pip.location is not None:
        return (target.executable, *_MODULE)
    return (sys.executable, *_MODULE, "--python", target.executable)


def uninstall(
    request: Uninstall, target: Target, environ: Mapping[str, str], keep_open: Sequence[int] = ()
) -> int:
    """Hand `request` to pip on the same standard streams; its exit code, 128 and the signal where one ended it.

    pip inherits the descriptors in `keep_open`.
    """
    return run(command(target), request.pip_arguments, environ, keep_open)


def run(
    words: Sequence[str], arguments: Sequence[str], environ: Mapping[str, str], keep_open: Sequence[int] = ()
) -> int:
    """The same for any command line of pip's, and for the pip that `words` start, as `exec_pip` has them."""
    try:
        return _run([*words, *arguments], environment(words, environ), keep_open)
    except OSError as error:
        raise _not_started(words[0], error) from error


def exec_pip(words: Sequence[str], arguments: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Become the pip that `words` start: those of `command`, or the path of a `pip` script alone."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(words[0], [*words, *arguments], environment(words, environ))  # noqa: S606
    except OSError as error:
        raise _not_started(words[0], error) from error


def environment(words: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for pip. A target's own pip shall not start another by PIP_PYTHON or its configuration."""
    if tuple(words[1:]) == _MODULE or words[-1] == "-m":  # the latter where it is watched
        environ = {**environ, "_PIP_RUNNING_IN_SUBPROCESS": "1"}  # as pip marks its own: cli/main_parser.py
    return mark.marked(environ)


@contextmanager
def spool(request: Uninstall) -> Iterator[Uninstall]:
    """`request` with a copy in place of every requirement file that can be read only once.

    The copy is what is judged, and it is what pip is handed.
    """
    streams = [index for index, file in enumerate(request.requirement_files) if _is_stream(file)]
    if not streams:
        yield request
        return
    folder = tempfile.mkdtemp(prefix="safepip-")
    try:
        arguments, files = list(request.pip_arguments), list(request.requirement_files)
        for index in streams:
            place = request.requirement_places[index]
            copy = f"{folder}/requirements-{index + 1}.txt"
            _copy(files[index], copy)
            files[index] = copy
            arguments[place.argument] = arguments[place.argument][: place.offset] + copy
        yield replace(request, pip_arguments=tuple(arguments), requirement_files=tuple(files))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_stream(path: str) -> bool:
    """A pipe, a terminal, a socket; a file that is standard input can be read as often as one likes."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False  # pip will say so
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _copy(source: str, copy: str) -> None:
    try:
        with open(source, "rb") as stream:
            data = stream.read(_MOST + 1)
    except OSError as error:
        raise SafepipError("unreadable-requirements", f"{source} cannot be read: {error.strerror}") from error
    if len(data) > _MOST:
        raise SafepipError("unreadable-requirements", f"{source} gives more than {_MOST} bytes")
    with open(copy, "wb") as file:
        file.write(data)


def _refuse_shadow() -> None:
    """`python -m pip` would run a pip that lies in the current folder."""
    shadows = [name for name in ("pip.py", "pip/__init__.py") if os.path.exists(name)]
    if shadows:
        raise SafepipError(
            "shadowed-pip",
            f"python -m pip would run {shadows[0]} in the current folder",
            "Call safepip from another folder.",
        )


def _run(words: Sequence[str], environ: Mapping[str, str], keep_open: Sequence[int]) -> int:
    """A handler, not SIG_IGN, holds the signals here: pip would inherit that one, and it must get its ctrl-C."""
    process: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if process and not (number == signal.SIGINT and _terminal_sends_it_too()):
            process[0].send_signal(number)

    held = {number: signal.getsignal(number) for number in _PASSED_ON}
    for number, handler in held.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, pass_on)
    try:
        process.append(subprocess.Popen(words, env=environ, pass_fds=keep_open))
        code = process[0].wait()
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _terminal_sends_it_too() -> bool:
    """Whether a ctrl-C at the terminal reaches pip by itself: a second one would disturb its tidying up."""
    try:
        with open("/dev/tty", "rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _not_started(program: str, error: OSError) -> SafepipError:
    return SafepipError("pip-not-started", f"{program} cannot be started: {error.strerror}")
