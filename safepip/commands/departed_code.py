"""Imports that an install takes away: of a module that goes, or that another is found in place of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from safepip.commands.between import Both
from safepip.model.arrival import Overwrite, Turn
from safepip.model.change import Removal
from safepip.model.imports import ImportLoss
from safepip.reasoning.code import imports, shadows
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.libraries import objects


@dataclass(frozen=True, slots=True)
class Departed:
    losses: tuple[ImportLoss, ...]
    shadowed: tuple[Overwrite, ...]


def look(both: Both, removal: Removal) -> Departed:
    """A module that the new version has at another place is no loss, nor a package that becomes a namespace."""
    finders = Finder(both.before, both.turn.was.target), Finder(both.after, both.turn.now.target)
    shadowed = {item.path: item for item in _shadowed(both.turn, finders)}
    if not both.turn.replaced and not shadowed:
        return Departed((), ())
    narrowed = _narrowed(both, removal, finders[1])
    leaving = narrowed.leaving or both.turn.arriving  # somebody does take what is shadowed
    narrowed = replace(narrowed, leaving=leaving, files=(*narrowed.files, *shadowed))
    modules, here = both.scene.modules, {dist.key for dist in both.turn.now.everybody}
    code = imports.Code(modules.naming, modules.read, modules.compiled_naming)
    found = imports.examine(narrowed, both.turn.was, (both.before, both.after), code).losses
    losses = (
        replace(loss, lost=shadowed[loss.path].owner) if loss.path in shadowed else loss for loss in found
    )
    return Departed(tuple(loss for loss in losses if loss.survivor.key in here), tuple(shadowed.values()))


def _shadowed(turn: Turn, finders: tuple[Finder, Finder]) -> Iterator[Overwrite]:
    """Files of those who stay; a newer version of the same in an earlier folder is what was asked for."""
    coming = {path: dist for dist in turn.arriving for path in dist.files or ()}
    found = shadows.shadowed(turn.fresh, *finders, turn.was)
    for path, owners in turn.was.owners(found).items():
        by = coming.get(found[path])
        for owner in owners:
            if by is not None and owner not in turn.replaced and owner.key != by.key:
                yield Overwrite(path, owner, by, found[path])


def _narrowed(both: Both, removal: Removal, after: Finder) -> Removal:
    files, spaces = [], []
    for path in removal.files:
        name, is_package = imports.module_of(path, both.turn.was)
        name = name or objects.module_name(path, both.turn.was.target)
        found = after.find(name) if name else None
        if found is None or (found.path is None and not is_package):
            files.append(path)
        elif found.path is None:
            spaces.append(path)
    return Removal(removal.leaving, tuple(files), shared=(*removal.shared, *spaces))
