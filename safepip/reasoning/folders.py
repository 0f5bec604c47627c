"""From a list of paths to what is moved: whole folders where every file below is on the list.

Source: pip's req/req_uninstall.py, `compress_for_rename`, `compact`, `StashedUninstallPathSet.stash`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from safepip.model.paths import TargetPath
from safepip.world import Entry, Kind, World


class Moved(NamedTuple):
    files: frozenset[TargetPath]  # and links, those in `folders` too
    folders: frozenset[TargetPath]  # whole, the topmost ones
    stuck: TargetPath | None = None  # what cannot be moved and ends pip with an error


def move(candidates: Collection[TargetPath], world: World) -> Moved:
    """Take the candidates away in pip's order, up to one that is its own parent."""
    files: set[TargetPath] = set()
    folders: set[TargetPath] = set()
    for path in sorted(_compact(_compressed(candidates, world))):
        real = TargetPath(path.rstrip("/"))
        if real.rpartition("/")[2] in {"", ".", ".."}:  # shutil.move: "Cannot move a directory into itself"
            return Moved(frozenset(files), frozenset(folders), path)
        if world.kind(real) is Kind.FOLDER:
            folders.add(real)
            files.update(_below(real, world))
        else:
            files.add(real)
    return Moved(frozenset(files), frozenset(folders))


def topmost(folders: Iterable[TargetPath]) -> list[TargetPath]:
    """`folders` without those that lie in another of them, sorted."""
    return sorted(_compact(folders))


def _compressed(candidates: Collection[TargetPath], world: World) -> set[TargetPath]:
    remaining = set(candidates)
    whole: set[str] = set()
    for folder in sorted({path.rpartition("/")[0] for path in candidates}, key=len):
        if _lies_in(folder, whole):
            continue
        files = _files_if_all_in(remaining, folder, world)
        if files is not None:
            remaining.difference_update(files)
            whole.add(folder)
    return remaining.union(TargetPath(f"{folder}/") for folder in whole)


def _files_if_all_in(remaining: Collection[TargetPath], folder: str, world: World) -> list[TargetPath] | None:
    """The files that os.walk lists below; None at the first that is not in `remaining`."""
    files = []
    for here, entry in _walk(folder, world):
        if not entry.folder:
            path = TargetPath(f"{here}/{entry.name}")
            if path not in remaining:
                return None
            files.append(path)
    return files


def _below(folder: TargetPath, world: World) -> Iterator[TargetPath]:
    """Everything below that is no folder: links to folders too, which os.walk does not call files."""
    for here, entry in _walk(folder, world):
        if entry.kind is not Kind.FOLDER:
            yield TargetPath(f"{here}/{entry.name}")


def _walk(folder: str, world: World) -> Iterator[tuple[str, Entry]]:
    """Each folder's files before its folders, so that a foreign file is met early."""
    pending = [folder]
    while pending:
        here = pending.pop()
        for entry in world.entries(TargetPath(here or "/")):
            yield here, entry
            if entry.kind is Kind.FOLDER:
                pending.append(f"{here}/{entry.name}")


def _compact(paths: Iterable[TargetPath]) -> set[TargetPath]:
    """Paths that lie below no other of them."""
    kept: dict[str, TargetPath] = {}
    for path in sorted(paths, key=len):
        plain = path.rstrip("/")
        if not _lies_in(plain, kept):
            kept[plain] = path
    return set(kept.values())


def _lies_in(path: str, folders: Collection[str]) -> bool:
    """Is `path`, or a folder above it, one of `folders`?"""
    while path not in folders:
        if not path:
            return False
        path = path.rpartition("/")[0]
    return True
