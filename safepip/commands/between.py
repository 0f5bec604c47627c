"""What an install changes for those who are there: two worlds and two inventories into the evidence that is judged.

It does not matter which of the two worlds is real: before the act the later one is a layer over the disk, after
it the earlier one is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from safepip.commands.libraries import spelled
from safepip.commands.scene import Scene
from safepip.model.arrival import Bound, Overwrite, Turn
from safepip.model.change import Removal
from safepip.model.environment import Claim, Distribution, Libc, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import FindingKind
from safepip.model.survey import Answer, Need, Objects, SharedFile, Standing, Survey
from safepip.reading.sites import partners, record
from safepip.reading.sites.shares import file_text
from safepip.reasoning.changes.shares import Weight, weigh
from safepip.reasoning.libraries import losses, objects, symbols
from safepip.reasoning.libraries.losses import Grouped, Loss, Worlds
from safepip.reasoning.libraries.survey import Surveyor
from safepip.reasoning.verdict import install_findings
from safepip.reasoning.verdict.evidence import Evidence
from safepip.world import World

Claims = Mapping[tuple[TargetPath, TargetPath], Claim]
"""What a distribution (by its metadata folder) promised of a path, where that is not in a RECORD on the disk."""


@dataclass(frozen=True, slots=True)
class Compared:
    evidence: Evidence
    overwrites: tuple[Overwrite, ...]
    bound: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Libraries:
    """Library needs that got worse, and the answers of before to look again by."""

    groups: tuple[Grouped, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    before: Survey = field(default_factory=lambda: Survey({}, {}))


@dataclass(frozen=True, slots=True)
class Both:
    """An environment before and after. `scene` reads the sources of those who are in both."""

    turn: Turn
    before: World
    after: World
    scene: Scene
    claims: Claims
    bytes_before: Callable[[TargetPath], TargetPath]  # where the earlier bytes of a path lie now
    bytes_after: Callable[[TargetPath], TargetPath]  # and the later ones


def compare(both: Both) -> Compared:
    """Everything that got worse for somebody who is there afterwards."""
    turn = both.turn
    shares = tuple(_shares(both))
    lost = frozenset(item.path for item in shares)
    removal = Removal(turn.replaced, tuple(sorted(turn.taken)), shared=tuple(sorted(lost)))
    evidence = Evidence(
        removal=removal,
        inventory=turn.now,
        after=both.after,
        objects=objects.gather(turn.now.everybody, turn.now.target.scripts, both.after),
        shares=shares,
        requirements=install_findings.lost_requirements(turn),
    )
    found = libraries(both, evidence.objects)
    evidence = replace(evidence, libraries=found.groups, unjudged=found.unjudged)
    return Compared(evidence, tuple(_overwrites(both)), tuple(_bound(both)))


def libraries(both: Both, new: Objects) -> Libraries:
    """`new`: the objects of those who are there afterwards."""
    turn, scripts = both.turn, both.turn.now.target.scripts
    touched = objects.taken_names((*turn.taken, *turn.altered), scripts, both.before)
    touched |= objects.taken_names((*turn.altered, *turn.fresh), scripts, both.after)
    if not touched:
        return Libraries()
    config = both.scene.loader
    if config is None:
        reason = "the interpreter is no ELF program that can be read, so its loader is not known"
        return Libraries(unjudged=(Unjudged("shared libraries", reason),))
    old = objects.gather(turn.was.everybody, scripts, both.before)
    now = Surveyor(both.before, old, turn.was, config, both.scene.loads)
    then = Surveyor(both.after, new, turn.now, config, both.scene.loads)

    def reach(sought: frozenset[str]) -> frozenset[TargetPath]:
        changed = {path for path in (*turn.altered, *turn.fresh) if path in new.elves}
        return (
            objects.reaching(sought, new, then.needing) | objects.reaching(sought, old, now.needing) | changed
        )

    def surveys(roots: frozenset[TargetPath]) -> tuple[Survey, Survey]:
        return now.survey(roots & old.elves.keys()), then.survey(roots & new.elves.keys())

    before, after = losses.widen(touched, reach, surveys, new)
    worlds = Worlds(before, after, new, turn.now)
    weighing = _Weighing(both, worlds, (now, then), config.libc)
    groups = [*losses.compare(worlds), *weighing.renewed()]
    weighed = losses.with_symbols(groups, weighing.lacking)
    counted = filter(weighing.counts, map(weighing.without_outlived, weighed))
    return Libraries(tuple(counted), before=before)


def _shares(both: Both) -> Iterator[SharedFile]:
    """Files that are absent afterwards though somebody lists them who is there."""
    turn = both.turn
    owners = turn.now.owners(turn.taken)
    for path in sorted(owners):
        taker = turn.taken[path]
        everybody = tuple(sorted({*owners[path], *([taker] if taker else [])}, key=lambda dist: dist.info))
        claims = {dist.key: claim for dist in owners[path] if (claim := _claim(dist, path, both.claims))}
        text = file_text(both.bytes_before(path)) if path.endswith("/__init__.py") else ""
        size = both.before.size(path) or next((claim.size or 0 for claim in claims.values()), 0)
        yield SharedFile(path, everybody, claims, size, "", text)


def _overwrites(both: Both) -> Iterator[Overwrite]:
    turn = both.turn
    owners = turn.was.owners(turn.altered)
    for item in install_findings.owners_overwritten(turn.altered, turn, owners):
        old = _claim(item.owner, item.path, both.claims)
        new = _claim(item.by, item.path, both.claims)
        if old and new and old.digest and old.digest == new.digest:
            continue
        claims = {item.owner.key: old} if old else {}
        shared = SharedFile(item.path, (item.owner, item.by), claims, both.before.size(item.path))
        if weigh(shared, item.owner, turn.now, both.after, frozenset()) is Weight.MATTERS:
            yield item


def _claim(dist: Distribution, path: TargetPath, claims: Claims) -> Claim | None:
    known = claims.get((dist.info, path))
    return known or record.claims(dist, (path,)).get(path)


class _Weighing:
    """Needs that are met before and after, by objects of which one is not what it was."""

    def __init__(self, both: Both, worlds: Worlds, surveyors: tuple[Surveyor, Surveyor], libc: Libc) -> None:
        self._both, self._worlds, self._libc = both, worlds, libc
        self._now, self._then = surveyors
        self._known: dict[tuple[TargetPath, TargetPath, TargetPath], tuple[str, ...]] = {}
        self._other = both.turn.altered | both.turn.fresh
        owners = both.turn.was.owners(both.turn.altered)
        overwrites = install_findings.owners_overwritten(both.turn.altered, both.turn, owners)
        self._overwritten = frozenset(item.path for item in overwrites)

    def renewed(self) -> Iterator[Grouped]:
        """Needs bound to the same path, where that or whoever needs it has other bytes now."""
        pairs: dict[tuple[str, TargetPath], dict[TargetPath, Loss]] = {}
        for need, answer in self._worlds.after.answers.items():
            was = self._worlds.before.answers.get(need)
            survivor = self._worlds.objects.owner.get(need.root)
            if was is None or survivor is None or not self._is_renewed(need, was, answer):
                continue
            loss = self._loss(need, was, answer, survivor)
            pairs.setdefault((need.wants, survivor.info), {}).setdefault(need.consumer, loss)
        for (wants, _), consumers in pairs.items():
            found = sorted(consumers.values(), key=lambda loss: (not loss.at_import, len(loss.chain)))
            yield Grouped(FindingKind.PROVIDER_CHANGED, wants, found[0].survivor, tuple(found))

    def without_outlived(self, group: Grouped) -> Grouped:
        """Not what follows from a module that another distribution has overwritten, which is told: that it finds its
        own libraries, and that nobody opens those any more which the one before had brought.
        """
        return group._replace(
            losses=tuple(loss for loss in group.losses if not self._is_outlived(group, loss))
        )

    def _is_outlived(self, group: Grouped, loss: Loss) -> bool:
        if group.kind is FindingKind.PROVIDER_CHANGED and loss.need.consumer in self._overwritten:
            return True
        return not loss.at_import and loss.was is not None and loss.was.preloader in self._overwritten

    def counts(self, group: Grouped) -> bool:
        """Another place in the same distribution, or the same place with other bytes, is what was asked for."""
        if group.kind is not FindingKind.PROVIDER_CHANGED:
            return bool(group.losses)
        return any(self._owner(loss.was) != self._owner(loss.now) for loss in group.losses)

    def lacking(self, loss: Loss) -> tuple[str, ...]:
        """What the object binds of its provider and does not get any more. Asked once for each way to it."""
        was, now = loss.was, loss.now
        if was is None or was.provider is None or now.provider is None:
            return ()
        way = (loss.need.root, loss.need.consumer, now.provider)
        if way not in self._known:
            self._known[way] = self._lacking(loss, was.provider, now.provider)
        return self._known[way]

    def _lacking(self, loss: Loss, was: TargetPath, now: TargetPath) -> tuple[str, ...]:
        both, need = self._both, loss.need
        rebuilt = need.consumer in self._other
        if rebuilt and self._lacks(self._now, self._worlds.before, need, was, both.before):
            return ()  # it counts on what an earlier import brings in
        loading, main = self._worlds.after.loadings[need.root], self._then.main
        found = (
            symbols.lacking(loading, need.consumer, now, both.after, main=main, libc=self._libc)
            if rebuilt
            else symbols.lacking_on_the_way(
                loading,
                need.consumer,
                now,
                both.after,
                main=main,
                libc=self._libc,
                formerly=(both.before, was),
            )
        )
        return tuple(dict.fromkeys(map(spelled, found)))

    def _lacks(
        self, surveyor: Surveyor, survey: Survey, need: Need, provider: TargetPath, world: World
    ) -> bool:
        loading = survey.loadings[need.root]
        return bool(
            symbols.lacking(loading, need.consumer, provider, world, main=surveyor.main, libc=self._libc)
        )

    def _is_renewed(self, need: Need, was: Answer, now: Answer) -> bool:
        """Two files of one wheel fit one another, and what the system has is what a wheel's tag is about."""
        if min(was.standing, now.standing) < Standing.PRELOADED or was.provider != now.provider:
            return False
        if now.provider is None or self._other.isdisjoint({need.consumer, now.provider}):
            return False
        owner = self._worlds.objects.owner
        provider = owner.get(now.provider)
        return provider is not None and provider != owner.get(need.consumer)

    def _loss(self, need: Need, was: Answer, now: Answer, survivor: Distribution) -> Loss:
        inventory = self._both.turn.now
        chain = losses.chain_to(self._worlds.after.loadings[need.root], need.consumer, inventory)
        at_import = bool(objects.module_name(need.root, inventory.target))
        return Loss(FindingKind.PROVIDER_CHANGED, need, was, now, survivor, (*chain, need.wants), at_import)

    def _owner(self, answer: Answer | None) -> DistKey | TargetPath | None:
        provider = answer.provider if answer else None
        owner = self._worlds.objects.owner.get(provider) if provider else None
        owners = self._both.turn.was.owners([provider]).get(provider, ()) if provider and not owner else ()
        return owner.key if owner else owners[0].key if owners else provider


def _bound(both: Both) -> Iterator[Bound]:
    """Modules of those who stay that were built for a major version which goes."""
    turn = both.turn
    gone = {*turn.arriving, *turn.covered}
    staying = [dist for dist in turn.now.distributions if dist not in gone]
    for partner, old, new in install_findings.partners_at_stake(turn, partners.read()):
        names = [name for name in (partner.unless, partner.holds) if name]
        for dist in staying:
            if partner.consumers and dist.key not in partner.consumers:
                continue
            held = both.scene.modules.compiled_naming(dist, names) if names else ()
            paths = tuple(path for path, name in held if name == partner.holds)
            if paths or not names:
                yield Bound(dist, new, old.version, paths, partner.why, partner.holds)
