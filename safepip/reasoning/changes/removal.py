"""The exact set of paths that `pip uninstall` would delete, as a pure function.

Source: pip 22.3 to 26.3, commands/uninstall.py, req/req_install.py and req/req_uninstall.py. The names are
taken one after the other, each on the disk that the one before has left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from safepip.model.change import Halt, Removal, Skip
from safepip.model.environment import Distribution, Fault, Install, Inventory, Target
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes import folders
from safepip.reasoning.changes.candidates import Candidates, gather
from safepip.reasoning.changes.reaches import Taken, reaches, shared
from safepip.world import Changed, Kind, Place, World

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")  # metadata/base.py:iter_all_distributions


class _Done(NamedTuple):
    """What pip did for one name."""

    taken: Taken
    moved: folders.Moved
    candidates: Candidates
    halt: Halt | None = None


def plan(keys: Sequence[DistKey], inventory: Inventory, world: World) -> Removal:
    """What pip deletes for `keys`, up to the name at which it stops."""
    done: list[_Done] = []
    skipped: list[Skip] = []
    halt: Halt | None = None
    gone: frozenset[TargetPath] = frozenset()
    for key in dict.fromkeys(keys):
        step = _uninstall(key, inventory, Changed(world, gone) if gone else world)
        if isinstance(step, Skip):
            skipped.append(step)
            continue
        if isinstance(step, _Done):
            done.append(step)
            gone |= step.moved.files | step.moved.folders
            halt = step.halt
        else:
            halt = step
        if halt is not None:
            break
    return _removal(done, tuple(skipped), halt, inventory, world)


def _removal(
    done: Sequence[_Done], skipped: tuple[Skip, ...], halt: Halt | None, inventory: Inventory, world: World
) -> Removal:
    files = frozenset[TargetPath]().union(*(step.moved.files for step in done))
    whole = frozenset[TargetPath]().union(*(step.moved.folders for step in done))
    taken = [step.taken for step in done]
    return Removal(
        leaving=tuple(step.taken.dist for step in done),
        files=tuple(sorted(files)),
        folders=tuple(folders.topmost(whole)),
        shared=shared(files, taken, inventory),
        reaches=reaches(taken, inventory, world),
        declined=tuple(sorted(frozenset[TargetPath]().union(*(step.candidates.declined for step in done)))),
        skipped=skipped,
        halt=halt,
        edits=tuple(edit for step in done for edit in step.candidates.edits),
    )


def _uninstall(key: DistKey, inventory: Inventory, world: World) -> _Done | Skip | Halt:
    target = inventory.target
    dist = _find(key, inventory, world)
    if dist is None:
        return Skip(key, "not installed")
    if not _NAME.fullmatch(dist.key):
        return Skip(dist.name, "pip passes over what has no name that a project can have")
    refusal = _before_looking(dist, target, world) or _unreadable(dist, target, world)
    if refusal is not None:
        return refusal
    candidates = gather(_as_left(dist, world), target, world)
    candidates = candidates._replace(
        edits=tuple(edit for edit in candidates.edits if _exists(edit.file, world))
    )
    if not candidates.all:
        return Skip(dist.name, "no files were found")
    moved = folders.move(candidates.all, world)
    if not moved.stuck:
        halt = _at_commit(dist, moved, target, world)
        return _Done(Taken(dist, candidates, moved), moved, candidates, halt)
    halt = Halt(dist.name, f"pip cannot move {moved.stuck}", 2, stuck=True)
    if target.pip.release >= (26, 3):  # it puts back what it has moved
        moved = moved._replace(files=frozenset(), folders=frozenset())
    lost = moved._replace(files=moved.files | moved.emptied)
    return _Done(Taken(dist, candidates, lost), lost, candidates, halt) if lost.files else halt


def _at_commit(dist: Distribution, moved: folders.Moved, target: Target, world: World) -> Halt | None:
    """Before pip 23.3 what is moved away and cannot be deleted ends it; since then it is a warning."""
    if target.pip.release >= (23, 3):
        return None
    locked = next((path for folder in moved.folders for path in folders.locked(folder, world)), None)
    return Halt(dist.name, f"pip cannot delete {locked}", 2, stuck=True) if locked else None


def _find(key: DistKey, inventory: Inventory, world: World) -> Distribution | None:
    """The first along sys.path whose metadata is still there."""
    for dist in inventory.distributions:
        if dist.key == key and all(
            _is_there(path, dist, world) for path in (dist.info, dist.egg_link) if path
        ):
            return dist
    return None


def _is_there(path: TargetPath, dist: Distribution, world: World) -> bool:
    return bool(world.kind(path)) or world.kind(dist.location) is Kind.FILE  # packed in a zip file


def _before_looking(dist: Distribution, target: Target, world: World) -> Skip | Halt | None:
    """What pip says of a distribution before it asks for its files (`uninstall`, `from_dist`)."""
    if Fault.METADATA_UNDECODABLE in dist.faults:
        return Halt(dist.name, Fault.METADATA_UNDECODABLE.value, 2)
    is_importlib = target.pip.backend == "importlib"
    if Fault.METADATA_WITHOUT_VERSION in dist.faults and is_importlib and target.pip.release < (24, 1):
        return Halt(dist.name, Fault.METADATA_WITHOUT_VERSION.value, 2)
    installed = TargetPath(dist.egg_link.rpartition("/")[0]) if dist.egg_link else dist.location
    if not target.may_take(world.real(installed), world.real(target.prefix)):
        return Skip(dist.name, f"at {world.real(dist.location)}, outside environment {target.prefix}")
    if world.real(dist.location) == target.stdlib:
        return Skip(dist.name, "in the standard library")
    return None


def _unreadable(dist: Distribution, target: Target, world: World) -> Halt | None:
    """Where pip ends with an error before it has touched anything of this distribution."""
    faults = dist.faults
    if dist.install is Install.EGG_INFO_FILE:
        return Halt(dist.name, "installed by distutils: one file holds its metadata", 1)
    for fault in (Fault.RECORD_UNDECODABLE, Fault.RECORD_BROKEN):
        if fault in faults:
            return Halt(dist.name, fault.value, 2)
    if dist.install is Install.DIST_INFO and not _has_record(dist, world):
        traceback = Fault.RECORD_UNREADABLE in faults and target.pip.backend != "importlib"
        return Halt(dist.name, "no RECORD file", 2 if traceback else 1)
    caught = target.pip.release >= (26, 3)
    if Fault.ENTRY_POINTS_UNDECODABLE in faults:
        return Halt(dist.name, Fault.ENTRY_POINTS_UNDECODABLE.value, 1 if caught else 2)
    if Fault.ENTRY_POINTS_BROKEN in faults:
        caught = caught and target.pip.backend != "importlib"  # whose TypeError is not foreseen
        return Halt(dist.name, Fault.ENTRY_POINTS_BROKEN.value, 1 if caught else 2)
    return None


def _has_record(dist: Distribution, world: World) -> bool:
    """As it stands now: an earlier name may have taken it away."""
    names = ("RECORD", "installed-files.txt")
    return dist.files is not None and any(_exists(TargetPath(f"{dist.info}/{name}"), world) for name in names)


def _as_left(dist: Distribution, world: World) -> Distribution:
    """`dist` without the entry points of a file that an earlier name has taken away."""
    if dist.entry_points and not _is_there(TargetPath(f"{dist.info}/entry_points.txt"), dist, world):
        return replace(dist, entry_points=())
    return dist


def _exists(path: TargetPath, world: World) -> bool:
    return isinstance(world.find(path), Place)
