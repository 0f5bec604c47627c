"""How much a lost requirement weighs: a declaration alone is a poor guide, the code that declares it a good one.

Of requirements measured in a large environment half end the import of the survivor when they go, a third that of
some of its modules, and the rest are lazy, guarded or named nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from safepip.model.environment import Distribution, Inventory
from safepip.model.imports import Basis, Condition, Dynamic, Grade, Import, Source, Way
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import TargetPath
from safepip.model.report import Severity
from safepip.reasoning.code.finder import is_gone
from safepip.reasoning.code.imports import Imports, module_of, statements
from safepip.reasoning.dependents import users_of
from safepip.reasoning.libraries.known_loads import naming, of_distribution
from safepip.reasoning.requirements import LostRequirement, requirement_key

BASIS_OF_WAY = {
    Way.IMPORT: Basis.BY_NAME,
    Way.VERSION: Basis.VERSION,
    Way.LAZY: Basis.LAZY,
    Way.LIBRARY: Basis.BY_NAME,
}
SURE = {Way.IMPORT, Way.LAZY}  # evidence in a function too: that is where they stand
MOST_READ_WHOLE = 400  # sources of one survivor; what it needs stands in more than the rest of a thousand
MOST_IMPORTERS = 60  # sources that are looked through for those that import a module


class _Seen(NamedTuple):
    """What the sources of a survivor, read whole, say of what it loses."""

    guarded: Grade | None = None
    deferred: Grade | None = None
    evidence: Grade | None = None
    named: bool = False


def grade(
    loss: LostRequirement,
    imports: Imports,
    known: Sequence[KnownLoad] = (),
    hooks: frozenset[TargetPath] = frozenset(),
) -> Grade:
    """A refusal where the code shows a need, a warning where importing goes on without. `hooks` are modules that go
    and that answer for imports: who is served by one names another's module (numba-cuda's answers for numba.cuda).
    """
    reached = next(
        (
            item
            for item in imports.losses
            if item.survivor == loss.survivor and item.lost == loss.lost and not item.host
        ),
        None,
    )
    if reached is not None:
        return Grade(Severity.REFUSE, Basis.REACHED, reached.importer, reached.line, reached.module)
    opened = _known_loads(loss, known)
    if loss.extra:
        return _of_extra(loss, imports, is_opened=bool(opened))
    if opened:
        if any(load.required for load in opened):
            return Grade(Severity.REFUSE, Basis.KNOWN_LOAD)
        return Grade(Severity.WARN, Basis.OPTIONAL_LOAD)
    stated = next(_at_module_level(loss, imports), None)
    if stated is not None:
        return stated
    seen = _read_whole(loss, imports)
    if seen.evidence is not None:
        return seen.evidence
    names = tuple(item.module for item in imports.gone.values() if item.dist == loss.lost)
    for path, name in imports.code.compiled_naming(loss.survivor, names) if names else ():
        return Grade(Severity.REFUSE, Basis.COMPILED, path, 0, name)
    if not seen.named and not has_modules(loss.lost):
        return Grade(Severity.REFUSE, Basis.LIBRARIES)
    hook = next((path for path in loss.lost.files or () if path in hooks), None) if hooks else None
    if hook is not None:
        return Grade(Severity.REFUSE, Basis.HOOK, hook)
    return seen.guarded or seen.deferred or Grade(Severity.WARN, Basis.NOWHERE)


def _of_extra(loss: LostRequirement, imports: Imports, *, is_opened: bool) -> Grade:
    """An extra that is in use was asked for: whoever goes on without the libraries that it brings goes on without a
    GPU. What is guarded is only warned of, and so is what nothing but the extra explains.
    """
    if loss.in_use and is_opened:
        return Grade(Severity.REFUSE, Basis.KNOWN_LOAD)
    seen = _read_whole(loss, imports)
    named = seen.guarded or seen.deferred or next(_through_others(loss, imports), None)
    if named is None and loss.in_use and not seen.named and not has_modules(loss.lost):
        return Grade(Severity.REFUSE, Basis.LIBRARIES)
    if named is None and loss.in_use and _is_there_for_extras(loss.lost, imports.inventory):
        return Grade(Severity.WARN, Basis.FOR_EXTRA)
    return named or Grade(Severity.NOTE, Basis.NOWHERE)


def _is_there_for_extras(dist: Distribution, inventory: Inventory) -> bool:
    """Whether nobody asked for it by name, where installers have written that down, and nobody requires it at all times."""
    everybody = inventory.distributions
    asked = dist.requested or not any(other.requested for other in everybody)
    return not asked and not users_of(dist, everybody)


def has_modules(dist: Distribution) -> bool:
    """Whether `dist` has Python modules; an `__init__` that only makes a folder of libraries a package is none."""
    files = [path for path in dist.used if "/__pycache__/" not in path]
    sources = [path for path in files if path.endswith(".py") and not path.endswith("/__init__.py")]
    extensions = [
        path for path in files if path.endswith(".so") and not path.rpartition("/")[2].startswith("lib")
    ]
    libraries = any(".so" in path.rpartition("/")[2] for path in dist.used)
    return bool(sources or extensions) or not libraries


def _known_loads(loss: LostRequirement, known: Sequence[KnownLoad]) -> list[KnownLoad]:
    """By which the survivor is known to open a library that the lost one brings."""
    own = of_distribution(loss.survivor.key, known)
    files = {path.rpartition("/")[2] for path in loss.lost.files or ()} if own else ()
    return [load for name in sorted(files) for load in naming(name, loss.survivor.key, own)]


def _at_module_level(loss: LostRequirement, imports: Imports) -> Iterator[Grade]:
    guards = _Guards(loss.survivor, imports, set())
    for path, _, failing in statements(imports, loss.survivor):
        if failing.gone.dist == loss.lost and not guards.around(path):
            yield Grade(Severity.REFUSE, Basis.MODULE_LEVEL, path, failing.line, failing.name)


class _Guards(NamedTuple):
    """Which modules of a distribution are reached only where a failure is caught; a function catches nothing."""

    dist: Distribution
    imports: Imports
    free: set[TargetPath]  # modules that some way leads to which nothing guards, as they are found

    def around(self, path: TargetPath) -> bool:
        """Whether every way to the module at `path` is guarded; one that nobody imports is a user's to import.

        So is a circle of modules that only import each other: nothing is caught on the way into it. Depth first,
        since one way without a guard decides, and reading an importer costs much.
        """
        seen, caught = {path}, False
        way = [(path, self._importers(path))]
        imported = {path: False}
        while way:
            module, importers = way[-1]
            source, condition = next(importers, (None, Condition.DEFERRED))
            if module in self.free or (source is None and not imported[module]):
                self.free.update(step for step, _ in way)
                return False
            if source is None:
                way.pop()
                continue
            imported[module] = True
            if condition is Condition.GUARDED:
                caught = True
            elif source not in seen:
                seen.add(source)
                imported[source] = False
                way.append((source, self._importers(source)))
        return caught

    def _importers(self, path: TargetPath) -> Iterator[tuple[TargetPath, Condition]]:
        name, _ = module_of(path, self.imports.inventory)
        if "." not in name or any(entry.value.partition(":")[0] == name for entry in self.dist.entry_points):
            return
        tail = f".{name.rpartition('.')[2]}"
        for source in self.imports.code.naming(self.dist, [tail]).get(tail, ())[:MOST_IMPORTERS]:
            if source == path:
                continue
            for item in _whole(source, self.dist, self.imports).imports:
                if path in self.imports.closure.runs(item):
                    stands = self.imports.closure.stands(item)
                    yield (
                        source,
                        Condition.UNCONDITIONAL if stands else min(item.condition, Condition.GUARDED),
                    )


def _whole(path: TargetPath, dist: Distribution, imports: Imports) -> Source:
    name, is_package = module_of(path, imports.inventory)
    for whole in (True, False):  # of a file too large to be read whole, what runs when it is imported
        source = imports.code.read(dist, path, name, is_package=is_package, whole=whole)
        if isinstance(source, Source):
            return source
    return Source()


def _read_whole(loss: LostRequirement, imports: Imports) -> _Seen:
    names = [item.module for item in imports.gone.values() if item.dist == loss.lost]
    written = (loss.lost.name, loss.lost.key)
    naming = imports.code.naming(loss.survivor, list(dict.fromkeys([*names, *written])))
    seen = _Seen()
    sources = dict.fromkeys(path for paths in naming.values() for path in paths)
    for path in islice(sources, MOST_READ_WHOLE):
        source = _whole(path, loss.survivor, imports)
        for item in source.imports:
            lost = imports.closure.lost(item, path)
            if lost and lost[1].dist == loss.lost:
                seen = _with_import(seen, path, item, imports, extra=loss.extra)
        for use in source.dynamics:
            if use.name in written if use.way is Way.VERSION else is_gone(use.name, imports.gone):
                seen = _with_use(seen, path, use)
        if loss.extra and (seen.guarded or seen.deferred):
            break  # an extra is only warned of: the first place says enough, and a large survivor has a thousand
    return seen._replace(named=any(naming.get(name) for name in names))


def _through_others(loss: LostRequirement, imports: Imports) -> Iterator[Grade]:
    """Where the survivor imports a module of what it requires that needs the lost one (requests, by way of urllib3)."""
    required = {requirement_key(written) for written in loss.survivor.requires}
    for dist in imports.inventory.distributions:
        if dist.key in required and dist.info in imports.naming:
            failing = {
                path: name for path, name, item in statements(imports, dist) if item.gone.dist == loss.lost
            }
            naming = imports.code.naming(loss.survivor, sorted(set(failing.values()))) if failing else {}
            for path in dict.fromkeys(path for paths in naming.values() for path in paths):
                for item in _whole(path, loss.survivor, imports).imports:
                    if not imports.closure.runs(item).isdisjoint(failing):
                        yield Grade(Severity.WARN, Basis.GUARDED, path, item.line, item.module)


def _with_import(seen: _Seen, path: TargetPath, item: Import, imports: Imports, *, extra: bool) -> _Seen:
    if item.condition is Condition.DEFERRED:
        return seen._replace(
            deferred=seen.deferred or Grade(Severity.WARN, Basis.DEFERRED, path, item.line, item.module)
        )
    return seen._replace(
        guarded=seen.guarded
        or Grade(
            Severity.WARN,
            Basis.MODULE_LEVEL if extra and imports.closure.stands(item) else Basis.GUARDED,
            path,
            item.line,
            item.module,
        )
    )


def _with_use(seen: _Seen, path: TargetPath, use: Dynamic) -> _Seen:
    sure = use.condition is Condition.UNCONDITIONAL or (
        use.condition is Condition.DEFERRED and use.way in SURE
    )
    basis = BASIS_OF_WAY[use.way]
    if sure:
        return seen._replace(
            evidence=seen.evidence or Grade(Severity.REFUSE, basis, path, use.line, use.name)
        )
    return seen._replace(guarded=seen.guarded or Grade(Severity.WARN, basis, path, use.line, use.name))
