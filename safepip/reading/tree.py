"""The tree of files that is looked at: this machine's own, or an image's, as chroot(2) would show it.

All of `reading` asks here. Without an image each function is the one of `os` of that name. With one, paths are
those inside it: links are followed by hand, absolute ones from the image's root on, and `..` stops there, so
that nothing outside is ever opened. An image is entered once for a whole command, as a process has one root.
"""

from __future__ import annotations

import errno
import io
import os
import stat as modes
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import IO, Any, BinaryIO, Literal, TextIO, overload

from safepip.errors import SafepipError

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a fifo must not hold us up
_MOST_LINKS = 40  # MAXSYMLINKS of the kernel
IMAGE_ENVIRON = {
    "HOME": "/root",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}  # of a container that says nothing else


class Name:
    """One name of an image's folder, asked as an os.DirEntry is."""

    def __init__(self, name: str, kind: int, path: str, image: _Image) -> None:
        self.name = name
        self._kind = kind
        self._path = path
        self._image = image

    def is_symlink(self) -> bool:
        return modes.S_ISLNK(self._kind)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return modes.S_ISREG(self._mode(follow_symlinks))

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return modes.S_ISDIR(self._mode(follow_symlinks))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._image.stat(self._path) if follow_symlinks else self._image.lstat(self._path)

    def _mode(self, follow: bool) -> int:  # noqa: FBT001
        if not (follow and self.is_symlink()):
            return self._kind
        try:
            return self._image.stat(self._path).st_mode
        except FileNotFoundError:
            return 0


class _Image:
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
                return [Name(one.name, _kind(one), f"{folder.rstrip('/')}/{one.name}", self) for one in found]
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
        return os.open(self._inside(real), _READ | os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.handle)

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


_IMAGE: ContextVar[_Image | None] = ContextVar("image", default=None)


@contextmanager
def entered(root: str | None) -> Iterator[None]:
    """Look at the image unpacked at `root`, or for None at this machine. OSError where that is no folder."""
    image = None if root is None else _Image(root)
    token = _IMAGE.set(image)
    try:
        yield
    finally:
        _IMAGE.reset(token)
        if image is not None:
            os.close(image.handle)


def root() -> str | None:
    """Where the image lies that is looked at; None: this machine."""
    image = _IMAGE.get()
    return None if image is None else image.root


def environ() -> Mapping[str, str]:
    """The variables of a process there; of an image, what its administrator starts with."""
    return os.environ if _IMAGE.get() is None else IMAGE_ENVIRON


def stat(path: str) -> os.stat_result:
    image = _IMAGE.get()
    return os.stat(path) if image is None else image.stat(path)


def lstat(path: str) -> os.stat_result:
    image = _IMAGE.get()
    return os.lstat(path) if image is None else image.lstat(path)


def handle(path: str) -> int:
    """The file opened for reading; a fifo does not hold us up, and a name that no file can have is of none."""
    image = _IMAGE.get()
    try:
        return os.open(path, _READ | os.O_RDONLY) if image is None else image.open(path)
    except ValueError as error:  # a NUL, or what has no encoding
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error


@overload
def open(path: str, mode: Literal["rb"]) -> BinaryIO: ...  # noqa: A001
@overload
def open(path: str, mode: Literal["r"] = "r", encoding: str | None = None) -> TextIO: ...  # noqa: A001
def open(path: str, mode: str = "r", encoding: str | None = None) -> IO[Any]:  # noqa: A001
    """The builtin, for reading, by `handle`."""
    return io.open(path, mode, encoding=encoding, opener=lambda name, _: handle(name))  # noqa: UP020


def readlink(path: str) -> str:
    image = _IMAGE.get()
    return os.readlink(path) if image is None else image.readlink(path)


def scandir(folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str] | Name]]:
    image = _IMAGE.get()
    return os.scandir(folder) if image is None else nullcontext(iter(image.names(folder)))


def listdir(folder: str) -> list[str]:
    image = _IMAGE.get()
    return os.listdir(folder) if image is None else [one.name for one in image.names(folder)]


def walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """os.walk, from the top, links not followed."""
    image = _IMAGE.get()
    if image is None:
        yield from os.walk(folder)
        return
    try:
        names = image.names(folder)
    except OSError:
        return
    inner = [one.name for one in names if one.is_dir()]
    yield folder, inner, [one.name for one in names if not one.is_dir()]
    links = {one.name for one in names if one.is_symlink()}
    for name in inner:
        if name not in links:
            yield from walk(f"{folder}/{name}")


def access(path: str, mode: int) -> bool:
    image = _IMAGE.get()
    if image is None:
        return os.access(path, mode, effective_ids=True)
    try:
        return image.access(path, mode)
    except OSError:
        return False


def realpath(path: str) -> str:
    image = _IMAGE.get()
    return os.path.realpath(path) if image is None else image.realpath(path)


def abspath(path: str) -> str:
    return os.path.abspath(path) if _IMAGE.get() is None else os.path.normpath(os.path.join("/", path))


def getcwd() -> str:
    try:
        return os.getcwd() if _IMAGE.get() is None else "/"
    except FileNotFoundError as error:
        said = "the working folder no longer exists; nothing was touched"
        raise SafepipError("no-working-folder", said, "cd elsewhere.") from error


def expanduser(path: str) -> str:
    if _IMAGE.get() is None:
        return os.path.expanduser(path)
    return IMAGE_ENVIRON["HOME"] + path[1:] if path == "~" or path.startswith("~/") else path


def exists(path: str) -> bool:
    return bool(_mode(path, stat))


def lexists(path: str) -> bool:
    return bool(_mode(path, lstat))


def isdir(path: str) -> bool:
    return modes.S_ISDIR(_mode(path, stat))


def isfile(path: str) -> bool:
    return modes.S_ISREG(_mode(path, stat))


def islink(path: str) -> bool:
    return modes.S_ISLNK(_mode(path, lstat))


def _mode(path: str, ask: Callable[[str], os.stat_result]) -> int:
    try:
        return ask(path).st_mode
    except (OSError, ValueError):
        return 0


def _kind(entry: os.DirEntry[str]) -> int:
    """From the folder itself, without asking for each name (d_type)."""
    if entry.is_symlink():
        return modes.S_IFLNK
    if entry.is_dir(follow_symlinks=False):
        return modes.S_IFDIR
    return modes.S_IFREG if entry.is_file(follow_symlinks=False) else modes.S_IFIFO
