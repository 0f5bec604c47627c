"""What an install does to those who stay, as findings: the losses that a removal can bring, and three of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from safepip.model.arrival import Bound, Overwrite, Partner, Turn
from safepip.model.environment import Distribution
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Finding, FindingKind, Remedy, Severity, Verdict
from safepip.reasoning.libraries.losses import relative
from safepip.reasoning.requirements import Lost, LostRequirement, requirement_key, unmet, weigh
from safepip.reasoning.verdict import code_findings, file_findings, library_findings
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import count, finding, some

_FLAVOUR = re.compile(r"-cu(\d+)$")


def of(
    evidence: Evidence, turn: Turn, overwrites: Sequence[Overwrite], bound: Sequence[Bound], policy: Policy
) -> Iterator[Finding]:
    """Every finding, with its severity by evidence alone."""
    yield from library_findings.of(evidence)
    yield from file_findings.of(evidence)
    yield from code_findings.of(evidence)
    yield from _overwrites(overwrites, turn)
    yield from _variants(turn, policy)
    yield from map(_partner, bound)
    yield from _unmet(turn)


def lost_requirements(turn: Turn) -> Lost:
    """Requirements of those who stay that a version which was replaced met, and the new one does not.

    Not those of an extra: what it is for is there, and whether anybody asked for the extra is not known.
    """
    new = {dist.key: dist for dist in turn.arriving}
    replaced = {dist.key: dist for dist in turn.superseded if dist.key in new}
    losses = []
    for survivor in turn.now.distributions:
        if survivor in turn.arriving or survivor in turn.covered:
            continue
        for written in survivor.requires:
            old = replaced.get(requirement_key(written) or DistKey(""))
            was = weigh(survivor, old, written, turn.now.target.markers) if old else None
            if (
                isinstance(was, LostRequirement)
                and not was.extra
                and not isinstance(
                    weigh(survivor, new[was.lost.key], written, turn.now.target.markers), LostRequirement
                )
            ):
                losses.append(was)
    return Lost(tuple(losses), ())


def partners_at_stake(
    turn: Turn, table: Iterable[Partner]
) -> Iterator[tuple[Partner, Distribution, Distribution]]:
    """The partners that get another major version: with the one that was and the one that comes."""
    was = {dist.key: dist for dist in turn.superseded}
    for partner in table:
        for dist in turn.arriving:
            old = was.get(dist.key)
            if dist.key == partner.distribution and old and _major(old.version) != _major(dist.version):
                yield partner, old, dist


def remedies(verdict: Verdict, turn: Turn, words: Sequence[str]) -> tuple[Remedy, ...]:
    """What to do instead of an install that breaks something; without `words` it is done, and what mends it."""
    if not any(item.severity is Severity.REFUSE for item in verdict.findings):
        return ()
    safepip = verdict.target.inside("safepip", "--python", verdict.target.executable)
    pinned = tuple(f"{dist.key}=={dist.version}" for dist in turn.arriving)
    kinds = {item.kind for item in verdict.findings if item.severity is Severity.REFUSE}
    found = []
    if FindingKind.FILE_LOST in kinds and turn.replaced:
        hurt = _losers(verdict, turn, pinned)
        once_more = (*safepip, "install", "--no-deps", "--force-reinstall", *hurt)
        if words:
            title = "Install it, and lay down once more what loses files"
            found.append(Remedy(title, ((*safepip, *words), once_more)))
        else:
            found.append(Remedy("Lay down once more what has lost files", (once_more,)))
    elif losers := _outdated(verdict, turn):
        found.append(
            Remedy(
                f"Renew {some(losers)} in the same step; where they do not fit either, all is taken back",
                ((*safepip, "install", "--rollback", "--upgrade", *pinned, *losers),),
            )
        )
    keys = {dist.key for dist in turn.arriving}
    unread = sorted(turn.requested - keys)  # no wheel of theirs could be looked into
    return (*found, Remedy(f"Do not install {some([*(dist.name for dist in turn.arriving), *unread])}"))


def _losers(verdict: Verdict, turn: Turn, pinned: Sequence[str]) -> tuple[str, ...]:
    hurt = {item.distribution for item in verdict.findings if item.kind is FindingKind.FILE_LOST}
    return tuple(
        f"{dist.key}=={dist.version}" for dist in turn.now.distributions if dist.name in hurt
    ) or tuple(pinned)


def _outdated(verdict: Verdict, turn: Turn) -> list[str]:
    """Who stays as it is and no longer fits what comes: a newer version may."""
    kinds = (
        FindingKind.SYMBOL_LOST,
        FindingKind.LIBRARY_LOST,
        FindingKind.REQUIREMENT_LOST,
        FindingKind.IMPORT_LOST,
    )
    coming = {dist.name for dist in turn.arriving}
    worst = [item for item in verdict.findings if item.severity is Severity.REFUSE]
    losers = {item.distribution for item in worst} - coming
    return sorted(losers) if any(item.kind in kinds for item in worst) else []


def _overwrites(overwrites: Sequence[Overwrite], turn: Turn) -> Iterator[Finding]:
    pairs: dict[tuple[TargetPath, TargetPath, bool], list[Overwrite]] = {}
    for item in overwrites:
        pairs.setdefault((item.owner.info, item.by.info, item.instead is None), []).append(item)
    for items in pairs.values():
        first = min(items, key=lambda item: (".so" not in item.path, item.path.count("/"), item.path))
        more = f" and {count(len(items) - 1, 'other file')}" if len(items) > 1 else ""
        by, of = f"{first.by.name} {first.by.version}", f"{first.owner.name} {first.owner.version}"
        file = f"{relative(first.path, turn.now)}{more} of {of}"
        yield finding(
            FindingKind.OVERWRITES,
            first.owner.name,
            f"{by} overwrites {file}"
            if first.instead is None
            else f"{by} brings {relative(first.instead, turn.now)}, which is imported in place of {file}",
            paths=tuple(item.path for item in items),
            proof=("grep", "-l", relative(first.path, turn.now), f"{first.owner.info}/RECORD"),
        )


def _variants(turn: Turn, policy: Policy) -> Iterator[Finding]:
    """Another build of something that nobody asked for."""
    was = {dist.key: dist for dist in turn.superseded}
    for dist in turn.arriving:
        old = was.get(dist.key)
        if old is None or dist.key in turn.requested:
            continue
        build, flavour = _local(old.version) != _local(dist.version), _flavours(old) != _flavours(dist)
        if build or (flavour and _flavours(old) and _flavours(dist)):
            yield finding(
                FindingKind.VARIANT_CHANGED,
                dist.name,
                f"{dist.name} {_variant(old)} becomes {_variant(dist)}, another build, which nobody named",
                severity=Severity.REFUSE if dist.key in policy.protected else Severity.WARN,
                paths=(old.info,),
                proof=(turn.now.target.executable, "-m", "pip", "show", dist.key),
            )


def _partner(item: Bound) -> Finding:
    return finding(
        FindingKind.ABI_PARTNER,
        item.survivor.name,
        f"{item.survivor.name} {item.survivor.version} has {count(len(item.paths), 'module') if item.paths else 'modules'} "
        f"built for {item.partner.name} {_major(item.was)}, and {item.partner.version} comes: {item.why}",
        paths=item.paths,
        proof=("grep", "-aoF", "-m1", item.holds, item.paths[0]) if item.paths else (),
    )


def _unmet(turn: Turn) -> Iterator[Finding]:
    """What comes without what it requires, as with --no-deps; what the version before lacked as well is no news."""
    was = {dist.key: dist for dist in turn.superseded}
    for dist in turn.arriving:
        old = was.get(dist.key)
        known = {item.name for item in unmet(old, turn.was)} if old else set()
        for item in unmet(dist, turn.now):
            if item.name not in known:
                yield finding(
                    FindingKind.REQUIREMENT_LOST,
                    dist.name,
                    f"{dist.name} {dist.version} {item.said}",
                    severity=Severity.WARN,
                    paths=(dist.info,),
                    proof=("grep", "-i", f"^Requires-Dist: {item.name}", f"{dist.info}/METADATA"),
                )


def _variant(dist: Distribution) -> str:
    flavours = sorted(_flavours(dist))
    return dist.version + (f" (CUDA {', '.join(flavours)})" if flavours else "")


def _flavours(dist: Distribution) -> frozenset[str]:
    """The CUDA releases that what it requires is named after."""
    keys = (requirement_key(written) for written in dist.requires)
    return frozenset(match[1] for key in keys if key and (match := _FLAVOUR.search(key)))


def _local(version: str) -> str:
    return version.partition("+")[2]


def _major(version: str) -> str:
    return version.partition(".")[0]


def owners_overwritten(
    altered: Iterable[TargetPath], turn: Turn, owners: Mapping[TargetPath, Sequence[Distribution]]
) -> Iterator[Overwrite]:
    """Altered files that somebody lists who stays, with the one of those who came that lists it too."""
    coming = {path: dist for dist in turn.arriving for path in dist.files or ()}
    for path in sorted(altered):
        for owner in owners.get(path, ()):
            stays = owner not in turn.arriving and owner not in turn.replaced
            if path in coming and stays and owner.key != coming[path].key:
                yield Overwrite(path, owner, coming[path])
