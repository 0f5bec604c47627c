"""Which files a safe removal leaves, which go, and which need other bytes.

rpm's rule: a path goes with the last of its owners. What pip would take beyond the distribution's own is
left in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from safepip.model.change import Removal
from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.sparing import Restored, Sparing
from safepip.model.survey import SharedFile
from safepip.reasoning.changes.folders import lies_in
from safepip.world import Kind, World


def spare(
    removal: Removal, shares: Sequence[SharedFile], world: World, *, keep_foreign: bool = False
) -> Sparing:
    """`removal` without what a survivor owns. `shares` have their digests: whose bytes lie there is decided by them."""
    stays = frozenset(removal.shared).union(reach.path for reach in removal.reaches)
    kept = stays.union(
        _byte_code(removal.files, stays),
        (path for path in removal.files if lies_in(path, stays)),  # a reach may name a folder
    )
    gone = replace(
        removal,
        files=tuple(path for path in removal.files if path not in kept),
        folders=tuple(_split(removal.folders, kept, world)),
        shared=(),
        reaches=(),
    )
    wrong = [item for item in shares if _survivor(item, removal) is not None]
    leavers = [item for item in wrong if not _is_nobodys(item)]
    owners = {dist.name for item in shares for dist in item.owners if dist not in removal.leaving}
    return Sparing(
        gone,
        tuple(sorted(kept.intersection(removal.files))),
        tuple(sorted(owners, key=str.lower)),
        () if keep_foreign else tuple(_restored(item, removal) for item in leavers),
        tuple(item.path for item in leavers) if keep_foreign else (),
        tuple(item.path for item in wrong if _is_nobodys(item)),
    )


def _survivor(item: SharedFile, removal: Removal) -> Distribution | None:
    """The survivor whose bytes are missed: None where one has its own there, or none recorded any."""
    survivors = [dist for dist in item.owners if dist not in removal.leaving]
    digests = {dist.key: item.claims[dist.key].digest for dist in survivors if dist.key in item.claims}
    if not item.digest or item.digest in digests.values():
        return None
    return next((dist for dist in survivors if digests.get(dist.key)), None)


def _is_nobodys(item: SharedFile) -> bool:
    """Every owner recorded a digest, and none this one: it was changed by hand, which is not ours to undo."""
    digests = [item.claims[dist.key].digest if dist.key in item.claims else "" for dist in item.owners]
    return all(digests) and item.digest not in digests


def _restored(item: SharedFile, removal: Removal) -> Restored:
    survivor = _survivor(item, removal)
    assert survivor is not None  # noqa: S101
    return Restored(item.path, survivor, item.claims[survivor.key])


def _byte_code(files: Collection[TargetPath], stays: Collection[TargetPath]) -> Iterator[TargetPath]:
    """Byte code of a module that stays: nobody records it where uv installed, and it is of use."""
    sources = {path.removesuffix(".py") for path in stays if path.endswith(".py")}
    for path in files:
        folder, slash, name = path.rpartition("/__pycache__/")
        if slash and name.endswith(".pyc") and f"{folder}/{name.partition('.')[0]}" in sources:
            yield path


def _split(
    folders: Collection[TargetPath], kept: Collection[TargetPath], world: World
) -> Iterator[TargetPath]:
    """The folders, or those in them, that hold nothing that stays."""
    above = {path[:end] for path in kept for end, char in enumerate(path) if char == "/"}
    pending = list(folders)
    while pending:
        folder = pending.pop()
        if folder in above:
            inner = (
                TargetPath(f"{folder}/{entry.name}")
                for entry in world.entries(folder)
                if entry.kind is Kind.FOLDER
            )
            pending += inner
        elif folder not in kept:
            yield folder
