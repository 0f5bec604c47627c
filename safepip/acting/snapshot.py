"""An environment kept by second names while somebody else works on it.

pip unlinks what is in the way before it writes (operations/install/wheel.py, `ZipBackedFile.save`; its vendored
distlib for launchers), puts metadata and byte code in place by renaming, and moves away what it removes, so that a
second name keeps the old bytes. What setuptools, pip and git write into in place is copied. The index says what was
there: with it the next run can end what this one could not.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence

from safepip.acting import files, vault
from safepip.model.paths import TargetPath
from safepip.model.snapshot import Seen, Snapshot

OWN = ".safepip"
_INDEX = "index"
_KINDS = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l"}


def look(home: TargetPath, tops: Sequence[str]) -> dict[str, Seen]:
    """Everything below `tops`, which are relative to `home` and do not lie in one another."""
    seen: dict[str, Seen] = {}
    pending = []
    for top in tops:
        status = _status(f"{home}/{top}")
        if status is not None and stat.S_ISDIR(status.st_mode):
            seen[top] = _seen("d", status)
            pending.append(top)
    while pending:
        pending += _look_into(home, pending.pop(), seen)
    return seen


def keep(
    seen: Mapping[str, Seen],
    home: TargetPath,
    number: int,
    command: tuple[str, ...],
    wanted: Iterable[str] | None = None,
) -> Snapshot:
    """Give the files of `seen`, or those `wanted` of them, second names. Where that fails nothing is left behind."""
    folder = f"{home}/{OWN}/vault/{number}"
    files.mkdir(folder)
    try:
        kept = _linked(home, folder, seen, seen if wanted is None else wanted)
        index = json.dumps({"command": command, "seen": seen, "kept": kept}).encode()
        files.write(f"{folder}/{_INDEX}.new", index)
        files.rename(f"{folder}/{_INDEX}.new", f"{folder}/{_INDEX}")
    except OSError as error:
        files.clear(folder)
        raise vault.NotKeptError(
            "not-kept", f"the environment cannot be kept: {error.strerror} ({error.filename or folder})"
        ) from error
    except vault.NotKeptError:
        files.clear(folder)
        raise
    return Snapshot(home, number, command, seen, kept)


def load(home: TargetPath, number: int) -> Snapshot | None:
    """The snapshot of a run that was cut off; None where it had not been taken whole."""
    try:
        with open(f"{home}/{OWN}/vault/{number}/{_INDEX}", "rb") as stream:
            said = json.loads(stream.read())
    except FileNotFoundError:
        return None
    seen = {path: Seen(*row) for path, row in said["seen"].items()}
    return Snapshot(home, number, tuple(said["command"]), seen, said["kept"])


def kind_of(entry: os.DirEntry[str]) -> str:
    """As in `Seen`; "" for what is none of these: a socket, a device."""
    if entry.is_symlink():
        return "l"
    if entry.is_dir(follow_symlinks=False):
        return "d"
    return "f" if entry.is_file(follow_symlinks=False) else ""


def is_written_in_place(path: str) -> bool:
    """pip takes lines out of `.pth` files (req/req_uninstall.py, `UninstallPthEntries`); setuptools writes `.egg-link`
    and `.egg-info`, git its references and logs.
    """
    return (
        path.endswith((".pth", ".egg-link"))
        or ".egg-info/" in path
        or ("/.git/" in path and "/objects/" not in path)
    )


def _look_into(home: TargetPath, folder: str, seen: dict[str, Seen]) -> list[str]:
    """The folders in `folder`. What vanishes meanwhile, or cannot be listed, is not there."""
    inner: list[str] = []
    try:
        with os.scandir(f"{home}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                status = _status(entry.path) if path != OWN else None
                kind = _KINDS.get(stat.S_IFMT(status.st_mode)) if status is not None else None
                if status is None or kind is None:
                    continue
                seen[path] = _seen(kind, status, os.readlink(entry.path) if kind == "l" else "")
                if kind == "d":
                    inner.append(path)
    except (FileNotFoundError, PermissionError):
        pass
    return inner


def _linked(home: TargetPath, folder: str, seen: Mapping[str, Seen], wanted: Iterable[str]) -> dict[str, int]:
    kept: dict[str, int] = {}
    copied = 0
    for path in wanted:
        was = seen.get(path)
        if was is None or was.kind != "f":
            continue
        number = len(kept)
        if not is_written_in_place(path):
            try:
                files.link(f"{home}/{path}", f"{folder}/{number}")
            except OSError as error:
                if error.errno not in files.NO_LINKS:
                    raise
                copied += was.size
            else:
                kept[path] = number
                continue
        if copied > vault.COPIED:
            raise vault.NotKeptError(
                "not-kept", f"no hard links can be made in {home}, and it is too much to copy"
            )
        files.copy(f"{home}/{path}", f"{folder}/{number}")
        kept[path] = number
    return kept


def _seen(kind: str, status: os.stat_result, goal: str = "") -> Seen:
    mode = stat.S_IMODE(status.st_mode)
    return Seen(kind, mode, status.st_mtime_ns, status.st_size, status.st_ino, goal)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
