"""What an install makes unimportable without taking a file: a new version that imports what is nowhere.

A name that is nowhere, before and after, is put to the judge of imports as if it had just been removed; whose
import ends over it afterwards, and did not before, has lost that import. Inner modules that a package does not have
are left out: too many are made when it is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import islice

from safepip.commands.between import Both
from safepip.model.change import Removal
from safepip.model.environment import Inventory
from safepip.model.imports import ImportLoss
from safepip.model.paths import DistKey
from safepip.reading.sources.moved import Moved
from safepip.reasoning.changes.restored import Restored
from safepip.reasoning.code import imports
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.health import diagnosis
from safepip.reasoning.requirements import requires_closure
from safepip.world import Changed, World

MOST_ABSENT = 1000  # names; a hundred distributions together have half of that


def losses(both: Both) -> tuple[ImportLoss, ...]:
    """Of those who are there before and after; those who came in place of an earlier version are looked at first."""
    turn, modules = both.turn, both.scene.modules
    keys = {dist.key for dist in turn.replaced}
    renewed = [dist for dist in turn.arriving if dist.key in keys]
    if not renewed:
        return ()
    below = (one for dist in renewed for one in requires_closure(dist, turn.now))
    looked = tuple({dist.info: dist for dist in (*renewed, *turn.arriving, *below)}.values())
    new = Moved(modules, both.bytes_after, frozenset(dist.info for dist in turn.arriving))
    absent = _absent({name for dist in looked for name in new.imported(dist)}, both)
    found = _failing(replace(turn.now, distributions=looked), both.after, new, absent)
    names = {loss.lost.key for loss in found if loss.survivor.key in keys}
    if not names:
        return ()
    old = Moved(modules, both.bytes_before, frozenset(dist.info for dist in turn.replaced))
    before = _failing(turn.was, both.before, old, absent)
    failed = {(loss.survivor.key, loss.chain[0]) for loss in before}
    there = {dist.key for dist in turn.was.everybody}
    after = _failing(turn.now, both.after, new, names)
    lost = (
        replace(loss, absent=True)
        for loss in after
        if loss.survivor.key in there and (loss.survivor.key, loss.chain[0]) not in failed
    )
    return tuple(sorted(lost, key=lambda loss: loss.survivor.key))  # as told before, so told when it is done


def _absent(names: Iterable[str], both: Both) -> frozenset[str]:
    """What underlined names stand for may be linked into the interpreter."""
    finders = [Finder(world, both.turn.now.target) for world in (both.before, both.after)]
    plain = (name for name in sorted(names) if name.isidentifier() and not name.startswith("_"))
    absent = (name for name in plain if not any(finder.find(name) for finder in finders))
    return frozenset(islice(absent, MOST_ABSENT))


def _failing(
    inventory: Inventory, world: World, sources: Moved, names: Collection[str]
) -> tuple[ImportLoss, ...]:
    if not names:
        return ()
    site = inventory.target.sites[0]
    missing = [diagnosis.absent(DistKey(name), site) for name in sorted(names)]
    files = tuple(path for dist in missing for path in dist.files or ())
    there = Restored(world, dict.fromkeys(files))
    code = imports.Code(sources.naming, sources.read, lambda _, __: (), sources.imported)
    put = Removal(tuple(missing), files)
    return imports.examine(put, inventory, (there, Changed(there, frozenset(files))), code).losses
