"""What `uv pip uninstall` would delete, as a pure function: not what pip would.

Source: uv 0.13.9, crates/uv-install-wheel/src/uninstall.rs, `uninstall_wheel`. Differences that matter: every
distribution of a name goes; a row's file goes whether a link leads somewhere or not; byte code goes by its folder,
`__pycache__`, from each folder that has lost a file; emptied folders go up to site-packages; nothing is taken by
the name of an entry point; a row outside the scheme's folders is left. uv leaves absolute rows, too, which cannot be
told from others here: they are planned as if they went.
"""

from __future__ import annotations

from collections.abc import Sequence

from safepip.model.change import Halt, Removal, Skip
from safepip.model.environment import Distribution, Fault, Install, Inventory, Target
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes import folders
from safepip.reasoning.changes.candidates import Candidates
from safepip.reasoning.changes.reaches import Taken, reaches, shared
from safepip.world import Kind, World

_FATAL = (Fault.RECORD_UNREADABLE, Fault.RECORD_UNDECODABLE, Fault.RECORD_BROKEN)


def plan(keys: Sequence[DistKey], inventory: Inventory, world: World) -> Removal:
    """What uv deletes for `keys`; it stops before the first that it cannot read, and safepip before all."""
    skipped: list[Skip] = []
    leaving: list[Distribution] = []
    for key in dict.fromkeys(keys):
        named = [dist for dist in inventory.distributions if dist.key == key]
        leaving += named
        skipped += [] if named else [Skip(key, "not installed")]
    halt = next(filter(None, map(_refusal, leaving)), None)
    disk = _Disk(world)
    taken = [_taken(dist, inventory.target, disk) for dist in leaving]
    if disk.stuck is not None:
        halt = halt or Halt(
            leaving[0].name, f"uv cannot remove {disk.stuck}, a link, and stops halfway", 2, stuck=True
        )
    if halt is not None:
        return Removal(skipped=tuple(skipped), halt=halt)
    files = frozenset(disk.files)
    return Removal(
        leaving=tuple(leaving),
        files=tuple(sorted(files)),
        folders=tuple(folders.topmost(disk.folders)),
        shared=shared(files, taken, inventory),
        reaches=reaches(taken, inventory, world),
        declined=tuple(sorted(frozenset[TargetPath]().union(*(part.candidates.declined for part in taken)))),
        skipped=tuple(skipped),
    )


class _Disk:
    """The world as uv's deletions have left it so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.files: set[TargetPath] = set()
        self.folders: set[TargetPath] = set()
        self.stuck: TargetPath | None = None  # an emptied folder that is reached by a link

    def names(self, folder: TargetPath) -> list[TargetPath]:
        paths = (TargetPath(f"{folder}/{entry.name}") for entry in self.world.entries(folder))
        return [path for path in paths if path not in self.files and path not in self.folders]

    def remove(self, path: TargetPath) -> bool:
        """A file or link, or a folder with all that it holds. False: nothing was there."""
        kind = self.world.kind(path)
        if kind is None or path in self.files or path in self.folders:
            return False
        if kind is Kind.FOLDER:
            for inside in self.names(path):
                self.remove(inside)
            self.folders.add(path)
        else:
            self.files.add(path)
        return True


def _refusal(dist: Distribution) -> Halt | None:
    if dist.install is not Install.DIST_INFO:
        return Halt(dist.name, f"safepip does not follow how uv removes an {dist.install.value}", 2)
    fault = next((fault for fault in _FATAL if fault in dist.faults), None)
    if fault is not None:
        return Halt(dist.name, fault.value, 2)
    return Halt(dist.name, "no RECORD file", 2) if dist.files is None else None


def _taken(dist: Distribution, target: Target, disk: _Disk) -> Taken:
    before, gone_folders = set(disk.files), set(disk.folders)
    visited: set[TargetPath] = set()
    declined: set[TargetPath] = set()
    scheme = tuple(
        f"{name}/"
        for folder in (target.prefix, target.scripts, *target.sites)
        for name in {folder, disk.world.real(folder)}
    )
    for row in dist.as_written or dist.files or ():
        if not row.startswith(scheme):
            declined.add(row)
            continue
        head, _, name = row.rpartition("/")
        path = TargetPath(f"{disk.world.real(TargetPath(head))}/{name}")
        is_file = disk.world.kind(path) is not Kind.FOLDER
        if disk.remove(path) and is_file:
            visited.add(TargetPath(head))
    recorded = frozenset(disk.files - before)
    for folder in sorted(visited, key=lambda path: path.split("/"), reverse=True):
        _tidy(folder, dist.location, disk)
    moved = folders.Moved(frozenset(disk.files - before), frozenset(disk.folders - gone_folders))
    compiled = moved.files - recorded
    return Taken(dist, Candidates(recorded, frozenset(), frozenset(compiled), frozenset(declined)), moved)


def _tidy(folder: TargetPath, site: TargetPath, disk: _Disk) -> None:
    """Its byte code, and the folder itself and those above it as far as they are empty."""
    while folder.startswith(f"{site}/"):
        real = disk.world.real(folder)
        disk.remove(TargetPath(f"{real}/__pycache__"))
        if real in disk.folders or disk.names(real):
            return
        if disk.world.kind(folder) is Kind.LINK:
            disk.stuck = folder
            return
        disk.folders.add(real)
        folder = TargetPath(folder.rpartition("/")[0])
