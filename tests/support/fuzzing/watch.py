"""What an input must not make safepip do, seen from within the process: by audit events, clock and memory."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

SECONDS = 1.0  # of the processor, for one input
KILOBYTES = 64 << 10
_HANG = 30  # seconds: something waits for what never comes

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING = frozenset(
    {
        "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
        "os.truncate", "os.utime", "os.setxattr", "os.removexattr", "shutil.rmtree", "tempfile.mkdtemp",
        "tempfile.mkstemp", "os.mknod", "os.mkfifo",
    }
)  # fmt: skip
_RUNNING = frozenset(
    {
        "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty",
        "socket.connect", "socket.getaddrinfo", "ctypes.dlopen",
    }
)  # fmt: skip


class ViolatedError(Exception):
    """A rule that an input has broken."""


class _State:
    active = False
    may_change: tuple[str, ...] = ()
    foreign = ""
    blocks_programs = False
    seen: list[str] = []  # noqa: RUF012  one process, one input at a time


def listen() -> None:
    """Hear every audit event of this process from now on."""
    sys.dont_write_bytecode = True  # a module that is loaded late would be written beside its source
    sys.addaudithook(_hear)


@contextmanager
def watched(
    *, may_change: tuple[str, ...] = (), foreign: str, blocks_programs: bool = False
) -> Iterator[None]:
    """Run one input. Nothing outside `may_change` is written, nothing is run, no code below `foreign` is executed.

    With `blocks_programs` starting one is no violation, but it fails.
    """
    _State.seen = []
    _State.may_change, _State.foreign, _State.blocks_programs = may_change, foreign, blocks_programs
    signal.setitimer(signal.ITIMER_PROF, 4 * SECONDS)
    signal.setitimer(signal.ITIMER_REAL, _HANG)
    started = time.process_time()
    _State.active = True
    try:
        yield
    finally:
        _State.active = False
        used = time.process_time() - started
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    if _State.seen:
        raise ViolatedError("; ".join(_State.seen[:3]))
    if used > SECONDS:
        raise ViolatedError(f"took {used:.2f} s")


class Memory:
    """How far above where it started the process was, at most."""

    def __init__(self) -> None:
        gc.collect()
        self._base = self._now()
        self._reset()

    def start(self) -> None:
        """What making the input took does not count."""
        self._reset()

    def check(self) -> None:
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > self._base + KILOBYTES:
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self._base
            self.forget()
            raise ViolatedError(f"took {most >> 10} MB")

    def forget(self) -> None:
        """Start anew from what is held now."""
        gc.collect()
        self._base = max(self._base, self._now())
        self._reset()

    def _now(self) -> int:
        with open("/proc/self/statm", "rb") as stream:
            return int(stream.read().split()[1]) * (resource.getpagesize() >> 10)

    def _reset(self) -> None:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
            stream.write("5")  # the high-water mark starts anew: proc_pid_clear_refs(5)


def bound() -> None:
    """Let nothing take the machine down with it, and let a slow input end."""
    most = 2 << 30
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, _too_slow)
    signal.signal(signal.SIGALRM, _hangs)


def _too_slow(_: int, __: FrameType | None) -> NoReturn:
    raise ViolatedError(f"was stopped after {4 * SECONDS:g} s of the processor")


def _hangs(_: int, __: FrameType | None) -> NoReturn:
    raise ViolatedError(f"was stopped after {_HANG} s")


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _State.active:
        return
    check = _CHECKS.get(event)
    if check is not None:
        check(event, arguments)
    elif event in _CHANGING:
        for path in arguments[:2] if event in {"os.rename", "os.link"} else arguments[:1]:
            _change(event, path)
    elif event in _RUNNING:
        if _State.blocks_programs:
            raise PermissionError("no program is run here")
        _State.seen.append(f"{event} {arguments[:2]!r}")


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    path, mode, flags = arguments
    if flags & _WRITING or (isinstance(mode, str) and {*mode} & {*"wax+"}):
        _change(event, path)


def _symlink(event: str, arguments: tuple[Any, ...]) -> None:
    _change(event, arguments[1])


def _executed(_: str, arguments: tuple[Any, ...]) -> None:
    name = getattr(arguments[0], "co_filename", "")
    if _State.foreign and name.startswith(_State.foreign):
        _State.seen.append(f"code of the environment is run: {name}")


def _change(event: str, path: Any) -> None:
    if isinstance(path, int) or path is None:
        return
    text = os.path.abspath(os.fsdecode(path))
    if text != os.devnull and not text.startswith(_State.may_change or ("//",)):
        _State.seen.append(f"{event} {text!r}")


_CHECKS: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
    "open": _opened,
    "os.symlink": _symlink,
    "exec": _executed,
}
