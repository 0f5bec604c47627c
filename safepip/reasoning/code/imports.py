"""Which imports on a survivor's surface a removal breaks, and by which way: no statement is guessed, none is run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import accumulate, islice
from types import MappingProxyType
from typing import NamedTuple

from safepip.model.change import Removal
from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.imports import Gone, ImportLoss, Source
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.code.closure import Closure, Failing, Failure, Read, source_of
from safepip.reasoning.code.compiled import Compiled, at_start
from safepip.reasoning.code.finder import Finder, gone_names
from safepip.reasoning.code.surface import STOPPED_BY_PLUGINS, Start, starts, top_modules
from safepip.reasoning.dependents import leading_to, owner_of, users_of
from safepip.reasoning.libraries.losses import relative
from safepip.world import World

# Where these are passed, following the whole surface down is quicker, or nothing else is left.
MOST_TRIED = 40  # files below the surface
MOST_CLIMBED = 8  # modules that would fail, in one distribution
MOST_SEARCHED = 60  # sources that may import one of them
FEW_FILES = 300  # what large distributions import they declare; small ones forget to

Naming = Callable[[Distribution, Collection[str]], Mapping[str, tuple[TargetPath, ...]]]


class Span(Enum):
    """Whose surface a failing statement can reach."""

    NONE = "nobody's"
    OWN = "a command or plugin of its own distribution"
    OTHERS = "whoever imports the distribution"


class Code(NamedTuple):
    """How sources are asked; the reading layer's `Modules` has these as methods."""

    naming: Naming
    read: Read
    compiled_naming: Compiled
    imported: Callable[[Distribution], Collection[str]] | None = (
        None  # top-level names that any statement holds
    )


class Dropped(NamedTuple):
    folders: frozenset[TargetPath] = frozenset()  # that a `.pth` puts on sys.path which goes
    names: Mapping[str, Gone] = MappingProxyType({})  # that modules bind no longer, or never did
    modules: Mapping[TargetPath, Failing] = MappingProxyType({})  # that end their own import


NOTHING_DROPPED = Dropped()


@dataclass(frozen=True, slots=True)
class Imports:
    """The imports of one removal: what was found, and what grading asks further."""

    inventory: Inventory
    leaving: tuple[Distribution, ...]
    gone: Mapping[str, Gone]
    naming: Mapping[TargetPath, tuple[TargetPath, ...]]  # by survivor's info: sources that name what goes
    code: Code
    finder: Finder
    closure: Closure
    losses: tuple[ImportLoss, ...] = ()
    tops: dict[TargetPath, tuple[str, ...]] = field(default_factory=dict)  # by info, as they are asked for
    shown: dict[str, str] = field(default_factory=dict)  # steps of chains, which many share

    @property
    def unjudged(self) -> tuple[Unjudged, ...]:
        """Sources that name what goes and cannot be read: what they import of it is not known."""
        unread = self.closure.unread()
        return tuple(Unjudged(path, reason) for path, reason in unread if path in self.closure.naming)


def examine(
    removal: Removal,
    inventory: Inventory,
    worlds: tuple[World, World],
    code: Code,
    dropped: Dropped = NOTHING_DROPPED,
) -> Imports:
    """Follow the survivors' imports. `dropped`: what goes besides the files of the removal."""
    before = Finder(worlds[0], inventory.target)
    lost = frozenset(map(worlds[0].real, dropped.folders))
    after = Finder(worlds[1], inventory.target, [folder for folder in before.path if folder not in lost])
    gone = {**gone_names(removal, before, after), **dropped.names}
    leaving = {dist.info for dist in removal.leaving}
    staying = [dist for dist in inventory.everybody if dist.info not in leaving]
    naming: dict[TargetPath, tuple[TargetPath, ...]] = {}
    for dist in staying if gone else ():
        found = code.naming(dist, tuple(gone))
        if found:
            naming[dist.info] = tuple(dict.fromkeys(path for paths in found.values() for path in paths))
    touched = leading_to([dist for dist in staying if dist.info in naming], staying)
    closure = Closure((before, after), gone, owner_of(staying, inventory), code.read)
    closure.entered.update(touched)
    closure.naming = frozenset(path for paths in naming.values() for path in paths)
    result = Imports(inventory, removal.leaving, gone, naming, code, before, closure)
    started = at_start(staying, removal.leaving, closure.missed, code.compiled_naming)
    closure.ending.update({path: Failing(0, *lost) for path, lost in started} | dict(dropped.modules))
    ending = {dist for dist in staying if closure.ending and not closure.ending.keys().isdisjoint(dist.used)}
    failing = [dist for dist in staying if dist in ending or _soon_fails(result, dist)]
    spans = {
        dist: _span(result, dist, [user for user in users_of(dist, staying) if user not in failing])
        for dist in staying
        if dist.info in naming and dist not in failing
    }
    failing += [dist for dist, span in spans.items() if span is Span.OTHERS]
    own = [dist for dist, span in spans.items() if span is Span.OWN]
    closure.entered = {*leading_to(failing, staying), *own}
    losses = _with_undeclared(result, failing, staying)
    return replace(result, losses=tuple(losses))


