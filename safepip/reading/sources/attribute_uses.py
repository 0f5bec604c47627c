"""Attributes of modules that a source asks for while it is imported, whatever holds: nothing is imported or run.

    import marshmallow as ma
    VERSION = Version(ma.__version__)

Only statements of the top level are read, outside `if` and `try`, and of them what is evaluated in any case.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from safepip.reading.sources.choices import binds
from safepip.reading.sources.syntax import parse


class Use(NamedTuple):
    line: int
    module: str
    name: str


def uses(data: bytes) -> Iterator[Use]:
    """In their order."""
    tree = parse(data)
    modules: dict[str, str] = {}  # by the name that stands for one
    for node in tree.body if isinstance(tree, ast.Module) else ():
        match node:
            case ast.Import(names=names):
                for alias in names:
                    top = alias.name.partition(".")[0]
                    modules[alias.asname or top] = alias.name if alias.asname else top
                continue
            case ast.If() | ast.Try() | ast.TryStar():
                pass
            case _:
                yield from _asked(_evaluated(node), modules)
        for name in {getattr(node, "name", "")}.union(*map(binds, ast.walk(node))):
            modules.pop(name, None)


def _evaluated(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.ClassDef():
            within = [item for inner in node.body for item in _evaluated(inner)]
            return [*node.decorator_list, *node.bases, *(item.value for item in node.keywords), *within]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = (*node.args.defaults, *node.args.kw_defaults)
            return [*node.decorator_list, *(item for item in defaults if item is not None)]
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.Expr(value=value):
            return [value]
        case _:
            return []


def _asked(expressions: Iterable[ast.expr], modules: dict[str, str]) -> Iterator[Use]:
    pending = list(reversed(list(expressions)))
    while pending:
        node = pending.pop()
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in modules:
                yield Use(node.lineno, modules[name], attr)
            case ast.BoolOp(values=[first, *_]):
                pending.append(first)
            case ast.IfExp(test=test):
                pending.append(test)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                pass
            case _:
                pending += [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.expr)][::-1]
                pending += [
                    item.value for item in ast.iter_child_nodes(node) if isinstance(item, ast.keyword)
                ]
