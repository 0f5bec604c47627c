"""What is imported and is nowhere, declared or not: modules that nothing gives, names that their module does not bind.

Only statements at the beginning of a line are asked, and of names those that one distribution takes of another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from safepip.commands import taken_names
from safepip.commands.scene import Scene
from safepip.model.environment import Distribution
from safepip.model.imports import Gone, Reference
from safepip.model.paths import TargetPath
from safepip.reading.sources.modules import content, recorded_sources
from safepip.reading.sources.written_imports import unindented
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.imports import Naming
from safepip.reasoning.dependents import owner_of
from safepip.reasoning.health import diagnosis

MAKES_MODULES = re.compile(rb"\bmodules\b|__path__|meta_path|path_hooks|extend_path|declare_namespace")
CARRIED = "/_vendor/"  # the closure of imports knows of these
By = dict[str, dict[TargetPath, tuple[TargetPath, ...]]]  # by name and info: the sources


class Nowhere(NamedTuple):
    by: Mapping[str, Mapping[TargetPath, tuple[TargetPath, ...]]]  # who imports each, by info: the sources
    modules: tuple[str, ...] = ()  # topmost ones
    names: Mapping[str, Gone] = MappingProxyType({})  # `module.name`

    def naming(self, other: Naming) -> Naming:
        """`other`, which is not asked again about what is known."""

        def answer(dist: Distribution, names: Collection[str]) -> Mapping[str, tuple[TargetPath, ...]]:
            here = {name: self.by[name][dist.info] for name in names if dist.info in self.by.get(name, ())}
            rest = [name for name in names if name not in self.by]
            return {**here, **(other(dist, rest) if rest else {})}

        return answer


def look(scene: Scene) -> Nowhere:
    """What underlined names stand for may be linked into the interpreter, and who carries a module of that name with
    him may have put its folder on sys.path; an import hook that is not understood may answer for any name.
    """
    if any("editable" in item.subject for item in scene.inventory.unjudged):
        return Nowhere({})
    finder = Finder(scene.disk, scene.target)
    missing, taken, carried = By(), By(), set[str]()
    asked: list[tuple[Distribution, Reference]] = []
    for dist in scene.inventory.everybody:
        missed = set[str]()
        for path, reference in _statements(dist):
            top = reference.module.partition(".")[0]
            if finder.find(top) is None:
                if top[:1] != "_":
                    missed.add(top)
                    _note(missing, top, dist, path)
                continue
            inner = _taken(reference, finder)
            if inner.names:
                asked.append((dist, inner))
                _note(taken, inner.module, dist, path)
        carried |= _given(dist).intersection(missed) if missed else set()
    modules = taken_names.Modules(
        finder, owner_of(scene.inventory.everybody, scene.inventory), lambda path: path
    )
    names = {name: _standing_for(gone) for name, gone in taken_names.absent(asked, modules).items()}
    nowhere = tuple(name for name in missing if name not in carried)
    by = {name: missing[name] for name in nowhere} | {name: taken[name.rpartition(".")[0]] for name in names}
    return Nowhere(by, nowhere, names)


def _taken(reference: Reference, finder: Finder) -> Reference:
    """`import a.b` asks `a` for `b`, where that is no module and `a` makes none while it is imported."""
    module, names = reference
    while finder.find(module) is None:
        module, _, last = module.rpartition(".")
        names = (last,)
    found = finder.find(module)
    if (
        module != reference.module
        and found is not None
        and (found.path is None or _makes_modules(found.path))
    ):
        return Reference(module)
    return Reference(module, names)


def _makes_modules(path: TargetPath) -> bool:
    try:
        return MAKES_MODULES.search(content(path)) is not None
    except OSError:
        return True


def _statements(dist: Distribution) -> Iterator[tuple[TargetPath, Reference]]:
    for path in recorded_sources(dist):
        try:
            data = content(path)
        except OSError:
            continue
        for reference in unindented(data):
            yield path, reference


def _note(by: By, name: str, dist: Distribution, path: TargetPath) -> None:
    paths = by.setdefault(name, {}).get(dist.info, ())
    if path not in paths[-1:]:
        by[name][dist.info] = (*paths, path)


def _given(dist: Distribution) -> frozenset[str]:
    """The names that its files would give wherever their folders are on sys.path."""
    parts = (path.split("/")[-2:] for path in dist.used if CARRIED not in path)
    return frozenset(
        folder if file.startswith("__init__.") else file.partition(".")[0] for folder, file in parts
    )


def _standing_for(gone: Gone) -> Gone:
    """Of the distribution whose module does not bind the name, no more than that name is away."""
    return gone._replace(dist=diagnosis.phantom(gone.dist, diagnosis.UNBOUND, ()))
