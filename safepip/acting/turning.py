"""Both directions of a kept change: `take_out` leads to after it, `put_back` to before it.

Each step looks first whether it is needed, so that either can be run again from wherever it was cut off, and
neither destroys what is not kept.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from safepip.acting import files
from safepip.errors import SafepipError
from safepip.model.receipt import BESIDE, Item, ItemKind, Receipt


class TurnError(SafepipError):
    """A step could not be done; the rest was not tried."""


def take_out(receipt: Receipt) -> None:
    """Delete what goes and put the new bytes in the place of the old; what has changed since stays."""
    _refuse_links(receipt)
    try:
        for item in receipt.of(ItemKind.CHANGED):
            _exchange(receipt, item, item.successor)
        for item in sorted(receipt.of(ItemKind.FILE, ItemKind.LINK), key=_metadata_last):
            if _is_ours(receipt, item):
                files.unlink(receipt.place(item))
        for item in reversed(receipt.of(ItemKind.FOLDER)):
            _take_folder(receipt.place(item))
        _let_come(receipt)
    except OSError as error:
        raise _failed("removed", error) from error


def put_back(receipt: Receipt) -> None:
    """Everything as it was: paths, bytes, modes, times, links, empty folders."""
    _refuse_links(receipt)
    try:
        _send_away(receipt)
        for item in receipt.of(ItemKind.FOLDER):
            if not os.path.isdir(receipt.place(item)):
                files.mkdir(receipt.place(item))
        for item in receipt.of(ItemKind.FILE, ItemKind.LINK):
            _put(receipt, item)
        for item in receipt.of(ItemKind.CHANGED):
            _exchange(receipt, item, item.content)
            _mend_status(receipt, item)
        mend_folders(receipt)
    except OSError as error:
        raise _failed("put back", error) from error


def mend_folders(receipt: Receipt) -> None:
    """Inner folders before outer ones: a name made in a folder changes the folder's time."""
    for item in sorted(receipt.of(ItemKind.FOLDER, ItemKind.PARENT), key=_depth, reverse=True):
        if os.path.isdir(receipt.place(item)):
            _mend_status(receipt, item)


def verify(receipt: Receipt) -> None:
    """Hold what lies there against the manifest."""
    for item in receipt.items:
        path = receipt.place(item)
        if item.kind in {ItemKind.ARRIVED, ItemKind.ARRIVED_FOLDER}:
            continue
        try:
            status = os.lstat(path)
        except OSError as error:
            raise _failed("put back", error) from error
        there = (stat.S_IMODE(status.st_mode), status.st_mtime_ns)
        if there != (item.mode, item.mtime) or (
            item.kind in {ItemKind.FILE, ItemKind.CHANGED} and status.st_size != item.size
        ):
            raise TurnError(
                "not-restored", f"{path} is not as it was", "It may be changed by another process."
            )


def clear_litter(paths: Iterable[str]) -> None:
    """Names that a run of ours which was cut off has left beside what it changed."""
    for path in paths:
        files.unlink(path)


def clear_wreckage(folders: Iterable[str]) -> None:
    """What a cut-off pip has moved aside; every file in it is kept under another name."""
    for folder in folders:
        for here, inner, names in os.walk(folder, topdown=False):
            for name in names:
                files.unlink(f"{here}/{name}")
            for name in inner:
                path = f"{here}/{name}"
                (files.unlink if os.path.islink(path) else files.rmdir)(path)
        files.rmdir(folder)


def _refuse_links(receipt: Receipt) -> None:
    """A folder may have become a link since the manifest was read: nothing is done behind one."""
    for head in {item.path.rpartition("/")[0] for item in receipt.items}:
        there = f"{receipt.home}/{head}".rstrip("/")
        if os.path.realpath(there) != there:
            raise TurnError("path-through-link", f"{there} leads through a link: nothing is done behind it")


def _send_away(receipt: Receipt) -> None:
    """What came, as far as it is what came; a folder that somebody has put something into stays."""
    for item in sorted(receipt.of(ItemKind.ARRIVED), key=_metadata_last):
        if _is_ours(receipt, item):
            files.unlink(receipt.place(item))
    for item in sorted(receipt.of(ItemKind.ARRIVED_FOLDER), key=_depth, reverse=True):
        folder = receipt.place(item)
        if os.path.isdir(folder) and not os.path.islink(folder):
            _clear_byte_code(folder)
            _clear_byte_code(f"{folder}/__pycache__")
            _take_folder(f"{folder}/__pycache__")
            _take_folder(folder)


