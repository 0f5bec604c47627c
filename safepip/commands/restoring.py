"""What a safe removal comes to for files that stay and get other bytes: the survivor's, in place of the leaver's.

What those bytes need is known when they have been fetched, not before; a dry-run fetches nothing and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from safepip.commands import between, libraries
from safepip.commands.examine import Case
from safepip.model.arrival import Content, Turn
from safepip.model.environment import Inventory, Unjudged
from safepip.model.imports import Condition, Import, ImportLoss, Source
from safepip.model.paths import TargetPath
from safepip.model.sparing import Restored
from safepip.model.survey import Objects
from safepip.reading.disk import Disk
from safepip.reasoning.code import imports
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.libraries import objects
from safepip.reasoning.libraries.losses import Grouped, Loss, Worlds, relative
from safepip.reasoning.libraries.survey import Surveyor
from safepip.world import Arrived, World


def unknown(case: Case, restored: Sequence[Restored]) -> Case:
    """Of the bytes that come nothing is known yet."""
    told = tuple(
        Unjudged(item.path, f"{item.survivor.name}'s own bytes are judged when they have been fetched")
        for item in restored
        if item.path.endswith(".py") or objects.is_object_name(item.path)
    )
    evidence = case.evidence
    return _without_leavers(case, restored, unjudged=(*evidence.unjudged, *told))


def known(case: Case, restored: Sequence[Restored], staged: Mapping[TargetPath, str]) -> Case:
    """The same with the bytes that come, which lie at `staged` meanwhile. `case` is that of before they were there."""
    copies = {item.path: TargetPath(staged[item.path]) for item in restored}
    contents = {path: Content(case.scene.disk.size(copy), copy) for path, copy in copies.items()}
    after = Arrived(case.evidence.after, contents)
    case = replace(case, restored=frozenset(copies))
    found = between.libraries(_both(case, after), _objects(case, after))
    losses, unread = _imports(case, restored, copies, after)
    was = _without_leavers(case, restored, unjudged=(*case.evidence.unjudged, *found.unjudged, *unread))
    evidence = replace(
        was.evidence, after=after, libraries=found.groups, imports=(*was.evidence.imports, *losses)
    )
    return replace(was, evidence=evidence, before=found.before)


def look_again(case: Case, disk: Disk) -> tuple[Grouped, ...]:
    """The same roots, answered by the world as it is after the act."""
    config = case.scene.loader
    if config is None:
        return ()
    staying, there = _afterwards(case), _objects(case, disk)
    then = Surveyor(disk, there, staying, config, case.scene.loads)
    roots = frozenset(need.root for need in case.before.answers)
    worlds = Worlds(case.before, then.survey(roots & there.elves.keys()), there, staying)
    return libraries.compared(worlds, case.scene, then, disk)


def _without_leavers(case: Case, restored: Sequence[Restored], *, unjudged: tuple[Unjudged, ...]) -> Case:
    """Nothing is held against the bytes that lie there now: they go."""
    paths = frozenset(item.path for item in restored)
    evidence = replace(
        case.evidence,
        libraries=tuple(_without(case.evidence.libraries, paths)),
        imports=tuple(loss for loss in case.evidence.imports if loss.importer not in paths),
        unjudged=unjudged,
    )
    return replace(case, evidence=evidence, restored=paths)


def _without(groups: Sequence[Grouped], paths: frozenset[TargetPath]) -> Iterator[Grouped]:
    for group in groups:
        losses = tuple(loss for loss in group.losses if paths.isdisjoint(_resting_on(loss)))
        if losses:
            yield group._replace(losses=losses)


def _resting_on(loss: Loss) -> Iterator[TargetPath]:
    """The objects that have a need, or that load something for others who have it."""
    yield from (loss.need.root, loss.need.consumer, loss.now.binding.consumer)
    if loss.was is not None and loss.was.preloader is not None:
        yield loss.was.preloader


def _both(case: Case, after: World) -> between.Both:
    """A removal as a turn in which files change hands."""
    removal, inventory = case.removal, case.inventory
    turn = Turn(
        was=inventory,
        now=_afterwards(case),
        replaced=removal.leaving,
        arriving=(),
        requested=frozenset(),
        taken=dict.fromkeys(removal.files),
        altered=case.restored,
        fresh=frozenset(),
    )
    return between.Both(turn, case.scene.disk, after, case.scene, {}, lambda path: path, lambda path: path)


def _afterwards(case: Case) -> Inventory:
    leaving = case.removal.leaving
    staying = tuple(dist for dist in case.inventory.distributions if dist not in leaving)
    return replace(case.inventory, distributions=staying)


def _objects(case: Case, world: World) -> Objects:
    return objects.gather(_afterwards(case).distributions, case.scene.target.scripts, world)


def _imports(
    case: Case, restored: Sequence[Restored], copies: Mapping[TargetPath, TargetPath], after: World
) -> tuple[list[ImportLoss], list[Unjudged]]:
    """Statements of the sources that come which work now and would fail."""
    worlds = Finder(case.scene.disk, case.scene.target), Finder(after, case.scene.target)
    losses: list[ImportLoss] = []
    unread: list[Unjudged] = []
    for item in restored:
        name, is_package = imports.module_of(item.path, case.inventory)
        if not name or not item.path.endswith(".py"):
            continue
        source = case.scene.modules.read(None, copies[item.path], name, is_package=is_package)
        if not isinstance(source, Source):
            unread.append(Unjudged(item.path, source.reason))
            continue
        for statement in source.imports:
            lost = _lost(statement, worlds) if statement.condition is Condition.UNCONDITIONAL else None
            owners = case.inventory.owners([lost[1]]).get(lost[1], ()) if lost else ()
            for dist in [owner for owner in owners if owner in case.removal.leaving][:1]:
                assert lost is not None  # noqa: S101
                at = f"{relative(item.path, case.inventory)}:{statement.line}"
                chain = (f"import {name}", at, f"import {lost[0]}")
                losses.append(ImportLoss(item.survivor, dist, *lost, chain, item.path, statement.line))
    return losses, unread


def _lost(statement: Import, worlds: tuple[Finder, Finder]) -> tuple[str, TargetPath] | None:
    """The first module that the statement asks for and that is found now and not then, with its file."""
    before, after = worlds
    for name in (statement.module, *(f"{statement.module}.{name}" for name in statement.names)):
        was = before.find(name)
        if was is not None and was.path is not None and after.find(name) is None:
            return name, was.path
    return None
