"""How far a kept change has come: what lies at its paths, held against what is kept. Changes nothing."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import replace

from safepip.model.change import Removal
from safepip.model.paths import TargetPath
from safepip.model.receipt import BESIDE, Item, ItemKind, Receipt

_CHUNK = 1 << 20
_TICK = 0.02  # seconds; the clock of file times ticks every 4 to 10 ms


def in_the_way(receipt: Receipt) -> tuple[TargetPath, ...]:
    """What has taken the place of something that an undo would put back."""
    arrived = {item.path: item for item in receipt.of(ItemKind.ARRIVED)}
    return tuple(
        receipt.place(item)
        for item in receipt.items
        if _is_taken(receipt, item)
        and not (item.path in arrived and is_what_came(receipt, arrived[item.path]))
    )


def missing(receipt: Receipt) -> Receipt:
    """What an undo of it has to put back, and the folders that are there already as they are now."""
    items = []
    arrived = {item.path for item in receipt.of(ItemKind.ARRIVED)}  # what lies there is that, then
    for item in receipt.items:
        path = receipt.place(item)
        if item.kind in {ItemKind.ARRIVED, ItemKind.ARRIVED_FOLDER}:
            if os.path.lexists(path):
                items.append(item)
            continue
        if item.kind is ItemKind.CHANGED:
            absent = not same_bytes(path, receipt.content(item.content))
        else:
            absent = not os.path.lexists(path) or item.path in arrived
        if absent:
            items.append(item)
        elif item.kind in {ItemKind.FOLDER, ItemKind.PARENT}:
            status = os.lstat(path)
            mode, mtime = stat.S_IMODE(status.st_mode), status.st_mtime_ns
            items.append(item._replace(kind=ItemKind.PARENT, mode=mode, mtime=mtime))
    return replace(receipt, items=tuple(items))


def is_done(receipt: Receipt) -> bool:
    """Whether everything that was to go has gone, and what was to change has changed."""
    return not any(
        os.path.lexists(receipt.place(item)) for item in receipt.of(ItemKind.FILE, ItemKind.LINK)
    ) and all(
        same_bytes(receipt.place(item), receipt.content(item.successor))
        for item in receipt.of(ItemKind.CHANGED)
    )


def is_untouched(receipt: Receipt) -> bool:
    """Whether nothing of it has happened."""
    return all(
        os.path.lexists(receipt.place(item))
        for item in receipt.of(ItemKind.FILE, ItemKind.LINK, ItemKind.FOLDER)
    ) and all(
        same_bytes(receipt.place(item), receipt.content(item.content))
        for item in receipt.of(ItemKind.CHANGED)
    )


def same_bytes(path: str, kept: str) -> bool:
    """One file under two names, or two with the same bytes."""
    try:
        one, other = os.lstat(path), os.lstat(kept)
        if os.path.samestat(one, other):
            return True
        if not stat.S_ISREG(one.st_mode) or one.st_size != other.st_size:
            return False
        with open(path, "rb") as left, open(kept, "rb") as right:
            while (chunk := left.read(_CHUNK)) == right.read(_CHUNK):
                if not chunk:
                    return True
    except OSError:
        pass
    return False


def wreckage(receipt: Receipt) -> tuple[str, ...]:
    """Folders into which a pip that was cut off has moved what goes, and that hold nothing but what is kept."""
    parents = {item.path.rpartition("/")[0] for item in receipt.items}
    known = frozenset(receipt.leftovers)
    kept = {_identity(receipt.content(item.content)) for item in receipt.of(ItemKind.FILE)}
    goals = {item.goal for item in receipt.of(ItemKind.LINK)}
    beside = tuple(
        f"{receipt.home}/{path}"
        for path in _tildes(receipt.home, parents)
        if path not in known and _holds_only(f"{receipt.home}/{path}", kept, goals)
    )
    return (*beside, *_temporary(receipt))


def litter(receipt: Receipt) -> tuple[str, ...]:
    """What a run of ours that was cut off has left beside the files that it changed."""
    found = []
    for item in receipt.of(ItemKind.FILE, ItemKind.CHANGED):
        folder, _, name = receipt.place(item).rpartition("/")
        path = f"{folder}/.{name}{BESIDE}"
        if os.path.lexists(path):
            found.append(path)
    return tuple(found)


def tildes(home: TargetPath, parents: set[str]) -> tuple[str, ...]:
    """The `~`-names in `parents` now, to be told later from those that pip makes."""
    return tuple(sorted(_tildes(home, parents)))


def unwritable(removal: Removal) -> TargetPath | None:
    """A folder that is to lose something and cannot: pip would fail there, perhaps halfway."""
    inside = tuple(f"{folder}/" for folder in removal.folders)
    parents = {path.rpartition("/")[0] for path in (*removal.files, *removal.folders)}
    return next(
        (
            TargetPath(folder)
            for folder in sorted(parents)
            if not folder.startswith(inside) and not os.access(folder, os.W_OK | os.X_OK)
        ),
        None,
    )


def edited(receipt: Receipt) -> tuple[str, ...]:
    """What is kept and is not what it was when it was put there."""
    return tuple(
        receipt.content(item.content)
        for item in receipt.of(ItemKind.FILE, ItemKind.CHANGED)
        if _is_edited(receipt.content(item.content), item)
    )


def _is_edited(kept: str, item: Item) -> bool:
    try:
        status = os.lstat(kept)
        if not stat.S_ISREG(status.st_mode) or status.st_size != item.size:
            return True
        if not item.digest:
            return status.st_mtime_ns != item.mtime
        with open(kept, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest() != item.digest
    except OSError:
        return True


def is_newer(path: TargetPath, moment: float) -> bool:
    try:
        return os.lstat(path).st_mtime > moment - _TICK
    except OSError:
        return False


def _is_taken(receipt: Receipt, item: Item) -> bool:
    path = receipt.place(item)
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return item.kind in {ItemKind.PARENT, ItemKind.CHANGED}
    except OSError:  # a file where a folder was; a name that this file system does not take
        return True
    match item.kind:
        case ItemKind.ARRIVED | ItemKind.ARRIVED_FOLDER:
            return False  # what somebody has made of it since stays
        case ItemKind.FOLDER | ItemKind.PARENT:
            return not stat.S_ISDIR(mode)
        case ItemKind.LINK:
            return not stat.S_ISLNK(mode) or os.readlink(path) != item.goal
        case ItemKind.FILE:
            return not same_bytes(path, receipt.content(item.content))
        case ItemKind.CHANGED:
            return not any(
                same_bytes(path, receipt.content(number)) for number in (item.content, item.successor)
            )


def is_what_came(receipt: Receipt, item: Item) -> bool:
    path = receipt.place(item)
    if item.goal:
        return os.path.islink(path) and os.readlink(path) == item.goal
    return same_bytes(path, receipt.content(item.content))


def _identity(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return (-1, -1)
    return status.st_dev, status.st_ino


def _tildes(home: TargetPath, parents: set[str]) -> Iterator[str]:
    for parent in parents:
        try:
            names = os.listdir(f"{home}/{parent}")
        except OSError:
            continue
        yield from (f"{parent}/{name}".lstrip("/") for name in names if name.startswith("~"))


def _temporary(receipt: Receipt) -> Iterator[str]:
    """Pip moves single files to a temporary folder (req/req_uninstall.py, `_get_file_stash`). It is this pip's where
    it came later, and each file in it is one that is missing at its place now.
    """
    missing = {
        _identity(receipt.content(item.content))
        for item in receipt.of(ItemKind.FILE)
        if not os.path.lexists(receipt.place(item))
    }
    temporary = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  where pip has made it
    try:
        names = os.listdir(temporary) if missing else []
    except OSError:
        return
    for name in names:
        path = TargetPath(f"{temporary}/{name}")
        if name.startswith("pip-uninstall-") and is_newer(path, receipt.time) and _is_moved(path, missing):
            yield path


def _is_moved(folder: str, missing: set[tuple[int, int]]) -> bool:
    try:
        return bool(os.listdir(folder)) and _holds_only(folder, missing, set())
    except OSError:  # another user's
        return False


def _holds_only(folder: str, kept: set[tuple[int, int]], goals: set[str]) -> bool:
    for here, folders, names in os.walk(folder, onerror=_give_up):
        for name in [*names, *(name for name in folders if os.path.islink(f"{here}/{name}"))]:
            path = f"{here}/{name}"
            if not (_identity(path) in kept or (os.path.islink(path) and os.readlink(path) in goals)):
                return False
    return os.path.isdir(folder) and not os.path.islink(folder)


def _give_up(error: OSError) -> None:
    raise error
