"""The calls in a piece of code, and what a function of that name does with a module or library."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from safepip.model.imports import Way

LEAVES = frozenset({ast.Name, ast.Constant, ast.alias, ast.Load, ast.Store, ast.Pass, str, int, type(None)})

BY_NAME = frozenset({"__import__", "import_module"})
CHECKS = frozenset(
    {"version", "distribution", "require_version", "require_version_core", "get_distribution", "require"}
)
OPENS = frozenset({"CDLL", "PyDLL", "LoadLibrary", "find_library"})


def calls_in(root: ast.AST) -> Iterator[ast.Call]:
    """Outermost first: what ast.walk gives, in half the time."""
    queue = [root]
    for node in queue:  # grows while it is walked
        if type(node) is ast.Call:
            yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                queue += [item for item in value if type(item) not in LEAVES]
            elif type(value) not in LEAVES and isinstance(value, ast.AST):
                queue.append(value)


def way_of(name: str) -> Way | None:
    if name in BY_NAME:
        return Way.IMPORT
    if name in CHECKS:
        return Way.VERSION
    if name in OPENS:
        return Way.LIBRARY
    return Way.LAZY if "lazy" in name.lower() else None