def statements(imports: Imports, dist: Distribution) -> Iterator[tuple[TargetPath, str, Failing]]:
    """Statements of `dist`, outside tests, that would fail and end the import of their module, which is named."""
    for path in imports.naming.get(dist.info, ()):
        name, is_package = module_of(path, imports.inventory)
        source = imports.closure.source(name, path, is_package=is_package)
        for failing in imports.closure.failing(source, path) if name and isinstance(source, Source) else ():
            yield path, name, failing


def module_of(path: TargetPath, inventory: Inventory) -> tuple[str, bool]:
    """The dotted name of a source, and whether it is a package's `__init__`; "" where no import can name it."""
    parts = inventory.target.below(path).removesuffix(".py").split("/")
    is_package = parts[-1] == "__init__"
    parts = parts[:-1] if is_package else parts
    return (".".join(parts) if all(map(str.isidentifier, parts)) else ""), is_package


def _soon_fails(imports: Imports, dist: Distribution) -> bool:
    """Whether importing `dist` fails a few files below its surface: the common case, and the cheapest to see."""
    if dist.info not in imports.naming:
        return False
    return any(imports.closure.failure(top, MOST_TRIED) for top in _tops(dist, imports))


def _span(imports: Imports, dist: Distribution, users: Sequence[Distribution]) -> Span:
    """How far up a statement of `dist` that would fail can be felt, as far as is plain."""
    tops = _tops(dist, imports)
    failing = {path: name for path, name, _ in islice(statements(imports, dist), MOST_CLIMBED + 1)}
    begun = [start.module.split(".") for start in starts(dist, (), imports.inventory)]
    starts_at = {name for parts in begun for name in accumulate(parts, "{}.{}".format)}
    span, seen = Span.NONE, set[TargetPath]()
    while failing:
        seen.update(failing)
        names = set(failing.values())
        if len(seen) > MOST_CLIMBED or not names.isdisjoint(tops):
            return Span.OTHERS
        span = span if names.isdisjoint(starts_at) else Span.OWN
        importers = _importers(imports, dist, failing, {f".{name.rpartition('.')[2]}" for name in names})
        if importers is None or any(_importers(imports, user, failing, names) != {} for user in users):
            return Span.OTHERS
        failing = {path: name for path, name in importers.items() if path not in seen}
    return span


def _tops(dist: Distribution, imports: Imports) -> tuple[str, ...]:
    if dist.info not in imports.tops:
        imports.tops[dist.info] = top_modules(dist, imports.inventory, imports.finder)
    return imports.tops[dist.info]


def _importers(
    imports: Imports, dist: Distribution, modules: Mapping[TargetPath, str], sought: Collection[str]
) -> dict[TargetPath, str] | None:
    """Modules of `dist` that import one of `modules` at their top level; None where too many could."""
    paths = dict.fromkeys(path for paths in imports.code.naming(dist, sought).values() for path in paths)
    if len(paths) > MOST_SEARCHED:
        return None
    found = {}
    for path in paths:
        name, is_package = module_of(path, imports.inventory)
        source = imports.closure.source(name, path, is_package=is_package)
        if not isinstance(source, Source):
            continue
        standing = [item for item in source.imports if imports.closure.stands(item)]
        for item in (*standing, *source.on_demand):
            reached = imports.closure.runs(item) & modules.keys()
            if any(not path.startswith(one.removesuffix("__init__.py")) for one in reached):
                found[path] = name  # from inside a package its __init__ has run already
    return found


