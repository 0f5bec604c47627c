"""One installed distribution, read from its metadata folder. What is broken in it is said, and the rest kept."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from safepip.model.environment import Distribution, EntryPoint, Fault, Install, Target
from safepip.model.paths import TargetPath
from safepip.model.rows import Rows
from safepip.reading import plain_file, tree
from safepip.reading.sites import metadata, record

_CLIMBING = re.compile(r"\n([./][^\n]*)")
_DOTS = re.compile(r"/\.{1,2}(?![^/\n])")


class Listed(NamedTuple):
    """What RECORD lists, or what stands in its place."""

    files: Sequence[TargetPath] | None = None
    as_written: tuple[TargetPath, ...] | None = None


class Folder:
    """One folder of sys.path, or a zip file: its names in the order of os.listdir, and where its rows lead."""

    def __init__(self, path: TargetPath) -> None:
        self.given = path
        self.path = TargetPath(tree.realpath(path))
        self.names: tuple[str, ...] = ()
        self._links: tuple[str, ...] = ()
        self._heads: dict[str, str] = {}
        self._packed: Mapping[str, bytes] | None = None
        try:
            with tree.scandir(self.path) as entries:
                found = list(entries)
        except NotADirectoryError:
            self._packed = _unpacked(self.path)
            self.names = tuple(dict.fromkeys(name.partition("/")[0] for name in self._packed))
            return
        except (OSError, ValueError):
            return
        self.names = tuple([entry.name for entry in found])
        self._links = tuple([f"{entry.name}/" for entry in found if entry.is_symlink()])

    def read(self, path: str) -> bytes | None:
        """The file at `path` below the folder, None where there is none.

        A folder, or no permission to read, is an error.
        """
        if self._packed is not None:
            return self._packed.get(path.removeprefix(f"{self.path}/"))
        try:
            return plain_file.content(path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def packed(self, path: str) -> tuple[str, ...]:
        """The names right below `path` where the folder is a zip file."""
        start = f"{path.removeprefix(f'{self.path}/')}/"
        inside = (name[len(start) :] for name in self._packed or () if name.startswith(start))
        return tuple(dict.fromkeys(name.partition("/")[0] for name in inside))

    def place(self, rows: list[str]) -> Listed:
        """Rows joined to the folder. Only a head that climbs, or starts in a link, is resolved on the disk."""
        base = f"{self.path.rstrip('/')}/"
        placed = cast("list[TargetPath]", [base + row for row in rows])
        text = "\n".join(["", *rows])  # asking it once is quicker than asking tens of thousands of rows
        climbs = any(mark in text for mark in ("\n.", "\n/", "/../")) or "" in rows
        odd = [i for i, row in enumerate(rows) if row[:1] in "./" or "/../" in row] if climbs else []
        if self._links:
            odd += [i for i, row in enumerate(rows) if row.startswith(self._links)]
        written = [TargetPath(os.path.join(self.path, rows[index])) for index in odd]
        for index, path in zip(odd, written, strict=True):
            placed[index] = self._resolved(path)
        if all(os.path.normpath(path) == placed[index] for index, path in zip(odd, written, strict=True)):
            return Listed(tuple(placed))
        by_index = dict(zip(odd, written, strict=True))
        return Listed(tuple(placed), tuple(by_index.get(index, path) for index, path in enumerate(placed)))

    def lay(self, cells: str) -> Rows | None:
        """The same for a RECORD that is plain; None where a row leads through a link, or is not written as pip has it."""
        if any(f"\n{link}" in cells for link in self._links):
            return None
        climbing = _CLIMBING.findall(cells)
        if cells.count("/.") != sum(row.count("/.") for row in climbing) and _DOTS.search(
            _CLIMBING.sub("", cells)
        ):
            return None
        placed = {}
        for row in dict.fromkeys(climbing):
            written = TargetPath(os.path.join(self.path, record.folded(row)))
            placed[row] = self._resolved(written)
            if os.path.normpath(written) != placed[row]:
                return None
        start = f"{self.path}/"
        text = (
            _CLIMBING.sub(lambda found: "\n" + placed[found[1]].removeprefix(start), cells)
            if placed
            else cells
        )
        return Rows(self.path, text)

    def _resolved(self, path: TargetPath) -> TargetPath:
        head, _, name = path.rpartition("/")
        real = self._heads.get(head)
        if real is None:
            real = self._heads[head] = tree.realpath(head or "/")
        return TargetPath(f"{real.rstrip('/')}/{name}")


def read_distribution(
    folder: Folder, name: str, target: Target, egg_link: TargetPath | None = None
) -> Distribution:
    """The distribution whose metadata lies in `folder` under `name`."""
    info = TargetPath(f"{folder.path}/{name}")
    faults: list[Fault] = []
    head = _head(folder, info, faults)
    known_as, version = _name_of_folder(name, target)
    known_as = known_as or head.name or name.partition("-")[0]
    listed = _listed(folder, info, target, faults)
    install = Install.EGG_LINK if egg_link else _install(folder, info, head.name or known_as)
    dist = Distribution(
        key=metadata.canonical(known_as),
        name=head.name or known_as,
        version=head.version or version,
        location=folder.given if egg_link else folder.path,  # the line in easy-install.pth is text
        info=info,
        install=install,
        files=listed.files,
        as_written=listed.as_written,
        requires=head.requires,
        extras=head.extras,
        entry_points=_entry_points(folder, info, target, faults),
        installer=_first_line(_read(folder, info, "INSTALLER")),
        requested=tree.lexists(f"{info}/REQUESTED"),
        top_level=_top_level(folder, info) if install is Install.EGG_INFO_FOLDER else None,
        egg_link=egg_link,
    )
    if not faults:
        return dist
    return replace(dist, faults=tuple(faults), damage="; ".join(fault.value for fault in faults))


def _name_of_folder(name: str, target: Target) -> tuple[str, str]:
    """Pip's metadata/importlib/_compat.py: what stands before the first dash; METADATA does not count.

    Since pip 24.2 a dist-info folder without a dash has its name from METADATA.
    """
    stem, suffix = os.path.splitext(name)
    text, dash, version = stem.partition("-")
    if suffix == ".egg-info":
        return text, version.partition("-py")[0]
    if suffix == ".dist-info" and (dash or target.pip.release < (24, 2)):
        return text, version
    return "", version


def _install(folder: Folder, info: TargetPath, raw_name: str) -> Install:
    """The branches of pip's `UninstallPathSet.from_dist`, in its order."""
    is_folder = tree.isdir(info)
    if (
        is_folder
        and info.endswith(".egg-info")
        and not info.endswith(f"{raw_name.replace('-', '_')}.egg-info")
    ):
        return Install.EGG_INFO_FOLDER
    if tree.isfile(info):
        return Install.EGG_INFO_FILE
    if folder.path.endswith(".egg"):
        return Install.EGG
    return Install.DIST_INFO if is_folder and info.endswith(".dist-info") else Install.OTHER


