"""From a list of paths to what is moved: whole folders where every file below is on the list.

Source: pip's req/req_uninstall.py, `compress_for_rename`, `compact`, `StashedUninstallPathSet.stash`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from safepip.model.paths import TargetPath
from safepip.world import Kind, World

MOST_BYTES = 4095  # of a path: Linux's PATH_MAX, its NUL apart


class Moved(NamedTuple):
    files: frozenset[TargetPath]  # and links, those in `folders` too
    folders: frozenset[TargetPath]  # whole, the topmost ones
    stuck: TargetPath | None = None  # what cannot be moved and ends pip with an error
    emptied: frozenset[TargetPath] = frozenset()  # what goes from below `stuck` all the same


def move(candidates: Collection[TargetPath], world: World) -> Moved:
    """Take the candidates away in pip's order, up to one that cannot be moved."""
    remaining, whole = _compressed(candidates, world)
    files: set[TargetPath] = set()
    folders: set[TargetPath] = set()
    for path in sorted(_compact(remaining.union(TargetPath(f"{folder}/") for folder in whole))):
        real = TargetPath(path.rstrip("/"))
        is_folder = real in whole or world.kind(real) is Kind.FOLDER
        if not _is_movable(real, world):
            emptied = frozenset(_emptied(real, world)) if is_folder else frozenset()
            return Moved(frozenset(files), frozenset(folders), path, emptied)
        if is_folder:
            folders.add(real)
            files.update(whole[real] if real in whole else _below(real, None, world) or ())
        else:
            files.add(real)
    return Moved(frozenset(files), frozenset(folders))


def locked(folder: TargetPath, world: World) -> Iterator[TargetPath]:
    """`folder` and folders below that cannot be emptied."""
    pending = [folder]
    while pending:
        here = pending.pop()
        if not world.writable(here):
            yield here
        pending += [
            TargetPath(f"{here}/{one.name}") for one in world.entries(here) if one.kind is Kind.FOLDER
        ]


def topmost(folders: Iterable[TargetPath]) -> list[TargetPath]:
    """`folders` without those that lie in another of them, sorted."""
    return sorted(_compact(folders))


def lies_in(path: str, folders: Collection[str]) -> bool:
    """Is `path`, or a folder above it, one of `folders`?"""
    while path not in folders:
        if not path:
            return False
        path = path.rpartition("/")[0]
    return True


def _compressed(
    candidates: Collection[TargetPath], world: World
) -> tuple[set[TargetPath], dict[str, list[TargetPath]]]:
    """What stays on the list by itself, and the folders that go whole with what lies in them."""
    remaining = set(candidates)
    whole: dict[str, list[TargetPath]] = {}
    for folder in sorted({path.rpartition("/")[0] for path in candidates}, key=len):
        if not lies_in(folder, whole):
            below = _below(folder, remaining, world)
            if below is not None:
                remaining.difference_update(below)
                whole[folder] = below
    return remaining, whole


def _is_movable(path: TargetPath, world: World) -> bool:
    """shutil.move: "Cannot move a directory into itself", or no right to take the name out of its folder."""
    folder, _, name = path.rpartition("/")
    return name not in {"", ".", ".."} and world.writable(TargetPath(folder or "/"))


def _emptied(folder: TargetPath, world: World) -> list[TargetPath]:
    """shutil.move copies a folder that it cannot rename, then empties it, and fails at its own name only."""
    if folder.rpartition("/")[2] in {"", ".", ".."}:
        return []
    inner = [
        TargetPath(f"{folder}/{entry.name}") for entry in world.entries(folder) if entry.kind is Kind.FOLDER
    ]
    if not all(world.writable(one) for one in (folder, *inner)):
        return []
    return [*(_below(folder, None, world) or ()), *inner]


def _below(folder: str, known: Collection[TargetPath] | None, world: World) -> list[TargetPath] | None:
    """All that is no folder below `folder`; None at the first that os.walk calls a file and is not `known`.

    Links to folders are no files for os.walk: nobody asks whether they are known. Neither does it see what lies so
    deep that no call takes its path; shutil.rmtree, which goes step by step, deletes that, and the folder stands for it.
    """
    found = []
    pending = [folder]
    while pending:
        here = pending.pop()
        for name, kind, is_folder in world.entries(TargetPath(here or "/")):
            path = TargetPath(f"{here}/{name}")
            if kind is Kind.FOLDER and _has_no_path_inside(path):
                found.append(path)
            elif kind is Kind.FOLDER:
                pending.append(path)
            elif is_folder or known is None or path in known:
                found.append(path)
            else:
                return None
    return found


def _has_no_path_inside(folder: str) -> bool:
    return len(folder) > MOST_BYTES // 4 and len(folder.encode("utf-8", "surrogateescape")) > MOST_BYTES


def _compact(paths: Iterable[TargetPath]) -> set[TargetPath]:
    """Paths that lie below no other of them."""
    kept: dict[str, TargetPath] = {}
    for path in sorted(paths, key=len):
        plain = path.rstrip("/")
        if not lies_in(plain, kept):
            kept[plain] = path
    return set(kept.values())
