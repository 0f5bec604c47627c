"""Look at what a removal takes, and at what those who stay need of it: the evidence that the judge weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from safepip.model.change import Removal
from safepip.model.elf import Flaw
from safepip.model.environment import Distribution, Inventory, Target, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Objects, Survey
from safepip.reading import known_loads, ldconfig, search, shares, site
from safepip.reading.disk import Disk
from safepip.reasoning import losses, objects, removal, requirements
from safepip.reasoning.findings import Evidence
from safepip.reasoning.survey import Surveyor
from safepip.world import Changed, World


@dataclass(frozen=True, slots=True)
class Case:
    """One removal under examination: what was found, and what is needed to look again afterwards."""

    evidence: Evidence
    environ: Mapping[str, str]
    before: Survey
    bytes: int

    @property
    def removal(self) -> Removal:
        return self.evidence.removal

    @property
    def inventory(self) -> Inventory:
        return self.evidence.inventory


NOTHING = Survey({}, {})


def examine(keys: Sequence[DistKey], target: Target, environ: Mapping[str, str]) -> Case:
    """What removing `keys` would do, without doing it."""
    inventory = site.take_inventory(target)
    disk = Disk()
    planned = removal.plan(keys, inventory, disk)
    after = Changed(disk, planned.gone)
    hollow = tuple(dist for dist in planned.leaving if _is_hollow(dist, planned))
    evidence = Evidence(
        removal=planned,
        inventory=inventory,
        after=after,
        objects=Objects({}, {}),
        shares=shares.read(planned, inventory),
        requirements=requirements.lost(planned.leaving, inventory, frozenset(dist.info for dist in hollow)),
        hollow=hollow,
    )
    size = sum(disk.size(path) for path in planned.files)
    return _with_libraries(Case(evidence, environ, NOTHING, size), disk, after)


def look_again(case: Case) -> Case:
    """The same questions after the act: only what really went counts, and the new world answers."""
    disk = Disk()
    gone = tuple(path for path in case.removal.files if disk.kind(path) is None)
    happened = replace(
        case.removal,
        files=gone,
        leaving=tuple(dist for dist in case.removal.leaving if disk.kind(dist.info) is None),
        shared=tuple(path for path in case.removal.shared if disk.kind(path) is None),
        reaches=(),
        halt=None,
    )
    hollow = frozenset(dist.info for dist in case.evidence.hollow)
    evidence = replace(
        case.evidence,
        removal=happened,
        after=disk,
        shares=tuple(item for item in case.evidence.shares if disk.kind(item.path) is None),
        requirements=requirements.lost(happened.leaving, case.inventory, hollow),
        unreadable_going=(),
        unreadable_consumers=(),
    )
    roots = frozenset({need.root for need in case.before.answers})
    if roots:
        after = _surveyor(disk, evidence, case.environ)
        if after is not None:
            worlds = losses.Worlds(case.before, after.survey(roots), evidence.objects, case.inventory)
            evidence = replace(evidence, libraries=losses.compare(worlds))
    return replace(case, evidence=evidence)


def _is_hollow(dist: Distribution, planned: Removal) -> bool:
    """Metadata without files: RECORD lists some beside the metadata, and none is there."""
    own = [path for path in dist.files or () if not path.startswith(f"{dist.info}/")]
    return bool(own) and not frozenset(planned.files).intersection(own)


def _with_libraries(case: Case, disk: Disk, after: Changed) -> Case:
    """Library needs are looked at only where the removal takes a name that the loader could look for."""
    evidence, scripts = case.evidence, case.inventory.target.scripts
    names = objects.taken_names(evidence.removal.files, scripts, disk)
    if not names:
        return case
    staying = objects.surviving(evidence.inventory, evidence.removal.leaving)
    everybody = objects.gather([*staying, *evidence.removal.leaving], scripts, disk)
    evidence = replace(
        evidence,
        objects=everybody,
        unreadable_going=tuple(objects.unreadable(evidence.removal.files, scripts, disk)),
        unreadable_consumers=_possible_consumers(everybody, evidence.removal, names),
    )
    return _surveyed(replace(case, evidence=evidence), names, disk, after)


def _surveyed(case: Case, names: frozenset[str], disk: Disk, after: Changed) -> Case:
    evidence = case.evidence
    before_surveyor = _surveyor(disk, evidence, case.environ)
    after_surveyor = _surveyor(after, evidence, case.environ)
    if before_surveyor is None or after_surveyor is None:
        unjudged = Unjudged(
            "shared libraries", "the interpreter's own ELF file cannot be read, so its loader is not known"
        )
        return replace(case, evidence=replace(evidence, unjudged=(*evidence.unjudged, unjudged)))
    index = objects.needing(evidence.objects)
    gone = evidence.removal.gone

    def reach(sought: frozenset[str]) -> frozenset[TargetPath]:
        touched = objects.reaching(sought, evidence.objects, index)
        return frozenset(
            path
            for path in touched
            if path not in gone and evidence.objects.owner[path] not in evidence.removal.leaving
        )

    def surveys(roots: frozenset[TargetPath]) -> tuple[Survey, Survey]:
        return before_surveyor.survey(roots), after_surveyor.survey(roots)

    before, now = losses.widen(names, reach, surveys, evidence.objects)
    found = losses.compare(losses.Worlds(before, now, evidence.objects, evidence.inventory))
    return replace(case, evidence=replace(evidence, libraries=found), before=before)


def _surveyor(world: World, evidence: Evidence, environ: Mapping[str, str]) -> Surveyor | None:
    config = ldconfig.load(evidence.inventory.target, environ)
    if config is None:
        return None
    staying = objects.surviving(evidence.inventory, evidence.removal.leaving)
    leaving = evidence.removal.leaving
    there = objects.gather([*staying, *leaving], evidence.inventory.target.scripts, world)
    return Surveyor(world, there, evidence.inventory, config, known_loads.read())


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
