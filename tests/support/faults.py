"""A kernel that fails: stands in for `os` in `safepip.acting.files`, the only module that changes the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from safepip.acting import files

CHANGES = frozenset(
    "link symlink rename unlink mkdir rmdir chmod utime write fsync ftruncate pwrite open".split()  # noqa: SIM905
)
NEEDS_SPACE = frozenset("link symlink rename mkdir write pwrite open".split())  # noqa: SIM905


class PowerCut(BaseException):
    """Nothing that the program does from here on reaches the disk."""


class Kernel:
    """Counts the calls that change the disk; `fault` is asked before each and may raise."""

    def __init__(self, fault: Callable[[int, str], None]) -> None:
        self.count = 0
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGES:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **named)
            self.count += 1
            try:
                self._fault(self.count, name)
            except PowerCut:
                if name == "write":  # some of it had gone out
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise
            return real(*arguments, **named)

        return call


@contextmanager
def kernel(fault: Callable[[int, str], None]) -> Iterator[Kernel]:
    failing = Kernel(fault)
    vars(files)["os"] = failing
    try:
        yield failing
    finally:
        vars(files)["os"] = os


def power_cut(at: int) -> Callable[[int, str], None]:
    def fault(count: int, _: str) -> None:
        if count >= at:
            raise PowerCut

    return fault


def once(at: int, number: int) -> Callable[[int, str], None]:
    def fault(count: int, name: str) -> None:
        if count == at:
            raise OSError(number, os.strerror(number), name)

    return fault


def disk_full(at: int) -> Callable[[int, str], None]:
    """From then on nothing can be made; what is there can be taken away and renamed within a folder."""

    def fault(count: int, name: str) -> None:
        if count >= at and name in NEEDS_SPACE - {"rename"}:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)

    return fault


def nothing(_: int, __: str) -> None:
    """No fault."""
