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
            for name in inner.names:
                asked.setdefault(inner.module, {}).setdefault(name, []).append(dist)
            if inner.names:
                _note(taken, inner.module, dist, path)
        carried |= _given(dist).intersection(missed) if missed else set()
    owner = standard_library.or_python(owner_of(scene.inventory.everybody, scene.inventory), scene.target)
    modules = taken_names.Modules(finder, owner, lambda path: path)
    gone = taken_names.absent(_unwritten(asked, modules), modules)
    of_python = [item for item in gone.values() if item.dist.key == failing_imports.PYTHON]
    given = standard_library.given(of_python, scene.inventory.everybody)
    names = {name: _standing_for(item) for name, item in gone.items() if name not in given}
    nowhere = tuple(name for name in missing if name not in carried)
    by = {name: missing[name] for name in nowhere} | {name: taken[name.rpartition(".")[0]] for name in names}
    return Nowhere(by, nowhere, names)


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
