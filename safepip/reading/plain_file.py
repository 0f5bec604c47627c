"""Small files read whole, and the start of large ones. A fifo in their place is an error at once, never a wait."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from safepip.reading import tree

PIECE = 1 << 20
MOST = 1 << 24  # bytes; scripts, settings and build-time data are far below


def content(path: str, most: int = MOST) -> bytes:
    """The bytes of a regular file. OSError for anything else, for a longer one too."""
    data = start(path, most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data


def start(path: str, length: int) -> bytes:
    """The first `length` bytes of a regular file, all where it has fewer."""
    return b"".join(pieces(path, length))


def pieces(path: str, length: int) -> Iterator[bytes]:
    """The same, a part at a time."""
    handle = tree.handle(path)
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        ample = min(PIECE, found.st_size + 1)  # a small file costs no large buffer
        while length and (piece := os.read(handle, min(length, ample))):
            yield piece
            length -= len(piece)
    finally:
        os.close(handle)


def encoding() -> str:
    """Of text that does not say its own."""
    import locale

    return locale.getencoding() if tree.root() is None else "utf-8"  # as for Python where no locale is set
