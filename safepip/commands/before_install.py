"""The world before an install that has been done, as a layer over the disk as it is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from safepip.commands import between
from safepip.commands.scene import Scene
from safepip.commands.target import Found
from safepip.model.arrival import Content, Turn
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import TargetPath
from safepip.model.snapshot import Difference, Snapshot
from safepip.reading.sites import site, unrecorded
from safepip.world import Arrived, Changed


@dataclass(frozen=True, slots=True)
class Earlier:
    """Who was installed; the files are in the snapshot."""

    inventory: Inventory
    environ: Mapping[str, str]


def look(found: Found, environ: Mapping[str, str]) -> Earlier:
    return Earlier(unrecorded.completed(site.take_inventory(found.target)), environ)


def both(kept: Snapshot, changed: Difference, earlier: Earlier) -> between.Both:
    """What was and what is, for the judge."""
    scene = Scene(earlier.inventory.target, earlier.environ)
    was, now = earlier.inventory, scene.inventory
    places = {
        _path(kept, path): TargetPath(f"{kept.folder}/{kept.kept[path]}")
        for path in (*changed.gone, *changed.altered)
        if path in kept.kept
    }
    altered, fresh = _absolute(kept, changed.altered), _absolute(kept, changed.fresh)
    contents = {
        path: Content(kept.seen[path[len(kept.home) + 1 :]].size, place) for path, place in places.items()
    }
    before = Arrived(Changed(scene.disk, fresh | _absolute(kept, changed.fresh_folders)), contents)
    known = {dist.info for dist in was.distributions}
    arriving = tuple(
        dist for dist in now.distributions if dist.info not in known or f"{dist.info}/RECORD" in altered
    )
    staying = {dist.info for dist in now.distributions if dist not in arriving}
    replaced = tuple(dist for dist in was.distributions if dist.info not in staying)
    turn = Turn(
        was=was,
        now=now,
        replaced=replaced,
        arriving=arriving,
        requested=frozenset(dist.key for dist in arriving if dist.requested),
        taken=_taken(_absolute(kept, changed.gone), fresh | altered, replaced, arriving),
        altered=altered,
        fresh=fresh,
    )
    return between.Both(
        turn,
        before,
        scene.disk,
        scene,
        {},
        bytes_before=lambda path: places.get(path, path),
        bytes_after=lambda path: path,
    )


def _taken(
    gone: Iterable[TargetPath],
    come: frozenset[TargetPath],
    replaced: Iterable[Distribution],
    arriving: Iterable[Distribution],
) -> dict[TargetPath, Distribution | None]:
    """Files that are absent now, those among them that came and went within the same install; byte code aside."""
    owner = {path: dist for dist in replaced for path in dist.files or ()}
    absent = {
        path
        for dist in arriving
        for path in dist.files or ()
        if path not in come and not os.path.lexists(path)
    }
    paths = sorted(path for path in absent.union(gone) if not path.endswith(".pyc"))
    return {path: owner.get(path) for path in paths}


def _absolute(kept: Snapshot, paths: Iterable[str]) -> frozenset[TargetPath]:
    return frozenset(_path(kept, path) for path in paths)


def _path(kept: Snapshot, path: str) -> TargetPath:
    return TargetPath(f"{kept.home}/{path}")
