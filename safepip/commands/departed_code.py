"""Imports that an install takes away: of a module that goes, or that another is found in place of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from safepip.commands.between import Both
from safepip.model.arrival import Overwrite, Turn
from safepip.model.change import Removal
from safepip.model.imports import Gone, ImportLoss
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
    if not both.turn.superseded and not shadowed:
        return Departed((), ())
    narrowed = _narrowed(both, removal, finders[1])
    leaving = narrowed.leaving or both.turn.arriving  # somebody does take what is shadowed
    narrowed = replace(narrowed, leaving=leaving, files=(*narrowed.files, *shadowed))
    modules, here = both.scene.modules, {dist.key for dist in both.turn.now.everybody}
    code = imports.Code(modules.naming, modules.read, modules.compiled_naming)
    dropped = imports.Dropped(names=_uncovered(both.turn, finders))
    found = imports.examine(narrowed, both.turn.was, (both.before, both.after), code, dropped).losses
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


def _uncovered(turn: Turn, finders: tuple[Finder, Finder]) -> dict[str, Gone]:
    """Modules of a version that is found no longer which the one in front of it does not have."""
    gone: dict[str, Gone] = {}
    for dist in turn.covered:
        for path in dist.used:
            name = imports.module_of(path, turn.was)[0] or objects.module_name(path, turn.was.target)
            was = finders[0].find(name) if name else None
            if was is not None and was.path == path and finders[1].find(name) is None:
                gone[name] = Gone(name, was, None, dist)
    return gone


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
    return Removal(both.turn.superseded, tuple(files), shared=(*removal.shared, *spaces))
