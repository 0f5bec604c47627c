"""Look at what a removal takes, and at what those who stay need of it: the evidence that the judge weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from safepip.commands.scene import Scene
from safepip.model.change import Removal
from safepip.model.elf import Flaw, Symbol, VersionNeed
from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Objects, Survey
from safepip.reading import search, shares
from safepip.reading.disk import Disk
from safepip.reasoning import losses, objects, removal, requirements, symbols
from safepip.reasoning.findings import Evidence
from safepip.reasoning.losses import Grouped, Loss, Worlds
from safepip.reasoning.survey import Surveyor
from safepip.world import Changed, World

NOTHING = Survey({}, {})


@dataclass(frozen=True, slots=True)
class Case:
    """One removal under examination: what was found, and what is needed to look again afterwards."""

    evidence: Evidence
    scene: Scene
    before: Survey = NOTHING  # of the roots that the removal can touch

    @property
    def removal(self) -> Removal:
        return self.evidence.removal

    @property
    def inventory(self) -> Inventory:
        return self.evidence.inventory


def examine(keys: Sequence[DistKey], scene: Scene, planned: Removal | None = None) -> Case:
    """What removing `keys` would do, without doing it; `planned`: where that is not pip's way."""
    if planned is None:
        planned = removal.plan(keys, scene.inventory, scene.disk)
    hollow = tuple(dist for dist in planned.leaving if _is_hollow(dist, planned))
    evidence = Evidence(
        removal=planned,
        inventory=scene.inventory,
        after=Changed(scene.disk, planned.gone),
        objects=Objects({}, {}),
        shares=shares.read(planned, scene.inventory),
        requirements=requirements.lost(
            planned.leaving, scene.inventory, frozenset(dist.info for dist in hollow)
        ),
        hollow=hollow,
        bytes=sum(scene.disk.size(path) for path in planned.files),
    )
    return _with_libraries(Case(evidence, scene))


def look_again(case: Case) -> Case:
    """The same questions after the act: only what really went counts, and the new world answers."""
    disk = Disk()
    happened = _happened(case.removal, disk)
    hollow = frozenset(dist.info for dist in case.evidence.hollow)
    evidence = replace(
        case.evidence,
        removal=happened,
        after=disk,
        shares=tuple(item for item in case.evidence.shares if disk.kind(item.path) is None),
        requirements=requirements.lost(happened.leaving, case.inventory, hollow),
        libraries=(),
        unreadable_going=(),
        unreadable_consumers=(),
    )
    roots = frozenset(need.root for need in case.before.answers)
    surveyor = case.scene.surveyor_of(disk, happened.gone) if roots else None
    if surveyor is not None:
        worlds = Worlds(case.before, surveyor.survey(roots), evidence.objects, case.inventory)
        evidence = replace(evidence, libraries=_compared(worlds, case.scene, surveyor, disk))
    return replace(case, evidence=evidence)


def _happened(planned: Removal, disk: Disk) -> Removal:
    return replace(
        planned,
        files=tuple(path for path in planned.files if disk.kind(path) is None),
        folders=tuple(path for path in planned.folders if disk.kind(path) is None),
        leaving=tuple(dist for dist in planned.leaving if disk.kind(dist.info) is None),
        shared=tuple(path for path in planned.shared if disk.kind(path) is None),
        reaches=(),
        halt=None,
    )


def _is_hollow(dist: Distribution, planned: Removal) -> bool:
    """Metadata without files: RECORD lists some beside the metadata, and none is there."""
    own = [path for path in dist.files or () if not path.startswith(f"{dist.info}/")]
    return bool(own) and not frozenset(planned.files).intersection(own)


def _with_libraries(case: Case) -> Case:
    """Library needs are looked at only where the removal takes a name that the loader could look for."""
    evidence, scene = case.evidence, case.scene
    scripts = scene.target.scripts
    names = objects.taken_names(evidence.removal.files, scripts, scene.disk)
    if not names:
        return case
    everybody = scene.objects.owned_by(_surviving_owners(evidence))
    evidence = replace(
        evidence,
        objects=everybody,
        unreadable_going=tuple(objects.unreadable(evidence.removal.files, scripts, scene.disk)),
        unreadable_consumers=_possible_consumers(everybody, evidence.removal, names),
    )
    return _surveyed(replace(case, evidence=evidence), names)


def _surviving_owners(evidence: Evidence) -> dict[TargetPath, Distribution]:
    leaving = evidence.removal.leaving
    return {item.path: dist for item in evidence.shares for dist in item.owners if dist not in leaving}


def _surveyed(case: Case, names: frozenset[str]) -> Case:
    evidence, scene = case.evidence, case.scene
    gone, leaving = evidence.removal.gone, evidence.removal.leaving
    now, then = scene.surveyor, scene.surveyor_of(evidence.after, gone)
    if now is None or then is None:
        reason = "the interpreter is no ELF program that can be read, so its loader is not known"
        unjudged = (*evidence.unjudged, Unjudged("shared libraries", reason))
        return replace(case, evidence=replace(evidence, unjudged=unjudged))

    def reach(sought: frozenset[str]) -> frozenset[TargetPath]:
        touched = objects.reaching(sought, evidence.objects, scene.needing)
        return frozenset(
            path for path in touched if path not in gone and evidence.objects.owner[path] not in leaving
        )

    def surveys(roots: frozenset[TargetPath]) -> tuple[Survey, Survey]:
        return now.survey(roots), then.survey(roots)

    before, after = losses.widen(names, reach, surveys, evidence.objects)
    worlds = Worlds(before, after, evidence.objects, scene.inventory)
    found = _compared(worlds, scene, then, evidence.after)
    return replace(case, evidence=replace(evidence, libraries=found), before=before)


def _compared(worlds: Worlds, scene: Scene, then: Surveyor, after: World) -> tuple[Grouped, ...]:
    """What got worse; whoever gets another provider is asked which symbols it lacks then and not now."""

    def lacking(loss: Loss) -> tuple[str, ...]:
        if scene.surveyor is None or scene.loader is None or loss.was is None:
            return ()
        libc = scene.loader.libc
        was, now = loss.was.binding, loss.now.binding
        if was.provider is None or now.provider is None:
            return ()
        root = loss.need.root
        had = symbols.lacking(
            worlds.before.loadings[root],
            was.consumer,
            was.provider,
            scene.disk,
            main=scene.surveyor.main,
            libc=libc,
        )
        lacks = symbols.lacking(
            worlds.after.loadings[root], now.consumer, now.provider, after, main=then.main, libc=libc
        )
        return tuple(dict.fromkeys(_spelled(item) for item in lacks if item not in had))

    return losses.with_symbols(losses.compare(worlds), lacking)


def _spelled(item: VersionNeed | Symbol) -> str:
    """As the loader's own message spells it."""
    if isinstance(item, VersionNeed):
        return f"version {item.version}"
    return f"{item.name}, version {item.version}" if item.version else item.name


def _possible_consumers(
    everybody: Objects, planned: Removal, names: frozenset[str]
) -> tuple[tuple[TargetPath, Flaw], ...]:
    """Unreadable objects that stay and hold one of the names that go: they may need it."""
    needles = [name.encode("utf-8", "surrogateescape") for name in names]
    gone = planned.gone
    return tuple(
        (path, flaw)
        for path, flaw in everybody.flaws.items()
        if path not in gone
        and everybody.owner[path] not in planned.leaving
        and search.holds_any(path, needles)
    )
