"""Imports and requirements that are lost, as findings: both may hold for one pair."""

from __future__ import annotations

from collections.abc import Iterator

from safepip.model.imports import Basis, Grade, ImportLoss
from safepip.model.paths import TargetPath
from safepip.model.report import Consumer, Finding, FindingKind, Provider, Severity
from safepip.reasoning.libraries.losses import relative
from safepip.reasoning.requirements import LostRequirement
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import DEFAULT_SEVERITY, count, finding, provider


def of(evidence: Evidence) -> Iterator[Finding]:
    yield from _imports(evidence)
    yield from _built(evidence)
    yield from _requirements(evidence)


def _imports(evidence: Evidence) -> Iterator[Finding]:
    by_pair: dict[tuple[TargetPath, TargetPath], list[ImportLoss]] = {}
    for loss in evidence.imports:
        by_pair.setdefault((loss.survivor.info, loss.lost.info), []).append(loss)
    for losses in by_pair.values():
        first = losses[0]
        more = f" and {count(len(losses) - 1, 'other import')}" if len(losses) > 1 else ""
        file = relative(first.importer, evidence.inventory)
        place = f"{file}:{first.line}" if first.line else file  # a compiled module has no lines
        does = "imports" if first.chain[-2].startswith(file) else "leads to an import of"
        whose = _whose(first)
        happens = f"get another {first.module}, {first.instead}" if first.instead else "fail"
        kind = FindingKind.IMPORT_LOST
        yield finding(
            kind,
            first.survivor.name,
            f"{first.survivor.name} would {happens}: {place} {does} {first.module}, {whose}{more}",
            severity=DEFAULT_SEVERITY[kind] if not all(loss.made_up for loss in losses) else Severity.WARN,
            paths=tuple(dict.fromkeys(loss.importer if loss.absent else loss.path for loss in losses)),
            provider=None if first.absent else Provider(first.path, (first.lost.name,), first.lost.name),
            consumers=tuple(Consumer(loss.importer, loss.survivor.name, loss.chain) for loss in losses),
            proof=("sed", "-n", f"{first.line}p", first.importer)
            if first.line
            else ("grep", "-c", first.module, first.importer),
        )


def _built(evidence: Evidence) -> Iterator[Finding]:
    """Editable installs whose import hook builds the project first, by a program that would go."""
    removal, target = evidence.removal, evidence.inventory.target
    hooks = {item.by: item.builder for item in target.mapped if item.builder}
    for hook, builder in hooks.items():
        if builder not in removal.files or hook in removal.files:
            continue
        owner = next(iter(evidence.inventory.owners([hook]).get(hook, ())), None)
        name = owner.name if owner else relative(hook, evidence.inventory)
        does = f"{relative(hook, evidence.inventory)} runs {relative(builder, evidence.inventory)} when it is imported"
        yield finding(
            FindingKind.IMPORT_LOST,
            name,
            f"{name} would fail: {does}",
            paths=(builder,),
            provider=provider(builder, evidence),
            proof=("grep", "-n", builder.rpartition("/")[2], hook),
        )


def _whose(loss: ImportLoss) -> str:
    if not loss.absent:
        return f"of {loss.lost.name}"
    known = f"{loss.lost.name} {loss.lost.version}"  # of what is not installed there is no version
    return f"which {known} does not have" if loss.lost.version else "which is nowhere"


def _requirements(evidence: Evidence) -> Iterator[Finding]:
    for loss in evidence.requirements.requirements:
        grade = evidence.grades.get((loss.survivor.info, loss.lost.key))
        if grade is not None and grade.severity is Severity.NOTE:
            continue
        kind = FindingKind.EXTRA_LOST if loss.extra else FindingKind.REQUIREMENT_LOST
        if loss.in_use and grade is not None and grade.severity is Severity.REFUSE:
            kind = FindingKind.REQUIREMENT_LOST
        severity = DEFAULT_SEVERITY[kind] if grade is None else grade.severity
        yield finding(
            kind,
            loss.survivor.name,
            _requirement_message(loss, grade, evidence),
            severity=Severity.WARN if kind is FindingKind.EXTRA_LOST else severity,
            paths=(loss.lost.info,),
            proof=_declaration(loss),
        )


def _declaration(loss: LostRequirement) -> tuple[str, ...]:
    """The line that requires it, however the name is spelled there (PEP 503)."""
    name, info = loss.lost.key.replace("-", "[-_.]+"), loss.survivor.info
    if info.endswith(".dist-info"):
        return ("grep", "-iE", f"^Requires-Dist: {name}", f"{info}/METADATA")
    return ("grep", "-iE", f"^{name}", f"{info}/requires.txt")


def _requirement_message(loss: LostRequirement, grade: Grade | None, evidence: Evidence) -> str:
    """One line that says which evidence decided."""
    asks = "has an extra that requires" if loss.extra and not loss.in_use else "requires"
    who = f"{loss.survivor.name}[{loss.in_use}]" if loss.in_use else loss.survivor.name
    if grade is None:
        return f"{who} {asks} {loss.requirement.partition(';')[0].strip()}"
    line = f":{grade.line}" if grade.line else ""
    where = f" ({relative(grade.path, evidence.inventory)}{line})" if grade.path else ""
    what = f"whose {grade.module}" if grade.basis is Basis.COMPILED else "which"
    return f"{who} {asks} {loss.lost.name}, {what} {grade.basis.value}{where}"
