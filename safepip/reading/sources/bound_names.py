"""Names that one module takes from another, and whether importing that one binds them: nothing is imported or run.

`from module import name` fails where `module` is there and `name` is neither bound by its statements nor a module
inside it. Where statements alone do not tell what it binds, nothing is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from safepip.model.imports import Reference
from safepip.reading.sources.choices import binds
from safepip.reading.sources.source import parse

TAKES = re.compile(
    rb"^[ \t]*from[ \t]+(\w[\w.]*)[ \t]+import[ \t]*(\((?:[^)#]|#[^\n]*)*+\)|(?:[^\n\\]|\\\n)*)", re.MULTILINE
)
COMMENT = re.compile(rb"#[^\n]*")
NAME = re.compile(rb"[(\s\\]*(\w+)")
# By these a module gets names, or answers for names, that no statement of it binds; `initpkg(__name__, …)` is one.
OTHER_WAYS = re.compile(
    rb"import[ \t]*\(?[ \t]*\*|__getattr__|__dict__|\b(?:globals|locals|vars|exec|eval|setattr)\b"
    rb"|sys\.modules|\bmodules\[|\([ \t\n]*__name__[ \t\n]*,"
)
PLAIN = rb"^(?:(?:async[ \t]+)?def|class)[ \t]+%s\b|^%s[ \t]*(?::[^=\n]*)?=|^(?:from|import)\b[^\n]*\b%s\b"
ALWAYS = frozenset(
    ["__name__", "__doc__", "__file__", "__path__", "__spec__", "__package__", "__loader__", "__builtins__"]
)


def taken(data: bytes) -> Iterator[Reference]:
    """What `data` takes from other modules by `from module import names`, wherever that stands; relative ones aside."""
    for module, names in TAKES.findall(data):
        found = (NAME.match(item) for item in COMMENT.sub(b"", names).split(b","))
        words = tuple(match[1].decode("utf-8", "replace") for match in found if match)
        yield Reference(module.decode("utf-8", "replace"), words)


def unbound(data: bytes | None, names: Collection[str]) -> frozenset[str]:
    """Those of `names` that importing a module of these bytes surely does not bind; of no bytes nothing is sure."""
    if data is None or OTHER_WAYS.search(data):
        return frozenset()
    left = frozenset(name for name in names if not _is_plainly_bound(data, name.encode()))
    tree = parse(data) if left else None
    return left.difference(ALWAYS, _bound(tree)) if isinstance(tree, ast.Module) else frozenset()


def _is_plainly_bound(data: bytes, name: bytes) -> bool:
    return name in data and re.search(PLAIN % (name, name, name), data, re.MULTILINE) is not None


def _bound(tree: ast.Module) -> Iterator[str]:
    """Each name that some statement of the module's own scope may bind, and those that a function declares global."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
                yield from _globals(node)
                continue
            case ast.Global():
                yield from node.names
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                yield name
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                yield name
            case _:
                yield from binds(node)
        pending.extend(ast.iter_child_nodes(node))


def _globals(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            yield from inner.names
