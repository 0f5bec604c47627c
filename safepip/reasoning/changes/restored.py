"""A world in which files that are missing are there again: what reinstalling them would come to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from safepip.model.elf import Definitions, Elf, Flaw, Undefined
from safepip.model.paths import TargetPath
from safepip.world import Entry, Kind, Place, World


class Restored:
    """`base` with `files`: each an object as far as it is known, or a file of no known content."""

    def __init__(self, base: World, files: Mapping[TargetPath, Elf | None]) -> None:
        self._base = base
        self._files = dict(files)
        self._numbers = {path: number for number, path in enumerate(self._files)}
        self._inside: dict[str, set[str]] = {}
        for path in self._files:
            self._note(path)

    def find(self, path: TargetPath) -> Place | Flaw:
        place = self._base.find(path)
        if isinstance(place, Place):
            return place
        real = self._base.real(path)
        if real in self._files:
            return Place(real, (), (-1, self._numbers[real]), Kind.FILE)
        if real in self._inside:
            return Place(real, (), (-2, hash(real)), Kind.FOLDER)
        return place

    def kind(self, path: TargetPath) -> Kind | None:
        kind = self._base.kind(path)
        if kind is not None:
            return kind
        found = self.find(path)
        return found.kind if isinstance(found, Place) else None

    def real(self, path: TargetPath) -> TargetPath:
        return self._base.real(path)

    def entries(self, folder: TargetPath) -> tuple[Entry, ...]:
        there = self._base.entries(folder)
        added = self._inside.get(self._base.real(folder), set()).difference(entry.name for entry in there)
        return (*there, *(self._entry(folder, name) for name in sorted(added)))

    def writable(self, folder: TargetPath) -> bool:
        return self._base.writable(folder)

    def size(self, path: TargetPath) -> int:
        return self._base.size(path)

    def elf(self, path: TargetPath) -> Elf | Flaw:
        elf = self._files.get(self._base.real(path))
        return elf if elf is not None else self._base.elf(path)

    def undefined(self, path: TargetPath) -> Undefined | Flaw:
        return self._base.undefined(path)

    def definitions(self, path: TargetPath, names: Collection[str]) -> Definitions | Flaw:
        return self._base.definitions(path, names)

    def _note(self, path: str) -> None:
        """`path` and the folders above it that are missing too are named in the folder that each lies in."""
        while path != "/":
            head, _, name = path.rpartition("/")
            path = head or "/"
            known = path in self._inside
            self._inside.setdefault(path, set()).add(name)
            if known:
                return

    def _entry(self, folder: TargetPath, name: str) -> Entry:
        inside = f"{self._base.real(folder).rstrip('/')}/{name}" in self._inside
        return Entry(name, Kind.FOLDER if inside else Kind.FILE, inside)
