"""Searches that were made, to be made use of again: what of them holds for another consumer and another world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from safepip.model.elf import Elf, Flaw, Step
from safepip.model.paths import TargetPath
from safepip.reasoning.libraries.loader import Folders, Mapped
from safepip.world import Place


class Found(NamedTuple):
    """How one search ended, in whatever process it is made: only files and search lists decide it."""

    holders: tuple[Mapped, ...]  # the consumer it was made for, and whose paths counted
    step: Step | None
    elf: Elf | None
    place: Place | None
    tried: tuple[Step, ...]
    flaw: Flaw | None
    crossed: frozenset[TargetPath]


@dataclass(frozen=True, slots=True)
class Memo:
    """What calls for one world and configuration share."""

    searches: dict[tuple[object, ...], Found] = field(default_factory=dict)
    folders: Folders = field(default_factory=Folders)

    def without(self, gone: frozenset[TargetPath]) -> Memo:
        """What ends as it did once `gone` has gone: a removal only takes away."""
        stands = {key: found for key, found in self.searches.items() if found.crossed.isdisjoint(gone)}
        variants = {folder: known for folder, known in self.folders.variants.items() if not known}
        return Memo(stands, Folders(variants, self.folders.lists))


def where(holder: Mapped, wants: str) -> tuple[str, str | None, str | None]:
    """What of a holder decides a search: two modules of one folder with one RPATH look alike."""
    elf = holder.elf
    matters = elf.rpath or elf.runpath or "$" in wants
    return (holder.origin if matters else "", elf.runpath, elf.rpath)


def restated(found: Found, holders: tuple[Mapped, ...]) -> Found:
    """The same search by another consumer: the same places, by the word of other objects."""
    said_by: dict[TargetPath | None, TargetPath] = {
        old.path: new.path for old, new in zip(found.holders, holders, strict=True) if old.path != new.path
    }
    if not said_by:
        return found
    step = found.step and _said(found.step, said_by)
    return found._replace(holders=holders, step=step, tried=tuple([_said(s, said_by) for s in found.tried]))


def _said(step: Step, said_by: Mapping[TargetPath | None, TargetPath]) -> Step:
    by = said_by.get(step.stated_by)
    return step if by is None else Step(step.rule, step.path, by, step.element)
