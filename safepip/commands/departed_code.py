"""Imports that an install takes away: of a module that goes, or that another is found in place of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from safepip.commands.between import Both
from safepip.model.arrival import Overwrite, Turn
from safepip.model.change import Removal
from safepip.model.environment import Distribution, Inventory
from safepip.model.imports import Gone, ImportLoss
from safepip.model.paths import TargetPath
from safepip.reasoning.code import imports, shadows
from safepip.reasoning.code.finder import Finder, is_gone
from safepip.reasoning.libraries import objects


@dataclass(frozen=True, slots=True)
class Departed:
    losses: tuple[ImportLoss, ...]
    shadowed: tuple[Overwrite, ...]


def look(both: Both) -> Departed:
    """A module that the new version has at another place is no loss, nor a package that becomes a namespace."""
    turn, modules = both.turn, both.scene.modules
    finders = Finder(both.before, turn.was.target), Finder(both.after, turn.now.target)
    shadowed = {item.path: item for item in _shadowed(turn, finders)}
    names = _departed(_takers(both), finders, turn.was) | _hidden(shadowed.values(), finders, turn.was)
    if not names:
        return Departed((), ())
    removal = Removal(turn.superseded)
    code = imports.Code(modules.naming, modules.read, modules.compiled_naming)
    worlds, dropped = (both.before, both.after), imports.Dropped(names=names)
    found = imports.examine(removal, turn.was, worlds, code, dropped).losses
    here = {dist.key for dist in turn.now.everybody}
    return Departed(tuple(loss for loss in found if loss.survivor.key in here), tuple(shadowed.values()))


def _shadowed(turn: Turn, finders: tuple[Finder, Finder]) -> Iterator[Overwrite]:
    """Files of those who stay; a newer version of the same in an earlier folder is what was asked for."""
    coming = {path: dist for dist in turn.arriving for path in dist.files or ()}
    found = shadows.shadowed(turn.fresh, *finders, turn.was)
    for path, owners in turn.was.owners(found).items():
        by = coming.get(found[path])
        for owner in owners:
            if by is not None and owner not in turn.replaced and owner.key != by.key:
                yield Overwrite(path, owner, by, found[path])


def _takers(both: Both) -> Iterator[tuple[TargetPath, Distribution]]:
    """Files that are absent afterwards, or that lie in a version which is found no longer, with who takes them."""
    turn = both.turn
    for path, taker in turn.taken.items():
        somebody = taker or next(iter((*turn.superseded, *turn.arriving)), None)
        if somebody is not None:
            yield path, somebody
    yield from ((path, dist) for dist in turn.covered for path in dist.used)


def _departed(
    taken: Iterable[tuple[TargetPath, Distribution]], finders: tuple[Finder, Finder], was: Inventory
) -> dict[str, Gone]:
    """The topmost of the modules in these files that are imported from nowhere afterwards."""
    gone: dict[str, Gone] = {}
    for path, dist in sorted(taken, key=lambda item: item[0].count("/")):
        name = _module(path, was)
        before, after = (finder.find(name) for finder in finders) if name else (None, None)
        if before is None or before.path != path or is_gone(name, gone):
            continue
        if after is None or (after.path is None and not before.is_package):
            gone[name] = Gone(name, before, after, dist)
    return gone


def _hidden(shadowed: Iterable[Overwrite], finders: tuple[Finder, Finder], was: Inventory) -> dict[str, Gone]:
    gone: dict[str, Gone] = {}
    for item in shadowed:
        name = _module(item.path, was)
        before = finders[0].find(name) if name else None
        if before is not None:
            gone[name] = Gone(name, before, finders[1].find(name), item.owner)
    return gone


def _module(path: TargetPath, was: Inventory) -> str:
    """The dotted name of the source or extension module at `path`; "" where no import can name it."""
    return imports.module_of(path, was)[0] or objects.module_name(path, was.target)
