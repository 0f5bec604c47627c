"""What was kept of an environment while an installer worked on it: read back from its index, each path of it checked.

The index grows a line before each change, so its last line may be cut off: that is of something not yet done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from safepip.model.paths import TargetPath
from safepip.model.snapshot import Seen, Snapshot
from safepip.reading import tree
from safepip.reading.sites import receipts

_INDEX = "index"  # as `watch` names it
_KINDS = frozenset("dfl")
_MOST = 1 << 63
_LONGEST = 4096  # PATH_MAX of the kernel


def load(home: TargetPath, number: int) -> Snapshot:
    """What the index says: nothing where there is none. DistrustedError where it is not what safepip writes."""
    path = f"{home}/.safepip/vault/{number}/{_INDEX}"
    try:
        lines = receipts.read_own(path, home, number).split(b"\n")[:-1]
    except FileNotFoundError:
        lines = []
    seen: dict[str, Seen] = {}
    kept: dict[str, int] = {}
    looked: set[str] = set()
    command: tuple[str, ...] = ()
    try:
        command = tuple(map(str, json.loads(lines[0])["command"])) if lines else ()
        for line in lines[1:]:
            said = json.loads(line)
            looked.add(_place(said["folder"]))
            seen |= {_place(inner): _seen(row) for inner, row in said["seen"].items()}
            kept |= {_place(inner): _number(value) for inner, value in said["kept"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise receipts.DistrustedError("broken-index", f"{path} cannot be understood: {error}") from error
    _check(home, seen, path)
    return Snapshot(home, number, command, seen, kept, frozenset(looked & seen.keys()))


def _place(path: Any) -> str:
    """Below the home, by names alone, and not what is safepip's own."""
    if not isinstance(path, str) or "\0" in path or len(path) > _LONGEST:
        raise TypeError(f"odd path {path!r}")
    os.fsencode(path)
    parts = path.split("/")
    if path and ({"", ".", ".."}.intersection(parts) or parts[0] == ".safepip"):
        raise ValueError(f"odd path {path!r}")
    return path


def _seen(row: Any) -> Seen:
    seen = Seen(*row)
    numbers = (seen.mode, seen.mtime, seen.size, seen.inode)
    if seen.kind not in _KINDS or b"\0" in os.fsencode(seen.goal) or not 0 <= _number(seen.mode) <= 0o7777:
        raise ValueError(f"odd row {row!r}")
    for number in numbers:
        _number(number)
    return seen


def _number(value: Any) -> int:
    if type(value) is not int or abs(value) >= _MOST:
        raise ValueError(f"odd number {value!r}")
    return value


def _check(home: TargetPath, seen: Iterable[str], path: str) -> None:
    """No folder of it lies behind a link: that would be another place than the one that was looked at."""
    known = {""}
    for inner in seen:
        head = inner.rpartition("/")[0]
        while head not in known:
            if tree.islink(f"{home}/{head}"):
                raise receipts.DistrustedError(
                    "path-through-link", f"{path}: {home}/{head} is a link now: nothing behind it is touched"
                )
            known.add(head)
            head = head.rpartition("/")[0]
