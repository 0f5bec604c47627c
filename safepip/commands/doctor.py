"""`safepip doctor`: what is broken now, by named checks, and the plan that mends it, tried on paper first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from safepip.acting import mending
from safepip.commands import audit, foreseeing, means
from safepip.commands.patient import Patient
from safepip.commands.scene import Scene
from safepip.model.diagnosis import Ailment, Check, Diagnosis, Level
from safepip.model.paths import TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Severity
from safepip.reasoning.health import diagnosis, extras, failing_imports, foreign, holdings, repair
from safepip.world import Kind

Found = Iterator[Ailment]


def diagnose(scene: Scene, policy: Policy, checks: frozenset[Check]) -> Diagnosis:
    """What `checks` find, and the plan. Nothing is touched."""
    patient = Patient(scene, policy)
    ailments = _ailments(patient, checks)
    there = means.of(patient, ailments, lambda other: _ailments(Patient(other, policy), checks))
    cures, incurable = repair.plan(ailments, scene.inventory, there)
    cures, incurable = foreseeing.tried(cures, incurable, patient)
    return Diagnosis(
        scene.target,
        tuple(ailments),
        patient.hollows if checks & {Check.HOLLOW, Check.MISSING_FILE} else (),
        tuple(dict.fromkeys(item for _, item in patient.overwritten)) if Check.OVERWRITTEN in checks else (),
        cures,
        incurable,
        scene.unjudged,
    )


def _ailments(patient: Patient, checks: frozenset[Check]) -> list[Ailment]:
    """Worst first. What has its metadata twice says everything twice."""
    found = (ailment for check in CHECKS if check in checks for ailment in CHECKS[check](patient))
    return sorted(dict.fromkeys(found), key=lambda item: -item.level)


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
    Check.INCOMPLETE_EXTRA: lambda patient: extras.incomplete(patient.scene.inventory, patient.hollow_infos),
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
