"""The vault: what goes is kept by a second name for each file, which costs neither time nor space.

A folder for each change lies in PREFIX/.safepip/vault: the contents under numbers, which nothing imports or
runs, readable by the owner alone, and a manifest that says what they were. The manifest is written last and
goes first: a folder without one is worth nothing, and the next run clears it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from safepip.acting import files
from safepip.errors import SafepipError
from safepip.model.change import Edit, Removal
from safepip.model.paths import TargetPath
from safepip.model.policy import Bounds
from safepip.model.receipt import DIGESTED, LAST, Held, Item, ItemKind, Receipt

_SECOND = 10**9
COPIED = 512 << 20  # bytes at most, where no hard links can be made


class NotKeptError(SafepipError):
    """The change could not be kept; nothing has happened yet."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be kept of a change before it happens."""

    removal: Removal
    number: int
    command: tuple[str, ...]
    leftovers: tuple[str, ...] = ()
    replaced: Mapping[TargetPath, str] = field(default_factory=dict)  # by the bytes of a file of ours
    unmet: tuple[str, ...] = ()  # see `Receipt`


def make_room(home: TargetPath) -> str:
    """PREFIX/.safepip with a vault in it; made where it is not there. Settings lie in the room: whoever may look at
    the environment may read them; what is kept is the owner's alone.
    """
    room = f"{home}/.safepip"
    with suppress(FileExistsError):
        files.mkdir(room)
        files.chmod(room, 0o755)
    with suppress(FileExistsError):
        files.mkdir(f"{room}/vault")
    return room


def bring(staged: Mapping[TargetPath, str], home: TargetPath) -> dict[TargetPath, str]:
    """Files that are to take others' places, copied onto the file system of the vault."""
    clear_stage(home)
    stage = f"{home}/.safepip/stage"
    files.mkdir(stage)
    near = {path: f"{stage}/{number}" for number, path in enumerate(staged)}
    for path, source in staged.items():
        files.copy(source, near[path])
        _tell_apart(near[path], path)
    return near


def _tell_apart(copy: str, path: TargetPath) -> None:
    """Byte code knows its source by second and size (importlib's `_validate_timestamp_pyc`): one of the same second
    as the file whose place it takes would be served by that file's.
    """
    try:
        there = os.lstat(path).st_mtime_ns
    except OSError:
        return
    brought = os.lstat(copy).st_mtime_ns
    if brought // _SECOND == there // _SECOND:
        files.set_mtime(copy, brought - _SECOND)


def clear_stage(home: TargetPath) -> None:
    files.clear(f"{home}/.safepip/stage")


def keep(plan: Plan, home: TargetPath) -> Receipt:
    """Keep all that goes. Where that fails nothing is left behind."""
    folder = f"{home}/.safepip/vault/{plan.number}"
    files.mkdir(folder)
    try:
        receipt = _Keeper(plan, home, folder).receipt()
        write_manifest(receipt)
    except OSError as error:
        files.clear(folder)
        raise NotKeptError(
            "not-kept", f"what goes cannot be kept: {error.strerror} ({error.filename or folder})"
        ) from error
    except NotKeptError:
        files.clear(folder)
        raise
    return receipt


def write_manifest(receipt: Receipt) -> None:
    """From here on the folder counts, and its number is given to no other change, whatever becomes of this one."""
    files.write_over(f"{receipt.home}/.safepip/{LAST}", str(receipt.id).encode())
    files.write(f"{receipt.folder}/manifest.new", _dump(receipt))
    files.rename(f"{receipt.folder}/manifest.new", f"{receipt.folder}/manifest")
    files.sync_folder(receipt.folder)


def drop(home: TargetPath, number: int) -> None:
    files.clear(f"{home}/.safepip/vault/{number}")


def bound(home: TargetPath, held: Sequence[Held], bounds: Bounds, *, spared: int = 0) -> None:
    """Let go of what is too old, too many or too much, the oldest of `held` first; never of the change `spared`."""
    youngest = 0.0 if bounds.days is None else time.time() - bounds.days * 86_400
    staying = [one for one in held if one.receipt.time >= youngest]
    staying = staying[max(0, len(staying) - bounds.changes) :]
    while sum(one.bytes for one in staying) > bounds.bytes:
        staying.pop(0)
    for one in held:
        if one not in staying and one.receipt.id != spared:
            drop(home, one.receipt.id)


