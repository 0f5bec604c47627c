"""What lies at co-owned paths now, and what each owner's RECORD promised: size first, digests only where sizes do not tell."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from safepip.model.change import Removal
from safepip.model.environment import RECORD_FAULTS, Claim, Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Hidden, SharedFile
from safepip.reading import plain_file, tree
from safepip.reading.sites import record

SMALL = 4096  # bytes; namespace declarations are shorter


def read(removal: Removal, inventory: Inventory) -> tuple[SharedFile, ...]:
    """Each path that goes and has a surviving owner, in the removal's order."""
    owners = {
        path: tuple(sorted(dists, key=lambda dist: dist.key))
        for path, dists in inventory.owners(removal.shared).items()
    }
    claims: dict[TargetPath, dict[DistKey, Claim]] = {path: {} for path in owners}
    for dist in {dist for dists in owners.values() for dist in dists}:
        mine = [path for path, dists in owners.items() if dist in dists]
        for path, claim in record.claims(dist, mine).items():
            claims[path][dist.key] = claim
    return tuple(_look(path, owners[path], claims[path]) for path in removal.shared if path in owners)


def hidden(removal: Removal, inventory: Inventory) -> tuple[Hidden, ...]:
    """The survivors whose RECORD is damaged and may list some of what goes: it holds a top name of that, or nobody can read it."""
    blurred = [
        dist
        for dist in inventory.distributions
        if dist not in removal.leaving and not RECORD_FAULTS.isdisjoint(dist.faults)
    ]
    infos = tuple(f"{dist.info}/" for dist in removal.leaving)
    going = [path for path in removal.files if blurred and not path.startswith(infos)]
    found = []
    for dist in blurred:
        tops = dict.fromkeys(_top(path, dist.location) for path in going)
        try:
            text = plain_file.content(f"{dist.info}/RECORD")
        except OSError:
            top = next(iter(tops), None)
        else:
            top = next((top for top in tops if _is_named(os.fsencode(top), text)), None)
        if top is not None:
            found.append(Hidden(dist, top))
    return tuple(found)


def file_text(path: TargetPath) -> str:
    """The beginning of a source; "" where it cannot be read."""
    try:
        with tree.open(path, "rb") as file:
            return file.read(SMALL).decode("utf-8", "replace")
    except OSError:
        return ""


def _top(path: TargetPath, location: TargetPath) -> str:
    """Its first name below `location`; of byte code there, which many have, and of what lies elsewhere, its last."""
    start = f"{location}/"
    top = path[len(start) :].partition("/")[0] if path.startswith(start) else ""
    return path.rpartition("/")[2] if top in {"", "__pycache__"} else top


def _is_named(name: bytes, text: bytes) -> bool:
    """Whether a row of the RECORD `text` has `name` as a part of its path."""
    return re.search(rb'(?:^|[\r\n/"])' + re.escape(name) + rb'(?:[\r\n/",]|$)', text) is not None


def _look(path: TargetPath, owners: tuple[Distribution, ...], claims: Mapping[DistKey, Claim]) -> SharedFile:
    try:
        size = tree.stat(path).st_size
    except OSError:
        return SharedFile(path, owners, claims, -1)
    candidates = {claim.digest for claim in claims.values() if claim.size in (None, size)}
    digest = record.digest(path, min(candidates)) if len(candidates) > 1 else ""
    text = file_text(path) if path.endswith("/__init__.py") and size <= SMALL else ""
    return SharedFile(path, owners, claims, size, digest, text)
