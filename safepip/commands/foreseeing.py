"""A repair plan tried on paper, before it is shown."""

from __future__ import annotations

from dataclasses import replace

from safepip.commands.patient import Patient
from safepip.model.diagnosis import Ailment, Check, Cure
from safepip.model.elf import Elf
from safepip.model.survey import Standing
from safepip.reasoning.changes.restored import Restored
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.libraries.survey import Surveyor


def tried(
    cures: tuple[Cure, ...], incurable: tuple[Ailment, ...], patient: Patient
) -> tuple[tuple[Cure, ...], tuple[Ailment, ...]]:
    """The plan on paper: with the missing files back, which needs of libraries are still unmet, and which that no
    step is about are met by it (an import works again, and with it what it loads for others).
    """
    library = [item for cure in cures for item in cure.cures if item.soname]
    others = [item for item in incurable if item.check is Check.MISSING_LIBRARY]
    surveyor = _mended(cures, patient) if library else None
    if surveyor is None:
        return cures, incurable
    owner = patient.scene.objects.owner
    roots = {path for item in (*library, *others) for path in item.paths if path in owner}
    still = {
        (owner[need.root].name, need.wants)
        for need, answer in surveyor.survey(roots).answers.items()
        if answer.standing < Standing.PRELOADED and need.root in owner
    }
    unmended = [
        item
        for item in library
        if item.check is Check.MISSING_LIBRARY and (item.distribution, item.soname) in still
    ]
    follow = [item for item in others if (item.distribution, item.soname) not in still]
    last = next(cure for cure in reversed(cures) if any(item.soname for item in cure.cures))
    kept = [
        replace(
            cure,
            cures=(
                *(item for item in cure.cures if item not in unmended),
                *(follow if cure is last else ()),
            ),
        )
        for cure in cures
    ]
    left = tuple(item for item in incurable if item not in follow)
    return tuple(cure for cure in kept if cure.cures), (*left, *unmended)


def _mended(cures: tuple[Cure, ...], patient: Patient) -> Surveyor | None:
    """Answers of the world in which what `cures` install anew is whole."""
    scene = patient.scene
    if scene.loader is None:
        return None
    mended = {key for cure in cures for item in cure.cures for key in item.mended_by}
    back = {
        path: Elf(scene.loader.abi, 3, soname=path.rpartition("/")[2])
        if elf_objects.is_object_name(path)
        else None
        for item in patient.hollows
        if item.dist.key in mended
        for path in item.missing
    }
    world = Restored(scene.disk, back)
    objects = replace(
        scene.objects,
        elves={**scene.objects.elves, **{path: elf for path, elf in back.items() if elf is not None}},
    )
    return Surveyor(world, objects, scene.inventory, scene.loader, scene.loads)
