"""Which running processes have a file mapped that is to go: they keep it, but what they start anew will miss it."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple

from safepip.model.paths import TargetPath


class Mapping(NamedTuple):
    pid: int
    name: str  # as the kernel knows it, at most 15 characters
    path: TargetPath  # one of the files that it maps


def mapping(paths: Collection[TargetPath]) -> tuple[Mapping, ...]:
    """Each process of those that we may look at, with the first file of `paths` that it maps."""
    wanted = frozenset(path.encode("utf-8", "surrogateescape") for path in paths)
    found = []
    for pid in sorted(int(name) for name in _listed("/proc") if name.isdecimal()):
        hit = min(_mapped(pid) & wanted, default=None)
        if hit is not None and pid != os.getpid():
            found.append(Mapping(pid, _name(pid), TargetPath(os.fsdecode(hit))))
    return tuple(found)


def _mapped(pid: int) -> set[bytes]:
    """proc_pid_maps(5): the path is the last field and the only one with a slash."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as stream:
            lines = stream.read().splitlines()
    except OSError:  # another user's, or gone by now
        return set()
    return {line[at:] for line in lines if (at := line.find(b"/")) > 0}


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", "rb") as stream:
            return stream.read().strip().decode("utf-8", "replace")
    except OSError:
        return ""


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
