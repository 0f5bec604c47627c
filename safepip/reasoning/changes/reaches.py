"""What a removal takes that others have a claim to: co-owned files, and what is not the distribution's to take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from safepip.model.change import Reach, Why
from safepip.model.environment import Distribution, Install, Inventory, Target
from safepip.model.paths import TargetPath
from safepip.reasoning.changes.candidates import Candidates
from safepip.reasoning.changes.folders import Moved
from safepip.world import World

# What venv, virtualenv and uv put into the scripts folder, and the interpreter's own names.
_OF_ENVIRONMENT = re.compile(
    r"(python|pypy)[\d.]*t?|python[\d.]*-config|[Aa]ctivate(\.\w+|_this\.py)?|deactivate(\.\w+)?"
)
_TOP_FILES = ("pyvenv.cfg", "pip.conf", "lib64")
_TOP_FOLDERS = ("conda-meta", ".safepip")


class Taken(NamedTuple):
    """One distribution's part of a removal."""

    dist: Distribution
    candidates: Candidates
    moved: Moved


def shared(
    files: frozenset[TargetPath], taken: Sequence[Taken], inventory: Inventory
) -> tuple[TargetPath, ...]:
    """Those of `files` that a surviving distribution's RECORD lists."""
    leaving = {part.dist.info for part in taken}
    owners = inventory.owners(files).items()
    return tuple(sorted(path for path, dists in owners if any(dist.info not in leaving for dist in dists)))


def reaches(taken: Sequence[Taken], inventory: Inventory, world: World) -> tuple[Reach, ...]:
    """Each path that goes although it is not the leaving distributions' own, with the first reason that holds."""
    bounds = _Bounds(inventory.target, world)
    survivors = _survivors(taken, inventory)
    found: dict[TargetPath, Reach] = {}
    for part in taken:
        for reach in (
            *_beyond(part, bounds),
            *_metadata_of_others(part, survivors),
            *_unclaimed(part, taken, survivors, bounds),
        ):
            found.setdefault(reach.path, reach)
    return tuple(found[path] for path in sorted(found))


class _Bounds:
    """Where the environment ends, and what in it belongs to no distribution."""

    def __init__(self, target: Target, world: World) -> None:
        self.prefix = world.real(target.prefix)
        self.scripts = world.real(target.scripts)
        self.user_scripts = world.real(target.user_scripts) if target.user_scripts else None
        self.stdlib = world.real(target.stdlib)
        self.sites = tuple(f"{world.real(site)}/" for site in target.sites if world.real(site) != self.stdlib)
        self._interpreter = world.real(target.interpreter)
        self._executable = _in_real_folder(target.executable, world)

    def zone(self, dist: Distribution) -> tuple[str, ...]:
        """The folders that a distribution may take from: a user site's scripts lie apart from the prefix."""
        user = self.user_scripts.rpartition("/")[0] if self.user_scripts else None
        is_user = bool(user) and dist.location.startswith(f"{user}/")
        return (f"{self.prefix}/", f"{dist.location}/", *([f"{user}/"] if is_user else ()))

    def belongs_to_environment(self, path: TargetPath) -> bool:
        folder, _, name = path.rpartition("/")
        inside = path.removeprefix(f"{self.prefix}/")
        return (
            path in {self._interpreter, self._executable}
            or (folder == self.scripts and bool(_OF_ENVIRONMENT.fullmatch(name)))
            or (folder == self.prefix and name in _TOP_FILES)
            or (inside != path and inside.partition("/")[0] in _TOP_FOLDERS)
            or (folder == f"{self.prefix}/lib" and name.startswith("libpython"))
            or (path.startswith(f"{self.stdlib}/") and not path.startswith(self.sites))
        )

    def is_launcher(self, path: TargetPath) -> bool:
        return path.rpartition("/")[0] in {self.scripts, self.user_scripts}


def _survivors(taken: Iterable[Taken], inventory: Inventory) -> list[Distribution]:
    leaving = {part.dist for part in taken}
    return [dist for dist in inventory.distributions if dist not in leaving]


def _beyond(part: Taken, bounds: _Bounds) -> Iterator[Reach]:
    home = f"{part.dist.location}/"
    zone = bounds.zone(part.dist)
    for path in (*part.moved.files, *part.moved.folders):
        if path.startswith(home):
            continue
        if not path.startswith(zone) and f"{path}/" not in zone:
            yield Reach(path, Why.OUTSIDE, part.dist)
        elif bounds.belongs_to_environment(path):
            yield Reach(path, Why.ENVIRONMENT, part.dist)


def _metadata_of_others(part: Taken, survivors: Iterable[Distribution]) -> Iterator[Reach]:
    inside = [path for path in part.moved.files if "-info" in path or "-INFO" in path]
    if not inside:
        return
    infos = {dist.info: dist for dist in survivors}
    for path in inside:
        folder = path
        while folder and folder not in infos:
            folder = TargetPath(folder.rpartition("/")[0])
        if folder:
            yield Reach(path, Why.FOREIGN, part.dist, infos[folder].name)


def _unclaimed(
    part: Taken, taken: Sequence[Taken], survivors: Iterable[Distribution], bounds: _Bounds
) -> Iterator[Reach]:
    """What goes by no row of a leaving distribution. Byte code in `__pycache__` is made again where it is used."""
    extra = {
        path
        for path in part.moved.files.difference(part.candidates.recorded, part.candidates.compiled)
        if not (path.endswith(".pyc") and "/__pycache__/" in path)
    }
    if not extra:
        return
    for other in taken:  # a row may be another's, and already gone when it would have been its turn
        extra.difference_update(other.candidates.recorded, other.dist.files or ())
    owners: dict[TargetPath, Distribution] = {}
    for dist in survivors:
        for path in extra.intersection(dist.files or ()):
            owners.setdefault(path, dist)
    own = _own_folders(part.dist)
    for path in extra:
        named = path in part.candidates.named
        owner = owners.get(path)
        if owner is not None:
            yield Reach(path, Why.LAUNCHER if named else Why.FOREIGN, part.dist, owner.name)
        elif not (named and bounds.is_launcher(path)) and not path.startswith(own):
            yield Reach(path, Why.UNRECORDED, part.dist)


def _own_folders(dist: Distribution) -> tuple[str, ...]:
    """Old forms list whole folders: nobody can tell what in them came later."""
    if dist.install is Install.EGG:
        return (f"{dist.location}/",)
    if dist.install is Install.EGG_INFO_FOLDER:
        named = [name for name in dist.top_level or () if "/" not in name and name.strip(".")]
        return (f"{dist.info}/", *(f"{dist.location}/{name}/" for name in named))
    return ()


def _in_real_folder(path: TargetPath, world: World) -> TargetPath:
    folder, _, name = path.rpartition("/")
    return TargetPath(f"{world.real(TargetPath(folder)).rstrip('/')}/{name}")
