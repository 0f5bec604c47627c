"""Which names a question means, and who needs what they stand for: the survey's answers, turned round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from safepip.model.answers import Declared, Looked, Opener, Use
from safepip.model.elf import Binding, Loading, Rule, Step
from safepip.model.environment import Distribution, Inventory
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import TargetPath
from safepip.model.survey import Answer, Need, Objects, Survey
from safepip.reasoning.libraries import known_loads
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.libraries.losses import chain_to
from safepip.reasoning.libraries.objects import module_name
from safepip.reasoning.requirements import requirement_key


class Sought(NamedTuple):
    """What a question is about: files of the environment, and names that objects ask for."""

    names: frozenset[str]
    paths: frozenset[TargetPath]
    asker: Distribution | None = None  # whose own needs of it are no answer


def fitting(query: str, names: Collection[str]) -> frozenset[str]:
    """Those of `names` that are the query; else that it is a pattern of, or a part."""
    if query in names:
        return frozenset([query])
    low = query.lower()
    if any(char in query for char in "*?["):
        return frozenset(name for name in names if fnmatchcase(name.lower(), low))
    return frozenset(name for name in names if low in name.lower())


def library_names(objects: Objects) -> frozenset[str]:
    """Every name by which an object is known or asked for."""
    asked = elf_objects.needing(objects)
    known = (name for path, elf in objects.elves.items() for name in elf_objects.names(path, elf))
    return frozenset(asked).union(name for name in known if elf_objects.is_object_name(name))


def paths_named(names: frozenset[str], objects: Objects) -> tuple[TargetPath, ...]:
    return tuple(
        path for path, elf in objects.elves.items() if names.intersection(elf_objects.names(path, elf))
    )


def openers(names: Collection[str], inventory: Inventory, known: Sequence[KnownLoad]) -> Iterator[Opener]:
    """Of the installed those that are known to open a library of one of `names`, each with what was read first."""
    for dist in inventory.distributions:
        opened: dict[str, str] = {}
        for name in sorted(names):
            load = next(known_loads.naming(name, dist.key, known), None)
            if load is not None:
                opened[name] = load.source
        if opened:
            yield Opener(dist.name, tuple(opened), next(iter(opened.values())))


def uses(sought: Sought, survey: Survey, objects: Objects, inventory: Inventory) -> tuple[Use, ...]:
    """Each consumer once for each file that it is bound to, by the plainest way; the surest standing only."""
    best: dict[tuple[TargetPath, str, TargetPath | None], tuple[Need, Answer]] = {}
    surest: dict[tuple[TargetPath, str], int] = {}
    for need, answer in survey.answers.items():
        if not _is_sought(need, answer, sought) or _is_own(need, sought, objects):
            continue
        surest[need.consumer, need.wants] = max(
            answer.standing, surest.get((need.consumer, need.wants), answer.standing)
        )
        key = (need.consumer, need.wants, answer.provider)
        if key not in best or _plainness(need, answer, objects, inventory) < _plainness(
            *best[key], objects, inventory
        ):
            best[key] = (need, answer)
    found = [
        _use(need, answer, survey.loadings[need.root], objects, inventory)
        for need, answer in best.values()
        if answer.standing == surest[need.consumer, need.wants]
    ]
    return tuple(
        sorted(
            found,
            key=lambda use: (
                use.how,
                use.path in sought.paths,
                use.distribution.lower(),
                len(use.chain),
                use.path,
                use.wants,
            ),
        )
    )


def rule_in_words(binding: Binding, loading: Loading, preloader: str = "") -> str:
    """`RPATH of libtorch_cuda.so: $ORIGIN/../../nvidia/cudnn/lib`; what is loaded already is told by what loaded it."""
    if binding.how is None:
        return "found nowhere" if binding.flaw is None else f"search ended by: {binding.flaw.value}"
    if binding.how.rule is not Rule.LOADED:
        return step_in_words(binding.how, preloader)
    first = next(
        (
            earlier
            for earlier in loading.bindings
            if earlier.provider == binding.provider and earlier.how and earlier.how.rule is not Rule.LOADED
        ),
        None,
    )
    if first is None or first.how is None:
        return "loaded with the interpreter"
    said = step_in_words(first.how, preloader)
    return f"loaded before for {_base(first.consumer)}, by {said}"


def step_in_words(step: Step, preloader: str = "") -> str:
    match step.rule:
        case Rule.RPATH | Rule.RUNPATH:
            return f"{step.rule.value} of {_base(step.stated_by or '')}: {step.element}"
        case Rule.LIBRARY_PATH:
            return f"LD_LIBRARY_PATH: {step.element}"
        case Rule.DEFAULT:
            return f"default folder {step.path.rpartition('/')[0]}"
        case Rule.PRELOADED:
            return f"loaded by an earlier {preloader}" if preloader else "opened by known code before it"
        case _:
            return str(step.rule.value)


def declared(dist: Distribution, inventory: Inventory) -> Iterator[Declared]:
    """Who lists `dist` in Requires-Dist, as far as the line counts for this interpreter."""
    for user in inventory.distributions:
        for written in user.requires:
            if requirement_key(written) == dist.key and user.key != dist.key:
                extra = _under_extra(written, user.extras, inventory.target.markers)
                if extra is not None:
                    yield Declared(user.name, written, extra)


def _under_extra(written: str, extras: Iterable[str], markers: Mapping[str, str]) -> bool | None:
    """Whether only an extra asks for it; None: its marker rules it out, or cannot be read."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        marker = Requirement(written).marker
    except InvalidRequirement:
        return None
    if marker is None or marker.evaluate({**markers, "extra": ""}):
        return False
    asked = any(marker.evaluate({**markers, "extra": extra}) for extra in extras)
    return True if asked else None


