"""What deleting files would really free: a file that has another name stays on the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from safepip.reading import tree


class _Inode(NamedTuple):
    device: int
    number: int
    names: int
    size: int


class Links:
    """Each path is asked for once, however many removals share it."""

    def __init__(self) -> None:
        self._known: dict[str, _Inode | None] = {}

    def freed(self, paths: Iterable[str]) -> int:
        """Bytes of those files whose every name is among `paths`."""
        freed = 0
        linked: Counter[_Inode] = Counter()
        for path in paths:
            inode = self._inode(path)
            if inode is None:
                continue
            if inode.names == 1:
                freed += inode.size
            else:
                linked[inode] += 1
        return freed + sum(inode.size for inode, names in linked.items() if names >= inode.names)

    def held(self, paths: Iterable[str]) -> int:
        """Bytes of those files, whatever other names they have."""
        return sum(inode.size for path in paths if (inode := self._inode(path)) is not None)

    def _inode(self, path: str) -> _Inode | None:
        try:
            return self._known[path]
        except KeyError:
            found = self._known[path] = _look(path)
            return found


def _look(path: str) -> _Inode | None:
    try:
        status = tree.lstat(path)
    except (OSError, ValueError):
        return None
    return _Inode(status.st_dev, status.st_ino, status.st_nlink, status.st_size)
