"""What those who stay need of the libraries that go: both worlds surveyed, as far as the removal touches them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from safepip.commands.scene import Scene
from safepip.model.change import Removal
from safepip.model.elf import Elf, Flaw, Symbol, VersionNeed
from safepip.model.environment import Distribution, Unjudged
from safepip.model.paths import TargetPath
from safepip.model.survey import Hint, Mention, Objects, Standing, Survey
from safepip.reading import search
from safepip.reasoning.libraries import families, losses, objects, symbols
from safepip.reasoning.libraries.losses import Grouped, Loss, Worlds
from safepip.reasoning.libraries.survey import Surveyor
from safepip.reasoning.verdict import hints
from safepip.reasoning.verdict.evidence import Evidence
from safepip.world import World

NOTHING = Survey({}, {})


def look(evidence: Evidence, scene: Scene) -> tuple[Evidence, Survey]:
    """Library needs are looked at only where the removal takes a name that the loader could look for."""
    scripts = scene.target.scripts
    names = objects.taken_names(evidence.removal.files, scripts, scene.disk)
    if not names:
        return evidence, NOTHING
    everybody = scene.objects.owned_by(_surviving_owners(evidence))
    evidence = replace(
        evidence,
        objects=everybody,
        unreadable_going=tuple(objects.unreadable(evidence.removal.files, scripts, scene.disk)),
        unreadable_consumers=_possible_consumers(everybody, evidence.removal, names, scene),
    )
    return _surveyed(evidence, scene, names)


def look_again(evidence: Evidence, before: Survey, scene: Scene, disk: World) -> tuple[Grouped, ...]:
    """The needs of the same roots, answered by the world as it is after the act."""
    roots = frozenset(need.root for need in before.answers)
    surveyor = scene.surveyor_of(disk, evidence.removal.gone) if roots else None
    if surveyor is None:
        return ()
    worlds = Worlds(before, surveyor.survey(roots), evidence.objects, scene.inventory)
    return compared(worlds, scene, surveyor, disk)


def unmet(scene: Scene, paths: Iterable[TargetPath]) -> tuple[str, ...]:
    """The names that extension modules among `paths` need and do not find."""
    modules = [path for path in paths if objects.module_name(path, scene.target)]
    if not modules or scene.surveyor is None:
        return ()
    answers = scene.surveyor.survey(path for path in modules if path in scene.objects.elves).answers
    return tuple(
        sorted({need.wants for need, answer in answers.items() if answer.standing < Standing.PRELOADED})
    )


def compared(worlds: Worlds, scene: Scene, then: Surveyor, after: World) -> tuple[Grouped, ...]:
    """What got worse; whoever gets another provider is asked which symbols it lacks then and not now."""

    def lacking(loss: Loss) -> tuple[str, ...]:
        was, now = loss.was.binding.provider if loss.was else None, loss.now.binding
        if scene.loader is None or was is None or now.provider is None:
            return ()
        lacks = symbols.lacking_on_the_way(
            worlds.after.loadings[loss.need.root],
            now.consumer,
            now.provider,
            after,
            main=then.main,
            libc=scene.loader.libc,
            formerly=(scene.disk, was),
        )
        return tuple(dict.fromkeys(map(spelled, lacks)))

    return losses.with_symbols(losses.compare(worlds), lacking)


def _surviving_owners(evidence: Evidence) -> dict[TargetPath, Distribution]:
    leaving = evidence.removal.leaving
    return {item.path: dist for item in evidence.shares for dist in item.owners if dist not in leaving}


def _surveyed(evidence: Evidence, scene: Scene, names: frozenset[str]) -> tuple[Evidence, Survey]:
    gone, leaving = evidence.removal.gone, evidence.removal.leaving
    now, then = scene.surveyor, scene.surveyor_of(evidence.after, gone)
    if now is None or then is None:
        reason = "the interpreter is no ELF program that can be read, so its loader is not known"
        unjudged = (*evidence.unjudged, Unjudged("shared libraries", reason))
        return replace(evidence, unjudged=unjudged), NOTHING

    def reach(sought: frozenset[str]) -> frozenset[TargetPath]:
        touched = objects.reaching(sought, evidence.objects, scene.needing)
        return frozenset(
            path for path in touched if path not in gone and evidence.objects.owner[path] not in leaving
        )

    def surveys(roots: frozenset[TargetPath]) -> tuple[Survey, Survey]:
        return now.survey(roots), then.survey(roots)

    before, after = losses.widen(names, reach, surveys, evidence.objects)
    worlds = Worlds(before, after, evidence.objects, scene.inventory)
    evidence = replace(
        evidence,
        libraries=compared(worlds, scene, then, evidence.after),
        splits=tuple(families.split(before, after, evidence.objects)),
        known_loads=scene.known_loads,
    )
    return replace(evidence, hints=_hinted(evidence, scene, then)), before


def _hinted(evidence: Evidence, scene: Scene, then: Surveyor) -> tuple[Hint, ...]:
    """Who names what goes, without needing it."""
    gone = hints.names_going(evidence, then.holds, scene.loader) if scene.loader else {}
    if not gone:
        return ()
    mentions = scene.mentions

    def named(survivor: Distribution, names: Collection[str]) -> list[Mention]:
        return mentions.of(survivor, scene.objects.elves, names)

    found = tuple(hints.find(evidence, gone, named))
    mentions.keep()
    scene.modules.keep()
    return found


def spelled(item: VersionNeed | Symbol) -> str:
    """As the loader's own message spells it."""
    if isinstance(item, VersionNeed):
        return f"version {item.version}"
    return f"{item.name}, version {item.version}" if item.version else item.name


def _possible_consumers(
    everybody: Objects, planned: Removal, names: frozenset[str], scene: Scene
) -> tuple[tuple[TargetPath, Flaw], ...]:
    """Unreadable objects that stay and hold one of the names that go: they may need it.

    One of another machine can be read, and needs only what goes of that machine.
    """
    gone = planned.gone
    going = [one for one in planned.files if objects.is_object_name(one)] if everybody.flaws else []
    found = []
    for path, flaw in everybody.flaws.items():
        if path in gone or everybody.owner[path] in planned.leaving:
            continue
        elf, wanted = scene.disk.elf(path), names
        if isinstance(elf, Elf):
            kin = [one for one in going if getattr(scene.disk.elf(one), "abi", None) == elf.abi]
            wanted = objects.taken_names(kin, scene.target.scripts, scene.disk)
        needles = [name.encode("utf-8", "surrogateescape") for name in wanted]
        if needles and search.holds_any(path, needles):
            found.append((path, flaw))
    return tuple(found)
