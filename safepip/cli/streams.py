"""The process's own streams and clock: how text is dressed, what standard output is for, how long judging may take."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from safepip.errors import OutOfTimeError

if TYPE_CHECKING:
    from types import FrameType

    from safepip.render.terminal import Style


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