def _with_undeclared(
    imports: Imports, failing: Iterable[Distribution], staying: Sequence[Distribution]
) -> list[ImportLoss]:
    """The losses, those too of distributions that import a broken one under an extra or without declaring it."""
    found = list(_losses(imports, imports.closure.entered))
    broken = {*failing, *(loss.survivor for loss in found)}
    while broken:
        names = {name for dist in broken for name in _tops(dist, imports)}
        new = {
            dist
            for dist in staying
            if dist not in imports.closure.entered
            and _imports_any(imports, dist, names)
            and len(dist.used) <= FEW_FILES
        }
        imports.closure.entered.update(new)
        losses = list(_losses(imports, new))
        found += losses
        broken = {loss.survivor for loss in losses}
    return found


def _imports_any(imports: Imports, dist: Distribution, names: Collection[str]) -> bool:
    """Whether some module of `dist` has a statement at its top level that imports one of `names`."""
    if imports.code.imported is not None:
        imported = imports.code.imported(dist)
        names = [name for name in names if name.partition(".")[0] in imported]
    for path in (
        {path for paths in imports.code.naming(dist, names).values() for path in paths} if names else ()
    ):
        name, is_package = module_of(path, imports.inventory)
        source = imports.closure.source(name, path, is_package=is_package)
        for item in source.imports if isinstance(source, Source) else ():
            if imports.closure.stands(item) and any(f"{item.module}.".startswith(f"{one}.") for one in names):
                return True
    return False


def _losses(imports: Imports, survivors: Collection[Distribution]) -> Iterator[ImportLoss]:
    stopped: dict[DistKey, ImportLoss] = {}
    broken = _broken_hosts(imports)
    for dist in imports.inventory.everybody:
        if dist not in survivors:
            continue
        first = True
        for start in starts(dist, _tops(dist, imports), imports.inventory):
            failure = None if start.host in broken else imports.closure.failure(start.module)
            if failure is None or _host_leaves(start, imports):
                continue
            loss = _loss(dist, start, failure, imports)
            if first:
                yield loss
                first = False
            if start.host is not None:
                stopped.setdefault(start.host, loss)
    for key, loss in stopped.items():
        host = imports.inventory.find(key)
        if host is not None and host != loss.survivor and host not in imports.leaving:
            yield _for_host(loss, host)


def _broken_hosts(imports: Imports) -> frozenset[DistKey]:
    """Hosts that no longer start themselves: whether their plugins would is of no interest."""
    return frozenset(key for key in STOPPED_BY_PLUGINS.values() if imports.closure.failure(key) is not None)


def _host_leaves(start: Start, imports: Imports) -> bool:
    """A plugin of what leaves is never loaded again."""
    if not start.label.startswith("plugin"):
        return False
    group = start.label.rpartition("(")[2].rstrip(")").lower().replace("_", "-").replace(".", "-")
    return any(dist.key == start.host or f"{group}-".startswith(f"{dist.key}-") for dist in imports.leaving)


def _loss(survivor: Distribution, start: Start, failure: Failure, imports: Imports) -> ImportLoss:
    steps = [(source_of(step) if at else step, at) for step, at in failure.steps]
    path, line = steps[-1]
    ways = [relative(step, imports.inventory) + (f":{at}" if at else "") for step, at in steps]
    ways = [imports.shown.setdefault(way, way) for way in ways]
    was = failure.gone.was
    return ImportLoss(
        survivor=survivor,
        lost=failure.gone.dist,
        module=failure.name,
        path=was.path or was.folders[0],
        chain=(start.label, *ways, f"import {failure.name}"),
        importer=path,
        line=line,
        instead=imports.closure.instead(failure.name),
    )


def _for_host(loss: ImportLoss, host: Distribution) -> ImportLoss:
    return ImportLoss(
        survivor=host,
        lost=loss.lost,
        module=loss.module,
        path=loss.path,
        chain=(f"{host.name} loads every plugin when it starts", *loss.chain),
        importer=loss.importer,
        line=loss.line,
        host=True,
        instead=loss.instead,
    )
