"""Library needs that got worse, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.report import Consumer, Finding, FindingKind, Severity
from safepip.model.survey import Hint, Standing
from safepip.reasoning.libraries.known_loads import naming
from safepip.reasoning.libraries.losses import Grouped, Loss, relative
from safepip.reasoning.requirements import requires_closure
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import DEFAULT_SEVERITY, finding, provider, some


def of(evidence: Evidence) -> Iterator[Finding]:
    yield from _needs(evidence)
    yield from _splits(evidence)
    yield from _hints(evidence)


def _needs(evidence: Evidence) -> Iterator[Finding]:
    for group in evidence.libraries:
        first = group.losses[0]
        was = first.was
        bound = None
        if was is not None and was.provider is not None:
            bound = replace(provider(was.provider, evidence), how=was.binding.how)
        severity = DEFAULT_SEVERITY[group.kind]
        if group.kind is FindingKind.LAST_COPY:
            severity = _of_last_copy(group, evidence)
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
            proof=_proof(group),
        )


def _proof(group: Grouped) -> tuple[str, ...]:
    """What it needs and where it looks; of names that are lacking, which it has undefined and the other does not define."""
    now = group.losses[0].now
    if group.kind is FindingKind.SYMBOL_LOST and now.provider is not None:
        return ("nm", "-D", now.binding.consumer, now.provider)
    return ("readelf", "-d", now.binding.consumer)


def _splits(evidence: Evidence) -> Iterator[Finding]:
    for item in evidence.splits:
        (one, name), (other, second), *_ = item.members
        root = relative(item.root, evidence.inventory)
        yield finding(
            FindingKind.FAMILY_SPLIT,
            item.survivor.name,
            f"{root} would load parts of {item.family} from two places: {name} from "
            f"{relative(_folder(one), evidence.inventory)}, {second} from {relative(_folder(other), evidence.inventory)}",
            soname=second,
            paths=tuple(path for path, _ in item.members),
            consumers=(Consumer(item.root, item.survivor.name),),
            proof=("readelf", "-d", item.root),
        )


def _hints(evidence: Evidence) -> Iterator[Finding]:
    """One for each pair of distributions, the files that are named before those that are only known."""
    pairs: dict[tuple[TargetPath, TargetPath], list[Hint]] = {}
    for hint in sorted(evidence.hints, key=lambda hint: not hint.mentions):
        pairs.setdefault((hint.survivor.info, hint.lost.info), []).append(hint)
    for hints in pairs.values():
        first = hints[0]
        mention = next(iter(first.mentions), None)
        yield finding(
            FindingKind.DLOPEN_HINT,
            first.survivor.name,
            _hint_message(hints, evidence),
            soname=mention.soname if mention else _name(first.path),
            paths=tuple(hint.path for hint in hints),
            provider=provider(first.path, evidence),
            consumers=tuple(
                Consumer(path, first.survivor.name)
                for path in dict.fromkeys(item.path for hint in hints for item in hint.mentions)
            ),
            proof=("grep", "-c", mention.soname, mention.path) if mention else (),
        )


def _hint_message(hints: Sequence[Hint], evidence: Evidence) -> str:
    """A name is a likelihood and said as one; a known load is a fact, about the release that was read."""
    first = hints[0]
    survivor = first.survivor.name
    names = some(hint.mentions[0].soname if hint.mentions else _name(hint.path) for hint in hints)
    if not first.mentions:
        return f"{survivor} is known to open {names} at run time: {first.known}"
    mention = first.mentions[0]
    where = relative(mention.path, evidence.inventory) + (f":{mention.line}" if mention.line else "")
    how = f" ({first.known})" if first.known else ""
    return f"{survivor} may open {names} at run time: {where} names it, and the last copy would go{how}"


def _name(path: TargetPath) -> str:
    return path.rpartition("/")[2]


def _folder(path: TargetPath) -> TargetPath:
    return TargetPath(path.rpartition("/")[0])


def _library_message(group: Grouped) -> str:
    consumer = group.losses[0].need.consumer.rpartition("/")[2]
    name, wants = group.survivor.name, group.wants
    match group.kind:
        case FindingKind.LIBRARY_LOST if not group.losses[0].at_import:
            return f"{name} could no longer open {consumer}, which needs {wants}; it is opened later, not at import"
        case FindingKind.LIBRARY_LOST:
            lost = f"{name} could no longer be loaded: it comes to need {wants}, and nothing else provides it"
            return f"{lost}{_by_whom(group.losses[0])}"
        case FindingKind.LAST_COPY:
            return f"{consumer} of {name} needs {wants}, which the loader does not find now either; the last copy would go"
        case FindingKind.SYMBOL_LOST:
            lacking = group.losses[0].lacking
            return f"{consumer} of {name} would be bound to another {wants}, which lacks {some(lacking)}"
        case FindingKind.ORDER_RELIANT:
            return f"{consumer} of {name} would find {wants} only after another import has loaded it"
        case _:
            return f"{consumer} of {name} would be bound to another {wants}"


def _by_whom(loss: Loss) -> str:
    """Where the need is met by no search, the loss is as likely as the order of imports that meets it now."""
    brought = [step.partition(", loaded by ")[2] for step in loss.chain if ", loaded by " in step]
    if brought:
        return f" (counting on {brought[0]} coming first)"
    was = loss.was
    if was is None or was.standing is not Standing.PRELOADED:
        return ""
    return " (it opens that itself now)" if was.preloader is None else " (counting on an earlier import now)"


def _of_last_copy(group: Grouped, evidence: Evidence) -> Severity:
    """What is known of how the library comes to be loaded outweighs what is declared."""
    loads = list(naming(group.wants, group.survivor.key, evidence.known_loads))
    matters = any(load.required for load in loads) if loads else _requires_owner(group, evidence)
    return Severity.REFUSE if matters else Severity.WARN


def _requires_owner(group: Grouped, evidence: Evidence) -> bool:
    required = requires_closure(group.survivor, evidence.inventory)
    return any(dist in evidence.removal.leaving and _has(dist, group.wants) for dist in required)


def _has(dist: Distribution, soname: str) -> bool:
    return any(path.endswith(f"/{soname}") for path in dist.files or ())
