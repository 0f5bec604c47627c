"""Evidence into findings: one function a kind, each with the sentence that a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from safepip.model.change import Reach, Removal, Why
from safepip.model.elf import Flaw
from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.paths import TargetPath
from safepip.model.report import Finding, FindingKind, Policy, Provider, Severity
from safepip.model.survey import Objects, SharedFile
from safepip.reasoning import shares as co_owned
from safepip.reasoning.losses import Grouped, relative
from safepip.reasoning.requirements import Lost, LostRequirement, requires_closure
from safepip.reasoning.shares import Weight
from safepip.world import World

DEFAULT_SEVERITY: Mapping[FindingKind, Severity] = {
    FindingKind.LIBRARY_LOST: Severity.REFUSE,
    FindingKind.SYMBOL_LOST: Severity.REFUSE,
    FindingKind.FILE_LOST: Severity.REFUSE,
    FindingKind.IMPORT_LOST: Severity.REFUSE,
    FindingKind.REACH_BEYOND: Severity.REFUSE,
    FindingKind.SELF: Severity.REFUSE,
    FindingKind.PROTECTED: Severity.REFUSE,
    FindingKind.LAST_COPY: Severity.WARN,
    FindingKind.REQUIREMENT_LOST: Severity.REFUSE,
    FindingKind.EXTRA_LOST: Severity.WARN,
    FindingKind.COMMAND_LOST: Severity.WARN,
    FindingKind.FAMILY_SPLIT: Severity.WARN,
    FindingKind.PROVIDER_CHANGED: Severity.WARN,
    FindingKind.ORDER_RELIANT: Severity.WARN,
    FindingKind.DLOPEN_HINT: Severity.WARN,
    FindingKind.IN_USE: Severity.WARN,
    FindingKind.CANNOT_TELL: Severity.REFUSE,
    FindingKind.SHARED_TRIVIAL: Severity.NOTE,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was looked up about one removal; judging adds nothing to it."""

    removal: Removal
    inventory: Inventory
    after: World
    objects: Objects  # of everybody, survivors named as owners first
    libraries: tuple[Grouped, ...] = ()
    shares: tuple[SharedFile, ...] = ()
    requirements: Lost = field(default_factory=lambda: Lost((), ()))
    side_imports: frozenset[str] = frozenset()
    unreadable_going: tuple[tuple[TargetPath, Flaw], ...] = ()
    unreadable_consumers: tuple[tuple[TargetPath, Flaw], ...] = ()
    hollow: tuple[Distribution, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    bytes: int = 0  # that the removal's files hold
    safepip_key: str = "safepip"


def of(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Every finding, with its severity by evidence alone."""
    yield from _guarded(evidence, policy)
    yield from _halted(evidence)
    yield from _beyond(evidence)
    yield from _unreadable(evidence)
    yield from _libraries(evidence)
    yield from _files(evidence)
    yield from _requirements(evidence)


def _finding(kind: FindingKind, distribution: str, message: str, **more: object) -> Finding:
    severity = more.pop("severity", DEFAULT_SEVERITY[kind])
    return Finding(kind, severity, distribution, message, **more)  # type: ignore[arg-type]


def _guarded(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    keys: dict[str, Distribution] = {dist.key: dist for dist in evidence.removal.leaving}
    if "pip" in keys and evidence.inventory.target.pip.location is not None:
        yield _finding(
            FindingKind.SELF, "pip", "the environment would be left without pip", paths=(keys["pip"].info,)
        )
    if evidence.safepip_key in keys:
        yield _finding(
            FindingKind.SELF,
            evidence.safepip_key,
            "safepip itself would go",
            paths=(keys[evidence.safepip_key].info,),
        )
    for key, dist in keys.items():
        if key in policy.protected:
            yield _finding(FindingKind.PROTECTED, dist.name, f"the configuration protects {dist.name}")


def _halted(evidence: Evidence) -> Iterator[Finding]:
    halt = evidence.removal.halt
    if halt is None:
        return
    before = ", ".join(dist.name for dist in evidence.removal.leaving)
    ending = f" after it has removed {before}" if before else ""
    yield _finding(
        FindingKind.CANNOT_TELL, halt.name, f"pip would stop at {halt.name}{ending}: {halt.reason}"
    )


def _beyond(evidence: Evidence) -> Iterator[Finding]:
    groups: dict[tuple[str, Why, str], list[Reach]] = {}
    for reach in evidence.removal.reaches:
        groups.setdefault((reach.dist.name, reach.why, reach.owner), []).append(reach)
    for (name, why, owner), reaches in groups.items():
        first = relative(reaches[0].path, evidence.inventory)
        more = f" and {len(reaches) - 1} more" if len(reaches) > 1 else ""
        whose = f" ({owner})" if owner else ""
        yield _finding(
            FindingKind.REACH_BEYOND,
            owner or name,
            f"pip would also delete {first}{more}, which {why.value}{whose}",
            paths=tuple(reach.path for reach in reaches),
        )


def _unreadable(evidence: Evidence) -> Iterator[Finding]:
    for path, flaw in evidence.unreadable_going:
        name = relative(path, evidence.inventory)
        yield _finding(
            FindingKind.CANNOT_TELL, "", f"{name} would go and cannot be read: {flaw.value}", paths=(path,)
        )
    for path, flaw in evidence.unreadable_consumers:
        owner = evidence.objects.owner[path].name
        name = relative(path, evidence.inventory)
        yield _finding(
            FindingKind.CANNOT_TELL,
            owner,
            f"{name} may need a library that would go, and cannot be read: {flaw.value}",
            paths=(path,),
        )


def _libraries(evidence: Evidence) -> Iterator[Finding]:
    for group in evidence.libraries:
        first = group.losses[0]
        was = first.was
        provider = None
        if was is not None and was.provider is not None:
            provider = _provider(was.provider, evidence)
            provider = replace(provider, how=was.binding.how)
        severity = DEFAULT_SEVERITY[group.kind]
        if group.kind is FindingKind.LAST_COPY and _requires_owner(group, evidence):
            severity = Severity.REFUSE
        yield _finding(
            group.kind,
            group.survivor.name,
            _library_message(group),
            severity=severity,
            soname=group.wants,
            paths=(provider.path,) if provider else (),
            provider=provider,
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
            return f"{consumer} of {name} would be bound to another {wants}, which lacks {_some(lacking)}"
        case FindingKind.ORDER_RELIANT:
            return f"{consumer} of {name} would find {wants} only after another import has loaded it"
        case _:
            return f"{consumer} of {name} would be bound to another {wants}"


def _requires_owner(group: Grouped, evidence: Evidence) -> bool:
    required = requires_closure(group.survivor, evidence.inventory)
    return any(dist in evidence.removal.leaving and _has(dist, group.wants) for dist in required)


def _has(dist: Distribution, soname: str) -> bool:
    return any(path.endswith(f"/{soname}") for path in dist.files or ())


def _provider(path: TargetPath, evidence: Evidence) -> Provider:
    for item in evidence.shares:
        if item.path == path:
            owners = tuple(dist.name for dist in item.owners)
            return Provider(path, owners, co_owned.bytes_of(item, evidence.removal.leaving))
    owners = tuple(dist.name for dist in evidence.inventory.owners([path]).get(path, ()))
    return Provider(path, owners, owners[0] if owners else "")


def _files(evidence: Evidence) -> Iterator[Finding]:
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
        yield _finding(
            FindingKind.SHARED_TRIVIAL,
            owners[0],
            f"{_count(len(trivial), 'co-owned file')} of no consequence would go as well ({_some(owners)})",
            paths=tuple(trivial),
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
    return _finding(
        kind,
        survivor.name,
        f"{survivor.name} would lose {first}{more}, which it owns together with {' and '.join(others)}",
        severity=Severity.WARN if weight is Weight.STUB else DEFAULT_SEVERITY[kind],
        paths=tuple(item.path for item in ordered),
        provider=Provider(ordered[0].path, tuple(dist.name for dist in ordered[0].owners), keeper),
        proof=(
            "grep",
            "-l",
            relative(ordered[0].path, evidence.inventory),
            *(f"{dist.info}/RECORD" for dist in ordered[0].owners),
        ),
        broken_before=keeper not in {"", survivor.name},
    )


def _requirements(evidence: Evidence) -> Iterator[Finding]:
    by_survivor: dict[TargetPath, list[LostRequirement]] = {}
    for loss in evidence.requirements.requirements:
        if not loss.extra:
            by_survivor.setdefault(loss.survivor.info, []).append(loss)
    for losses in by_survivor.values():
        survivor = losses[0].survivor
        yield _finding(
            FindingKind.REQUIREMENT_LOST,
            survivor.name,
            f"{survivor.name} requires {_some([loss.lost.name for loss in losses])}",
            paths=tuple(loss.lost.info for loss in losses),
            proof=("grep", "-i", "Requires-Dist: " + losses[0].lost.name, f"{survivor.info}/METADATA"),
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _some(names: Iterable[str]) -> str:
    """The first three, and how many more."""
    listed = list(dict.fromkeys(names))
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
