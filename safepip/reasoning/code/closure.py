"""What is run when a module is imported, as far as statements show, down to the first that fails.

Files are the nodes: importing `a.b.c` runs those of `a`, `a.b` and `a.b.c`. Only distributions that can lead to a
lost name are entered, and a file is read once for all who reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from safepip.model.environment import Distribution
from safepip.model.imports import Choice, Condition, Found, Gone, Import, Reference, Source, Unread
from safepip.model.paths import TargetPath
from safepip.reasoning.code.finder import Finder, is_gone


class Read(Protocol):
    """How a source is read: `Modules.read` of the reading layer, or a test's own."""

    def __call__(
        self,
        dist: Distribution | None,
        path: TargetPath,
        name: str,
        /,
        *,
        is_package: bool,
        whole: bool = False,
    ) -> Source | Unread: ...


class Failure(NamedTuple):
    """A statement that would fail, and the way to it: each file with the line that leads on."""

    steps: tuple[tuple[TargetPath, int], ...]  # the last one fails
    name: str  # as the statement has it
    gone: Gone


class Failing(NamedTuple):
    """A statement that would fail, and by which lost name."""

    line: int
    name: str
    gone: Gone


def source_of(module: TargetPath) -> TargetPath:
    """Where the statements of the module in this file stand: mypyc and Cython leave the source beside what they make."""
    if module.endswith(".py"):
        return module
    folder, _, name = module.rpartition("/")
    return TargetPath(f"{folder}/{name.partition('.')[0]}.py")


class _Module(NamedTuple):
    name: str
    path: TargetPath
    is_package: bool


