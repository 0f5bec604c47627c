"""A tree as it can be told apart: equal snapshots mean that nothing differs that a program could notice."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    type: int
    mode: int
    size: int
    mtime: int
    holds: str  # digest, or where a link leads


def snapshot(prefix: Path, *, folder_times: bool = True) -> dict[str, Node]:
    """Everything below `prefix` but safepip's own; sizes of folders are the file system's business."""
    nodes = {}
    for here, folders, names in os.walk(prefix):
        if here == str(prefix) and ".safepip" in folders:
            folders.remove(".safepip")
        for name in [*folders, *names]:
            path = os.path.join(here, name)
            nodes[os.path.relpath(path, prefix)] = node(path, folder_times=folder_times)
    return nodes


def node(path: str, *, folder_times: bool) -> Node:
    status = os.lstat(path)
    kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return Node(kind, mode, 0, status.st_mtime_ns if folder_times else 0, "")
    if stat.S_ISLNK(status.st_mode):
        return Node(kind, mode, status.st_size, status.st_mtime_ns, os.readlink(path))
    holds = ""
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as stream:
            holds = hashlib.file_digest(stream, "sha256").hexdigest()
    return Node(kind, mode, status.st_size, status.st_mtime_ns, holds)
