"""From verdicts to answers about a whole environment: who needs whom, what nobody needs, and what may go together.

Nothing here decides what breaks. That is the judge's, who is asked again for every set that is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from safepip.model.audit import Judged, Reason, Spare
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey
from safepip.model.report import Decision, FindingKind, Severity, Verdict

STRENGTH = (
    FindingKind.LIBRARY_LOST,
    FindingKind.SYMBOL_LOST,
    FindingKind.IMPORT_LOST,
    FindingKind.FILE_LOST,
    FindingKind.REQUIREMENT_LOST,
    FindingKind.LAST_COPY,
    FindingKind.REACH_BEYOND,
)
HANG_ON_FILES = frozenset(
    {FindingKind.LIBRARY_LOST, FindingKind.SYMBOL_LOST, FindingKind.IMPORT_LOST, FindingKind.FILE_LOST}
)
OF_NOBODY = frozenset({FindingKind.SELF, FindingKind.PROTECTED, FindingKind.CANNOT_TELL})
BASICS = frozenset({"pip", "setuptools", "wheel", "safepip"})  # what every environment is given
_CUDA_SUFFIX = re.compile(r"-cu(\d{2})\d*$")
_CUDA_FOLDER = re.compile(r"/nvidia/cu(\d{2})/")
JudgeSet = Callable[[Sequence[DistKey]], Verdict]


def needed_by(verdict: Verdict) -> tuple[Reason, ...]:
    """Who would lose something, each by its strongest reason."""
    best: dict[str, Reason] = {}
    for finding in verdict.findings:
        if finding.severity is Severity.NOTE or not finding.distribution or finding.kind in OF_NOBODY:
            continue
        reason = Reason(finding.distribution, finding.kind, finding.severity, finding.message)
        known = best.get(finding.distribution)
        if known is None or _weakness(reason) < _weakness(known):
            best[finding.distribution] = reason
    return tuple(sorted(best.values(), key=lambda reason: (*_weakness(reason), reason.distribution.lower())))


def _weakness(reason: Reason) -> tuple[int, int]:
    place = STRENGTH.index(reason.kind) if reason.kind in STRENGTH else len(STRENGTH)
    return -reason.severity, place


def splits(
    keys: Sequence[DistKey], alone: Mapping[DistKey, Verdict], judge: JudgeSet
) -> tuple[tuple[DistKey, ...], tuple[DistKey, ...]]:
    """Of `keys` those that may go together, and those that must stay; the judge allows the first as a whole."""
    going = list(keys)
    while going and judge(going).decision is Decision.REFUSE:
        inside = frozenset(going)
        culprits = [key for key in going if _is_missed(alone[key], inside, alone)]
        if not culprits:
            going = _one_by_one(going, judge)
            break
        going = [key for key in going if key not in culprits]
    return tuple(going), tuple(key for key in keys if key not in going)


def _is_missed(verdict: Verdict, inside: frozenset[DistKey], alone: Mapping[DistKey, Verdict]) -> bool:
    """Whether somebody who stays loses by it; what the set itself loses does not count."""
    names = {dist.name for key in inside for dist in alone[key].removal.leaving}
    return any(
        finding.severity is Severity.REFUSE and finding.distribution not in names - _itself(verdict)
        for finding in verdict.findings
    )


def _itself(verdict: Verdict) -> set[str]:
    return {dist.name for dist in verdict.removal.leaving}


def _one_by_one(keys: Iterable[DistKey], judge: JudgeSet) -> list[DistKey]:
    going: list[DistKey] = []
    for key in keys:
        if judge([*going, key]).decision is not Decision.REFUSE:
            going.append(key)
    return going


def safe_would_do(verdict: Verdict) -> bool:
    """Whether all that is refused hangs on co-owned files: left to their other owners, nothing is lost."""
    shared = {item.path for item in verdict.shared}
    refused = [finding for finding in verdict.findings if finding.severity is Severity.REFUSE]
    return bool(refused) and all(
        bool(finding.paths) and finding.kind in HANG_ON_FILES and shared.issuperset(finding.paths)
        for finding in refused
    )


def spare_sets(
    judged: Sequence[Judged], inventory: Inventory
) -> Iterator[tuple[Spare, tuple[Distribution, ...], str]]:
    """Candidates for a joint cleanup, unjudged as yet, each with what it is, for `title`."""
    majors = cuda_majors(inventory)
    for major, dists in sorted(majors.items(), reverse=True) if len(majors) > 1 else ():
        unasked = tuple(dist for dist in dists if dist not in _required_by_others(dists, judged))
        if unasked:
            yield Spare.CUDA, unasked, f"of CUDA {major}"
    in_cuda = {dist for dists in majors.values() for dist in dists} if len(majors) > 1 else set()
    orphans = [dist for dist in _orphans(judged, inventory) if dist not in in_cuda]
    if orphans:
        yield Spare.LEFTOVER, tuple(orphans), Spare.LEFTOVER.value


def title(why: Spare, said: str, *, safe: bool) -> str:
    """`said`, and what that means for who stays; `safe`: where the set can go by --safe alone."""
    if safe:
        return f"{said}, of which only files are used that others own too: --safe leaves those to them"
    unused = ", to which nothing that stays is bound"
    return said + (unused if why is Spare.CUDA else ": nothing installed needs this, your own code may")


def _required_by_others(dists: Sequence[Distribution], judged: Sequence[Judged]) -> set[Distribution]:
    """Those of `dists` that somebody beside them declares to require, whatever becomes of it."""
    names = {dist.name for dist in dists}
    return {
        item.dist
        for item in judged
        for reason in item.needed_by
        if reason.kind is FindingKind.REQUIREMENT_LOST and reason.distribution not in names
    }


def leaves(judged: Sequence[Judged]) -> Iterator[tuple[Spare, Judged]]:
    """What nothing installed needs and is no leftover: it was asked for by name, or gives commands."""
    for item in judged:
        required = any(reason.kind is FindingKind.REQUIREMENT_LOST for reason in item.needed_by)
        if not (required or is_needed(item) or item.in_code or item.left_alone or item.dist.key in BASICS):
            if item.dist.requested:
                yield Spare.ASKED_FOR, item
            elif item.has_commands:
                yield Spare.TOOL, item


def is_needed(item: Judged) -> bool:
    return any(reason.severity is Severity.REFUSE for reason in item.needed_by)


def cuda_majors(inventory: Inventory) -> dict[int, tuple[Distribution, ...]]:
    """NVIDIA's distributions by the CUDA they are for: by the suffix of the name, or by the folder of the unsuffixed."""
    found: dict[int, list[Distribution]] = {}
    for dist in inventory.distributions:
        if dist.key.startswith("nvidia-"):
            match = _CUDA_SUFFIX.search(dist.key) or next(
                filter(None, (_CUDA_FOLDER.search(path) for path in dist.files or ())), None
            )
            if match:
                found.setdefault(int(match[1]), []).append(dist)
    return {major: tuple(dists) for major, dists in found.items()}


def _orphans(judged: Sequence[Judged], inventory: Inventory) -> list[Distribution]:
    """What no wanted distribution needs, directly or through others. Without any marker nobody can tell."""
    if not any(dist.requested for dist in inventory.distributions):
        return []
    needs: dict[str, set[str]] = {}
    for item in judged:
        for reason in item.needed_by:
            needs.setdefault(reason.distribution, set()).add(item.dist.name)
    kept = {
        item.dist.name
        for item in judged
        if item.dist.requested
        or item.has_commands
        or item.in_code
        or item.left_alone
        or item.dist.key in BASICS
    }
    pending = list(kept)
    while pending:
        fresh = needs.get(pending.pop(), set()) - kept
        kept |= fresh
        pending += fresh
    return [item.dist for item in judged if item.dist.name not in kept]
