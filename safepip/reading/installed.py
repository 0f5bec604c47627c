"""One installed distribution, read from its metadata folder. What is broken in it is said, and the rest kept."""

from __future__ import annotations

import os
from dataclasses import replace

from safepip.model.environment import Distribution, EntryPoint, Fault, Install, Target
from safepip.model.paths import TargetPath
from safepip.reading import metadata, record


class Folder:
    """One folder of sys.path: its names in the order of os.listdir, and where its rows lead."""

    def __init__(self, path: TargetPath) -> None:
        self.given = path
        self.path = TargetPath(os.path.realpath(path))
        self.names: tuple[str, ...] = ()
        self._links: tuple[str, ...] = ()
        self._heads: dict[str, str] = {}
        try:
            with os.scandir(self.path) as entries:
                found = list(entries)
        except (OSError, ValueError):
            return
        self.names = tuple([entry.name for entry in found])
        self._links = tuple([f"{entry.name}/" for entry in found if entry.is_symlink()])

    def place(self, rows: list[str]) -> tuple[TargetPath, ...]:
        """Rows joined to the folder. Only a head that climbs, or starts in a link, is resolved on the disk."""
        base = f"{self.path.rstrip('/')}/"
        placed = [TargetPath(base + row) for row in rows]
        links = self._links or "\0"
        for index in [
            i for i, row in enumerate(rows) if row[:1] in "./" or "/../" in row or row.startswith(links)
        ]:
            placed[index] = TargetPath(self._resolved(rows[index]))
        return tuple(placed)

    def _resolved(self, row: str) -> str:
        head, _, name = os.path.join(self.path, row).rpartition("/")
        real = self._heads.get(head)
        if real is None:
            real = self._heads[head] = os.path.realpath(head or "/")
        return f"{real.rstrip('/')}/{name}"


def read_distribution(
    folder: Folder, name: str, target: Target, egg_link: TargetPath | None = None
) -> Distribution:
    """The distribution whose metadata lies in `folder` under `name`."""
    info = TargetPath(f"{folder.path}/{name}")
    faults: list[Fault] = []
    head = _head(info, faults)
    known_as, version = _name_of_folder(name, target)
    known_as = known_as or head.name or name.partition("-")[0]
    install = Install.EGG_LINK if egg_link else _install(folder, info, head.name or known_as)
    dist = Distribution(
        key=metadata.canonical(known_as),
        name=head.name or known_as,
        version=head.version or version,
        location=folder.given if egg_link else folder.path,  # the line in easy-install.pth is text
        info=info,
        install=install,
        files=_files(folder, info, target, faults),
        requires=head.requires,
        extras=head.extras,
        entry_points=_entry_points(info, faults),
        installer=_first_line(_read(info, "INSTALLER")),
        requested=os.path.lexists(f"{info}/REQUESTED"),
        top_level=_top_level(info) if install is Install.EGG_INFO_FOLDER else None,
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
    is_folder = os.path.isdir(info)
    if (
        is_folder
        and info.endswith(".egg-info")
        and not info.endswith(f"{raw_name.replace('-', '_')}.egg-info")
    ):
        return Install.EGG_INFO_FOLDER
    if os.path.isfile(info):
        return Install.EGG_INFO_FILE
    if folder.path.endswith(".egg"):
        return Install.EGG
    return Install.DIST_INFO if is_folder and info.endswith(".dist-info") else Install.OTHER


def _head(info: TargetPath, faults: list[Fault]) -> metadata.Head:
    """importlib.metadata's `Distribution.metadata`; an egg-info file is its own metadata."""
    data = _read(info, "METADATA") or _read(info, "PKG-INFO") or _read(info, "") or b""
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
        text = (_read(info, "requires.txt") or b"").decode(errors="surrogateescape")
        requires, extras = metadata.egg_requirements(text)
        head = head._replace(requires=requires, extras=head.extras or extras)
    return head


def _files(
    folder: Folder, info: TargetPath, target: Target, faults: list[Fault]
) -> tuple[TargetPath, ...] | None:
    """Pip's metadata/base.py, `iter_declared_entries`: RECORD, else installed-files.txt, else None."""
    try:
        data = _bytes(f"{info}/RECORD")
    except OSError:
        faults.append(Fault.RECORD_UNREADABLE)
        data = None
    if data is None:
        listed = _read(info, "installed-files.txt")
        if listed is None:
            return None
        return folder.place(record.installed_files(listed.decode(errors="surrogateescape"), info))
    try:
        text = data.decode()
    except UnicodeDecodeError:
        faults.append(Fault.RECORD_UNDECODABLE)
        return None
    try:
        return folder.place(_rows(text, target))
    except ValueError:
        faults.append(Fault.RECORD_BROKEN)
        return None


def _rows(text: str, target: Target) -> list[str]:
    if "\0" in text and target.python < (3, 11):  # its csv module refuses it
        raise record.BrokenRecordError("line contains NUL")
    return record.paths(text)


def _entry_points(info: TargetPath, faults: list[Fault]) -> tuple[EntryPoint, ...]:
    data = _read(info, "entry_points.txt")
    try:
        return metadata.entry_points(data.decode()) if data else ()
    except UnicodeDecodeError:
        faults.append(Fault.ENTRY_POINTS_UNDECODABLE)
    except metadata.BrokenEntryPointsError:
        faults.append(Fault.ENTRY_POINTS_BROKEN)
    return ()


def _top_level(info: TargetPath) -> tuple[str, ...] | None:
    names = _read(info, "top_level.txt")
    if names is None:
        return None
    spaces = (_read(info, "namespace_packages.txt") or b"").decode(errors="surrogateescape").splitlines()
    return tuple(
        name for name in names.decode(errors="surrogateescape").splitlines() if name and name not in spaces
    )


def _first_line(data: bytes | None) -> str:
    lines = map(str.strip, (data or b"").decode(errors="replace").splitlines())
    return next((line for line in lines if line), "")


def _read(info: TargetPath, name: str) -> bytes | None:
    try:
        return _bytes(f"{info}/{name}" if name else info)
    except OSError:
        return None


def _bytes(path: str) -> bytes | None:
    """None where there is nothing; a folder, or no permission to read, is an error."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a fifo must not hold us up
        with open(handle, "rb", buffering=0) as stream:
            return stream.readall()
    except (FileNotFoundError, NotADirectoryError):
        return None
