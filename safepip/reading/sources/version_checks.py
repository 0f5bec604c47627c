"""Which versions of another module a source refuses by raising while it is imported: nothing is imported or run.

    if Version(np.__version__) < Version("2.0.2"):
        raise ImportError(…)

Only what stands at the top level, or in a function that it calls by a statement, and what nothing before it can turn
away from, is taken for such a check.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from safepip.model.imports import VersionCheck
from safepip.reading.sources.choices import binds
from safepip.reading.sources.syntax import parse

SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
# What makes of a version one that can be compared, or a part of it that begins at its beginning.
CALLS = frozenset(
    {"Version", "parse", "parse_version", "LooseVersion", "StrictVersion", "NumpyVersion", "tuple", "int"}
)
PARTS = frozenset({"split", "release", "base_version", "major"})
NAMES = frozenset({"__version__", "version", "full_version", "short_version"})


def checks(data: bytes) -> Iterator[VersionCheck]:
    """In their order."""
    if b"version" not in data or b"raise" not in data:
        return
    tree = parse(data)
    if isinstance(tree, ast.Module):
        yield from _Reader(tree).found()


class _Reader:
    """Walks statements in order; what it knows of names grows and shrinks on the way."""

    def __init__(self, tree: ast.Module) -> None:
        self._body = tree.body
        self._functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        self._modules: dict[str, str] = {}
        self._versions: dict[str, str] = {}  # by name: the module
        self._constants: dict[str, str] = {}

    def found(self) -> Iterator[VersionCheck]:
        yield from self._block(self._body, outer=True)

    def _block(self, body: Iterable[ast.stmt], *, outer: bool) -> Iterator[VersionCheck]:
        for node in body:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        self._modules[alias.asname or alias.name.partition(".")[0]] = (
                            alias.name if alias.asname else alias.name.partition(".")[0]
                        )
                case ast.ImportFrom():
                    self._take(node)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._bind(name, value)
                case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[], keywords=[])) if outer:
                    if name in self._functions:
                        yield from self._block(self._functions[name].body, outer=False)
                case ast.If():
                    yield from self._if(node)
                    if not outer and _may_leave(node):
                        return
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    self._forget({node.name})
                case ast.Return():
                    return
                case _:
                    self._forget({name for inner in ast.walk(node) for name in binds(inner)})
                    if not outer and _may_leave(node):
                        return

    def _take(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name
            self._forget({name})
            if node.module and not node.level and alias.name == "__version__":
                self._versions[name] = node.module

    def _bind(self, name: str, value: ast.expr) -> None:
        module, constant = self._version(value), self._constant(value)
        self._forget({name})
        if module:
            self._versions[name] = module
        elif constant:
            self._constants[name] = constant

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            for known in (self._modules, self._versions, self._constants):
                known.pop(name, None)

    def _if(self, node: ast.If) -> Iterator[VersionCheck]:
        """Of a chain each test stands for itself as long as those before it raise."""
        found = tuple(self._tests(node.test, node.lineno))
        if found and any(isinstance(item, ast.Raise) for item in node.body) and not _branches(node.body):
            yield from found
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                yield from self._if(node.orelse[0])
                return
        self._forget({name for inner in ast.walk(node) for name in binds(inner)})

    def _tests(self, test: ast.expr, line: int) -> Iterator[VersionCheck]:
        match test:
            case ast.BoolOp(op=ast.Or(), values=values):
                for value in values:
                    yield from self._tests(value, line)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as operand):
                for check in self._tests(operand, line):
                    yield check._replace(operator=NEGATED[check.operator])
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SYMBOLS:
                symbol = SYMBOLS[type(op)]
                one, other = self._version(left), self._constant(right)
                if not (one and other):
                    one, other = self._version(right), self._constant(left)
                    symbol = MIRRORED.get(symbol, symbol)
                if one and other:
                    yield VersionCheck(line, one, symbol, other)
            case _:
                return

    def _version(self, node: ast.expr) -> str:
        """The module whose version, or a part of it from its beginning, `node` gives; "" where it may be anything."""
        match node:
            case ast.Name(id=name):
                return self._versions.get(name, "")
            case ast.Attribute(value=inner, attr=attr) if attr in NAMES:
                while isinstance(inner, ast.Attribute):
                    inner = inner.value
                return self._modules.get(inner.id, "") if isinstance(inner, ast.Name) else ""
            case ast.Attribute(value=inner, attr=attr) if attr in PARTS:
                return self._version(inner)
            case ast.Subscript(value=inner, slice=ast.Slice(lower=None, step=None) | ast.Constant(value=0)):
                return self._version(inner)
            case ast.Call(func=ast.Attribute(attr="split") as inner):
                return self._version(inner)
            case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int"), inner]):
                return self._version(inner)
            case ast.Call(func=func, args=[inner], keywords=[]):
                return self._made(func, inner)
            case _:
                return ""

    def _made(self, func: ast.expr, inner: ast.expr) -> str:
        if _last(func) in CALLS:
            return self._version(inner)
        own = isinstance(func, ast.Name) and func.id.endswith("version") and isinstance(inner, ast.Name)
        return self._modules.get(inner.id, "") if own and isinstance(inner, ast.Name) else ""

    def _constant(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return str(number)
            case ast.Tuple(elts=items):
                parts = [self._constant(item) for item in items]
                return ".".join(parts) if all(parts) else ""
            case ast.Name(id=name):
                return self._constants.get(name, "")
            case ast.Call(func=func, args=[inner], keywords=[]) if _last(func) in CALLS:
                return self._constant(inner)
            case _:
                return ""


def _last(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _branches(body: Iterable[ast.stmt]) -> bool:
    return any(
        isinstance(item, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.Match) for item in body
    )


def _may_leave(node: ast.stmt) -> bool:
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))
