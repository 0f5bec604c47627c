"""`safepip audit`: each distribution judged as if it were removed, on one look at the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from safepip.commands.examine import examine
from safepip.commands.scene import Scene
from safepip.commands.spread import Findings, spread
from safepip.errors import NotThereError
from safepip.model.audit import Audit, Build, Judged, Mixed, Spare, Together, Unneeded
from safepip.model.change import Removal
from safepip.model.environment import Distribution
from safepip.model.imports import Source
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Verdict
from safepip.reading import tree
from safepip.reading.sites import metadata, shares
from safepip.reasoning.changes import shares as co_owned
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.surface import topmost_names
from safepip.reasoning.health import audit as reasoning
from safepip.reasoning.health import mixed
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.likeness import near
from safepip.reasoning.verdict.judge import judge

Progress = Callable[[str, int, int], None]
NAMED_BY_OTHERS = ("ctypes", "distutils")  # what is asked of sources besides
MOST_SOURCES = 20_000  # of a person's own code


class Auditor:
    """One look, and the judge's word on any set of removals."""

    def __init__(self, scene: Scene, policy: Policy) -> None:
        scene.inventory = scene.inventory.indexed()
        self.scene = scene
        self._policy = policy
        self._verdicts: dict[tuple[DistKey, ...], Verdict] = {}

    def verdict(self, keys: Sequence[DistKey]) -> Verdict:
        asked = tuple(keys)
        if asked not in self._verdicts:
            verdict = judge(examine(asked, self.scene).evidence, self._policy)
            held = self.scene.links.held(verdict.removal.files)
            self._verdicts[asked] = replace(verdict, bytes=held)
        return self._verdicts[asked]

    def judged(self, dist: Distribution, *, in_code: bool = False) -> Judged:
        verdict = self.verdict([dist.key])
        return Judged(dist, verdict, reasoning.needed_by(verdict), self.freed(verdict.removal), in_code)

    def know(self, judged: Iterable[Judged]) -> None:
        """What others have asked of a copy of this."""
        self._verdicts.update({(item.dist.key,): item.verdict for item in judged})

    def freed(self, removal: Removal, *, safe: bool = False) -> int:
        """`safe`: what survivors own too stays."""
        stay = frozenset(removal.shared if safe else ())
        return self.scene.links.freed(path for path in removal.files if path not in stay)


def audit(scene: Scene, policy: Policy, code: Sequence[str], progress: Progress) -> Audit:
    """Everything, judged; `code` are folders of a person's own sources, which count as needing what they import."""
    auditor = Auditor(scene, policy)
    used = _used_by(code, scene)
    dists = _first_of_each_name(scene)
    found_mixed = tuple(find_mixed(scene))  # first: each copy has the answers then
    with scene.many(cache(lambda: {*topmost_names(scene.inventory), *NAMED_BY_OTHERS})):
        ordered = _largest_first(dists)
        answers = spread(
            lambda dist: auditor.judged(dist, in_code=dist.key in used),
            ordered,
            Findings(scene.found, scene.take),
            scene.inventory.everybody,
            lambda number: progress(ordered[number].name, number, len(dists)),
        )
        place = {dist.info: number for number, dist in enumerate(dists)}
        judged = sorted(answers, key=lambda item: place[item.dist.info])
        auditor.know(judged)
        progress("", len(dists), len(dists))
        unneeded = tuple(_unneeded(judged, auditor))
    return Audit(
        scene.target,
        tuple(judged),
        unneeded,
        found_mixed,
        scene.unjudged,
        *_sizes(judged, scene),
    )


def _largest_first(dists: Sequence[Distribution]) -> Sequence[Distribution]:
    """Or what takes longest might be begun last, and waited for. The smallest leads: all wait for the first."""
    ordered = sorted(dists, key=lambda dist: len(dist.used), reverse=True)
    return [*ordered[-1:], *ordered[:-1]]


def _sizes(judged: Iterable[Judged], scene: Scene) -> tuple[int, int]:
    """Of all files that any removal would take, each once."""
    every = {path for item in judged for path in item.verdict.removal.files}
    return scene.links.held(every), scene.links.freed(every)


