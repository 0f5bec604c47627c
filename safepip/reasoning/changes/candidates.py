"""Which paths pip puts on its list for one distribution: rows, byte code, scripts.

Source: pip's req/req_uninstall.py, `uninstallation_paths`, `UninstallPathSet.add` and `from_dist`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from safepip.model.change import Edit
from safepip.model.environment import Distribution, Install, Target
from safepip.model.paths import TargetPath
from safepip.world import Kind, Place, World

_BYTE_CODE = (".pyc", ".pyo")


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
    listed = _by_head(_listed(dist))
    rows.add(listed)
    if dist.install is Install.DIST_INFO:
        rows.add_beside(listed)
    scripts = _Adder(target, world)
    folder = _scripts_folder(dist, target, world)
    scripts.add(_by_head(posixpath.join(folder, name) for name in _script_names(dist, world)))
    edits = _edits(dist)
    kept = tuple(edit for edit in edits if rows.is_permitted(edit.file))
    return Candidates(
        frozenset(rows.kept),
        frozenset(scripts.kept | scripts.compiled) - rows.kept - rows.compiled,
        frozenset(rows.compiled - rows.kept),
        frozenset(rows.refused | scripts.refused | {edit.file for edit in edits if edit not in kept}),
        kept,
    )


class _Listing(NamedTuple):
    """A folder as a row's head leads to it."""

    real: str
    plain: frozenset[str] = frozenset()  # names that are no links: they exist
    unsure: frozenset[str] | None = None  # names to ask for; None: any, as the folder cannot be listed
    has_byte_code: bool = False


class _Adder:
    """pip's `UninstallPathSet.add`, with the listings of folders in place of a stat for each row."""

    def __init__(self, target: Target, world: World) -> None:
        self.kept: set[TargetPath] = set()
        self.compiled: set[TargetPath] = set()
        self.refused: set[TargetPath] = set()
        self._world = world
        self._target = target
        self._prefix = world.real(target.prefix)
        self._listings: dict[str, _Listing] = {}

    def add(self, paths: Mapping[str, Collection[str]]) -> None:
        """Folder by folder: each head is resolved and listed once."""
        for head, names in paths.items():
            self.take(head, names)

    def add_beside(self, paths: Mapping[str, Collection[str]]) -> None:
        """Byte code in the folder of its module, as Python 2 put it."""
        for head, names in paths.items():
            listing = self._listing(head or "/")
            if listing.has_byte_code or listing.unsure is None:
                modules = [name[:-3] for name in names if name.endswith(".py")]
                self.take(head, {f"{name}{end}" for name in modules for end in _BYTE_CODE}, compiled=True)

    def take(self, head: str, names: Collection[str], *, compiled: bool = False) -> None:
        """Those of `names` that the folder `head` holds, and the byte code of the modules among them."""
        real, plain, unsure, _ = self._listing(head or "/")
        there = plain.intersection(names)
        if unsure is None or not unsure.isdisjoint(names):
            there |= {name for name in names if name not in plain and self._answers(real, name, unsure)}
        found = [TargetPath(f"{real}/{name}") for name in there]
        if not (real and self.is_permitted(TargetPath(f"{real}/"))):
            kept = [path for path in found if self.is_permitted(path)]
            self.refused.update(set(found).difference(kept))
            found = kept
        (self.compiled if compiled else self.kept).update(found)
        modules = [name for name in there if name.endswith(".py") and name[:-3].strip(".")]  # as splitext
        if modules:
            self.take(*_byte_code(real, modules, self._target), compiled=True)

    def is_permitted(self, path: TargetPath) -> bool:
        return self._target.may_take(path, self._prefix)

    def _listing(self, head: str) -> _Listing:
        listing = self._listings.get(head)
        if listing is None:
            listing = self._listings[head] = self._list(self._world.real(TargetPath(head)))
        return listing

    def _list(self, real: TargetPath) -> _Listing:
        entries = self._world.entries(real)
        if not entries:
            exists = isinstance(self._world.find(real), Place)
            return _Listing(real.rstrip("/"), unsure=None if exists else frozenset())
        links = [entry.name for entry in entries if entry.kind is Kind.LINK]
        plain = frozenset([entry.name for entry in entries]).difference(links)
        has_byte_code = any(entry.name.endswith(_BYTE_CODE) for entry in entries)
        return _Listing(real.rstrip("/"), plain, frozenset([*links, "", ".", ".."]), has_byte_code)

    def _answers(self, real: str, name: str, unsure: frozenset[str] | None) -> bool:
        if unsure is not None and name not in unsure:
            return False
        return isinstance(self._world.find(TargetPath(f"{real}/{name}")), Place)


def _listed(dist: Distribution) -> Sequence[str]:
    match dist.install:
        case Install.DIST_INFO:
            return dist.as_written or dist.files or ()
        case Install.EGG_INFO_FOLDER:
            return [dist.info, *_of_egg_info(dist)]
        case Install.EGG:
            return [dist.location]
        case Install.EGG_LINK if dist.egg_link:
            return [dist.egg_link]
        case _:
            return []


def _of_egg_info(dist: Distribution) -> Sequence[str]:
    if dist.files is not None:
        return dist.as_written or dist.files
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
    return [*distutils, *dist.packed_scripts, *points]


def _scripts_folder(dist: Distribution, target: Target, world: World) -> TargetPath:
    """Pip's `in_usersite` is a test on text as well."""
    if target.user_site and target.user_scripts:
        installed = dist.egg_link.rpartition("/")[0] if dist.egg_link else dist.location
        if installed.startswith(world.real(target.user_site)):
            return target.user_scripts
    return target.scripts


def _by_head(paths: Iterable[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in paths:
        head, _, name = path.rpartition("/")
        names.setdefault(head, []).append(name)
    return names


def _byte_code(folder: str, modules: Iterable[str], target: Target) -> tuple[str, set[str]]:
    """importlib.util.cache_from_source in pip's process; pip 26.1, and it alone, takes the whole folder."""
    if target.pip.release == (26, 1):
        return folder, {"__pycache__"}
    level = f".opt-{target.pip.optimize}" if target.pip.optimize else ""
    prefix = (target.pip.pycache_prefix or "").rstrip("/")
    ending = f".{target.cache_tag}{level}.pyc"
    return (f"{prefix}{folder}" if prefix else f"{folder}/__pycache__"), {
        f"{name[:-3]}{ending}" for name in modules
    }
