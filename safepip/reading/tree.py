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
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, TextIO, overload

from safepip.errors import SafepipError
from safepip.reading.image import READ, Image, Name

if TYPE_CHECKING:
    from safepip.reading.layer import Layer, Layers

IMAGE_ENVIRON = {
    "HOME": "/root",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}  # of a container that says nothing else


_IMAGE: ContextVar[Image | Layer | None] = ContextVar("image", default=None)


@contextmanager
def entered(root: str | None) -> Iterator[None]:
    """Look at the image unpacked at `root`, or for None at this machine. OSError where that is no folder."""
    image = None if root is None else Image(root)
    token = _IMAGE.set(image)
    try:
        yield
    finally:
        _IMAGE.reset(token)
        if image is not None:
            os.close(image.handle)


@contextmanager
def under(layers: Layers) -> Iterator[None]:
    """Look at the tree as it would be under `layers`."""
    from safepip.reading.layer import Layer, Machine

    base = _IMAGE.get()
    token = _IMAGE.set(Layer(base if isinstance(base, Image) else Machine(), layers))
    try:
        yield
    finally:
        _IMAGE.reset(token)


def is_imagined() -> bool:
    """Whether what is looked at is nowhere yet: then nothing that is found out may be kept."""
    image = _IMAGE.get()
    return image is not None and not isinstance(image, Image)


def root() -> str | None:
    """Where the image lies that is looked at; None: this machine."""
    image = _IMAGE.get()
    return None if image is None else image.root


def environ() -> Mapping[str, str]:
    """The variables of a process there; of an image, what its administrator starts with."""
    return os.environ if root() is None else IMAGE_ENVIRON


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
        return os.open(path, READ | os.O_RDONLY) if image is None else image.open(path)
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
    return os.path.abspath(path) if root() is None else os.path.normpath(os.path.join("/", path))


def getcwd() -> str:
    try:
        return os.getcwd() if root() is None else "/"
    except FileNotFoundError as error:
        said = "the working folder no longer exists; nothing was touched"
        raise SafepipError("no-working-folder", said, "cd elsewhere.") from error


def expanduser(path: str) -> str:
    if root() is None:
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