class Closure:
    """Follows imports in one removal's worlds. `entered` are the owners of files that are worth reading."""

    def __init__(
        self,
        finders: tuple[Finder, Finder],
        gone: Mapping[str, Gone],
        owner: Callable[[TargetPath], Distribution | None],
        read: Read,
    ) -> None:
        self._before, self._after = finders
        self._gone = gone
        self._owner = owner
        self._read = read
        self._failures: dict[TargetPath, Failure] = {}
        self._clean: set[TargetPath] = set()
        self._sources: dict[TargetPath, Source | Unread] = {}
        self._hooked = any(
            name.startswith("__editable__")
            for folder in self._before.path
            for name in self._before.names(folder)
        )
        self.entered: set[Distribution] = set()
        self.naming: frozenset[TargetPath] = frozenset()  # sources that name what goes
        self.ending: dict[
            TargetPath, Failing
        ] = {}  # modules that end their import by what no import statement of theirs shows

    def enter(self, dists: Iterable[Distribution]) -> None:
        """Follow imports into `dists` as well; what could lead nowhere before may do so now."""
        self.entered.update(dists)
        self._clean.clear()

    def failure(self, name: str, most: int | None = None) -> Failure | None:
        """Why `import name` would fail, if statements at import time show it, looking at no more than `most` files."""
        pending = list({module.path: module for module in self._run_by(Reference(name))}.values())
        came: dict[TargetPath, tuple[TargetPath, int] | None] = dict.fromkeys(one.path for one in pending)
        for module in pending:  # grows while it is walked
            known = self._failures.get(module.path) or self._own(module)
            if known is not None:
                return self._remember(module.path, came, known)
            for line, reached in self._leads_to(module):
                if reached.path not in came and reached.path not in self._clean:
                    came[reached.path] = (module.path, line)
                    pending.append(reached)
            if most is not None and len(pending) > most:
                return None
        self._clean.update(came)
        return None

    def source(self, name: str, path: TargetPath, *, is_package: bool) -> Source | Unread:
        if path not in self._sources:
            owner = self._owner(path)
            self._sources[path] = self._read(owner, path, name, is_package=is_package)
        return self._sources[path]

    def unread(self) -> Iterator[tuple[TargetPath, str]]:
        """The sources that were asked for in vain, and why."""
        for path, source in self._sources.items():
            if isinstance(source, Unread):
                yield path, source.reason

    def lost(self, item: Import, importer: TargetPath) -> tuple[str, Gone] | None:
        """The name for which `item`, a statement of the file `importer`, would fail, whatever its condition."""
        lost = self._lost(Reference(item.module, item.names))
        return None if lost and self._has_own_copy(item.module, importer) else lost

    def missed(self, name: str) -> Gone | None:
        """What goes of `name`, where it is found now and nowhere afterwards."""
        gone = is_gone(name, self._gone)
        found = gone is not None and self._before.find(name) is not None
        return gone if found and self._after.find(name) is None else None

    def instead(self, name: str) -> TargetPath | None:
        """The file that `name` is imported from afterwards, of a copy further back on sys.path; None where no file is."""
        found = self._after.find(name)
        return found.path if found else None

    def stands(self, item: Import) -> bool:
        """Whether a failure of `item` ends the import of its module."""
        if item.condition is not Condition.UNCONDITIONAL:
            return bool(item.otherwise) and not all(map(self._works_after, item.otherwise))
        if any(map(self._lost, item.after)) or (item.given and self._may_change(item.given)):
            return False
        return not item.instead_of or not all(map(self._works, item.instead_of))

    def failing(self, source: Source, path: TargetPath) -> Iterator[Failing]:
        """What ends the import of `source`, the module at `path`."""
        for item in source.imports:
            lost = self.lost(item, path)
            if lost and self.stands(item):
                yield Failing(item.line, *lost)
        for choice in source.choices:
            lost = self._exhausted(choice)
            if lost:
                yield Failing(choice.line, *lost)

    def _exhausted(self, choice: Choice) -> tuple[str, Gone] | None:
        """The name whose loss leaves no way of a choice that has one now."""
        working = [way for way in choice.ways if all(map(self._works, way))]
        if any(all(map(self._works_after, way)) for way in working):
            return None
        return next(filter(None, (self._lost(reference) for way in working for reference in way)), None)

    def _may_change(self, module: str) -> bool:
        """Whether what `module` sets can depend on what goes: it names it."""
        found = self._before.find(module)
        return found is None or found.path in self.naming

    def runs(self, item: Import) -> frozenset[TargetPath]:
        """The files that `item` runs, wherever they lead."""
        return frozenset(module.path for module in self._modules(Reference(item.module, item.names)))

    def _own(self, module: _Module) -> Failure | None:
        if module.path in self.ending:
            line, name, gone = self.ending[module.path]
            return Failure(((module.path, line),), name, gone)
        source = self._source(module)
        found = next(self.failing(source, module.path), None) if source else None
        if found is None or self._fails_already(module):
            return None
        return Failure(((module.path, found.line),), found.name, found.gone)

    def _fails_already(self, module: _Module) -> bool:
        """Whether its import ends now, too, over a name that is nowhere: then it loses nothing.

        Names with an underscore may be linked into some interpreters, and import hooks of editable
        installs bring names that no folder shows: neither counts.
        """
        if self._hooked:
            return False
        plain = (
            item
            for item in self._imports(module)
            if item.condition is Condition.UNCONDITIONAL
            and not (item.otherwise or item.instead_of or item.after)
        )
        tops = {
            item.module.partition(".")[0]
            for item in plain
            if not self._has_own_copy(item.module, module.path)
        }
        return any(top[:1] != "_" and self._before.find(top) is None for top in tops)

    def _has_own_copy(self, name: str, importer: TargetPath) -> bool:
        """setuptools appends its `_vendor` folder to sys.path, for pkg_resources too, and so do others who carry what they need."""
        site = next((folder for folder in self._before.path if importer.startswith(f"{folder}/")), None)
        if site is None:
            return False
        package = importer[len(site) + 1 :].partition("/")[0]
        package = "setuptools" if package == "pkg_resources" else package
        copies = self._before.names(TargetPath(f"{site}/{package}/_vendor"))
        top = name.partition(".")[0]
        return top in copies or f"{top}.py" in copies

    def _leads_to(self, module: _Module) -> Iterator[tuple[int, _Module]]:
        for item in self._imports(module):
            if item.condition is Condition.UNCONDITIONAL and self.stands(item):
                for reached in self._run_by(Reference(item.module, item.names)):
                    yield item.line, reached

    def _imports(self, module: _Module) -> tuple[Import, ...]:
        source = self._source(module)
        return source.imports if source else ()

    def _source(self, module: _Module) -> Source | None:
        path = source_of(module.path)
        if self._owner(path) not in self.entered:
            return None
        source = self.source(module.name, path, is_package=module.is_package)
        if not isinstance(source, Source) or (path != module.path and source.is_stub):
            return None
        return source

    def _run_by(self, reference: Reference) -> Iterator[_Module]:
        """The files that an import runs, outermost package first; what cannot lead anywhere is left out."""
        last = None
        for module in self._modules(reference):
            if self._owner(module.path) in self.entered:
                yield module
                last = module
        if reference.names and last is not None and last.name == reference.module and last.is_package:
            yield from self._on_demand(last, reference)

    def _on_demand(self, package: _Module, reference: Reference) -> Iterator[_Module]:
        """`from package import name` where a lazy package imports the module of `name` just then."""
        source = self._source(package)
        for item in source.on_demand if source else ():
            if not set(reference.names).isdisjoint(item.names):
                for module in self._modules(Reference(item.module)):
                    if self._owner(module.path) in self.entered:
                        yield module

    def _modules(self, reference: Reference) -> Iterator[_Module]:
        name = ""
        found: Found | None = None
        for part in reference.module.split("."):
            name = f"{name}.{part}" if name else part
            found = self._before.find(name)
            if found is None:
                return
            if found.path is not None:
                yield _Module(name, found.path, found.is_package)
        for inner in reference.names if found and found.is_package else ():
            below = self._before.find(f"{name}.{inner}")
            if below is not None and below.path is not None:
                yield _Module(f"{name}.{inner}", below.path, below.is_package)

    def _lost(self, reference: Reference) -> tuple[str, Gone] | None:
        gone = is_gone(reference.module, self._gone)
        if gone is not None:
            return reference.module, gone
        for name in reference.names:
            inner = f"{reference.module}.{name}"
            if inner in self._gone:
                return inner, self._gone[inner]
        return None

    def _works(self, reference: Reference) -> bool:
        return self._before.find(reference.module) is not None

    def _works_after(self, reference: Reference) -> bool:
        return self._after.find(reference.module) is not None and self._lost(reference) is None

    def _remember(
        self, path: TargetPath, came: Mapping[TargetPath, tuple[TargetPath, int] | None], failure: Failure
    ) -> Failure:
        self._failures[path] = failure
        step = came[path]
        while step is not None:
            failure = failure._replace(steps=(step, *failure.steps))
            self._failures[step[0]] = failure
            step = came[step[0]]
        return failure
