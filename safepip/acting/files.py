"""Every call by which safepip changes an environment or its vault; the rest of `acting` calls nothing else.

One small set, so that a test can fail each call in turn and know that it has failed them all.
"""

from __future__ import annotations

import errno
import os

NO_LINKS = frozenset({errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})
"""How `link` fails where a second name cannot be had, whatever is tried."""

_CHUNK = 1 << 20


def link(source: str, path: str) -> None:
    """A second name for the same file; of a symbolic link, for the link itself."""
    os.link(source, path, follow_symlinks=False)


def symlink(goal: str, path: str) -> None:
    os.symlink(goal, path)


def rename(source: str, path: str) -> None:
    """Atomic: whoever opens `path` meanwhile finds the old file or the new one."""
    os.rename(source, path)


def unlink(path: str) -> None:
    os.unlink(path)


def mkdir(path: str, mode: int = 0o700) -> None:
    os.mkdir(path, mode)


def rmdir(path: str) -> None:
    os.rmdir(path)


def chmod(path: str, mode: int) -> None:
    os.chmod(path, mode)


def set_mtime(path: str, mtime: int) -> None:
    """Of a symbolic link, the link's own."""
    os.utime(path, ns=(mtime, mtime), follow_symlinks=False)


def write(path: str, data: bytes) -> None:
    """Create `path` with `data`, on the disk when this returns. Never follows or overwrites what is there."""
    handle = create(path)
    try:
        append(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def create(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def append(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync(handle: int) -> None:
    os.fsync(handle)


def copy(source: str, path: str) -> None:
    """The bytes, mode and time of `source` as a new file, on the disk when this returns."""
    with open(source, "rb") as stream:
        status = os.fstat(stream.fileno())
        handle = create(path)
        try:
            while chunk := stream.read(_CHUNK):
                append(handle, chunk)
            os.fsync(handle)
        finally:
            os.close(handle)
    chmod(path, status.st_mode & 0o7777)
    set_mtime(path, status.st_mtime_ns)


def write_over(path: str, data: bytes) -> None:
    """Put `data` in the place of what is at `path`, or leave that as it is."""
    beside = f"{path}.new"
    if os.path.lexists(beside):
        unlink(beside)  # of a run that was cut off here
    write(beside, data)
    rename(beside, path)
    sync_folder(path.rpartition("/")[0])


def open_lock(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def rewrite(handle: int, data: bytes) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, data, 0)


def sync_folder(path: str) -> None:
    """Names made or taken away in `path` are on the disk when this returns."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def clear(folder: str) -> None:
    """Take away a flat folder of our own, if it is there; the manifest, which makes it one, first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in sorted(names, key=lambda name: name.isdecimal()):
        unlink(f"{folder}/{name}")
    rmdir(folder)
