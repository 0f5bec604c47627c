"""Library needs that got worse, as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from safepip.model.environment import Distribution
from safepip.model.report import Finding, FindingKind, Severity
from safepip.reasoning.evidence import Evidence
from safepip.reasoning.finding import DEFAULT_SEVERITY, finding, provider, some
from safepip.reasoning.losses import Grouped
from safepip.reasoning.requirements import requires_closure


def of(evidence: Evidence) -> Iterator[Finding]:
    for group in evidence.libraries:
        first = group.losses[0]
        was = first.was
        bound = None
        if was is not None and was.provider is not None:
            bound = replace(provider(was.provider, evidence), how=was.binding.how)
        severity = DEFAULT_SEVERITY[group.kind]
        if group.kind is FindingKind.LAST_COPY and _requires_owner(group, evidence):
            severity = Severity.REFUSE
        yield finding(
            group.kind,
            group.survivor.name,
            _library_message(group),
            severity=severity,
            soname=group.wants,
            paths=(bound.path,) if bound else (),
            provider=bound,
            consumers=group.consumers,
            searched=first.now.binding.tried,
            proof=("readelf", "-d", first.need.consumer),
        )


def _library_message(group: Grouped) -> str:
    consumer = group.losses[0].need.consumer.rpartition("/")[2]
    name, wants = group.survivor.name, group.wants
    match group.kind:
        case FindingKind.LIBRARY_LOST if not group.losses[0].at_import:
            return f"{name} could no longer open {consumer}, which needs {wants}"
        case FindingKind.LIBRARY_LOST:
            return f"{name} could no longer be loaded: it comes to need {wants}, and nothing else provides it"
        case FindingKind.LAST_COPY:
            return f"{consumer} of {name} needs {wants}, which the loader does not find now either; the last copy would go"
        case FindingKind.SYMBOL_LOST:
            lacking = group.losses[0].lacking
            return f"{consumer} of {name} would be bound to another {wants}, which lacks {some(lacking)}"
        case FindingKind.ORDER_RELIANT:
            return f"{consumer} of {name} would find {wants} only after another import has loaded it"
        case _:
            return f"{consumer} of {name} would be bound to another {wants}"


def _requires_owner(group: Grouped, evidence: Evidence) -> bool:
    required = requires_closure(group.survivor, evidence.inventory)
    return any(dist in evidence.removal.leaving and _has(dist, group.wants) for dist in required)


def _has(dist: Distribution, soname: str) -> bool:
    return any(path.endswith(f"/{soname}") for path in dist.files or ())
