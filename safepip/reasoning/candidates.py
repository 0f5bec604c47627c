"""Which paths pip puts on its list for one distribution: rows, byte code, scripts.

Source: pip's req/req_uninstall.py, `uninstallation_paths`, `UninstallPathSet.add` and `from_dist`.
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from safepip.model.change import Edit
from safepip.model.environment import Distribution, Install, PipInUse, Target
from safepip.model.paths import TargetPath
from safepip.world import Entry, Kind, Place, World


class Candidates(NamedTuple):
    """Physical paths, before whole folders are taken for them."""

    recorded: frozenset[TargetPath]  # by a row, or by what stands for rows in older forms
    named: frozenset[TargetPath]  # by an entry point or a distutils script only
    compiled: frozenset[TargetPath]  # byte code of recorded modules, by no row of its own
    declined: frozenset[TargetPath]  # exist, and lie outside the prefix as pip tests it
    edits: tuple[Edit, ...] = ()

    @property
    def all(self) -> frozenset[TargetPath]:
        return self.recorded | self.named | self.compiled


def gather(dist: Distribution, target: Target, world: World) -> Candidates:
    """What pip's list holds when every path has been added."""
    rows = _Adder(target, world)
    for path in _listed(dist):
        rows.add(path)
    if dist.install is Install.DIST_INFO:
        for path in dist.files or ():
            if path.endswith(".py"):
                rows.add(f"{path[:-3]}.pyc", compiled=True)
                rows.add(f"{path[:-3]}.pyo", compiled=True)
    scripts = _Adder(target, world)
    for name in _script_names(dist, world):
        scripts.add(posixpath.join(_scripts_folder(dist, target, world), name))
    edits = _edits(dist)
    kept = tuple(edit for edit in edits if rows.is_permitted(edit.file))
    return Candidates(
        frozenset(rows.kept),
        frozenset(scripts.kept | scripts.compiled) - rows.kept - rows.compiled,
        frozenset(rows.compiled - rows.kept),
        frozenset(rows.refused | scripts.refused | {edit.file for edit in edits if edit not in kept}),
        kept,
    )


class _Adder:
    """pip's `UninstallPathSet.add`, with the listings of folders in place of a stat for each row."""

    def __init__(self, target: Target, world: World) -> None:
        self.kept: set[TargetPath] = set()
        self.compiled: set[TargetPath] = set()
        self.refused: set[TargetPath] = set()
        self._world = world
        self._pip = target.pip
        self._tag = target.cache_tag
        # A test on text, without a separator at its end: /v2 lies in /v for pip.
        self._prefix = world.real(target.prefix) if target.is_venv else ""
        self._folders: dict[str, tuple[str, dict[str, Entry] | None]] = {}

    def add(self, path: str, *, compiled: bool = False) -> None:
        head, _, name = path.rpartition("/")
        real, names = self._folder(head or "/")
        found = TargetPath(f"{real}/{name}" if real != "/" else f"/{name}")
        if not self._exists(found, name, names):
            return
        if not self.is_permitted(found):
            self.refused.add(found)
        elif compiled:
            self.compiled.add(found)
        else:
            self.kept.add(found)
        if name.endswith(".py") and name[:-3].strip("."):  # os.path.splitext: `.py` has no suffix
            self.add(_byte_code(found, self._tag, self._pip), compiled=True)

    def is_permitted(self, path: TargetPath) -> bool:
        return path.startswith(self._prefix)

    def _folder(self, head: str) -> tuple[str, dict[str, Entry] | None]:
        """The folder's real path and its names: None where there is no such folder."""
        known = self._folders.get(head)
        if known is None:
            real = self._world.real(TargetPath(head))
            names = {entry.name: entry for entry in self._world.entries(real)}
            exists = bool(names) or isinstance(self._world.find(real), Place)
            known = self._folders[head] = real, names if exists else None
        return known

    def _exists(self, path: TargetPath, name: str, names: dict[str, Entry] | None) -> bool:
        if names is None:
            return False
        entry = names.get(name)
        if entry is not None and entry.kind is not Kind.LINK:
            return True
        if entry is None and names and name not in {"", ".", ".."}:
            return False
        return isinstance(self._world.find(path), Place)  # a link, or a folder that cannot be listed


def _listed(dist: Distribution) -> list[str]:
    match dist.install:
        case Install.DIST_INFO:
            return list(dist.files or ())
        case Install.EGG_INFO_FOLDER:
            return [dist.info, *_of_egg_info(dist)]
        case Install.EGG:
            return [dist.location]
        case Install.EGG_LINK:
            return [dist.egg_link] if dist.egg_link else []
        case Install.EGG_INFO_FILE | Install.OTHER:
            return []


def _of_egg_info(dist: Distribution) -> list[str]:
    if dist.files is not None:
        return list(dist.files)
    paths = [posixpath.join(dist.location, name) for name in dist.top_level or ()]
    return [f"{path}{suffix}" for path in paths for suffix in ("", ".py", ".pyc", ".pyo")]


def _edits(dist: Distribution) -> tuple[Edit, ...]:
    match dist.install:
        case Install.EGG:
            folder, _, name = dist.location.rpartition("/")
            return (Edit(TargetPath(f"{folder}/easy-install.pth"), f"./{name}"),)
        case Install.EGG_LINK if dist.egg_link:
            folder = dist.egg_link.rpartition("/")[0]
            return (Edit(TargetPath(f"{folder}/easy-install.pth"), dist.location),)
    return ()


def _script_names(dist: Distribution, world: World) -> list[str]:
    distutils = [entry.name for entry in world.entries(TargetPath(f"{dist.info}/scripts"))]
    points = [point.name for point in dist.entry_points if point.group in {"console_scripts", "gui_scripts"}]
    return [*distutils, *points]


def _scripts_folder(dist: Distribution, target: Target, world: World) -> TargetPath:
    """Pip's `in_usersite` is a test on text as well."""
    if target.user_site and target.user_scripts:
        installed = dist.egg_link.rpartition("/")[0] if dist.egg_link else dist.location
        if installed.startswith(world.real(target.user_site)):
            return target.user_scripts
    return target.scripts


def _byte_code(path: TargetPath, tag: str, pip: PipInUse) -> str:
    """importlib.util.cache_from_source in pip's process; pip 26.1, and it alone, takes the folder."""
    folder, _, name = path.rpartition("/")
    if pip.release == (26, 1):
        return f"{folder}/__pycache__"
    level = f".opt-{pip.optimize}" if pip.optimize else ""
    cached = f"{name[:-3]}.{tag}{level}.pyc"
    if pip.pycache_prefix:
        return f"{pip.pycache_prefix.rstrip('/')}{folder}/{cached}"
    return f"{folder}/__pycache__/{cached}"
