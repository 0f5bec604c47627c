"""The names that importing a module binds, as far as its statements tell: nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from safepip.reading.sources.choices import binds
from safepip.reading.sources.source import absolute
from safepip.reading.sources.syntax import parse

PLAIN = rb"^(?:(?:async[ \t]+)?def|class)[ \t]+%s\b|^%s[ \t]*(?::[^=\n]*)?=|^(?:from|import)\b[^\n]*\b%s\b"
ALWAYS = frozenset(
    ["__name__", "__doc__", "__file__", "__path__", "__spec__", "__package__", "__loader__", "__builtins__"]
)
IN_SCOPE = frozenset(
    ["globals", "locals", "vars", "exec", "setattr"]
)  # by which a module's own code binds any name
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Bound(NamedTuple):
    """The names that a module may have once it is imported."""

    names: frozenset[str]
    stars: tuple[str, ...] = ()  # modules of which it takes every name
    is_open: bool = False  # what else it has, statements do not tell


def is_plainly_bound(data: bytes, name: bytes) -> bool:
    """Whether a line of its own binds `name`: the common case, and the cheapest to see."""
    return name in data and re.search(PLAIN % (name, name, name), data, re.MULTILINE) is not None


def bound(data: bytes, name: str, *, is_package: bool) -> Bound:
    """What importing a module called `name`, of these bytes, binds at most."""
    tree = parse(data)
    if not isinstance(tree, ast.Module):
        return Bound(frozenset(), is_open=True)
    package = name if is_package else name.rpartition(".")[0]
    scope = tuple(_scope(tree.body))
    names = ALWAYS.union(*map(_binds, scope), _globals(tree))
    stars = (
        absolute("." * node.level + (node.module or ""), package)
        for node in scope
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    )
    return Bound(names, tuple(stars), is_open=_is_open(tree, scope, names))


def _scope(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that belong to the module itself, functions and classes as wholes."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))


def _binds(node: ast.AST) -> frozenset[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
            return frozenset({name})
        case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            return frozenset({name})
        case _:
            return binds(node)


def _globals(tree: ast.Module) -> frozenset[str]:
    """What functions may bind of the module's."""
    return frozenset(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)


def _is_open(tree: ast.Module, scope: Iterable[ast.AST], names: frozenset[str]) -> bool:
    """Whether names come by other ways than by statements, or are answered for: `__getattr__`, `globals()["x"] = 1`,
    `setattr(sys.modules[__name__], …)`, `initpkg(__name__, …)`.
    """
    everything = tuple(ast.walk(tree))
    imported = frozenset(name for node in everything if isinstance(node, ast.Import) for name in binds(node))
    return (
        "__getattr__" in names
        or any(map(_may_bind, scope))
        or any(_reaches_modules(node, imported) for node in everything)
    )


def _may_bind(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name in IN_SCOPE
        case ast.Attribute(attr=name):
            return name == "__dict__"
        case ast.Call():
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return len(given) > 1 and any(map(_is_own_name, given))
        case _:
            return False


def _reaches_modules(node: ast.AST, imported: frozenset[str]) -> bool:
    """Whether the namespace of this module, or of one that is `imported`, may be written to, wherever that stands."""
    match node:
        case ast.Name(id="globals"):
            return True
        case ast.Subscript(value=ast.Attribute(attr="modules") | ast.Name(id="modules"), slice=key):
            return any(map(_is_own_name, ast.walk(key)))
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="modules") | ast.Name(id="modules"))):
            return any(map(_is_own_name, ast.walk(node)))
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), *_]):
            return name in imported
        case _:
            return False


def _is_own_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "__name__"
