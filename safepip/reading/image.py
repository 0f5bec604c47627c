"""A folder taken for the root, as chroot(2) would show it: links are followed by hand and none leads out."""

from __future__ import annotations

import errno
import os
import stat as modes
from typing import Protocol

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a fifo must not hold us up
_MOST_LINKS = 40  # MAXSYMLINKS of the kernel


class Asked(Protocol):
    """Who answers for a name."""

    def stat(self, path: str) -> os.stat_result: ...
    def lstat(self, path: str) -> os.stat_result: ...


class Name:
    """One name of a folder, asked as an os.DirEntry is."""

    def __init__(self, name: str, kind: int, path: str, asked: Asked) -> None:
        self.name = name
        self.kind = kind
        self._path = path
        self._asked = asked

    def is_symlink(self) -> bool:
        return modes.S_ISLNK(self.kind)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return modes.S_ISREG(self._mode(follow_symlinks))

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return modes.S_ISDIR(self._mode(follow_symlinks))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._asked.stat(self._path) if follow_symlinks else self._asked.lstat(self._path)

    def _mode(self, follow: bool) -> int:  # noqa: FBT001
        if not (follow and self.is_symlink()):
            return self.kind
        try:
            return self._asked.stat(self._path).st_mode
        except FileNotFoundError:
            return 0


class Image:
    """A folder taken for the root. Paths are resolved here, each folder once, and handed to the kernel without links."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._real = {"": "", "/": ""}

    def stat(self, path: str) -> os.stat_result:
        found = self.lstat(path)
        return self._lstat(self._resolved(path)) if modes.S_ISLNK(found.st_mode) else found

    def lstat(self, path: str) -> os.stat_result:
        if path.endswith(("/", "/.", "/..")):  # the kernel follows a link there
            return self._lstat(f"{self._resolved(path)}/")
        folder, _, name = path.rpartition("/")
        return self._lstat(f"{self._resolved(folder)}/{name}")

    def open(self, path: str) -> int:
        folder, _, name = path.rpartition("/")
        try:
            return self._open(f"{self._resolved(folder)}/{name}")
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        return self._open(self._resolved(path))

    def readlink(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        return os.readlink(self._inside(f"{self._resolved(folder)}/{name}"), dir_fd=self.handle)

    def names(self, folder: str) -> list[Name]:
        handle = self._open(self._resolved(folder))
        try:
            with os.scandir(handle) as found:
                return [
                    Name(one.name, kind_of(one), f"{folder.rstrip('/')}/{one.name}", self) for one in found
                ]
        finally:
            os.close(handle)

    def realpath(self, path: str) -> str:
        """As os.path.realpath has it: missing parts are taken literally, and so is a loop."""
        try:
            return self._resolved(path) or "/"
        except OSError:
            return os.path.normpath(f"/{path}")

    def access(self, path: str, mode: int) -> bool:
        return os.access(self._inside(self._resolved(path)), mode, dir_fd=self.handle, effective_ids=True)

    def _lstat(self, real: str) -> os.stat_result:
        return os.stat(self._inside(real), dir_fd=self.handle, follow_symlinks=False)

    def _open(self, real: str) -> int:
        return os.open(self._inside(real), READ | os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.handle)

    def _inside(self, real: str) -> str:
        """Relative to the image's own folder: its length is none of the path's."""
        return real.lstrip("/") or "."

    def _resolved(self, path: str, links: int = 0) -> str:
        """`path` without links, "" for the root; what is not there is taken literally."""
        pending = []
        while path not in self._real:
            pending.append(path)
            path = path.rpartition("/")[0]
        for longer in reversed(pending):
            self._real[longer] = self._step(self._real[path], longer.rpartition("/")[2], links)
            path = longer
        return self._real[path]

    def _step(self, folder: str, name: str, links: int) -> str:
        if name in {"", "."}:
            return folder
        if name == "..":
            if not modes.S_ISDIR(self._lstat(folder).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
            return folder.rpartition("/")[0]
        here = f"{folder}/{name}"
        try:
            goal = os.readlink(self._inside(here), dir_fd=self.handle)
        except (OSError, ValueError):  # no link, or nothing there
            return here
        if links == _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), here)
        return self._resolved(os.path.join(folder or "/", goal), links + 1)


def kind_of(entry: os.DirEntry[str]) -> int:
    """From the folder itself, without asking for each name (d_type)."""
    if entry.is_symlink():
        return modes.S_IFLNK
    if entry.is_dir(follow_symlinks=False):
        return modes.S_IFDIR
    return modes.S_IFREG if entry.is_file(follow_symlinks=False) else modes.S_IFIFO