def _head(folder: Folder, info: TargetPath, faults: list[Fault]) -> metadata.Head:
    """importlib.metadata's `Distribution.metadata`; an egg-info file is its own metadata."""
    data = (
        _read(folder, info, "METADATA") or _read(folder, info, "PKG-INFO") or _read(folder, info, "") or b""
    )
    try:
        head = metadata.head(data.decode())
    except UnicodeDecodeError:
        faults.append(Fault.METADATA_UNDECODABLE)
        head = metadata.head(data.decode(errors="surrogateescape"))
    if head.name is None:
        faults.append(Fault.METADATA_WITHOUT_NAME)
    if head.version is None:
        faults.append(Fault.METADATA_WITHOUT_VERSION)
    if not head.requires and not info.endswith(".dist-info"):
        text = (_read(folder, info, "requires.txt") or b"").decode(errors="surrogateescape")
        requires, extras = metadata.egg_requirements(text)
        head = head._replace(requires=requires, extras=head.extras or extras)
    return head


def _listed(folder: Folder, info: TargetPath, target: Target, faults: list[Fault]) -> Listed:
    """pip's metadata/base.py, `iter_declared_entries`: RECORD, else installed-files.txt, else None."""
    try:
        data = folder.read(f"{info}/RECORD")
    except OSError:
        faults.append(Fault.RECORD_UNREADABLE)
        data = None
    if data is None:
        listed = _read(folder, info, "installed-files.txt")
        if listed is None:
            return Listed()
        return folder.place(record.installed_files(listed.decode(errors="surrogateescape"), info))
    try:
        text = data.decode()
    except UnicodeDecodeError:
        faults.append(Fault.RECORD_UNDECODABLE)
        return Listed()
    plain = record.plain(text)
    laid = folder.lay(plain) if plain else None
    if laid is not None and (f"{info}/RECORD" in laid or not info.endswith(".dist-info")):
        return Listed(laid)
    try:
        rows = _rows(text, target)
        placed = folder.place(list(dict.fromkeys(rows)))  # pip keeps a set
    except ValueError:
        faults.append(Fault.RECORD_BROKEN)
        return Listed()
    if '"' in text and len(rows) < len(text.splitlines()):
        faults.append(Fault.RECORD_SWALLOWS)
    elif info.endswith(".dist-info") and not _lists_itself(info, rows, placed):
        faults.append(Fault.RECORD_CUT_OFF)
    elif info.endswith(".dist-info") and text[-1:] not in {"\n", "\r"}:
        faults.append(Fault.RECORD_ENDS_EARLY)
    return placed


