"""A source as `ast` has it, that of a newer Python than the one that runs safepip too, and what waits in it.

Of what is newer, what a line shows is put in this Python's words, and no line is moved: `lazy import` of CPython 3.15
(PEP 810), t-strings (PEP 750) and `except A, B:` (PEP 758) of 3.14. The rest stays unread, and is said to be.
"""

from __future__ import annotations

import ast
import re
import warnings

from safepip.model.imports import Unread
from safepip.reading.sources import weight

WAITS = re.compile(rb"\blazy[ \t]+(?:import|from)\b|__lazy_modules__")
_LAZY = re.compile(rb"^([ \t]*)lazy[ \t]+(?=(?:import|from)\b)", re.MULTILINE)
_TEMPLATE = re.compile(rb"(?<![\w\"'])(?:[tT]([rR]?)|([rR])[tT])(?=[\"'])")
_BARE = re.compile(rb"^([ \t]*except\*?[ \t]+)([\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)[ \t]*(?=:)", re.MULTILINE)
_LATER = (ast.Lambda, ast.If, ast.Try, ast.TryStar, getattr(ast, "TypeAlias", ast.Lambda))


def parse(data: bytes) -> ast.Module | Unread:
    reason = weight.too_heavy(data)
    if reason:
        return Unread(reason)
    tree = _tree(data)
    if isinstance(tree, ast.Module):
        return tree
    older = _BARE.sub(rb"\1(\2)", _TEMPLATE.sub(rb"f\1\2", _LAZY.sub(rb"\1", data)))
    again = _tree(older) if older != data else tree
    if isinstance(again, Unread):
        return tree
    _mark(again, {data.count(b"\n", 0, found.end()) + 1 for found in _LAZY.finditer(data)})
    return again


def _tree(data: bytes) -> ast.Module | Unread:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except SyntaxError as problem:
        return Unread(f"line {problem.lineno}: {problem.msg}")
    except (ValueError, MemoryError, RecursionError, OverflowError) as problem:
        return Unread(str(problem).splitlines()[0] if str(problem) else type(problem).__name__)


def _mark(tree: ast.Module, lines: set[int]) -> None:
    """As `ast` of CPython 3.15 does."""
    for node in ast.walk(tree) if lines else ():
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno in lines:
            vars(node)["is_lazy"] = 1


def is_lazy(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether it is written so: the import waits until its name is used."""
    return bool(getattr(node, "is_lazy", 0))


def used_at_once(tree: ast.Module) -> frozenset[str]:
    """The names that are used while the module is imported, whatever holds; annotations wait (PEP 649)."""
    found = set()
    pending: list[ast.AST] = [*tree.body]
    while pending:
        match pending.pop():
            case ast.Name(id=name, ctx=ast.Load()):
                found.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() as node:
                pending += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
            case ast.AnnAssign(value=value):
                pending += [value] if value else []
            case node:
                pending += [] if isinstance(node, _LATER) else ast.iter_child_nodes(node)
    return frozenset(found)
