"""What has become of a snapshot, and the change that can be undone that is made of it."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator

from safepip.acting import files, vault
from safepip.model.paths import TargetPath
from safepip.model.receipt import DIGESTED, Item, ItemKind, Receipt
from safepip.model.snapshot import Difference, Seen, Snapshot
from safepip.watch import OWN


def compare(snapshot: Snapshot) -> Difference:
    """What is there now against what was. A folder whose time is the same has the same names in it."""
    found = Difference()
    inside: dict[str, list[str]] = {}
    for path in snapshot.seen:
        if path:
            inside.setdefault(path.rpartition("/")[0], []).append(path)
    for path in snapshot.seen:
        if path in snapshot.looked:
            _compare_folder(snapshot, path, inside.get(path, []), found)
    return found


def seal(snapshot: Snapshot, difference: Difference, *, complete: bool) -> Receipt:
    """Make a change of it that can be undone; the second names of what is as it was are let go."""
    lost = tuple(
        TargetPath(f"{snapshot.home}/{path}")
        for path in (*difference.gone, *difference.altered)
        if not _is_kept(snapshot, path)
    )
    receipt = Receipt(
        snapshot.home,
        snapshot.number,
        time.time(),
        snapshot.command,
        _distributions((*difference.gone_folders, *_renewed(difference))),
        tuple(_items(snapshot, difference)),
        unkept=lost,
        arriving=_distributions((*difference.fresh_folders, *_renewed(difference))),
        complete=complete,
    )
    vault.write_manifest(receipt)
    wanted = {str(number) for item in receipt.items for number in (item.content, item.successor)}
    for name in os.listdir(snapshot.folder):
        if name not in wanted and name != "manifest":
            files.unlink(f"{snapshot.folder}/{name}")
    return receipt


def _compare_folder(snapshot: Snapshot, path: str, inside: list[str], found: Difference) -> None:
    home, seen, was = snapshot.home, snapshot.seen, snapshot.seen[path]
    status = _folder_status(f"{home}/{path}")
    if status is None or path.rpartition("/")[0] in found.gone_folders:
        found.gone_folders[path] = None
        found.gone += [inner for inner in inside if seen[inner].kind != "d"]
        return
    if (status.st_mtime_ns, status.st_ino) == (was.mtime, was.inode):
        files_there = [inner for inner in inside if seen[inner].kind == "f"]
        found.altered += [inner for inner in files_there if _is_other(home, inner, seen[inner])]
        return
    found.touched.append(path)
    with os.scandir(f"{home}/{path}") as entries:
        names = {entry.name: entry for entry in entries}
    for inner in inside:
        old, entry = seen[inner], names.get(inner.rpartition("/")[2])
        if (
            entry is not None
            and _kind(entry) == old.kind
            and (old.kind != "l" or _leads_as_before(entry, old))
        ):
            del names[entry.name]
            if old.kind == "f" and _is_other(home, inner, old):
                found.altered.append(inner)
        elif old.kind != "d":  # a folder that is gone tells so itself
            found.gone.append(inner)
    for name, entry in names.items():
        inner = f"{path}/{name}" if path else name
        if inner != OWN:
            _add_fresh(entry, inner, found)


def _folder_status(path: str) -> os.stat_result | None:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status if stat.S_ISDIR(status.st_mode) else None


def _kind(entry: os.DirEntry[str]) -> str:
    """As in `Seen`; "" for what is none of these: a socket, a device."""
    if entry.is_symlink():
        return "l"
    if entry.is_dir(follow_symlinks=False):
        return "d"
    return "f" if entry.is_file(follow_symlinks=False) else ""


def _leads_as_before(entry: os.DirEntry[str], was: Seen) -> bool:
    status = entry.stat(follow_symlinks=False)
    return (os.readlink(entry.path), status.st_mtime_ns) == (was.goal, was.mtime)


def _is_other(home: str, path: str, was: Seen) -> bool:
    status = os.lstat(f"{home}/{path}")
    mode = stat.S_IMODE(status.st_mode)
    there = (status.st_ino, status.st_mtime_ns, status.st_size, mode)
    return there != (was.inode, was.mtime, was.size, was.mode)


def _add_fresh(entry: os.DirEntry[str], path: str, found: Difference) -> None:
    if not entry.is_dir(follow_symlinks=False):
        if _kind(entry):
            found.fresh.append(path)
        return
    found.fresh_folders.append(path)
    with os.scandir(entry.path) as entries:
        for inner in entries:
            _add_fresh(inner, f"{path}/{inner.name}", found)


def _items(snapshot: Snapshot, difference: Difference) -> Iterator[Item]:
    """As the vault keeps a change: what went, what has other bytes, what came, and the folders' times."""
    seen, home = snapshot.seen, snapshot.home
    count = max((int(name) for name in os.listdir(snapshot.folder) if name.isdecimal()), default=-1) + 1
    for path in difference.gone_folders:
        yield _item(ItemKind.FOLDER, path, seen[path])
    for path in difference.gone:
        if seen[path].kind == "l":
            yield _item(ItemKind.LINK, path, seen[path])._replace(goal=seen[path].goal)
        elif _is_kept(snapshot, path):
            yield _content(snapshot, _item(ItemKind.FILE, path, seen[path]))
    for path in difference.touched:
        if path:
            yield _item(ItemKind.PARENT, path, seen[path])
    for path in difference.altered:
        if _is_kept(snapshot, path):
            files.link(f"{home}/{path}", f"{snapshot.folder}/{count}")
            yield _content(snapshot, _item(ItemKind.CHANGED, path, seen[path]))._replace(successor=count)
            count += 1
    for path in difference.fresh_folders:
        yield _item(ItemKind.ARRIVED_FOLDER, path, _now("d", f"{home}/{path}"))
    for path in difference.fresh:
        status = os.lstat(f"{home}/{path}")
        if stat.S_ISLNK(status.st_mode):
            now = _now("l", f"{home}/{path}")
            yield _item(ItemKind.ARRIVED, path, now)._replace(goal=os.readlink(f"{home}/{path}"))
        else:
            files.link(f"{home}/{path}", f"{snapshot.folder}/{count}")
            yield _item(ItemKind.ARRIVED, path, _now("f", f"{home}/{path}"))._replace(content=count)
            count += 1


