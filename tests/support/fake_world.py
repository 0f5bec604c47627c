"""A world written down as a dict: what lies at a path, and nothing else exists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from safepip.model.elf import Abi, Definitions, Elf, Flaw, LoaderConfig, Undefined
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.world import Entry, Kind, Place

X86_64 = Abi(64, little_endian=True, machine=62)


class Link(NamedTuple):
    target: str


class HardLink(NamedTuple):
    """Another name for the file at `path`."""

    path: str


class Broken(NamedTuple):
    """A file that is no usable object, and what the loader finds wrong."""

    data: bytes
    flaw: Flaw


Content = Elf | Flaw | bytes | Link | HardLink | Broken


def empty(*paths: str) -> dict[str, Content]:
    """Files whose bytes nobody asks for."""
    return dict.fromkeys(paths, b"")


def lib(
    soname: str | None = None,
    *,
    needs: Sequence[str] = (),
    rpath: str | None = None,
    runpath: str | None = None,
    nodeflib: bool = False,
    noopen: bool = False,
    abi: Abi = X86_64,
) -> Elf:
    return Elf(
        abi,
        3,
        soname=soname,
        needed=tuple(needs),
        rpath=rpath,
        runpath=runpath,
        nodeflib=nodeflib,
        noopen=noopen,
    )


def program(*, needs: Sequence[str] = (), rpath: str | None = None, runpath: str | None = None) -> Elf:
    return Elf(
        X86_64, 3, interpreter="/lib/ld.so", needed=tuple(needs), rpath=rpath, runpath=runpath, pie=True
    )


def glibc(
    main: str = "/bin/python",
    *,
    library_path: str = "",
    preload: Sequence[str] = (),
    defaults: Sequence[str] = ("/lib", "/usr/lib"),
    cache: Mapping[str, str] | None = None,
    hwcaps: Sequence[str] = (),
    version: tuple[int, int] = (2, 36),
    cwd: str = "/",
    libc: Libc = Libc.GLIBC,
) -> LoaderConfig:
    return LoaderConfig(
        libc,
        X86_64,
        TargetPath(main),
        library_path=library_path,
        preload=tuple(preload),
        defaults=tuple(TargetPath(folder) for folder in defaults),
        cache={key: TargetPath(path) for key, path in (cache or {}).items()},
        hwcaps=tuple(hwcaps),
        version=version,
        cwd=cwd,
    )


class Table(NamedTuple):
    """The dynamic symbols of one object."""

    undefined: Undefined
    definitions: Definitions


class FakeWorld:
    """A World over `files`; their folders are there because the files are."""

    def __init__(
        self,
        files: Mapping[str, Content],
        symbols: Mapping[str, Table] | None = None,
        folders: Sequence[str] = (),
        locked: Sequence[str] = (),
    ) -> None:
        self._files = dict(files)
        self._symbols = dict(symbols or {})
        self._folders = {"/", *folders}
        self._locked = frozenset(locked)  # folders out of which nothing can be taken
        for path in (*files, *folders):
            self._folders.update(path[:at] for at in range(1, len(path)) if path[at] == "/")

    def find(self, path: TargetPath) -> Place | Flaw:
        rest = [part for part in path.split("/") if part not in {"", "."}][::-1]
        if not path:
            return Flaw.MISSING
        at, crossed = "/", list[TargetPath]()
        while rest:
            if at not in self._folders:
                return Flaw.NOT_A_FOLDER
            part = rest.pop()
            if part == "..":
                at = at.rpartition("/")[0] or "/"
                continue
            step = f"{at.rstrip('/')}/{part}"
            content = self._files.get(step)
            if isinstance(content, Link):
                crossed.append(TargetPath(step))
                if len(crossed) > 40:
                    return Flaw.LOOP
                at = "/" if content.target.startswith("/") else at
                rest += [part for part in content.target.split("/") if part not in {"", "."}][::-1]
            elif content is None and step not in self._folders:
                return Flaw.MISSING
            else:
                at = step
        if path.endswith("/") and at not in self._folders:
            return Flaw.NOT_A_FOLDER
        return Place(TargetPath(at), tuple(crossed), self._identity(at), self._kind(at))

    def kind(self, path: TargetPath) -> Kind | None:
        head, _, name = path.rpartition("/")
        folder = self.find(TargetPath(head or "/"))
        if isinstance(folder, Flaw):
            return None
        if name in {".", ".."}:
            return self._kind(self.real(path))
        step = f"{folder.real.rstrip('/')}/{name}".rstrip("/") or "/"
        if isinstance(self._files.get(step), Link):
            return Kind.LINK
        return self._kind(step) if step in self._files or step in self._folders else None

    def real(self, path: TargetPath) -> TargetPath:
        place = self.find(path)
        if isinstance(place, Place):
            return place.real
        head, _, name = path.rstrip("/").rpartition("/")
        return TargetPath(f"{self.real(TargetPath(head or '/')).rstrip('/')}/{name}") if name else path

    def entries(self, folder: TargetPath) -> tuple[Entry, ...]:
        place = self.find(folder)
        if isinstance(place, Flaw):
            return ()
        stem = place.real.rstrip("/") + "/"
        names = {
            path[len(stem) :].split("/")[0]
            for path in (*self._files, *self._folders)
            if path.startswith(stem) and path != stem
        }
        return tuple(self._entry(stem, name) for name in names)

    def writable(self, folder: TargetPath) -> bool:
        place = self.find(folder)
        return isinstance(place, Place) and place.real not in self._locked

    def size(self, path: TargetPath) -> int:
        content = self._content(path)
        return len(content) if isinstance(content, bytes) else 0

    def elf(self, path: TargetPath) -> Elf | Flaw:
        content = self._content(path)
        if isinstance(content, bytes):
            return Flaw.NOT_ELF
        return content.flaw if isinstance(content, Broken) else content

    def undefined(self, path: TargetPath) -> Undefined | Flaw:
        table = self._table(path)
        return table if isinstance(table, Flaw) else table.undefined

    def definitions(self, path: TargetPath, names: Collection[str]) -> Definitions | Flaw:
        table = self._table(path)
        if isinstance(table, Flaw):
            return table
        every = table.definitions
        found = frozenset(symbol for symbol in every.symbols if symbol.name in names)
        return replace(every, symbols=found, hidden=every.hidden & found)

    def _table(self, path: TargetPath) -> Table | Flaw:
        place = self.find(path)
        return place if isinstance(place, Flaw) else self._symbols.get(place.real, Flaw.NO_DYNAMIC)

    def _content(self, path: TargetPath) -> Elf | Flaw | bytes | Broken:
        place = self.find(path)
        if isinstance(place, Flaw):
            return place
        content = self._files.get(place.real)
        if isinstance(content, HardLink):
            return self._content(TargetPath(content.path))
        return Flaw.FOLDER if content is None or isinstance(content, Link) else content

    def _kind(self, path: str) -> Kind:
        return Kind.FOLDER if path in self._folders else Kind.FILE

    def _entry(self, stem: str, name: str) -> Entry:
        path = TargetPath(stem + name)
        place = self.find(path)
        folder = isinstance(place, Place) and place.kind is Kind.FOLDER
        return Entry(name, self.kind(path) or Kind.FILE, folder)

    def _identity(self, path: str) -> tuple[int, int]:
        content = self._files.get(path)
        while isinstance(content, HardLink):
            path, content = content.path, self._files.get(content.path)
        return (1, 1 + sorted([*self._files, *self._folders]).index(path))
