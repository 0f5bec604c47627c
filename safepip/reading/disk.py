"""The real file system as a World: looked at with few calls, every answer kept for one verdict."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection

from safepip.model.elf import Definitions, Elf, Flaw, Undefined
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.image import Name
from safepip.world import Entry, Kind, Place

_FLAW_OF_ERROR = {
    errno.EACCES: Flaw.NO_ACCESS,
    errno.EPERM: Flaw.NO_ACCESS,
    errno.ELOOP: Flaw.LOOP,
    errno.ENOTDIR: Flaw.NOT_A_FOLDER,
    errno.ENAMETOOLONG: Flaw.NAME_TOO_LONG,
}
_KIND_OF_MODE = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.FOLDER, stat.S_IFLNK: Kind.LINK}
_MOST_LINKS = 40  # MAXSYMLINKS of the kernel
_LONGEST = 4096  # PATH_MAX of the kernel
_MOST_NAMES = 100_000  # in folders, remembered at once


class Disk:
    """Asks the kernel once for each path and remembers the answer."""

    def __init__(self) -> None:
        self._found: dict[TargetPath, Place | Flaw] = {}
        self._entries: dict[TargetPath, tuple[Entry, ...]] = {}
        self._names = 0  # in all of them
        self._elves: dict[TargetPath, Elf | Flaw] = {}
        self._undefined: dict[TargetPath, Undefined | Flaw] = {}
        self._traced: dict[str, tuple[str, tuple[TargetPath, ...]]] = {"/": ("/", ()), "": ("/", ())}

    def find(self, path: TargetPath) -> Place | Flaw:
        place = self._found.get(path)
        if place is None:
            place = self._found[path] = self._look(path)
        return place

    def kind(self, path: TargetPath) -> Kind | None:
        try:
            return _kind(tree.lstat(path).st_mode)
        except (OSError, ValueError):
            return None

    def real(self, path: TargetPath) -> TargetPath:
        try:
            return TargetPath(self._trace(path)[0])
        except RecursionError:  # a loop of links: what realpath makes of it is the rule
            return TargetPath(tree.realpath(path))

    def entries(self, folder: TargetPath) -> tuple[Entry, ...]:
        names = self._entries.get(folder)
        if names is None:
            names = _list(folder)
            self._names += len(names)
            if self._names > _MOST_NAMES:
                self._entries.clear()
                self._names = len(names)
            self._entries[folder] = names
        return names

    def writable(self, folder: TargetPath) -> bool:
        try:
            return tree.access(folder, os.R_OK | os.W_OK | os.X_OK)
        except ValueError:
            return False

    def size(self, path: TargetPath) -> int:
        try:
            return tree.stat(path).st_size
        except (OSError, ValueError):
            return 0

    def elf(self, path: TargetPath) -> Elf | Flaw:
        path = self._file(path)
        if path not in self._elves:
            from safepip.reading.elf_files import elf

            self._elves[path] = elf.read(path)
        return self._elves[path]

    def undefined(self, path: TargetPath) -> Undefined | Flaw:
        path = self._file(path)
        if path not in self._undefined:
            from safepip.reading.elf_files import elf_symbols

            self._undefined[path] = elf_symbols.read_undefined(path)
        return self._undefined[path]

    def definitions(self, path: TargetPath, names: Collection[str]) -> Definitions | Flaw:
        """Not kept: each consumer asks for other names."""
        from safepip.reading.elf_files import elf_symbols

        return elf_symbols.read_definitions(path, names)

    def _file(self, path: TargetPath) -> TargetPath:
        """One file is read once, by whatever way a search came to it."""
        place = self._found.get(path)
        return place.real if isinstance(place, Place) else path

    def _look(self, path: TargetPath) -> Place | Flaw:
        try:
            status = tree.stat(path)  # most candidates of a search end here
        except OSError as error:
            return _FLAW_OF_ERROR.get(error.errno or 0, Flaw.MISSING)
        except ValueError:  # a NUL, or what no file name can be encoded to
            return Flaw.MISSING
        real, crossed = self._trace(path)
        return Place(TargetPath(real), crossed, (status.st_dev, status.st_ino), _kind(status.st_mode))

    def _trace(self, path: str, links: int = 0) -> tuple[str, tuple[TargetPath, ...]]:
        """`path` with every link resolved, and the links on the way; missing parts are taken literally."""
        if len(path) > _LONGEST:
            return self._trace_long(path, links)
        pending = []
        while path not in self._traced:
            pending.append(path)
            path = path.rpartition("/")[0]
        for longer in reversed(pending):
            self._traced[longer] = self._step(self._traced[path], longer.rpartition("/")[2], links)
            path = longer
        return self._traced[path]

    def _trace_long(self, path: str, links: int) -> tuple[str, tuple[TargetPath, ...]]:
        """No name lies so deep, but `..` may lead back up; each part kept would cost its whole path anew."""
        found: tuple[str, tuple[TargetPath, ...]] = ("/", ())
        parts = path.split("/")
        rest = len(parts) - parts[::-1].index("..") if ".." in parts else 0
        for index, name in enumerate(parts):
            if index >= rest and len(found[0]) > _LONGEST:
                return "/".join(
                    [found[0], *(part for part in parts[index:] if part not in {"", "."})]
                ), found[1]
            found = self._step(found, name, links)
        return found

    def _step(
        self, before: tuple[str, tuple[TargetPath, ...]], name: str, links: int
    ) -> tuple[str, tuple[TargetPath, ...]]:
        folder, crossed = before
        if name in {"", "."}:
            return before
        if name == "..":
            return os.path.dirname(folder), crossed
        here = f"{folder.rstrip('/')}/{name}"
        try:
            goal = tree.readlink(here)
        except (OSError, ValueError):  # no link, or nothing there
            return here, crossed
        if links == _MOST_LINKS:
            raise RecursionError(here)
        real, more = self._trace(os.path.join(folder, goal), links + 1)
        return real, (*crossed, TargetPath(here), *more)


def _list(folder: TargetPath) -> tuple[Entry, ...]:
    try:
        with tree.scandir(folder) as names:
            return tuple([_entry(name) for name in names])
    except (OSError, ValueError):
        return ()


def _entry(name: os.DirEntry[str] | Name) -> Entry:
    if name.is_file(follow_symlinks=False):
        return Entry(name.name, Kind.FILE, False)
    if not name.is_symlink():
        folder = name.is_dir()
        return Entry(name.name, Kind.FOLDER if folder else Kind.OTHER, folder)
    try:
        return Entry(name.name, Kind.LINK, name.is_dir())
    except OSError:  # a loop: os.walk takes what it cannot ask about for a file
        return Entry(name.name, Kind.LINK, False)


def _kind(mode: int) -> Kind:
    return _KIND_OF_MODE.get(stat.S_IFMT(mode), Kind.OTHER)
