"""A tree as it would be with some files in it and others gone: nothing is copied, the bytes lie elsewhere meanwhile.

For looking at what taking a change back would lead to, by the same readers as at what is there.
"""

from __future__ import annotations

import errno
import os
import stat as modes
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from safepip.reading.image import READ, Image, Name, kind_of


class Layers(NamedTuple):
    """By real path."""

    files: Mapping[str, str]  # where the bytes of each lie
    links: Mapping[str, str]  # where each leads
    folders: Collection[str]
    gone: frozenset[str]  # files, links and folders, unless they are named before


class Machine:
    """The tree of the machine itself, asked as an image is."""

    root = None

    def stat(self, path: str) -> os.stat_result:
        return os.stat(path)

    def lstat(self, path: str) -> os.stat_result:
        return os.lstat(path)

    def readlink(self, path: str) -> str:
        return os.readlink(path)

    def realpath(self, path: str) -> str:
        return os.path.realpath(path)

    def open(self, path: str) -> int:
        return os.open(path, READ | os.O_RDONLY)

    def access(self, path: str, mode: int) -> bool:
        return os.access(path, mode, effective_ids=True)

    def names(self, folder: str) -> list[Name]:
        with os.scandir(folder) as found:
            return [Name(one.name, kind_of(one), f"{folder.rstrip('/')}/{one.name}", self) for one in found]


class Layer:
    """`base` under `layers`."""

    def __init__(self, base: Image | Machine, layers: Layers) -> None:
        self._base = base
        self._layers = layers
        self._real = dict[str, str]()  # of folders
        self._below = dict[str, bool]()  # whether a folder is gone
        self._inside: dict[str, dict[str, int]] = {}
        for kind, paths in (
            (modes.S_IFDIR, layers.folders),
            (modes.S_IFREG, layers.files),
            (modes.S_IFLNK, layers.links),
        ):
            for path in paths:
                self._enter(path, kind)

    @property
    def root(self) -> str | None:
        return self._base.root

    def stat(self, path: str) -> os.stat_result:
        found = self.lstat(path)
        return self.lstat(self.realpath(path)) if modes.S_ISLNK(found.st_mode) else found

    def lstat(self, path: str) -> os.stat_result:
        place = self._place(path)
        if place in self._layers.files:
            return self._base.lstat(self._layers.files[place])
        if place in self._layers.links:
            return _status(modes.S_IFLNK, place)
        if self._is_gone(place):
            if place in self._inside:
                return _status(modes.S_IFDIR, place)
            raise _missing(path)
        try:
            return self._base.lstat(place)
        except FileNotFoundError:
            if place in self._inside:
                return _status(modes.S_IFDIR, place)
            raise

    def open(self, path: str) -> int:
        place = self.realpath(path)
        if place in self._layers.files:
            return self._base.open(self._layers.files[place])
        if self._is_gone(place):
            raise _missing(path)
        return self._base.open(place)

    def readlink(self, path: str) -> str:
        place = self._place(path)
        if self._is_gone(place) and place not in self._layers.links:
            raise _missing(path)
        return self._layers.links.get(place) or self._base.readlink(place)

    def names(self, folder: str) -> list[Name]:
        place = self.realpath(folder)
        added = self._inside.get(place)
        if added is None and self._is_gone(place):
            raise _missing(folder)
        try:
            there = [] if self._is_gone(place) else self._base.names(place)
        except FileNotFoundError:
            if added is None:
                raise
            there = []
        added, place = added or {}, place.rstrip("/")
        kept = {
            one.name: one.kind
            for one in there
            if one.name not in added and not self._is_gone(f"{place}/{one.name}")
        }
        return [Name(name, kind, f"{place}/{name}", self) for name, kind in {**kept, **added}.items()]

    def realpath(self, path: str) -> str:
        place = self._place(path)
        if place in self._layers.links:
            goal = os.path.join(place.rpartition("/")[0], self._layers.links[place])
            return self._base.realpath(goal)
        return place if place in self._layers.files or place in self._inside else self._base.realpath(place)

    def access(self, path: str, mode: int) -> bool:
        return self._base.access(self.realpath(path), mode)

    def _place(self, path: str) -> str:
        """`path` with the links of its folder resolved, and not its own."""
        folder, _, name = path.rpartition("/")
        if name in {"", ".", ".."}:
            return self._base.realpath(path)
        if folder not in self._real:
            self._real[folder] = self._base.realpath(folder or "/").rstrip("/")
        return f"{self._real[folder]}/{name}"

    def _is_gone(self, place: str) -> bool:
        folder = place.rpartition("/")[0]
        if folder not in self._below:
            self._below[folder] = any(step in self._layers.gone for step in _upwards(folder))
        return self._below[folder] or place in self._layers.gone

    def _enter(self, path: str, kind: int) -> None:
        """Note `path` in the folder that it lies in, and each folder above it that is not there."""
        if kind == modes.S_IFDIR:
            self._inside.setdefault(path, {})
        while path.count("/") > 1:
            folder, _, name = path.rpartition("/")
            known = folder in self._inside
            self._inside.setdefault(folder, {})[name] = kind
            if known:
                return
            path, kind = folder, modes.S_IFDIR


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _status(kind: int, place: str) -> os.stat_result:
    """Of what nobody has made yet."""
    return os.stat_result((kind | 0o755, hash(place), *[0] * 8))


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
