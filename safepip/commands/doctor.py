"""`safepip doctor`: what is broken now, by named checks, and the plan that mends it, tried on paper first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from safepip.acting import mending
from safepip.commands import audit, safely, undo
from safepip.commands.examine import examine
from safepip.commands.patient import Patient
from safepip.commands.scene import Scene
from safepip.model.diagnosis import Ailment, Check, Cure, Diagnosis, Level
from safepip.model.elf import Elf
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Decision, Severity
from safepip.model.request import Safe
from safepip.model.survey import Standing
from safepip.reading import plain_file, tree
from safepip.reading.sites import receipts
from safepip.reading.sites.homes import homes_of
from safepip.reading.sites.metadata import canonical
from safepip.reasoning.changes.restored import Restored
from safepip.reasoning.health import audit as auditing
from safepip.reasoning.health import diagnosis, failing_imports, foreign, holdings, repair, undoing
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.libraries.survey import Surveyor
from safepip.reasoning.verdict.judge import judge
from safepip.world import Kind

Found = Iterator[Ailment]


def diagnose(scene: Scene, policy: Policy, checks: frozenset[Check]) -> Diagnosis:
    """What `checks` find, and the plan. Nothing is touched."""
    patient = Patient(scene, policy)
    found = (ailment for check in CHECKS if check in checks for ailment in CHECKS[check](patient))
    ailments = list(dict.fromkeys(found))  # what has its metadata twice says everything twice
    ailments.sort(key=lambda item: -item.level)
    cures, incurable = repair.plan(ailments, scene.inventory, _means(patient, ailments))
    cures, incurable = _tried(cures, incurable, patient)
    return Diagnosis(
        scene.target,
        tuple(ailments),
        patient.hollows if checks & {Check.HOLLOW, Check.MISSING_FILE} else (),
        tuple(dict.fromkeys(item for _, item in patient.overwritten)) if Check.OVERWRITTEN in checks else (),
        cures,
        incurable,
        scene.unjudged,
    )


def put_back_stashes(scene: Scene, policy: Policy) -> None:
    """pip's wreckage, back to its places."""
    for stash in Patient(scene, policy).stashes:
        mending.put_back(stash)


def _missing_libraries(patient: Patient) -> Found:
    imported = {loss.path for loss in patient.import_losses if loss.lost.info.endswith("#broken")}
    imported |= patient.broken_tops
    return diagnosis.missing_libraries(
        patient.survey, patient.scene.objects, patient.scene.inventory, imported, patient.missing_names
    )


def _overwritten(patient: Patient) -> Found:
    using: dict[TargetPath, set[str]] = {}
    for need, answer in patient.survey.answers.items():
        owner = patient.scene.objects.owner.get(need.consumer)
        if owner is not None and answer.provider is not None:
            using.setdefault(answer.provider, set()).add(owner.name)
    return holdings.of_overwritten(patient.overwritten, patient.scene.inventory, using)


def _mixed(patient: Patient) -> Found:
    for item in audit.find_mixed(patient.scene):
        level = Level.WARN if item.severity is Severity.WARN else Level.NOTE
        first = item.builds[0].path if item.builds else None
        yield Ailment(
            Check.MIXED_FAMILY,
            level,
            "",
            item.message,
            first,
            mended_by=item.overwritten,
            marks=item.marks,
        )


def _lib64(patient: Patient) -> Found:
    """A lib64 that is no link to lib: what is installed in one is not found in the other.

    Fedora's own Python has both on its path; its virtual environments have the link.
    """
    if not patient.scene.target.is_venv:
        return
    prefix = patient.scene.target.prefix
    lib64 = TargetPath(f"{prefix}/lib64")
    names = {entry.name for entry in patient.scene.disk.entries(lib64)}
    if patient.scene.disk.kind(lib64) is Kind.FOLDER and any(name.startswith("python") for name in names):
        yield Ailment(
            Check.LIB64_SPLIT,
            Level.WARN,
            "",
            "lib64 is a folder of its own beside lib: distributions can lie half in each",
            lib64,
        )


