"""Libraries that nobody needs by DT_NEEDED and that somebody names: what goes of them, and who would miss it.

A name is weak evidence: only the last file that answers to it counts, and only where nothing stronger is said of
the same two distributions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from safepip.model.elf import LoaderConfig, cache_key
from safepip.model.environment import Distribution
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import TargetPath
from safepip.model.report import Severity
from safepip.model.survey import Hint, Mention
from safepip.reasoning.libraries.known_loads import naming, of_distribution
from safepip.reasoning.libraries.objects import is_object_name
from safepip.reasoning.verdict.evidence import Evidence
from safepip.world import Place, World

Named = Callable[[Distribution, Collection[str]], Sequence[Mention]]


class Going(NamedTuple):
    """A file that goes and that some name stands for."""

    path: TargetPath
    dist: Distribution


def names_going(
    evidence: Evidence, holds: Callable[[str], bool], config: LoaderConfig
) -> Mapping[str, Going]:
    """The names that a library answers to now and none would afterwards. `holds`: whether an object that stays does."""
    going = [path for path in evidence.removal.files if "/lib" in path and is_object_name(path)]
    owner = {
        path: dist
        for dist in evidence.removal.leaving
        for path in frozenset(going).intersection(dist.files or ())
    }
    found: dict[str, Going] = {}
    for path in going:
        name = path.rpartition("/")[2]
        if not name.startswith("lib"):
            continue
        elf = evidence.objects.elves.get(path)
        for wanted in {name, (elf.soname if elf else None) or name}:
            if path in owner and wanted not in found and not holds(wanted):
                found[wanted] = Going(path, owner[path])
    return {name: file for name, file in found.items() if not _on_the_system(name, config, evidence.after)}


def find(evidence: Evidence, gone: Mapping[str, Going], named: Named) -> Iterator[Hint]:
    """Who would miss one of `gone`: by what `named` reads of a survivor, and by the known loads."""
    told = _told(evidence)
    going = evidence.removal.gone
    for survivor in evidence.inventory.everybody if gone else ():
        if survivor in evidence.removal.leaving:
            continue
        open_names = {
            name: file
            for name, file in gone.items()
            if (survivor.info, file.dist.info) not in told and (survivor.info, file.path) not in told
        }
        mentions = (
            [item for item in named(survivor, open_names) if item.path not in going] if open_names else ()
        )
        own = of_distribution(survivor.key, evidence.known_loads)
        yield from _hints(survivor, open_names, mentions, own)


def _hints(
    survivor: Distribution,
    gone: Mapping[str, Going],
    mentions: Iterable[Mention],
    known: Sequence[KnownLoad],
) -> Iterator[Hint]:
    """One for each file, however many names it has."""
    by_name: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_name.setdefault(mention.soname, []).append(mention)
    seen = set()
    for name, file in sorted(gone.items()):
        load = next(naming(name, survivor.key, known), None)
        if file.path not in seen and (name in by_name or load):
            seen.add(file.path)
            yield Hint(
                survivor, file.dist, file.path, tuple(by_name.get(name, ())), load.source if load else ""
            )


def _told(evidence: Evidence) -> frozenset[tuple[TargetPath, TargetPath]]:
    """The pairs of which something is said already: survivor and leaver, or survivor and a file of its own."""
    pairs = {(loss.survivor.info, loss.lost.info) for loss in evidence.imports}
    for requirement in evidence.requirements.requirements:
        grade = evidence.grades.get((requirement.survivor.info, requirement.lost.key))
        if grade is None or grade.severity is not Severity.NOTE:
            pairs.add((requirement.survivor.info, requirement.lost.info))
    for dist in evidence.removal.leaving if evidence.libraries else ():
        names = {path.rpartition("/")[2] for path in dist.files or ()}
        pairs.update((group.survivor.info, dist.info) for group in evidence.libraries if group.wants in names)
    own = {
        (dist.info, item.path) for item in evidence.shares for dist in item.owners
    }  # a lost file says more
    return frozenset(pairs | own)


def _on_the_system(name: str, config: LoaderConfig, world: World) -> bool:
    """Whether dlopen of the bare name finds it beside the environment."""
    folders = [*config.library_path.replace(";", ":").split(":"), *config.defaults]
    return cache_key(name) in config.cache or any(
        folder.startswith("/") and isinstance(world.find(TargetPath(f"{folder}/{name}")), Place)
        for folder in folders
    )
