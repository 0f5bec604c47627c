"""What a RECORD lists, as the one text that it is: a removal asks most of them for a path or two, never for all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast, overload

from safepip.model.paths import TargetPath

_HEAD = re.compile(r"\n([^/\n]+|/)")
_OUTSIDE = re.compile(r"\n(/[^\n]*)")
OUTSIDE = "/"  # the head of a row that does not lie below the folder
_OFTEN = 8  # asked for more often, a set of the paths costs less than the text


class Rows(Sequence[TargetPath]):
    """Paths in their order, each once. `text` is a line for each between two ends: those below `folder` without it.

    What is asked often is kept, unless `keeps` is false: each by itself takes five times the memory of the text.
    """

    __slots__ = ("_asked", "_heads", "_keeps", "_set", "_text", "_whole", "folder")

    def __init__(self, folder: TargetPath, text: str, *, keeps: bool = True) -> None:
        self.folder = folder
        self._text = text
        self._keeps = keeps
        self._asked = 0
        self._heads: frozenset[str] | None = None
        self._set: frozenset[TargetPath] | None = None
        self._whole: list[TargetPath] | None = None

    def __len__(self) -> int:
        return len(self._all())

    def __bool__(self) -> bool:
        return len(self._text) > 1

    def __iter__(self) -> Iterator[TargetPath]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> TargetPath: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TargetPath]: ...
    def __getitem__(self, index: int | slice) -> TargetPath | Sequence[TargetPath]:
        return self._all()[index]

    def __contains__(self, path: object) -> bool:
        if self._set is not None:
            return path in self._set
        if not isinstance(path, str) or path[:1] != "/" or "\n" in path:
            return False
        self._asked += 1
        if self._keeps and self._asked > _OFTEN:
            self._set = frozenset(self._all())
        return f"\n{path.removeprefix(f'{self.folder}/')}\n" in self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Rows)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def size(self) -> int:
        """Characters."""
        return len(self._text)

    def heads(self) -> frozenset[str]:
        """What the rows begin with: names in the folder that are files or lead to some, and OUTSIDE."""
        if self._heads is None:
            self._heads = frozenset(_HEAD.findall(self._text))
        return self._heads

    def names(self, folder: TargetPath) -> frozenset[str]:
        """The names in `folder`, any one, that are rows or lead to some."""
        if folder == self.folder:
            return self.heads() - {OUTSIDE}
        if not folder.startswith(f"{self.folder}/"):
            return names_in(folder, _OUTSIDE.findall(self._text))
        return names_in(folder, self)

    def packed(self) -> Rows:
        """The same, for an environment of so many rows that none is kept by itself."""
        return Rows(self.folder, self._text, keeps=False)

    def _all(self) -> list[TargetPath]:
        if self._whole is not None:
            return self._whole
        rows = list(dict.fromkeys(self._text.split("\n")[1:-1]))
        start = f"{self.folder}/"
        if "\n/" in self._text:
            whole = [TargetPath(row if row[:1] == "/" else start + row) for row in rows]
        else:
            whole = cast("list[TargetPath]", [start + row for row in rows])
        if self._keeps:
            self._whole = whole
        return whole


class Asked:
    """Paths that every RECORD is asked for: most have no row that begins as one of them."""

    def __init__(self, paths: frozenset[TargetPath]) -> None:
        self._paths = paths
        self._by_head: dict[TargetPath, dict[str, list[TargetPath]]] = {}  # by the folder of the rows

    def rows_of(self, files: Sequence[TargetPath]) -> Iterable[TargetPath]:
        """Those that are among `files`."""
        if not isinstance(files, Rows):
            return self._paths.intersection(files)
        groups = self._grouped(files.folder)
        return [path for head in groups.keys() & files.heads() for path in groups[head] if path in files]

    def _grouped(self, folder: TargetPath) -> dict[str, list[TargetPath]]:
        groups = self._by_head.get(folder)
        if groups is None:
            groups = self._by_head[folder] = {}
            for path in self._paths:
                groups.setdefault(head_of(path, folder), []).append(path)
        return groups


def head_of(path: TargetPath, folder: TargetPath) -> str:
    """What the row of `path` would begin with, in Rows of `folder`."""
    row = path.removeprefix(f"{folder}/")
    return OUTSIDE if row[:1] == "/" else row.partition("/")[0]


def names_in(folder: TargetPath, paths: Iterable[str]) -> frozenset[str]:
    """The first name below `folder` of each of `paths` that lies there."""
    start = f"{folder}/"
    return frozenset(path[len(start) :].partition("/")[0] for path in paths if path.startswith(start))


def packed(folder: TargetPath, paths: Sequence[TargetPath]) -> Sequence[TargetPath]:
    """`paths`, each once, as Rows that keep nothing; or as they are where one text would not tell them apart."""
    twice = f"{folder}//"
    if any("\n" in path or path.startswith(twice) or path[:1] != "/" for path in paths):
        return paths
    start = f"{folder}/"
    return Rows(folder, "\n".join(["", *(path.removeprefix(start) for path in paths), ""]), keeps=False)