CHECKS: Mapping[Check, Callable[[Patient], Found]] = {
    Check.LEFTOVERS: lambda patient: holdings.leftovers(patient.stashes),
    Check.HOLLOW: lambda patient: holdings.of_hollows(
        (item for item in patient.hollows if item.whole), patient.scene.inventory
    ),
    Check.MISSING_FILE: lambda patient: holdings.of_hollows(
        (item for item in patient.hollows if not item.whole), patient.scene.inventory
    ),
    Check.MISSING_LIBRARY: _missing_libraries,
    Check.MISSING_SYMBOL: lambda patient: diagnosis.missing_symbols(patient.lacking(), patient.scene.objects),
    Check.MISSING_MODULE: lambda patient: diagnosis.missing_modules(
        patient.import_losses, patient.scene.inventory, patient.unmet
    ),
    Check.FAILING_IMPORT: lambda patient: failing_imports.ailments(
        patient.import_losses, patient.scene.inventory, patient.unmet
    ),
    Check.UNMET_REQUIREMENT: lambda patient: diagnosis.unmet_requirements(
        patient.scene.inventory,
        patient.hollow_infos,
        {(loss.survivor.name, loss.lost.key) for loss in patient.import_losses},
    ),
    Check.OVERWRITTEN: _overwritten,
    Check.DAMAGED_FILE: lambda patient: holdings.damaged(
        patient.altered, patient.damaged, patient.scene.inventory
    ),
    Check.FOREIGN_BUILD: lambda patient: foreign.ailments(
        patient.foreign,
        {loss.lost.key for loss in patient.import_losses if loss.lost.info.endswith(f"#{foreign.FOREIGN}")},
        patient.scene.inventory,
    ),
    Check.ALTERED_FILE: lambda patient: holdings.altered(
        patient.altered, patient.damaged, patient.scene.inventory
    ),
    Check.DUPLICATE_METADATA: lambda patient: holdings.duplicates(patient.recorded),
    Check.DAMAGED_METADATA: lambda patient: holdings.damaged_metadata(patient.recorded, patient.scene.disk),
    Check.NO_RECORD: lambda patient: holdings.without_record(patient.recorded),
    Check.REACH_BEYOND: lambda patient: holdings.reaching(patient.reaches(), patient.scene.inventory),
    Check.ENV_RELIANT: lambda patient: diagnosis.env_reliant(
        patient.survey, patient.bare(), patient.scene.objects
    ),
    Check.LIB64_SPLIT: _lib64,
    Check.MIXED_FAMILY: _mixed,
}


def _means(patient: Patient, ailments: Sequence[Ailment]) -> repair.Means:
    scene = patient.scene
    kept = tuple(_kept(scene)) if any(item.level > Level.NOTE for item in ailments) else ()
    wanted = {key for item in ailments for key in item.mended_by}
    urls = {key: url for key in wanted if (url := _url(key, scene))}
    packages = {
        dist.key: patient.packages[dist.info]
        for dist in scene.inventory.distributions
        if dist.info in patient.packages
    }
    removable = dict(_removable(patient, ailments))
    return repair.Means(kept, removable, urls, packages, patient.stale)


def _kept(scene: Scene) -> Iterator[undoing.Kept]:
    """What can be undone as things stand."""
    for home in homes_of(scene.target):
        for receipt in (held.receipt for held in receipts.held(home)):
            if tree.root() is None and undo.hindrances(receipt, scene.inventory):
                continue
            names = ", ".join(name for name, _ in receipt.leaving or receipt.arriving)
            did = "removed" if not receipt.is_install else "replaced" if receipt.leaving else "installed"
            dists = tuple((canonical(name), version) for name, version in receipt.leaving)
            yield undoing.Kept(receipt.id, f"{did} {names}", receipt.lost, dists)


def _url(key: DistKey, scene: Scene) -> str:
    """Where it was installed from, if that was an archive or a repository (direct_url.json)."""
    dist = scene.inventory.find(key)
    try:
        origin = json.loads(plain_file.content(f"{dist.info if dist else ''}/direct_url.json"))
        if "vcs_info" in origin:
            at = origin["vcs_info"]
            return f"{key} @ {at['vcs']}+{origin['url']}@{at['commit_id']}"
        return f"{key} @ {origin['url']}" if "archive_info" in origin else ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _removable(
    patient: Patient, ailments: Iterable[Ailment]
) -> Iterator[tuple[tuple[str, ...], frozenset[DistKey]]]:
    """Whose bytes lie in another's place, and who could go safely, together if that is safe too: nobody else needs
    it, says the judge.
    """
    if not any(item.check is Check.OVERWRITTEN for item in ailments):
        return
    owners: dict[str, set[DistKey]] = {}
    for owner, item in patient.overwritten:
        owners.setdefault(item.bytes_of, set()).add(owner.key)
    keys = {dist.name: dist.key for dist in patient.scene.inventory.distributions}
    names = [name for name in owners if name in keys and _may_go([keys[name]], patient)]
    if len(names) > 1 and _may_go([keys[name] for name in names], patient):
        yield tuple(names), frozenset().union(*(owners[name] for name in names))
    else:
        for name in names:
            yield (name,), frozenset(owners[name])


def _may_go(keys: Sequence[DistKey], patient: Patient) -> bool:
    plain = judge(examine(keys, patient.scene).evidence, patient.policy)
    if not auditing.safe_would_do(plain):
        return False
    sparing = safely.spare(keys, patient.scene, Safe.RESTORE)
    spared = judge(examine(keys, patient.scene, sparing.removal).evidence, patient.policy)
    return spared.decision is not Decision.REFUSE


def _tried(
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
    return Surveyor(world, objects, scene.inventory, scene.loader, scene.known_loads)
