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
        self._sizes: dict[str, int] = {}  # of what has no other name, which is most: a number each
        self._linked: dict[str, _Inode] = {}

    def freed(self, paths: Iterable[str]) -> int:
        """Bytes of those files whose every name is among `paths`."""
        paths = self._asked(paths)
        linked = Counter(self._linked[path] for path in self._linked.keys() & paths)
        whole = sum(inode.size for inode, names in linked.items() if names >= inode.names)
        return whole + sum(self._sizes[path] for path in paths if path not in self._linked)

    def held(self, paths: Iterable[str]) -> int:
        """Bytes of those files, whatever other names they have."""
        return sum(map(self._sizes.__getitem__, self._asked(paths)))

    def known(self) -> tuple[dict[str, int], dict[str, _Inode]]:
        """What has been asked, for another process that has this environment open."""
        return self._sizes, self._linked

    def take(self, known: tuple[dict[str, int], dict[str, _Inode]]) -> None:
        """What a copy of this process has asked."""
        sizes, linked = known
        self._sizes.update(sizes)
        self._linked.update(linked)

    def _asked(self, paths: Iterable[str]) -> frozenset[str]:
        """`paths`, each of which is known from here on."""
        asked = frozenset(paths)
        for path in asked.difference(self._sizes):
            try:
                status = tree.lstat(path)
            except (OSError, ValueError):
                self._sizes[path] = 0
                continue
            self._sizes[path] = status.st_size
            if status.st_nlink > 1:
                self._linked[path] = _Inode(status.st_dev, status.st_ino, status.st_nlink, status.st_size)
        return asked
