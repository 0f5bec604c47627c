"""One safepip at a time changes an environment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from safepip.acting import files
from safepip.errors import SafepipError

PATIENCE = 2.0  # seconds
_PAUSE = 0.05


def open_in(room: str) -> int:
    """The lock that lies in `room`, not yet taken."""
    return files.open_lock(f"{room}/lock")


@contextmanager
def held(handle: int, patience: float = PATIENCE) -> Iterator[None]:
    """Take the lock, and close it at the end; pip is to inherit its descriptor.

    flock goes with the open file, so a pip that outlives a killed safepip still holds it: nobody mends an
    environment that pip is still working on.
    """
    try:
        _wait(handle, patience)
        with suppress(OSError):  # it only tells others who is at it
            files.rewrite(handle, str(os.getpid()).encode())
        yield
    finally:
        os.close(handle)


def _wait(handle: int, patience: float) -> None:
    try:
        import fcntl
    except ImportError as error:
        raise SafepipError("no-lock", "this system has no file locks", "Look only: --dry-run.") from error
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(_PAUSE)
                continue
            raise _busy(handle) from None
        return


def _busy(handle: int) -> SafepipError:
    pid = os.pread(handle, 20, 0).decode("ascii", "replace")
    who = f"process {pid}" if pid.isdecimal() else "another process"
    return SafepipError(
        "locked", f"another safepip ({who}) is changing this environment", "Try again when it has ended."
    )
