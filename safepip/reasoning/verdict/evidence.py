"""All that was looked up about one removal, before anybody judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from safepip.model.change import Removal
from safepip.model.elf import Flaw
from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.imports import Grade, ImportLoss
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Hidden, Hint, InUse, Objects, SharedFile
from safepip.reasoning.libraries.families import Split
from safepip.reasoning.libraries.losses import Grouped
from safepip.reasoning.requirements import Lost
from safepip.world import World


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was looked up about one removal; judging adds nothing to it."""

    removal: Removal
    inventory: Inventory
    after: World
    objects: Objects  # of everybody, survivors named as owners first
    libraries: tuple[Grouped, ...] = ()
    splits: tuple[Split, ...] = ()
    hints: tuple[Hint, ...] = ()
    known_loads: tuple[KnownLoad, ...] = ()
    shares: tuple[SharedFile, ...] = ()
    requirements: Lost = field(default_factory=lambda: Lost((), ()))
    imports: tuple[ImportLoss, ...] = ()
    grades: Mapping[tuple[TargetPath, DistKey], Grade] = field(
        default_factory=dict
    )  # by survivor's info and lost
    side_imports: frozenset[str] = frozenset()
    hidden: tuple[Hidden, ...] = ()
    unreadable_going: tuple[tuple[TargetPath, Flaw], ...] = ()
    unreadable_consumers: tuple[tuple[TargetPath, Flaw], ...] = ()
    in_use: tuple[InUse, ...] = ()
    hollow: tuple[Distribution, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    safepip_key: str = "safepip"