def _clear_byte_code(folder: str) -> None:
    """Of modules that have just gone; Python has written it since they came."""
    if folder.endswith("/__pycache__") and os.path.isdir(folder):
        for name in os.listdir(folder):
            if name.endswith(".pyc"):
                files.unlink(f"{folder}/{name}")


def _let_come(receipt: Receipt) -> None:
    """The other direction: what an undo that failed has sent away."""
    for item in receipt.of(ItemKind.ARRIVED_FOLDER):
        if not os.path.isdir(receipt.place(item)):
            files.mkdir(receipt.place(item), item.mode)
    for item in receipt.of(ItemKind.ARRIVED):
        _put(receipt, item)
    for item in sorted(receipt.of(ItemKind.ARRIVED_FOLDER), key=_depth, reverse=True):
        _mend_status(receipt, item)


def _put(receipt: Receipt, item: Item) -> None:
    path = receipt.place(item)
    if item.goal:
        if not os.path.islink(path):
            files.symlink(item.goal, path)
        if os.lstat(path).st_mtime_ns != item.mtime:
            files.set_mtime(path, item.mtime)
        return
    if not os.path.lexists(path):
        _place(receipt.content(item.content), path)
    _mend_status(receipt, item)


def _place(kept: str, path: str) -> None:
    """A second name for what is kept, or a copy that is whole before it has its name."""
    try:
        files.link(kept, path)
    except OSError as error:
        if error.errno not in files.NO_LINKS:
            raise
        beside = _beside(path)
        files.copy(kept, beside)
        files.rename(beside, path)


def _exchange(receipt: Receipt, item: Item, number: int) -> None:
    """Whoever opens the path meanwhile finds the old bytes or the new, and always one of them."""
    path, kept = receipt.place(item), receipt.content(number)
    if _is_same_file(path, kept):
        return
    beside = _beside(path)
    try:
        files.link(kept, beside)
    except OSError as error:
        if error.errno not in files.NO_LINKS:
            raise
        files.copy(kept, beside)
    files.rename(beside, path)


def _beside(path: str) -> str:
    """A name in the same folder, for a moment, that nothing imports."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}{BESIDE}"


def _mend_status(receipt: Receipt, item: Item) -> None:
    path = receipt.place(item)
    status = os.lstat(path)
    if stat.S_IMODE(status.st_mode) != item.mode and not stat.S_ISLNK(
        status.st_mode
    ):  # it would be the goal's
        files.chmod(path, item.mode)
    if status.st_mtime_ns != item.mtime:
        files.set_mtime(path, item.mtime)


def _is_ours(receipt: Receipt, item: Item) -> bool:
    """Whether what lies there is what is kept."""
    path = receipt.place(item)
    if item.goal:
        return os.path.islink(path) and os.readlink(path) == item.goal
    return _is_same_file(path, receipt.content(item.content))


def _is_same_file(path: str, kept: str) -> bool:
    """The same file; or its copy, where no second names can be made."""
    try:
        one, other = os.lstat(path), os.lstat(kept)
    except FileNotFoundError:
        return False
    return os.path.samestat(one, other) or (
        stat.S_ISREG(one.st_mode) and (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
    )


def _take_folder(path: str) -> None:
    try:
        files.rmdir(path)
    except FileNotFoundError:
        return
    except OSError:
        if not os.listdir(path):  # else somebody has put something there meanwhile
            raise


def _metadata_last(item: Item) -> tuple[bool, bool]:
    """Cut off before its RECORD goes, a distribution is still one that pip can remove."""
    folder, _, name = item.path.rpartition("/")
    return folder.endswith((".dist-info", ".egg-info")), name == "RECORD"


def _depth(item: Item) -> int:
    return item.path.count("/")


def _failed(what: str, error: OSError) -> TurnError:
    return TurnError("disk", f"{error.filename or 'a file'} cannot be {what}: {error.strerror}")
