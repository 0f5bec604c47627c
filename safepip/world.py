"""What exists, as the target process sees it: the one seam between deciding and looking."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from safepip.model.elf import Definitions, Elf, Flaw, Undefined
from safepip.model.paths import TargetPath

if TYPE_CHECKING:
    from safepip.model.arrival import Content


class Kind(Enum):
    """What lstat says of a name."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"  # a fifo, a socket, a device


class Entry(NamedTuple):
    """One name in a folder. `folder` follows links, as os.walk does when it sorts names into two lists."""

    name: str
    kind: Kind
    folder: bool


class Place(NamedTuple):
    """Where a path leads once every link is followed."""

    real: TargetPath
    crossed: tuple[TargetPath, ...]  # the links on the way, each by its own real path
    identity: tuple[int, int]  # device and inode: equal for hard links
    kind: Kind


class World(Protocol):
    """Read-only questions about a tree. Answers never change while one verdict is made."""

    def find(self, path: TargetPath) -> Place | Flaw:
        """Follow `path` as open(2) would, or say why it leads nowhere."""

    def kind(self, path: TargetPath) -> Kind | None:
        """What lies at `path` itself, its last link not followed; None: nothing."""

    def real(self, path: TargetPath) -> TargetPath:
        """`path` with every link resolved as `os.path.realpath` does, missing parts taken literally."""

    def entries(self, folder: TargetPath) -> tuple[Entry, ...]:
        """The names in `folder`, unsorted; none where it cannot be listed."""

    def writable(self, folder: TargetPath) -> bool:
        """May the names in `folder` be listed and taken out of it?"""

    def size(self, path: TargetPath) -> int:
        """Bytes of the file at `path`, links followed; 0 where there is none."""

    def elf(self, path: TargetPath) -> Elf | Flaw:
        """The dynamic section of the object at `path`, or why it has none that can be used."""

    def undefined(self, path: TargetPath) -> Undefined | Flaw:
        """What the object at `path` asks of others at binding."""

    def definitions(self, path: TargetPath, names: Collection[str]) -> Definitions | Flaw:
        """Which of `names` the object at `path` defines, as the loader looks them up."""


class Changed:
    """`base` without `gone`: nothing is copied, each question is asked of the base and then cut down.

    `gone` holds physical paths, as `Removal.gone` has them. A path is gone if it, a folder above it, or a
    link that it crosses is.
    """

    def __init__(self, base: World, gone: frozenset[TargetPath]) -> None:
        self._base = base
        self._gone = gone

    def find(self, path: TargetPath) -> Place | Flaw:
        place = self._base.find(path)
        if isinstance(place, Flaw) or not any(self._is_gone(step) for step in (place.real, *place.crossed)):
            return place
        return Flaw.MISSING

    def kind(self, path: TargetPath) -> Kind | None:
        head, _, name = path.rpartition("/")
        folder = self.find(TargetPath(head or "/"))
        if isinstance(folder, Flaw) or self._is_gone(TargetPath(f"{folder.real.rstrip('/')}/{name}")):
            return None
        return self._base.kind(path)

    def real(self, path: TargetPath) -> TargetPath:
        place = self._base.find(path)
        if not isinstance(place, Flaw) and not any(self._is_gone(link) for link in place.crossed):
            return place.real
        real = ""
        for part in path.split("/"):
            if part == "..":
                real = real.rpartition("/")[0]
            elif part not in {"", "."}:
                here = TargetPath(f"{real}/{part}")
                followed = self._base.kind(here) is Kind.LINK and not self._is_gone(here)
                real = self._base.real(here).rstrip("/") if followed else here
        return TargetPath(real or "/")

    def entries(self, folder: TargetPath) -> tuple[Entry, ...]:
        place = self.find(folder)
        if isinstance(place, Flaw):
            return ()
        real = place.real.rstrip("/")
        return tuple(
            self._still(entry, TargetPath(f"{real}/{entry.name}"))
            for entry in self._base.entries(folder)
            if f"{real}/{entry.name}" not in self._gone
        )

    def _still(self, entry: Entry, path: TargetPath) -> Entry:
        """A link whose folder has gone is a broken link, which os.walk lists among the files."""
        if entry.kind is Kind.LINK and entry.folder and isinstance(self.find(path), Flaw):
            return entry._replace(folder=False)
        return entry

    def writable(self, folder: TargetPath) -> bool:
        return self._base.writable(folder)

    def size(self, path: TargetPath) -> int:
        return 0 if isinstance(self.find(path), Flaw) else self._base.size(path)

    def elf(self, path: TargetPath) -> Elf | Flaw:
        place = self.find(path)
        return place if isinstance(place, Flaw) else self._base.elf(path)

    def undefined(self, path: TargetPath) -> Undefined | Flaw:
        place = self.find(path)
        return place if isinstance(place, Flaw) else self._base.undefined(path)

    def definitions(self, path: TargetPath, names: Collection[str]) -> Definitions | Flaw:
        place = self.find(path)
        return place if isinstance(place, Flaw) else self._base.definitions(path, names)

    def _is_gone(self, path: TargetPath) -> bool:
        while path not in self._gone:
            head, slash, _ = path.rpartition("/")
            if not slash or not head:
                return False
            path = TargetPath(head)
        return True


