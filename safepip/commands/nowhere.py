"""Modules that are imported and that are nowhere, declared or not: `import yaml` where no PyYAML is installed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from safepip.commands.scene import Scene
from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.reading.sources import unindented
from safepip.reading.sources.modules import content, recorded_sources
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.imports import Naming

By = Mapping[str, Mapping[TargetPath, tuple[TargetPath, ...]]]


def imported(scene: Scene) -> By:
    """By topmost name: whose sources import it (by info), at the beginning of a line.

    What underlined names stand for may be linked into the interpreter, and an import hook that is not understood may
    answer for any name.
    """
    if any("editable" in item.subject for item in scene.inventory.unjudged):
        return {}
    finder = Finder(scene.disk, scene.target)
    found: dict[str, dict[TargetPath, dict[TargetPath, None]]] = {}
    for dist in scene.inventory.everybody:
        for path in recorded_sources(dist):
            for name in _tops(path):
                if name[:1] != "_" and finder.find(name) is None:
                    found.setdefault(name, {}).setdefault(dist.info, {})[path] = None
    return {name: {info: tuple(paths) for info, paths in by.items()} for name, by in found.items()}


def naming(known: By, other: Naming) -> Naming:
    """`other`, which is not asked again about what is known."""

    def answer(dist: Distribution, names: Collection[str]) -> Mapping[str, tuple[TargetPath, ...]]:
        here = {name: known[name][dist.info] for name in names if dist.info in known.get(name, ())}
        rest = [name for name in names if name not in known]
        return {**here, **(other(dist, rest) if rest else {})}

    return answer


def _tops(path: TargetPath) -> set[str]:
    try:
        data = content(path)
    except OSError:
        return set()
    return {reference.module.partition(".")[0] for reference in unindented.imports(data)}
