"""Co-owned files that go, as findings: thousands fold into one a survivor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.report import Finding, FindingKind, Provider, Severity
from safepip.model.survey import SharedFile
from safepip.reasoning.changes import shares as co_owned
from safepip.reasoning.changes.shares import Weight
from safepip.reasoning.libraries.losses import relative
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import DEFAULT_SEVERITY, count, finding, some


def of(evidence: Evidence) -> Iterator[Finding]:
    lost: dict[tuple[Weight, TargetPath], list[SharedFile]] = {}
    survivors: dict[TargetPath, Distribution] = {}
    for item in evidence.shares:
        for survivor in item.owners:
            if survivor not in evidence.removal.leaving:
                weight = co_owned.weigh(
                    item, survivor, evidence.inventory, evidence.after, evidence.side_imports
                )
                lost.setdefault((weight, survivor.info), []).append(item)
                survivors[survivor.info] = survivor
    for (weight, info), items in lost.items():
        if weight is not Weight.TRIVIAL:
            yield _file_finding(weight, survivors[info], items, evidence)
    trivial = {
        item.path: item for (weight, _), items in lost.items() if weight is Weight.TRIVIAL for item in items
    }
    if trivial:
        owners = sorted(
            {survivors[info].name for (weight, info) in lost if weight is Weight.TRIVIAL}, key=str.lower
        )
        yield finding(
            FindingKind.SHARED_TRIVIAL,
            owners[0],
            f"{count(len(trivial), 'co-owned file')} of no consequence would go as well ({some(owners)})",
            paths=tuple(trivial),
            proof=_listing(next(iter(trivial.values())), evidence),
        )


def _file_finding(
    weight: Weight, survivor: Distribution, items: Sequence[SharedFile], evidence: Evidence
) -> Finding:
    ordered = sorted(
        items, key=lambda item: (item.path not in evidence.objects.owner, item.path.count("/"), item.path)
    )
    first = relative(ordered[0].path, evidence.inventory)
    more = f" and {len(ordered) - 1} more" if len(ordered) > 1 else ""
    keeper = co_owned.bytes_of(ordered[0], evidence.removal.leaving)
    kind = FindingKind.COMMAND_LOST if weight is Weight.COMMAND else FindingKind.FILE_LOST
    others = [dist.name for dist in ordered[0].owners if dist != survivor]
    return finding(
        kind,
        survivor.name,
        f"{survivor.name} would lose {first}{more}, which it owns together with {' and '.join(others)}",
        severity=Severity.WARN if weight is Weight.STUB else DEFAULT_SEVERITY[kind],
        paths=tuple(item.path for item in ordered),
        provider=Provider(ordered[0].path, tuple(dist.name for dist in ordered[0].owners), keeper),
        proof=_listing(ordered[0], evidence),
        broken_before=keeper not in {"", survivor.name},
    )


def _listing(item: SharedFile, evidence: Evidence) -> tuple[str, ...]:
    """Every RECORD that lists it."""
    records = (f"{dist.info}/RECORD" for dist in item.owners)
    return ("grep", "-lF", relative(item.path, evidence.inventory), *records)