def _lists_itself(info: TargetPath, rows: Sequence[str], placed: Listed) -> bool:
    return f"{os.path.basename(info)}/RECORD" in rows or TargetPath(f"{info}/RECORD") in (placed.files or ())


def _rows(text: str, target: Target) -> list[str]:
    if "\0" in text and target.python < (3, 11):  # its csv module refuses it
        raise record.BrokenRecordError("line contains NUL")
    rows = record.paths(text)
    if "\0" in text and any("\0" in row.rpartition("/")[0] for row in rows):
        raise record.BrokenRecordError("embedded null byte")  # os.path.realpath in `UninstallPathSet.add`
    return rows


def _entry_points(
    folder: Folder, info: TargetPath, target: Target, faults: list[Fault]
) -> tuple[EntryPoint, ...]:
    data = _read(folder, info, "entry_points.txt")
    try:
        strict = target.pip.backend != "importlib"
        return metadata.entry_points(data.decode(), strict=strict) if data else ()
    except UnicodeDecodeError:
        faults.append(Fault.ENTRY_POINTS_UNDECODABLE)
    except metadata.BrokenEntryPointsError:
        faults.append(Fault.ENTRY_POINTS_BROKEN)
    return ()


def _top_level(folder: Folder, info: TargetPath) -> tuple[str, ...] | None:
    names = _read(folder, info, "top_level.txt")
    if names is None:
        return None
    spaces = (
        (_read(folder, info, "namespace_packages.txt") or b"").decode(errors="surrogateescape").splitlines()
    )
    return tuple(
        name for name in names.decode(errors="surrogateescape").splitlines() if name and name not in spaces
    )


def _first_line(data: bytes | None) -> str:
    lines = map(str.strip, (data or b"").decode(errors="replace").splitlines())
    return next((line for line in lines if line), "")


def _read(folder: Folder, info: TargetPath, name: str) -> bytes | None:
    try:
        return folder.read(f"{info}/{name}" if name else info)
    except OSError:
        return None


def _unpacked(path: TargetPath) -> Mapping[str, bytes]:
    """The metadata that lies in a zip file; wheels on sys.path are passed over, as by pip."""
    import zipfile

    if path.endswith(".whl"):
        return {}
    try:
        with zipfile.ZipFile(tree.open(path, "rb")) as bundle:
            names = [name for name in bundle.namelist() if "-info/" in name.lower()]
            return {name: bundle.read(name) for name in names if not name.endswith("/")}
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return {}
