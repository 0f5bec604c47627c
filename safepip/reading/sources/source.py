"""One Python file into the imports it makes and how each stands. Nothing is imported or run.

A module's own functions count where its top level calls them: matplotlib checks what it needs that way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from safepip.model.imports import Condition, Dynamic, Import, Reference, Source, Unread, Way
from safepip.reading.sources import outline, syntax, weight
from safepip.reading.sources.calls import BY_NAME, calls_in, way_of
from safepip.reading.sources.choices import Attempt, binds, choices, collects, plain_imports
from safepip.reading.sources.conditions import (
    Deciding,
    catches_import_error,
    compared_with_none,
    names_type_checking,
    suppresses,
)
from safepip.reading.sources.consequences import ends, leaning, may_lean
from safepip.reading.sources.constants import Constants
from safepip.reading.sources.syntax import parse

LIMIT = 4 << 20  # bytes; the largest modules people write by hand have a tenth of that
NAME = re.compile(r"[A-Za-z_][\w.-]{0,60}")


def read_module(
    data: bytes, name: str, *, is_package: bool, version: tuple[int, int] = (3, 12), whole: bool = False
) -> Source | Unread:
    """What a module called `name` imports when Python `version` imports it; all that it ever imports if `whole`."""
    if len(data) > LIMIT:
        return Unread(f"larger than {LIMIT >> 20} MiB")
    if data.count(b"import") > weight.MOST_IMPORTS:
        return Unread(f"more than {weight.MOST_IMPORTS} imports")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # as the tokenizer does
    package = name if is_package else name.rpartition(".")[0]
    waits = b"lazy" in data and syntax.WAITS.search(data)  # what was cut may use a name at once
    tree = None if whole or waits else parse(outline.cut(data))
    if isinstance(tree, ast.Module):
        source = _read(tree, data, package, version, whole=False)
        if isinstance(source, Unread) or not (source.choices or may_lean(data)):
            return source
    tree = parse(data)  # where a choice is made, what was cut may bear on it
    return tree if isinstance(tree, Unread) else _read(tree, data, package, version, whole=whole)


def absolute(written: str, package: str) -> str:
    """What a name with dots before it stands for in `package` (PEP 328); "" where they lead out of the top package."""
    tail = written.lstrip(".")
    level = len(written) - len(tail)
    if not level:
        return written
    parts = package.split(".") if package else []
    if level > len(parts):
        return ""
    return ".".join([*parts[: len(parts) - level + 1], *([tail] if tail else [])])


def _read(
    tree: ast.Module, data: bytes, package: str, version: tuple[int, int], *, whole: bool
) -> Source | Unread:
    by_name = any(word in data for word in outline.BY_NAME)
    reader = _Reader(package, version, by_name=by_name, whole=whole)
    try:
        reader.used = syntax.used_at_once(tree) if b"lazy" in data else frozenset()
        reader.read(tree)
        if whole:
            reader.read_constants(tree)
        chosen = (*choices(tree, reader.attempts), *leaning(tree, reader.attempts))
    except RecursionError:
        return Unread("nested too deeply")
    on_demand = tuple(reader.for_types) if b"__getattr__" in data else ()
    return Source(tuple(reader.imports), tuple(reader.dynamics), on_demand, chosen)


class _Reader:
    """Walks statements in order; what it knows of the module's own names grows on the way."""

    def __init__(self, package: str, version: tuple[int, int], *, by_name: bool, whole: bool) -> None:
        self.imports: list[Import] = []
        self.dynamics: list[Dynamic] = []
        self.for_types: list[Import] = []  # under TYPE_CHECKING: what a lazy package says it would import
        self.attempts: list[Attempt] = []
        self._package = package
        self._whole = whole
        self._deciding = Deciding(version)
        self._functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self._constants = Constants()
        self._calling: list[str] = []
        self._open_ways: set[Way] = set()  # used with names that stand elsewhere
        self._instead: tuple[
            Reference, ...
        ] = ()  # set while what another import's absence leads to is walked
        self._after: tuple[Reference, ...] = ()  # set while what follows a `try` that worked is walked
        self._given = ""  # set while what depends on a name of another module is walked
        self._knows_lazy = version >= (3, 15)
        self._lazy: frozenset[str] = frozenset()  # what it lists in `__lazy_modules__` (PEP 810)
        self._eager = False  # set inside classes and `try`, where no import is lazy
        self.used: frozenset[str] = frozenset()  # names for which no import waits
        self._looping = False  # set inside a `for`, where each name is tried for itself
        self._taken: dict[str, str] = {}  # names from modules of the same top package
        self._tree = ast.Module([], [])
        self._follows = whole or by_name  # whether a call can lead to an import

    def read(self, tree: ast.Module) -> None:
        self._functions = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self._follows = self._follows or bool(self._functions)
        self._tree = tree
        self._block(tree.body, Condition.UNCONDITIONAL)

    def read_constants(self, tree: ast.Module) -> None:
        """Where a name is not written at the call, any string of the file may be it."""
        for node in ast.walk(tree) if self._open_ways else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
                self.dynamics += [
                    Dynamic(way, node.value, node.lineno, Condition.UNCONDITIONAL)
                    for way in sorted(self._open_ways, key=str)
                ]

    def _block(self, statements: Iterable[ast.stmt], condition: Condition) -> None:
        for statement in statements:
            self._statement(statement, condition)

    def _statement(self, node: ast.stmt, condition: Condition) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    self._add(alias.name, (), node.lineno, self._waiting(node, alias.name, condition))
            case ast.ImportFrom():
                self._from(node, condition)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._calls(node.decorator_list, condition)
                if self._whole and node.name not in self._calling:
                    self._block(node.body, Condition.DEFERRED)
            case ast.ClassDef():
                self._calls(node.decorator_list, condition)
                self._at_once(node.body, condition)
            case ast.If():
                self._if(node, condition)
            case ast.Try() | ast.TryStar():
                self._try(node, condition)
            case ast.With() | ast.AsyncWith():
                self._calls([item.context_expr for item in node.items], condition)
                guarded = any(suppresses(item.context_expr) for item in node.items)
                self._block(node.body, Condition.GUARDED if guarded else condition)
            case ast.For() | ast.AsyncFor():
                self._for(node, condition)
            case ast.While():
                self._block([*node.body, *node.orelse], min(condition, Condition.GUARDED))
            case ast.Match():
                for case in node.cases:
                    self._block(case.body, min(condition, Condition.GUARDED))
            case _:
                self._remember(node)
                self._calls([node], condition)

    def _at_once(self, statements: Iterable[ast.stmt], condition: Condition) -> None:
        outer, self._eager = self._eager, True
        self._block(statements, condition)
        self._eager = outer

    def _add(self, module: str, names: tuple[str, ...], line: int, condition: Condition) -> None:
        self.imports.append(
            Import(module, names, line, condition, (), self._instead, self._after, self._given)
        )

    def _waiting(self, node: ast.Import | ast.ImportFrom, module: str, condition: Condition) -> Condition:
        listed = module in self._lazy and not self._eager
        waits = (listed or syntax.is_lazy(node)) and binds(node).isdisjoint({"*", *self.used})
        return Condition.DEFERRED if waits else condition

    def _from(self, node: ast.ImportFrom, condition: Condition) -> None:
        module = absolute("." * node.level + (node.module or ""), self._package)
        if module:
            condition = self._waiting(node, module, condition)
            self._add(module, tuple(alias.name for alias in node.names), node.lineno, condition)
            if node.level and condition is Condition.UNCONDITIONAL:
                self._taken.update((alias.asname or alias.name, module) for alias in node.names)

    def _if(self, node: ast.If, condition: Condition) -> None:
        self._calls([node.test], condition)
        given = self._taken.get(compared_with_none(node.test))
        if given:
            outer, self._given = self._given, given
            self._block(node.body, condition)
            self._given = outer
            self._block(node.orelse, min(condition, Condition.GUARDED))
            return
        if names_type_checking(node.test):
            start = len(self.imports)
            self._block(node.body, Condition.DEFERRED)
            self.for_types += self.imports[start:]
            del self.imports[start:]
        decided = self._deciding.decide(node.test)
        lesser = min(condition, Condition.GUARDED)
        if decided is not False:
            self._block(node.body, condition if decided else lesser)
        if decided is None and node.orelse and not self._instead:
            self._instead = plain_imports(
                node.body
            )  # a branch whose imports are not there is not the one taken
            self._block(node.orelse, condition if self._instead else lesser)
            self._instead = ()
        elif decided is not True:
            self._block(node.orelse, condition if decided is False else lesser)

    def _try(self, node: ast.Try | ast.TryStar, condition: Condition) -> None:
        handler = next((item for item in node.handlers if catches_import_error(item)), None)
        body = handler.body if handler else []
        guarded = handler is not None and not (ends(body, self._functions) or collects(body, self._tree))
        start = len(self.imports)
        self._at_once(node.body, Condition.GUARDED if guarded else condition)
        end = len(self.imports)
        tried = tuple(Reference(item.module, item.names) for item in self.imports[start:end])
        if handler is not None and condition is not Condition.DEFERRED and not self._calling:
            ways = tuple((one,) for one in tried) if self._looping else (tried,) if tried else ()
            self.attempts.append(Attempt(node, ways))
        for item in node.handlers:
            outer = self._instead
            self._instead = tried if item is handler and guarded else outer
            counts = item is handler and guarded and tried
            self._block(item.body, condition if counts else min(condition, Condition.GUARDED))
            self._instead = outer
        if guarded and condition is Condition.UNCONDITIONAL:
            fallback = tuple(
                Reference(item.module, item.names)
                for item in self.imports[end:]
                if item.instead_of == tried and item.condition is Condition.UNCONDITIONAL
            )
            self.imports[start:end] = [item._replace(otherwise=fallback) for item in self.imports[start:end]]
        outer_after = self._after
        self._after = (*outer_after, *tried) if guarded else outer_after
        self._block(node.orelse, condition)
        self._after = outer_after
        self._block(node.finalbody, condition)

    def _for(self, node: ast.For | ast.AsyncFor, condition: Condition) -> None:
        literal = self._constants.loop(node.target, node.iter)
        self._calls([node.iter], condition)
        outer, self._looping = self._looping, True
        self._block(node.body, condition if literal else min(condition, Condition.GUARDED))
        self._looping = outer
        self._block(node.orelse, condition if literal else min(condition, Condition.GUARDED))

    def _remember(self, node: ast.stmt) -> None:
        """`NAME = ("numpy", "dateutil")`, and names for what the interpreter is."""
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or not isinstance(value, ast.expr):
            return
        self._deciding.learn(target.id, value)
        self._constants.bind(target.id, value)
        if target.id == "__lazy_modules__" and self._knows_lazy:
            self._lazy = frozenset(self._constants.strings(value))

    def _calls(self, nodes: Iterable[ast.AST], condition: Condition) -> None:
        for root in nodes if self._follows else ():
            for node in calls_in(root):
                self._call(node, condition)

    def _call(self, node: ast.Call, condition: Condition) -> None:
        name = str(getattr(node.func, "attr", getattr(node.func, "id", "")))
        function = self._functions.get(name) if isinstance(node.func, ast.Name) else None
        if function is not None:
            if (
                condition is not Condition.DEFERRED
                and name not in self._calling
                and len(self._calling) < outline.STEPS
            ):
                self._calling.append(name)
                self._block(function.body, condition)
                self._calling.pop()
            return
        if not node.args or not (name in BY_NAME or self._whole):
            return
        way = way_of(name)
        texts = self._constants.strings(node.args[0]) if way else ()
        if way and not texts and condition is not Condition.GUARDED:
            self._open_ways.add(way)
        for text in texts:
            module = absolute(text, self._package) if way is Way.IMPORT else text
            if way is Way.IMPORT and module and all(map(str.isidentifier, module.split("."))):
                self._add(module, (), node.lineno, condition)
            if way and self._whole:
                self.dynamics.append(Dynamic(way, module, node.lineno, condition))
