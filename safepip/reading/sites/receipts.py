"""The vault and the journal, read without changing anything and believed only as far as they can be.

A manifest is text that somebody may have planted or edited: it counts only where the folders it lies in
belong to us or to root and nobody else can write them, and its paths stay below the home, links resolved.
"""

from __future__ import annotations

import json
import os
import stat
from typing import Any

from safepip.errors import NotThereError, SafepipError
from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.model.receipt import LAST, Action, Entry, Held, Item, ItemKind, Receipt
from safepip.reading import tree, users
from safepip.reading.sites.homes import homes_of

FORMAT = 2
_LAST_MOMENT = 1 << 38  # seconds since 1970, in the year 10680
_DIGITS = 9  # of a change's number at most
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class DistrustedError(SafepipError):
    """A vault that somebody else could have written."""


def home_of(removal: Removal, target: Target) -> TargetPath | None:
    """The home that what goes lies in, or most of it."""
    inside = {home: sum(path.startswith(f"{home}/") for path in removal.files) for home in homes_of(target)}
    best = max(inside, key=lambda home: inside[home])
    return best if inside[best] else None


def distrusted(home: TargetPath) -> str:
    """Why nothing in this home's `.safepip` is used; "" where all is well, or where there is none yet."""
    for folder, forbidden in ((".safepip", stat.S_IWOTH), (".safepip/vault", _OTHERS_WRITE)):
        reason = _distrusted(f"{home}/{folder}", stat.S_IFDIR, forbidden)
        if reason:
            return reason
    try:
        last(home)
    except DistrustedError as error:
        return error.message
    return ""