class _Keeper:
    """Collects the items of one receipt; each content gets the next number."""

    def __init__(self, plan: Plan, home: TargetPath, folder: str) -> None:
        self._plan = plan
        self._home = home
        self._folder = folder
        self._count = 0
        self._copied = 0

    def receipt(self) -> Receipt:
        removal = self._plan.removal
        inside = f"{self._home}/"
        items = [self._going(path) for path in removal.files if path.startswith(inside)]
        folders = list(_folders_below(folder for folder in removal.folders if folder.startswith(inside)))
        items += [self._item(ItemKind.FOLDER, path, os.lstat(path)) for path in folders]
        items += [
            self._edited(file, edits) for file, edits in _by_file(removal.edits) if os.path.isfile(file)
        ]
        items += [self._replaced(path, source) for path, source in self._plan.replaced.items()]
        items += self._parents(items, frozenset(folders))
        return Receipt(
            self._home,
            self._plan.number,
            time.time(),
            self._plan.command,
            tuple((dist.name, dist.version) for dist in removal.leaving),
            tuple(items),
            self._plan.leftovers,
            tuple(path for path in removal.files if not path.startswith(inside)),
            self._plan.unmet,
        )

    def _going(self, path: TargetPath) -> Item:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return self._item(ItemKind.LINK, path, status)._replace(goal=os.readlink(path))
        return self._content(self._item(ItemKind.FILE, path, status), self._linked(path, status.st_size))

    def _edited(self, file: TargetPath, edits: Sequence[Edit]) -> Item:
        """A copy, because pip writes into the file itself, whatever names it has."""
        with open(file, "rb") as stream:
            data = stream.read()
        old = self._next()
        files.copy(file, self._path(old))
        new = self._next()
        files.write(self._path(new), without_lines(data, edits))
        files.chmod(self._path(new), os.lstat(file).st_mode & 0o7777)
        return self._content(self._item(ItemKind.CHANGED, file, os.lstat(file)), old)._replace(successor=new)

    def _replaced(self, path: TargetPath, source: str) -> Item:
        status = os.lstat(path)
        old = self._linked(path, status.st_size)
        new = self._next()
        files.rename(source, self._path(new))
        files.chmod(self._path(new), status.st_mode & 0o7777)
        return self._content(self._item(ItemKind.CHANGED, path, status), old)._replace(successor=new)

    def _parents(self, items: Iterable[Item], going: frozenset[str]) -> Iterator[Item]:
        parents = {item.path.rpartition("/")[0] for item in items}
        for parent in sorted(parents):
            path = f"{self._home}/{parent}".rstrip("/")
            if path not in going and parent:
                yield self._item(ItemKind.PARENT, path, os.lstat(path))

    def _item(self, kind: ItemKind, path: str, status: os.stat_result) -> Item:
        relative = path[len(self._home) + 1 :]
        return Item(kind, relative, stat.S_IMODE(status.st_mode), status.st_mtime_ns, status.st_size)

    def _content(self, item: Item, number: int) -> Item:
        digest = ""
        if item.size <= DIGESTED:
            with open(self._path(number), "rb") as stream:
                digest = hashlib.sha256(stream.read()).hexdigest()
        return item._replace(content=number, digest=digest)

    def _linked(self, path: TargetPath, size: int) -> int:
        number = self._next()
        try:
            files.link(path, self._path(number))
        except OSError as error:
            if error.errno not in files.NO_LINKS:
                raise
            self._copied += size
            if self._copied > COPIED:
                raise NotKeptError(
                    "not-kept", f"no hard links can be made in {self._home}, and it is too much to copy"
                ) from error
            files.copy(path, self._path(number))
        return number

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def _path(self, number: int) -> str:
        return f"{self._folder}/{number}"


def without_lines(data: bytes, edits: Sequence[Edit]) -> bytes:
    """What pip leaves of a `.pth` file (req/req_uninstall.py, `UninstallPthEntries.remove`)."""
    lines = io.BytesIO(data).readlines()  # at newlines alone
    end = b"\r\n" if any(b"\r\n" in line for line in lines) else b"\n"
    if lines and not lines[-1].endswith(end):
        lines[-1] += end
    for edit in edits:
        line = edit.line.encode("utf-8", "surrogateescape") + end
        if line in lines:
            lines.remove(line)
    return b"".join(lines)


def _by_file(edits: Sequence[Edit]) -> Iterator[tuple[TargetPath, list[Edit]]]:
    for file in dict.fromkeys(edit.file for edit in edits):
        yield file, [edit for edit in edits if edit.file == file]


def _folders_below(tops: Iterable[str]) -> Iterator[str]:
    """`tops` and every folder in them, the outer ones first."""
    pending = list(tops)
    while pending:
        folder = pending.pop()
        yield folder
        with os.scandir(folder) as entries:
            pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _dump(receipt: Receipt) -> bytes:
    return json.dumps(
        {
            "format": 2,
            "time": receipt.time,
            "command": receipt.command,
            "leaving": receipt.leaving,
            "leftovers": receipt.leftovers,
            "unkept": receipt.unkept,
            "unmet": receipt.unmet,
            "arriving": receipt.arriving,
            "complete": receipt.complete,
            "items": [(item.kind.value, *item[1:]) for item in receipt.items],
        }
    ).encode()
