"""What a removal takes that others have a claim to: co-owned files, and what is not the distribution's to take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from safepip.model.change import Reach
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import TargetPath
from safepip.reasoning.candidates import Candidates
from safepip.reasoning.folders import Moved
from safepip.world import World


class Taken(NamedTuple):
    """One distribution's part of a removal."""

    dist: Distribution
    candidates: Candidates
    moved: Moved


def shared(
    files: frozenset[TargetPath], taken: Sequence[Taken], inventory: Inventory
) -> tuple[TargetPath, ...]:
    """Those of `files` that a surviving distribution's RECORD lists."""
    leaving = {part.dist for part in taken}
    survivors = [dist for dist in inventory.distributions if dist not in leaving]
    return tuple(sorted({path for dist in survivors for path in files.intersection(dist.files or ())}))


def reaches(taken: Sequence[Taken], inventory: Inventory, world: World) -> tuple[Reach, ...]:  # noqa: ARG001
    return ()