def _is_kept(snapshot: Snapshot, path: str) -> bool:
    """By a second name under which nobody has written into it since."""
    was, number = snapshot.seen[path], snapshot.kept.get(path)
    if was.kind != "f":
        return True
    if number is None:
        return False
    try:
        status = os.lstat(f"{snapshot.folder}/{number}")
    except FileNotFoundError:
        return False
    return status.st_size == was.size and (not was.size or status.st_mtime_ns == was.mtime)


def _content(snapshot: Snapshot, item: Item) -> Item:
    number = snapshot.kept[item.path]
    digest = ""
    if item.size <= DIGESTED:
        with open(f"{snapshot.folder}/{number}", "rb") as stream:
            digest = hashlib.sha256(stream.read()).hexdigest()
    return item._replace(content=number, digest=digest)


def _distributions(folders: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Names and versions, as the names of metadata folders have them."""
    infos = [folder.rpartition("/")[2] for folder in folders if folder.endswith((".dist-info", ".egg-info"))]
    parts = [info.rpartition(".")[0].split("-") for info in infos if not info.startswith("~")]
    return tuple(dict.fromkeys((name, rest[0] if rest else "") for name, *rest in parts))


def _renewed(difference: Difference) -> list[str]:
    """Metadata folders of the same version, laid down once more."""
    return [path.rpartition("/")[0] for path in difference.altered if path.endswith("/RECORD")]


def _now(kind: str, path: str) -> Seen:
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    return Seen(kind, mode, status.st_mtime_ns, status.st_size, status.st_ino)


def _item(kind: ItemKind, path: str, was: Seen) -> Item:
    return Item(kind, path, was.mode, was.mtime, was.size)
