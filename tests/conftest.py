"""A job in the background starts with SIGINT ignored, and so does all that it starts: tests of signals want it heard."""

from __future__ import annotations

import signal


def pytest_sessionstart() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
