"""What lies at co-owned paths now, and what each owner's RECORD promised: size first, digests only where sizes do not tell."""

from __future__ import annotations

from collections.abc import Mapping

from safepip.model.change import Removal
from safepip.model.environment import Claim, Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import SharedFile
from safepip.reading import tree
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


def file_text(path: TargetPath) -> str:
    """The beginning of a source; "" where it cannot be read."""
    try:
        with tree.open(path, "rb") as file:
            return file.read(SMALL).decode("utf-8", "replace")
    except OSError:
        return ""


def _look(path: TargetPath, owners: tuple[Distribution, ...], claims: Mapping[DistKey, Claim]) -> SharedFile:
    try:
        size = tree.stat(path).st_size
    except OSError:
        return SharedFile(path, owners, claims, -1)
    candidates = {claim.digest for claim in claims.values() if claim.size in (None, size)}
    digest = record.digest(path, min(candidates)) if len(candidates) > 1 else ""
    text = file_text(path) if path.endswith("/__init__.py") and size <= SMALL else ""
    return SharedFile(path, owners, claims, size, digest, text)
