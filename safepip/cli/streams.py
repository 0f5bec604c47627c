"""The process's own streams and clock: how text is dressed, what standard output is for, how long judging may take."""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from safepip.errors import OutOfTimeError, SafepipError

if TYPE_CHECKING:
    from types import FrameType

    from safepip.render.terminal import Style

OUTPUT_LOST = "output"


def keep_open() -> None:
    """A standard stream that was closed leads nowhere from here on: its number would go to the next file that is
    opened, and pip would write there.
    """
    for number, mode, name in ((0, "r", "stdin"), (1, "w", "stdout"), (2, "w", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def is_answered() -> bool:
    """Whether a question may get an answer on standard input: not where it is at its end already."""
    status = os.fstat(0)
    if stat.S_ISREG(status.st_mode):
        return os.lseek(0, 0, os.SEEK_CUR) < status.st_size
    if stat.S_ISCHR(status.st_mode):
        return os.isatty(0)
    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    return not any(event & select.POLLHUP and not event & select.POLLIN for _, event in waiting.poll(0))


def write(text: str) -> None:
    """To standard output, at once: a report that does not arrive is an error, and not one of safepip's own."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the rest of the text would fail anew at the exit
        message = f"standard output cannot be written: {error.strerror}"
        raise SafepipError(OUTPUT_LOST, message, "Send it elsewhere, or make room.") from error


def say(text: str) -> None:
    """To standard error. Where that cannot be written there is nobody to tell, and what is under way goes on."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def style(stream: int, *, verbose: bool = False) -> Style:
    from safepip.render.terminal import Style

    if not os.isatty(stream):
        return Style(80, colour=False, verbose=verbose)
    import shutil

    width = min(shutil.get_terminal_size().columns, 120)
    return Style(width, colour="NO_COLOR" not in os.environ, verbose=verbose)


@contextmanager
def deadline(seconds: float, *, acted: bool = False) -> Iterator[None]:
    """A guard that hangs is a guard that is taken away. `acted`: what is judged has happened."""

    def ring(_: int, __: FrameType | None) -> NoReturn:
        raise OutOfTimeError(
            "out-of-time",
            f"judging took longer than {seconds:g} s{'' if acted else '; nothing was touched'}",
            "Raise `timeout` in the configuration.",
        )

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def standard_output_kept(*, for_us: bool) -> Iterator[None]:
    """With --json standard output is the report's alone: pip speaks on standard error meanwhile."""
    if not for_us:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
