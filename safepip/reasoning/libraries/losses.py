"""Library needs before against after: what is lost, by whom, and the chain that shows it.

Breakage is what is unmet after and was not unmet before, never a flip of one need: a replacement brings needs of
its own, which had no answer before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from safepip.model.elf import Loading
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import TargetPath
from safepip.model.report import Consumer, FindingKind
from safepip.model.survey import Answer, Need, Objects, Standing, Survey
from safepip.reasoning.libraries.objects import module_name


class Loss(NamedTuple):
    """One need that got worse: of which kind, whose, and what met it."""

    kind: FindingKind
    need: Need
    was: Answer | None
    now: Answer
    survivor: Distribution
    chain: tuple[str, ...]
    at_import: bool  # an extension module reaches it; else it is opened later
    lacking: tuple[str, ...] = ()  # versions and symbols that the new provider does not have


class Grouped(NamedTuple):
    """Losses of one library by one survivor."""

    kind: FindingKind
    wants: str
    survivor: Distribution
    losses: tuple[Loss, ...]  # the best chain of each consumer, the plainest first

    @property
    def consumers(self) -> tuple[Consumer, ...]:
        return tuple(Consumer(loss.need.consumer, loss.survivor.name, loss.chain) for loss in self.losses)


class Worlds(NamedTuple):
    """The same needs as the two worlds answer them, and whose they are."""

    before: Survey
    after: Survey
    objects: Objects
    inventory: Inventory


def compare(worlds: Worlds) -> tuple[Grouped, ...]:
    """Every library need that got worse, folded by kind, name and survivor."""
    found: dict[tuple[FindingKind, str, TargetPath], dict[TargetPath, Loss]] = {}
    was = worlds.before.answers
    changed = [(need, now) for need, now in worlds.after.answers.items() if was.get(need) is not now]
    index = _index(worlds)
    for need, now in changed:
        for loss in _losses(need, now, worlds, index):
            consumers = found.setdefault((loss.kind, loss.need.wants, loss.survivor.info), {})
            best = consumers.get(loss.need.consumer)
            if best is None or _plainness(loss) < _plainness(best):
                consumers[loss.need.consumer] = loss
    groups = [
        Grouped(kind, wants, losses[0].survivor, tuple(losses))
        for (kind, wants, _), consumers in found.items()
        if (losses := sorted(consumers.values(), key=_plainness))
    ]
    return tuple(
        sorted(groups, key=lambda group: (group.wants, group.kind.value, _plainness(group.losses[0])))
    )


def with_symbols(
    groups: Iterable[Grouped], lacking: Callable[[Loss], tuple[str, ...]]
) -> tuple[Grouped, ...]:
    """A need that moves to another provider is lost where that lacks what the object binds of it."""
    weighed: list[Grouped] = []
    for group in groups:
        if group.kind is not FindingKind.PROVIDER_CHANGED:
            weighed.append(group)
            continue
        asked = [loss._replace(lacking=lacking(loss)) for loss in group.losses]
        for kind, losses in (
            (FindingKind.SYMBOL_LOST, tuple(loss for loss in asked if loss.lacking)),
            (FindingKind.PROVIDER_CHANGED, tuple(loss for loss in asked if not loss.lacking)),
        ):
            if losses:
                weighed.append(group._replace(kind=kind, losses=losses))
    return tuple(weighed)


class _Index(NamedTuple):
    """What is asked again and again of two surveys, looked up once."""

    unmet: Mapping[TargetPath, Sequence[Need]]  # afterwards, by root
    lacked: frozenset[TargetPath]  # the roots that missed something before that no object answers to


def _index(worlds: Worlds) -> _Index:
    unmet: dict[TargetPath, list[Need]] = {}
    for need, now in worlds.after.answers.items():
        if now.standing < Standing.PRELOADED:
            unmet.setdefault(need.root, []).append(need)
    before = worlds.before.answers.items()
    return _Index(unmet, frozenset(need.root for need, was in before if was.standing is Standing.MISSING))


def _losses(need: Need, now: Answer, worlds: Worlds, index: _Index) -> Iterator[Loss]:
    before, after, objects, inventory = worlds
    was = before.answers.get(need)
    survivor = objects.owner.get(need.root)
    kind = _kind(need, was, now, index)
    if kind is FindingKind.LIBRARY_LOST and not before.works(need.root):
        kind = None
    if kind is None or survivor is None:
        return
    at_import = bool(module_name(need.root, inventory.target))

    def loss(cause: Need, answer: Answer, old: Answer | None, chain: tuple[str, ...]) -> Loss:
        return Loss(kind, cause, old, answer, survivor, chain, at_import)

    head = chain_to(after.loadings[need.root], need.consumer, inventory)
    preloader = was.preloader if was is not None and kind is FindingKind.LIBRARY_LOST else None
    causes = list(_causes(preloader, before, index)) if preloader else []
    for way in causes:
        chain, wants = head, need.wants
        for step in way:
            tail = chain_to(after.loadings[step.root], step.consumer, inventory)
            chain, wants = (*chain, f"{wants}, loaded by {tail[0]}", *tail[1:]), step.wants
        yield loss(
            Need(need.root, need.consumer, wants),
            after.answers[way[-1]],
            before.answers.get(way[-1]),
            (*chain, wants),
        )
    if not causes:
        yield loss(need, now, was, (*head, need.wants))


def _kind(need: Need, was: Answer | None, now: Answer, index: _Index) -> FindingKind | None:
    """What became of one need. An object that could not load before loses nothing by a need that is gone."""
    if now.standing >= Standing.PRELOADED:
        if was is None or was.standing < Standing.PRELOADED:
            return None
        if was.standing > now.standing:
            return FindingKind.ORDER_RELIANT
        return FindingKind.PROVIDER_CHANGED if was.provider != now.provider else None
    if was is not None and was.standing < Standing.PRELOADED:
        # where the root lacks more, this need's copy is of no use to it
        fell = was.standing > now.standing and need.root not in index.lacked
        return FindingKind.LAST_COPY if fell else None
    return FindingKind.LIBRARY_LOST


def _causes(preloader: TargetPath, before: Survey, index: _Index) -> Iterator[tuple[Need, ...]]:
    """Why an earlier import that had a library loaded does not get that far any more: its own losses, and of what the
    import before it had loaded for it, that one's, and so on; each by the shortest way.
    """
    ways: list[tuple[TargetPath, tuple[Need, ...]]] = [(preloader, ())]
    passed = {preloader}
    ends = False
    for root, way in ways:  # grows while it is walked
        for need in index.unmet.get(root, ()):  # none: it lacked nothing, or brought nothing
            was = before.answers.get(need)
            earlier = was.preloader if was is not None else None
            if earlier is None or not index.unmet.get(earlier):
                ends = True
                yield (*way, need)
            elif earlier not in passed:
                passed.add(earlier)
                ways.append((earlier, (*way, need)))
    if not ends:  # each for another
        yield from ((need,) for need in index.unmet.get(preloader, ()))


def _plainness(loss: Loss) -> tuple[bool, bool, bool, int, int, str]:
    """Best first: reached by an import, without another import before it, from the package that the survivor
    is named after, in few steps, from a module near the top.
    """
    named_after = loss.chain[0].removeprefix("import ").partition(".")[
        0
    ].lower() == loss.survivor.key.replace("-", "_")
    preloaded = any(", loaded by " in step for step in loss.chain)
    root = loss.need.root
    return (not loss.at_import, preloaded, not named_after, len(loss.chain), root.count("/"), root)


def chain_to(loading: Loading, consumer: TargetPath, inventory: Inventory) -> tuple[str, ...]:
    """The way from an import name down to `consumer`: `import torch`, `torch/_C…so`, `libtorch_cuda.so`."""
    loaders: Mapping[TargetPath, TargetPath | None] = {item.path: item.loader for item in loading.objects}
    steps: list[TargetPath] = []
    current = next((item.path for item in loading.objects if item.real == consumer), None)
    while current is not None and current != loading.root and current not in steps:
        steps.append(current)
        current = loaders.get(current)
    names = [step.rpartition("/")[2] for step in reversed(steps)]
    return (*_start(loading.root, inventory), *names)


def _start(root: TargetPath, inventory: Inventory) -> tuple[str, str]:
    module = module_name(root, inventory.target)
    shown = relative(root, inventory)
    if not module:
        return ("opened later", shown)
    return (f"import {module.rpartition('.')[0] or module}", shown)


def relative(path: TargetPath, inventory: Inventory) -> str:
    """`path` as people know it: below its site folder, or below the prefix."""
    for folder in (*inventory.target.site_folders, inventory.target.prefix):
        if path.startswith(f"{folder}/"):
            return path.removeprefix(f"{folder}/")
    return path


def newly_broken(before: Survey, after: Survey) -> tuple[TargetPath, ...]:
    """Roots that loaded before and do not load afterwards."""
    return tuple(root for root in after.loadings if before.works(root) and not after.works(root))


def widen(
    names: frozenset[str],
    reach: Callable[[frozenset[str]], frozenset[TargetPath]],
    surveys: Callable[[frozenset[TargetPath]], tuple[Survey, Survey]],
    objects: Objects,
) -> tuple[Survey, Survey]:
    """Survey what `names` touch, then what the broken had loaded for others, until nothing more is touched."""
    touched = reach(names)
    before, after = surveys(touched)
    while True:
        broken: Sequence[TargetPath] = newly_broken(before, after)
        loaded = (
            item for root in broken for item in before.loadings[root].objects if item.path in objects.owner
        )
        brought = {name for item in loaded for name in (item.soname, item.path.rpartition("/")[2]) if name}
        wider = touched | reach(names | brought)
        if wider == touched:
            return before, after
        touched = wider
        before, after = surveys(touched)