class Arrived:
    """`base` with files laid into it: by real path, over whatever is there.

    What an object says of itself is read from where its bytes lie meanwhile.
    """

    def __init__(self, base: World, contents: Mapping[TargetPath, Content]) -> None:
        self._base = base
        self._contents = contents
        self._inside: dict[TargetPath, dict[str, Entry]] = {}
        for path in contents:
            self._enter(path)

    def find(self, path: TargetPath) -> Place | Flaw:
        real = self.real(path)
        if real in self._contents:
            return Place(real, (), (-1, hash(real)), Kind.FILE)
        place = self._base.find(path)
        if isinstance(place, Flaw) and real in self._inside:
            return Place(real, (), (-1, hash(real)), Kind.FOLDER)
        return place

    def kind(self, path: TargetPath) -> Kind | None:
        head, _, name = path.rpartition("/")
        real = TargetPath(f"{self.real(TargetPath(head or '/')).rstrip('/')}/{name}")
        if real in self._contents:
            return Kind.FILE
        return self._base.kind(path) or (Kind.FOLDER if real in self._inside else None)

    def real(self, path: TargetPath) -> TargetPath:
        return path if path in self._contents else self._base.real(path)

    def entries(self, folder: TargetPath) -> tuple[Entry, ...]:
        inside = self._inside.get(self.real(folder))
        if not inside:
            return self._base.entries(folder)
        kept = [entry for entry in self._base.entries(folder) if entry.name not in inside]
        return (*kept, *inside.values())

    def writable(self, folder: TargetPath) -> bool:
        return self.real(folder) in self._inside or self._base.writable(folder)

    def size(self, path: TargetPath) -> int:
        content = self._contents.get(self.real(path))
        return self._base.size(path) if content is None else content.size

    def elf(self, path: TargetPath) -> Elf | Flaw:
        content = self._contents.get(self.real(path))
        if content is None:
            return self._base.elf(path)
        return Flaw.NOT_ELF if content.copy is None else self._base.elf(content.copy)

    def undefined(self, path: TargetPath) -> Undefined | Flaw:
        content = self._contents.get(self.real(path))
        if content is None:
            return self._base.undefined(path)
        return Flaw.NOT_ELF if content.copy is None else self._base.undefined(content.copy)

    def definitions(self, path: TargetPath, names: Collection[str]) -> Definitions | Flaw:
        content = self._contents.get(self.real(path))
        if content is None:
            return self._base.definitions(path, names)
        return Flaw.NOT_ELF if content.copy is None else self._base.definitions(content.copy, names)

    def _enter(self, path: TargetPath) -> None:
        """Every folder on the way to `path` is there."""
        entry = Entry(path.rpartition("/")[2], Kind.FILE, False)
        while path:
            folder, _, name = path.rpartition("/")
            names = self._inside.setdefault(TargetPath(folder or "/"), {})
            known = names.setdefault(name, entry)
            if known is not entry:
                return
            path, entry = TargetPath(folder), Entry(folder.rpartition("/")[2], Kind.FOLDER, True)
