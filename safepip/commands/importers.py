"""Which sources of an environment import a module, at once or in a function that may never be called."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from safepip.commands.scene import Scene
from safepip.model.answers import Importer
from safepip.model.environment import Distribution
from safepip.model.imports import Condition, Source
from safepip.model.paths import TargetPath
from safepip.reading import plain_file
from safepip.reading.sources.modules import Modules
from safepip.reasoning.code.imports import module_of

MOST_READ = 12  # sources of one distribution that are read to see whether they import a module
WHOLLY_READ = 3  # and of which the inner functions are


def importers(names: Iterable[str], owners: Collection[Distribution], scene: Scene) -> Iterator[Importer]:
    """One source of each other distribution that imports one of `names`, while it is imported or later."""
    search = _Search(tuple(names), scene.modules, scene)
    for dist in scene.inventory.distributions:
        if dist in owners:
            continue
        naming = search.modules.naming(dist, search.names)
        every = dict.fromkeys(path for found in naming.values() for path in found)
        paths = sorted(every, key=lambda path: not _spells(path, search.names))[:MOST_READ]
        outlines = (search.importing(dist, path) for path in paths)
        found = next((item for item in outlines if item is not None), None)
        whole = (search.importing(dist, path, whole=True) for path in paths[:WHOLLY_READ])
        found = found or next((item for item in whole if item is not None), None)
        if found is not None:
            yield found
    search.modules.keep()


class _Search(NamedTuple):
    """The sources of an environment, searched for imports of `names`."""

    names: tuple[str, ...]
    modules: Modules
    scene: Scene

    def importing(self, dist: Distribution, path: TargetPath, *, whole: bool = False) -> Importer | None:
        name, is_package = module_of(path, self.scene.inventory)
        source = self.modules.read(dist, path, name, is_package=is_package, whole=whole)
        lines = [
            (item.condition is not Condition.UNCONDITIONAL, item.line)
            for item in (source.imports if isinstance(source, Source) else ())
            if any(_names(item.module, item.names, wanted) for wanted in self.names)
        ]
        if not lines:
            return None
        guarded, line = min(lines)
        return Importer(dist.name, path, line, guarded)


def _spells(path: TargetPath, names: Iterable[str]) -> bool:
    """A source that has an inner module's whole dotted name is likelier to import it than one that has its parts."""
    dotted = [name.encode() for name in names if "." in name]
    if not dotted:
        return False
    try:
        text = plain_file.content(path)
    except OSError:
        return False
    return any(name in text for name in dotted)


def _names(module: str, names: Collection[str], wanted: str) -> bool:
    head, _, tail = wanted.rpartition(".")
    return module == wanted or module.startswith(f"{wanted}.") or (module == head and tail in names)