def together(names: Sequence[str], scene: Scene, policy: Policy) -> Together:
    """One named set: judged as a whole, and which part of it may go."""
    auditor = Auditor(scene, policy)
    keys = tuple(dict.fromkeys(metadata.canonical(name) for name in names))
    dists = {key: dist for key in keys if (dist := scene.inventory.find(key)) is not None}
    missing = [name for name in names if metadata.canonical(name) not in dists]
    if missing:
        installed = [dist.key for dist in scene.inventory.distributions]
        like = dict.fromkeys(name for one in missing for name in near(one, installed))
        raise NotThereError(
            "not-installed",
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed in {scene.target.prefix}",
            f"What is, and is spelled like it: {', '.join(like)}." if like else "",
        )
    verdict = auditor.verdict(keys)
    alone = {key: auditor.judged(dist) for key, dist in dists.items()}
    verdicts = {key: item.verdict for key, item in alone.items()}
    may, stay = reasoning.splits(keys, verdicts, auditor.verdict)
    freed = auditor.freed(auditor.verdict(may).removal) if may else 0
    commands = []
    if stay and reasoning.safe_would_do(verdict):
        commands.append(_uninstall(keys, scene, safe=True))
    if may:
        commands.append(_uninstall(may, scene))
    return Together(
        verdict,
        tuple(dists[key] for key in may),
        tuple(alone[key] for key in stay),
        freed,
        tuple(commands),
    )


def find_mixed(scene: Scene) -> Iterator[Mixed]:
    """Runtimes that are there more than once."""
    if scene.surveyor is None:
        return
    names = {name for name in scene.needing if mixed.family_of(name)}
    for path in (path for paths in mixed.members(scene.objects).values() for path in paths):
        names.update(elf_objects.names(path, scene.objects.elves[path]))
    survey = scene.surveyor.survey(elf_objects.reaching(names, scene.objects, scene.needing))

    def build(path: TargetPath) -> Build:
        item = next(iter(shares.read(Removal(shared=(path,)), scene.inventory)), None)
        owners = item.owners if item else ()
        keeper = co_owned.bytes_of(item, ()) if item else ""
        version = next((dist.version for dist in owners if dist.name == keeper), "")
        elf = scene.disk.elf(path)
        soname = getattr(elf, "soname", None) or path.rpartition("/")[2]
        return Build(path, soname, tuple(dist.name for dist in owners), keeper, version)

    yield from mixed.find(survey, scene.objects, scene.inventory, build)


def _first_of_each_name(scene: Scene) -> list[Distribution]:
    """pip would take the first of a name along sys.path."""
    return list({dist.key: dist for dist in reversed(scene.inventory.distributions)}.values())[::-1]


def _unneeded(judged: Sequence[Judged], auditor: Auditor) -> Iterator[Unneeded]:
    alone = {item.dist.key: item.verdict for item in judged}
    by_key = {item.dist.key: item for item in judged}
    proposed: set[DistKey] = set()
    for why, dists, said in reasoning.spare_sets(judged, auditor.scene.inventory):
        keys = [dist.key for dist in dists if dist.key in alone and not by_key[dist.key].in_code]
        joint = auditor.verdict(keys) if keys else None
        safe = joint is not None and reasoning.safe_would_do(joint)
        may = tuple(keys) if safe else reasoning.splits(keys, alone, auditor.verdict)[0]
        if may:
            proposed.update(may)
            command = _uninstall(may, auditor.scene, safe=safe)
            freed = auditor.freed(auditor.verdict(may).removal, safe=safe)
            title = reasoning.title(why, said, safe=safe)
            yield Unneeded(why, tuple(by_key[key].dist for key in may), freed, title, command)
    for why in (Spare.ASKED_FOR, Spare.TOOL):
        items = [
            item for kind, item in reasoning.leaves(judged) if kind is why and item.dist.key not in proposed
        ]
        if items:
            said = f"{why.value}, and nothing else installed needs them"
            yield Unneeded(why, tuple(item.dist for item in items), sum(item.bytes for item in items), said)


def _uninstall(keys: Sequence[DistKey], scene: Scene, *, safe: bool = False) -> tuple[str, ...]:
    start = scene.target.inside("safepip", "--python", scene.target.executable, "uninstall")
    return (*start, *(["--safe"] if safe else []), *keys)


def _used_by(folders: Iterable[str], scene: Scene) -> frozenset[DistKey]:
    """The distributions that the sources below `folders` import, in functions too."""
    finder, modules = Finder(scene.disk, scene.target), scene.modules
    names: set[str] = set()
    for path in _sources(folders):
        source = modules.read(None, path, "", is_package=False, whole=True)
        for item in source.imports if isinstance(source, Source) else ():
            names.add(item.module)
            names.update(f"{item.module}.{name}" for name in item.names)
    found = (finder.find(name) for name in names if name)
    paths = [item.path for item in found if item is not None and item.path is not None]
    return frozenset(dist.key for dists in scene.inventory.owners(paths).values() for dist in dists)


def _sources(folders: Iterable[str]) -> Iterator[TargetPath]:
    left = MOST_SOURCES
    for folder in folders:
        for here, below, names in tree.walk(folder):
            below[:] = [name for name in below if not name.startswith(".") and name != "node_modules"]
            for name in names:
                if name.endswith(".py") and left > 0:
                    left -= 1
                    yield TargetPath(tree.abspath(os.path.join(here, name)))
