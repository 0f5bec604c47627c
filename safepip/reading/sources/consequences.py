"""What a caught failure of an import leads to later: a function that raises, a name that is used though it is not there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from safepip.model.imports import Choice
from safepip.reading.sources.choices import Attempt, binds
from safepip.reading.sources.conditions import catches_import_error, gives_up

TRY = re.compile(rb"^try:[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n)*)", re.MULTILINE)
USE = re.compile(
    rb"^(?:class[ \t]+\w+[ \t]*\(([^)]*)\)|@(\w+)|\w+[ \t]*=[ \t]*(\w+[.(][^\n]*))", re.MULTILINE
)
WORD = re.compile(rb"\w+")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def ends(body: Sequence[ast.stmt], functions: Mapping[str, Function]) -> bool:
    """Whether a handler gives up, by itself or by a function of the module that only raises."""
    return gives_up(body) or any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in functions
        and gives_up(functions[node.value.func.id].body)
        for node in body
    )


def may_lean(data: bytes) -> bool:
    """Whether a statement of the top level may use a name that stands in a `try` before it."""
    if b"except" not in data:
        return False
    tried = {word for found in TRY.finditer(data) for word in WORD.findall(found[1])}
    return any(
        not tried.isdisjoint(WORD.findall(b" ".join(filter(None, used)))) for used in USE.findall(data)
    )


def leaning(tree: ast.Module, attempts: Sequence[Attempt]) -> Iterator[Choice]:
    """Statements of the top level that fail where an attempt has failed: `class A(lost.B)`, `@lost`, `x = lost.y`."""
    body = set(tree.body)
    left_open = {
        attempt: names
        for attempt in attempts
        if attempt.ways and attempt.node in body and (names := _left_open(attempt.node))
    }
    if not left_open:
        return
    binders = Counter(name for node in tree.body for name in set(_bound_by(node)))
    users = _users(tree.body, {name for names in left_open.values() for name in names if binders[name] == 1})
    for attempt, names in left_open.items():
        alone = {name: unbound for name, unbound in names.items() if binders[name] == 1}
        later = {node for name in alone for node in users.get(name, ()) if node.lineno > attempt.node.lineno}
        failing = (node.lineno for node in later if any(_fails(item, alone) for item in _evaluated(node)))
        if line := min(failing, default=0):
            yield Choice(line, attempt.ways)


def _users(body: Sequence[ast.stmt], names: AbstractSet[str]) -> dict[str, list[ast.stmt]]:
    """The statements in which each of `names` stands where a failure of it would be one of the statement."""
    users: dict[str, list[ast.stmt]] = {}
    for node in body:
        inside = (inner for item in _evaluated(node) for inner in ast.walk(item))
        for name in {inner.id for inner in inside if isinstance(inner, ast.Name)} & names:
            users.setdefault(name, []).append(node)
    return users


def _left_open(node: ast.Try | ast.TryStar) -> dict[str, bool]:
    """The names that its imports would bind and its handler sets to None, or does not bind at all: True."""
    handler = next((item for item in node.handlers if catches_import_error(item)), None)
    if handler is None or gives_up(handler.body):
        return {}
    imported = {
        name for item in node.body if isinstance(item, ast.Import | ast.ImportFrom) for name in binds(item)
    }
    empty = {
        target.id
        for item in handler.body
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant) and item.value.value is None
        for target in item.targets
        if isinstance(target, ast.Name)
    }
    set_there = {name for item in (*handler.body, *node.finalbody) for name in _bound_by(item)}
    return {name: name not in set_there for name in imported if name in empty or name not in set_there}


def _bound_by(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield inner.name
        elif not isinstance(inner, ast.stmt) or isinstance(inner, ast.Import | ast.ImportFrom):
            yield from binds(inner)


def _evaluated(node: ast.stmt) -> Iterator[ast.expr]:
    """What running the statement needs, whatever holds; a name alone is marked as called where None would fail too."""
    match node:
        case ast.ClassDef():
            used = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
            yield from (ast.Call(item, [], []) for item in used)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (ast.Call(item, [], []) for item in node.decorator_list)
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.Expr(value=value):
            yield value
        case _:
            return


def _fails(node: ast.expr, names: Mapping[str, bool]) -> bool:
    match node:
        case ast.Name(id=name):
            return names.get(name, False)
        case ast.Attribute(value=ast.Name(id=name)) | ast.Call(func=ast.Name(id=name)) if name in names:
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return _fails(inner, names)
        case ast.Call():
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return _fails(node.func, names) or any(_fails(item, names) for item in given)
        case ast.BinOp(left=left, right=right):
            return _fails(left, names) or _fails(right, names)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return any(_fails(item, names) for item in items)
        case _:
            return False