def journal(home: TargetPath) -> Entry | None:
    """The change that is under way, or was when its run ended."""
    path = f"{home}/.safepip/journal"
    try:
        text = _read(path, home)
    except FileNotFoundError:
        return None
    try:
        entry = json.loads(text)
        return Entry(Action(entry["action"]), _number(entry["id"]), str(entry["what"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SafepipError("broken-journal", f"{path} cannot be understood: {error}") from error


def numbers(home: TargetPath) -> list[int]:
    """The folders in the vault, the oldest first, whole or not."""
    try:
        names = tree.listdir(f"{home}/.safepip/vault")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except PermissionError as error:
        message = f"{home}/.safepip/vault may not be read by this user"
        raise DistrustedError("distrusted-vault", message, "Ask as the user who made the change.") from error
    return sorted(int(name) for name in names if name.isdecimal() and str(int(name)) == name)


def last(home: TargetPath) -> int:
    """The highest number that a change here has had, taken back and let go ones included; 0 where there was none."""
    return max(_noted(home), *numbers(home)[-1:], 0)


def following(target: Target) -> int:
    """The number of the next change: whoever was told a number before means no other change by it."""
    return max(last(home) for home in homes_of(target) if not distrusted(home)) + 1


def is_whole(home: TargetPath, number: int) -> bool:
    """A folder without its manifest was being made, or being let go, when a run was cut off."""
    return tree.lexists(f"{home}/.safepip/vault/{number}/manifest")


def load(home: TargetPath, number: int) -> Receipt:
    """The receipt, every path of it checked."""
    folder = f"{home}/.safepip/vault/{number}"
    reason = _distrusted(folder, stat.S_IFDIR, _OTHERS_WRITE)
    if reason:
        raise DistrustedError("distrusted-vault", f"nothing is restored from {folder}: {reason}")
    try:
        text = _read(f"{folder}/manifest", home)
    except FileNotFoundError:
        raise NotThereError("no-such-change", f"there is no change {number} to undo") from None
    try:
        receipt = _receipt(home, number, json.loads(text))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise DistrustedError(
            "broken-manifest", f"{folder}/manifest cannot be understood: {error}"
        ) from error
    _check_paths(receipt)
    return receipt


def held(home: TargetPath) -> tuple[Held, ...]:
    """What is kept, the oldest first. What cannot be believed is not listed."""
    if distrusted(home):
        return ()
    kept = []
    for number in numbers(home):
        if is_whole(home, number):
            try:
                receipt = load(home, number)
            except SafepipError:
                continue
            kept.append(Held(receipt, own_bytes(receipt.folder)))
    return tuple(kept)


def own_bytes(folder: str) -> int:
    """What letting go of `folder` would free: what nothing else links."""
    with tree.scandir(folder) as entries:
        statuses = [entry.stat(follow_symlinks=False) for entry in entries]
    return sum(status.st_size for status in statuses if status.st_nlink == 1)


def _distrusted(path: str, kind: int, forbidden: int) -> str:
    try:
        status = tree.lstat(path)
    except FileNotFoundError:
        return ""
    if stat.S_IFMT(status.st_mode) != kind:
        return f"{path} is not what safepip makes"
    if status.st_uid not in {0, users.effective()}:
        return f"{path} belongs to another user"
    return f"{path} can be written by others" if status.st_mode & forbidden else ""


def read_own(path: str, home: TargetPath, number: int) -> bytes:
    """A file in the folder of change `number`; DistrustedError where somebody else could have written it."""
    reason = _distrusted(f"{home}/.safepip/vault/{number}", stat.S_IFDIR, _OTHERS_WRITE)
    if reason:
        raise DistrustedError("distrusted-vault", f"nothing is restored in {home}: {reason}")
    return _read(path, home)


def _read(path: str, home: TargetPath) -> bytes:
    reason = distrusted(home) or _distrusted(path, stat.S_IFREG, _OTHERS_WRITE)
    if reason:
        raise DistrustedError("distrusted-vault", f"nothing is restored in {home}: {reason}")
    with tree.open(path, "rb") as stream:
        return stream.read()


def _noted(home: TargetPath) -> int:
    path = f"{home}/.safepip/{LAST}"
    reason = _distrusted(path, stat.S_IFREG, _OTHERS_WRITE)
    if reason:
        raise DistrustedError("distrusted-vault", reason)
    try:
        with tree.open(path, "rb") as stream:
            text = stream.read(_DIGITS + 1)
    except FileNotFoundError:
        return 0
    if not text.isdigit() or len(text) > _DIGITS:
        raise DistrustedError("distrusted-vault", f"{path} is not what safepip makes")
    return int(text)


def _number(said: Any) -> int:
    """Of a folder in the vault."""
    if type(said) is not int or said < 0:
        raise ValueError(f"odd number {said!r}")
    return said


def _receipt(home: TargetPath, number: int, said: dict[str, Any]) -> Receipt:
    if said["format"] != FORMAT:
        raise ValueError(f"it has format {said['format']}, written by another safepip")
    kinds = {kind.value: kind for kind in ItemKind}
    items = tuple([Item(kinds[row[0]], *row[1:]) for row in said["items"]])
    for item in items:
        _check(item)
    return Receipt(
        home,
        number,
        _time(said["time"]),
        tuple(map(str, said["command"])),
        tuple((str(name), str(version)) for name, version in said["leaving"]),
        items,
        tuple(map(str, said["leftovers"])),
        tuple(TargetPath(str(path)) for path in said["unkept"]),
        tuple(map(str, said["unmet"])),
        tuple((str(name), str(version)) for name, version in said.get("arriving", ())),
        complete=bool(said.get("complete", True)),
    )


def _time(said: float) -> float:
    """A moment that a clock can show; `inf` and `nan` are JSON for Python."""
    if not 0 <= said < _LAST_MOMENT:
        raise ValueError(f"odd time {said}")
    return float(said)


def _check(item: Item) -> None:
    """Each field is of its type, and one that the system can be handed."""
    numbers = (item.mode, item.mtime, item.size, item.content, item.successor)
    if any(type(value) is not int or abs(value) >= 1 << 63 for value in numbers) or item.mode & ~0o7777:
        raise ValueError(f"odd item {item.path!r}")
    for text in (item.path, item.goal, item.digest):
        if not isinstance(text, str):
            raise TypeError(f"odd item {item.path!r}")
        if "\0" in text:
            raise ValueError(f"odd item {item.path!r}")
        os.fsencode(text)


def _check_paths(receipt: Receipt) -> None:
    """A manifest reaches nothing outside its home, nor through a link, nor into `.safepip` itself."""
    heads = set()
    for item in receipt.items:
        if item.kind is not ItemKind.PARENT or item.path:
            parts = item.path.split("/")
            if {"", ".", ".."}.intersection(parts) or "\0" in item.path or parts[0] == ".safepip":
                raise DistrustedError(
                    "broken-manifest", f"{receipt.folder}/manifest names {item.path!r}, which is no path"
                )
            heads.add(item.path.rpartition("/")[0])
    for head in heads:
        there = f"{receipt.home}/{head}".rstrip("/")
        if tree.realpath(there) != there:
            raise DistrustedError("path-through-link", f"{there} leads through a link: nothing is restored")
