"""What an install makes unimportable without taking a file: a new version that imports what is nowhere, or that no
longer binds a name which others take of it.

A name that is nowhere is put to the judge of imports as if it had just been removed; whose import ends over it
afterwards, and did not before, has lost that import. Inner modules that a package does not have are left out: too
many are made when it is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from safepip.commands import taken_names
from safepip.commands.between import Both
from safepip.model.change import Removal
from safepip.model.environment import Distribution, Inventory
from safepip.model.imports import ImportLoss, Reference
from safepip.model.paths import DistKey, TargetPath
from safepip.reading.sources import written_imports
from safepip.reading.sources.moved import Moved, Place
from safepip.reasoning.changes.restored import Restored
from safepip.reasoning.code import imports
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.dependents import owner_of
from safepip.reasoning.health import diagnosis
from safepip.reasoning.requirements import requires_closure
from safepip.world import Changed, World

MOST_ABSENT = 1000  # names; a hundred distributions together have half of that


class _Side(NamedTuple):
    """The environment before the install, or after it."""

    inventory: Inventory
    world: World
    sources: Moved
    renewed: tuple[Distribution, ...]  # of those whose version changes: the one of this side
    lies: Place


def losses(both: Both) -> tuple[ImportLoss, ...]:
    """Of those who are there before and after."""
    before, after = _sides(both)
    tops = _changed(both)
    if not tops:
        return ()
    names = _asked_in_vain(both, after)
    inner = _unbound(after, tops)
    if not names and not inner.names:
        return ()
    old = _unbound(before, tops) if inner.names else imports.NOTHING_DROPPED
    failed = {(loss.survivor.key, loss.chain[0]) for loss in _failing(before, names, old)}
    there = {dist.key for dist in both.turn.was.everybody}
    lost = (
        replace(loss, absent=True)
        for loss in _failing(after, names, inner)
        if loss.survivor.key in there and (loss.survivor.key, loss.chain[0]) not in failed
    )
    return tuple(sorted(lost, key=lambda loss: loss.survivor.key))  # as told before, so told when it is done


def _sides(both: Both) -> tuple[_Side, _Side]:
    turn, modules = both.turn, both.scene.modules
    keys = {dist.key for dist in turn.superseded}
    renewed = tuple(dist for dist in turn.arriving if dist.key in keys)
    old = Moved(modules, both.bytes_before, frozenset(dist.info for dist in turn.superseded))
    new = Moved(modules, both.bytes_after, frozenset(dist.info for dist in turn.arriving))
    return (
        _Side(turn.was, both.before, old, turn.superseded, both.bytes_before),
        _Side(turn.now, both.after, new, renewed, both.bytes_after),
    )


def _changed(both: Both) -> frozenset[str]:
    """The topmost names of modules whose source is another afterwards."""
    turn = both.turn
    paths = (*turn.altered, *(turn.fresh if turn.superseded else ()))
    names = (imports.module_of(path, turn.now)[0] for path in paths if path.endswith(".py"))
    return frozenset(name.partition(".")[0] for name in names if name)


def _asked_in_vain(both: Both, after: _Side) -> frozenset[DistKey]:
    """Absent modules over which a new version ends; those who came in place of an earlier one are looked at first."""
    below = (one for dist in after.renewed for one in requires_closure(dist, after.inventory))
    arriving = both.turn.arriving if after.renewed else ()
    looked = tuple({dist.info: dist for dist in (*after.renewed, *arriving, *below)}.values())
    absent = _absent({name for dist in looked for name in after.sources.imported(dist)}, both)
    found = _failing(after._replace(inventory=replace(after.inventory, distributions=looked)), absent)
    keys = {dist.key for dist in after.renewed}
    return frozenset(loss.lost.key for loss in found if loss.survivor.key in keys)


def _absent(names: Iterable[str], both: Both) -> frozenset[str]:
    """What underlined names stand for may be linked into the interpreter."""
    finders = [Finder(world, both.turn.now.target) for world in (both.before, both.after)]
    plain = (name for name in sorted(names) if name.isidentifier() and not name.startswith("_"))
    absent = (name for name in plain if not any(finder.find(name) for finder in finders))
    return frozenset(islice(absent, MOST_ABSENT))


def _unbound(side: _Side, tops: Collection[str]) -> imports.Dropped:
    """Names that are asked of a changed module, or by a changed one of any, and that nothing binds."""
    everybody = side.inventory.everybody
    finder, owner = Finder(side.world, side.inventory.target), owner_of(everybody, side.inventory)
    modules = taken_names.Modules(finder, owner, side.lies)
    gone = taken_names.absent(_asked(side, tops), modules)
    ending = (
        taken_names.ending(((path, data) for _, path, data in _sources(side, tops)), gone) if gone else {}
    )
    return imports.Dropped(names=gone, modules=ending)


def _asked(side: _Side, tops: Collection[str]) -> Iterator[tuple[Distribution, Reference]]:
    for dist, _, data in _sources(side, tops):
        wanted = None if dist in side.renewed else tops
        for reference in (*written_imports.taken(data), *written_imports.asked(data, wanted)):
            if wanted is None or reference.module.partition(".")[0] in wanted:
                yield dist, reference


def _sources(side: _Side, tops: Collection[str]) -> Iterator[tuple[Distribution, TargetPath, bytes]]:
    for dist in side.inventory.everybody:
        for path, data in side.sources.sources(dist, None if dist in side.renewed else tops):
            yield dist, path, data


def _failing(
    side: _Side, names: Collection[str], inner: imports.Dropped = imports.NOTHING_DROPPED
) -> tuple[ImportLoss, ...]:
    if not names and not inner.names:
        return ()
    site = side.inventory.target.sites[0]
    missing = [diagnosis.absent(DistKey(name), site) for name in sorted(names)]
    files = tuple(path for dist in missing for path in dist.files or ())
    there = Restored(side.world, dict.fromkeys(files))
    code = imports.Code(side.sources.naming, side.sources.read, lambda _, __: (), side.sources.imported)
    put, worlds = Removal(tuple(missing), files), (there, Changed(there, frozenset(files)))
    return imports.examine(put, side.inventory, worlds, code, inner).losses
