"""What a RECORD lists as one text: in an environment of very many rows each by itself would cost too much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast, overload

from safepip.model.paths import TargetPath


class Rows(Sequence[TargetPath]):
    """Paths in their order, those below `folder` without it: a fifth of what a tuple of them takes.

    Going through them makes each anew, which takes twice as long.
    """

    __slots__ = ("_count", "_start", "_text")

    def __init__(self, folder: TargetPath, paths: Sequence[TargetPath]) -> None:
        self._start = f"{folder}/"
        self._text = "\n".join(["", *(path.removeprefix(self._start) for path in paths), ""])
        self._count = len(paths)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[TargetPath]:
        return iter(self._whole())

    @overload
    def __getitem__(self, index: int) -> TargetPath: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TargetPath]: ...
    def __getitem__(self, index: int | slice) -> TargetPath | Sequence[TargetPath]:
        return self._whole()[index]

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str) or path[:1] != "/" or "\n" in path:
            return False
        return f"\n{path.removeprefix(self._start)}\n" in self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Rows)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def _whole(self) -> list[TargetPath]:
        rows = self._text.split("\n")[1:-1] if self._count else []
        start = self._start
        if "\n/" in self._text:
            return [TargetPath(row if row[:1] == "/" else start + row) for row in rows]
        return cast("list[TargetPath]", [start + row for row in rows])


def packed(folder: TargetPath, paths: Sequence[TargetPath]) -> Sequence[TargetPath]:
    """`paths` as Rows, or as they are where one text would not tell them apart."""
    twice = f"{folder}//"
    if any("\n" in path or path.startswith(twice) or path[:1] != "/" for path in paths):
        return paths
    return Rows(folder, paths)
