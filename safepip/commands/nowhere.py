"""What is imported and is nowhere, declared or not: modules that nothing gives, names that their module does not bind.

Only statements at the beginning of a line are asked, and of names those that one distribution takes of another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from safepip.commands import standard_library, taken_names
from safepip.commands.scene import Scene
from safepip.commands.spread import NOTHING_KEPT, spread
from safepip.model.environment import Distribution
from safepip.model.imports import Gone, Reference
from safepip.model.paths import TargetPath
from safepip.reading.sources.contents import content, readable
from safepip.reading.sources.modules import recorded_sources
from safepip.reading.sources.written_imports import unindented
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.imports import Naming
from safepip.reasoning.dependents import owner_of
from safepip.reasoning.health import diagnosis, failing_imports

MAKES_MODULES = re.compile(rb"\bmodules\b|__path__|meta_path|path_hooks|extend_path|declare_namespace")
WORD = re.compile(rb"\w+")
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


def look(scene: Scene, finder: Finder) -> Nowhere:
    """`finder`: of the world in which what distributions list is there.

    What underlined names stand for may be linked into the interpreter, and who carries a module of that name with
    him may have put its folder on sys.path; an import hook that is not understood may answer for any name.
    """
    if any("editable" in item.subject for item in scene.inventory.unjudged):
        return Nowhere({})
    missing, taken, carried = By(), By(), set[str]()
    asked: dict[str, dict[str, list[Distribution]]] = {}  # by module and name
    everybody = scene.inventory.everybody
    written = spread(lambda dist: _written(dist, finder), everybody, NOTHING_KEPT, everybody)
    for dist, found in zip(everybody, written, strict=True):
        for top, paths in found.missing.items():
            missing.setdefault(top, {})[dist.info] = paths
        for module, (wanted, paths) in found.taken.items():
            taken.setdefault(module, {})[dist.info] = paths
            for name in wanted:
                asked.setdefault(module, {}).setdefault(name, []).append(dist)
        carried |= _given(dist).intersection(found.missing) if found.missing else set()
    owner = standard_library.or_python(owner_of(everybody, scene.inventory), scene.target)
    modules = taken_names.Modules(finder, owner, lambda path: path)
    gone = taken_names.absent(_unwritten(asked, modules), modules)
    of_python = [item for item in gone.values() if item.dist.key == failing_imports.PYTHON]
    given = standard_library.given(of_python, everybody)
    names = {name: _standing_for(item) for name, item in gone.items() if name not in given}
    nowhere = tuple(name for name in missing if name not in carried)
    by = {name: missing[name] for name in nowhere} | {name: taken[name.rpartition(".")[0]] for name in names}
    return Nowhere(by, nowhere, names)


class _Written(NamedTuple):
    """What the sources of one distribution import, each with the sources that do."""

    missing: Mapping[str, tuple[TargetPath, ...]]  # topmost modules that are nowhere
    taken: Mapping[str, tuple[tuple[str, ...], tuple[TargetPath, ...]]]  # by module: the names


def _written(dist: Distribution, finder: Finder) -> _Written:
    missing: dict[str, dict[TargetPath, None]] = {}
    names: dict[str, dict[str, None]] = {}
    taking: dict[str, dict[TargetPath, None]] = {}
    for path, reference in _statements(dist):
        top = reference.module.partition(".")[0]
        if finder.find(top) is None:
            if top[:1] != "_":
                missing.setdefault(top, {})[path] = None
            continue
        inner = _taken(reference, finder)
        if inner.names:
            names.setdefault(inner.module, {}).update(dict.fromkeys(inner.names))
            taking.setdefault(inner.module, {})[path] = None
    return _Written(
        {top: tuple(paths) for top, paths in missing.items()},
        {module: (tuple(found), tuple(taking[module])) for module, found in names.items()},
    )


def _unwritten(
    asked: Mapping[str, Mapping[str, list[Distribution]]], modules: taken_names.Modules
) -> Iterator[tuple[Distribution, Reference]]:
    """Of the names that others ask of a module those whose word its source does not hold: whether it has them all the
    same is asked of these alone.
    """
    for module, names in asked.items():
        found = modules.finder.find(module)
        if found is None or found.path is None or not found.path.endswith(".py"):
            continue
        owner = modules.owner(found.path)
        by_others = {name: dist for name, dists in names.items() for dist in dists if dist is not owner}
        of_python = owner is not None and owner.key == failing_imports.PYTHON
        words_of = standard_library.plainly_bound if of_python else WORD.findall
        try:
            words = frozenset(words_of(content(found.path))) if by_others else frozenset()
        except OSError:
            continue
        for name, dist in by_others.items():
            if name.encode() not in words:
                yield dist, Reference(module, (name,))


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
    for path, data in readable(recorded_sources(dist)):
        for reference in unindented(data):
            yield path, reference


def _given(dist: Distribution) -> frozenset[str]:
    """The names that its files would give wherever their folders are on sys.path."""
    parts = (path.split("/")[-2:] for path in dist.used if CARRIED not in path)
    return frozenset(
        folder if file.startswith("__init__.") else file.partition(".")[0] for folder, file in parts
    )


def _standing_for(gone: Gone) -> Gone:
    """Of the distribution whose module does not bind the name, no more than that name is away."""
    return gone._replace(dist=diagnosis.phantom(gone.dist, diagnosis.UNBOUND, ()))