def recorders(names: Collection[str], inventory: Inventory) -> Iterator[tuple[Distribution, TargetPath]]:
    """Whose RECORD lists a file with one of `names`, there or not."""
    for dist in inventory.distributions:
        for path in dist.files or ():
            if path.rpartition("/")[2] in names:
                yield dist, path


def naming_stem(soname: str, requirements: Iterable[str]) -> Iterator[str]:
    """Requirements whose names hold the heart of a library's: `nvidia-cudnn-cu12` for `libcudnn.so.9`."""
    stem = soname.removeprefix("lib").partition(".")[0].rstrip("0123456789-_").lower()
    for written in requirements:
        key = requirement_key(written)
        if stem and len(stem) > 2 and key and stem in key.replace("-", ""):
            yield written


def _is_sought(need: Need, answer: Answer, sought: Sought) -> bool:
    return need.wants.rpartition("/")[2] in sought.names or answer.provider in sought.paths


def _is_own(need: Need, sought: Sought, objects: Objects) -> bool:
    return sought.asker is not None and objects.owner.get(need.consumer) == sought.asker


def _plainness(
    need: Need, answer: Answer, objects: Objects, inventory: Inventory
) -> tuple[bool, bool, bool, bool, int, str]:
    """An import of the package that its distribution is named after, by a rule of its own, near the top."""
    loaded = answer.binding.how is not None and answer.binding.how.rule is Rule.LOADED
    owner = objects.owner.get(need.consumer)
    module = module_name(need.root, inventory.target)
    named_after = owner is not None and module.partition(".")[0].lower() == owner.key.replace("-", "_")
    return (
        not module,
        objects.owner.get(need.root) != owner,
        not named_after,
        loaded,
        need.root.count("/"),
        need.root,
    )


def _use(need: Need, answer: Answer, loading: Loading, objects: Objects, inventory: Inventory) -> Use:
    owner = objects.owner.get(need.consumer) or objects.owner.get(need.root)
    binding = answer.binding
    preloader = ""
    if answer.preloader is not None:
        preloader = f"import {module_name(answer.preloader, inventory.target).partition('.')[0]}"
    return Use(
        need.consumer,
        owner.name if owner else "",
        need.wants,
        answer.standing,
        answer.provider,
        rule_in_words(binding, loading, preloader),
        (*chain_to(loading, need.consumer, inventory), need.wants),
        tuple(Looked(step_in_words(step), step.path) for step in binding.tried),
    )


def _base(path: str) -> str:
    return str(path.rpartition("/")[2])
