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
CARRIED = "/_vendor/"  # the closure of imports knows of these


def imported(scene: Scene) -> By:
    """By topmost name: whose sources import it (by info), at the beginning of a line.

    What underlined names stand for may be linked into the interpreter, an import hook that is not understood may
    answer for any name, and who carries a module of that name with him may have put its folder on sys.path.
    """
    if any("editable" in item.subject for item in scene.inventory.unjudged):
        return {}
    finder = Finder(scene.disk, scene.target)
    found: dict[str, dict[TargetPath, tuple[TargetPath, ...]]] = {}
    carried = set[str]()
    for dist in scene.inventory.everybody:
        missed: dict[str, list[TargetPath]] = {}
        for path in recorded_sources(dist):
            for name in _tops(path):
                if name[:1] != "_" and finder.find(name) is None:
                    missed.setdefault(name, []).append(path)
        carried |= _given(dist).intersection(missed) if missed else set()
        for name, paths in missed.items():
            found.setdefault(name, {})[dist.info] = tuple(paths)
    return {name: by for name, by in found.items() if name not in carried}


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


def _given(dist: Distribution) -> frozenset[str]:
    """The names that its files would give wherever their folders are on sys.path."""
    parts = (path.split("/")[-2:] for path in dist.used if CARRIED not in path)
    return frozenset(
        folder if file.startswith("__init__.") else file.partition(".")[0] for folder, file in parts
    )
