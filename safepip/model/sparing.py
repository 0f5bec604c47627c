"""A removal that leaves every survivor whole: what stays of what pip would take, and whose bytes it gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from safepip.model.change import Removal
from safepip.model.environment import Claim, Distribution
from safepip.model.paths import TargetPath


class Restored(NamedTuple):
    """A path that stays, and that a survivor recorded with other bytes than those that lie there."""

    path: TargetPath
    survivor: Distribution
    claim: Claim


@dataclass(frozen=True, slots=True)
class Sparing:
    removal: Removal  # what pip would take, without what stays
    kept: tuple[TargetPath, ...] = ()  # files that stay
    owners: tuple[str, ...] = ()  # the survivors that own some of them
    restored: tuple[Restored, ...] = ()  # of `kept`
    foreign: tuple[TargetPath, ...] = ()  # of `kept`: hold the leaver's bytes and are left so, as asked
    odd: tuple[TargetPath, ...] = ()  # of `kept`: hold bytes that no owner recorded, and are left so
