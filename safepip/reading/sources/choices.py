"""Modules that try one import after the other, note what failed, and raise where none is left (qtpy, pandas)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from safepip.model.imports import Choice, Reference
from safepip.reading.sources.conditions import catches_import_error, gives_up

MOST_ATTEMPTS = 60  # each is held against each condition; modules have at most a dozen
Names = frozenset[str]


class Attempt(NamedTuple):
    """A `try` that survives an ImportError, or ends the module over it."""

    node: ast.Try | ast.TryStar
    ways: tuple[tuple[Reference, ...], ...]  # one is enough; none: what it tries is not written in the file


def choices(tree: ast.Module, attempts: Sequence[Attempt]) -> Iterator[Choice]:
    """The places of the top level where the module ends because all of some attempts have failed."""
    for node in tree.body if 0 < len(attempts) <= MOST_ATTEMPTS else ():
        if isinstance(node, ast.For) and gives_up(node.orelse):
            inside = [attempt for attempt in attempts if _within(attempt.node, node)]
            yield from _choice(inside, node.orelse[0])
        elif isinstance(node, ast.If):
            before = [attempt for attempt in attempts if attempt.node.lineno < node.lineno]
            for names in _missing(node.test) if gives_up(node.body) else ():
                binding = [attempt for attempt in before if _bound(attempt.node) & names]
                if not _set_again(tree.body, binding, node, names):
                    yield from _choice(binding, node.body[-1])
            yield from _last_of_chain(tree, node, before, attempts)


def collects(body: Sequence[ast.stmt], tree: ast.Module) -> bool:
    """Whether a handler only notes the failure in a list over which the module raises (as pandas does)."""
    noted = {
        node.func.value.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"append", "add"}
        and isinstance(node.func.value, ast.Name)
    }
    return bool(noted) and any(
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id in noted
        and gives_up(node.body)
        for node in ast.walk(tree)
    )


def plain_imports(body: Iterable[ast.stmt]) -> tuple[Reference, ...]:
    """What the statements of `body` itself import absolutely."""
    found: list[Reference] = []
    for node in body:
        if isinstance(node, ast.Import):
            found += [Reference(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(Reference(node.module))
    return tuple(found)


def binds(node: ast.AST) -> Names:
    """The names that this node itself binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return frozenset({name})
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return frozenset(alias.asname or alias.name.partition(".")[0] for alias in names)
        case _:
            return frozenset()


def _last_of_chain(
    tree: ast.Module, node: ast.If, before: Sequence[Attempt], attempts: Sequence[Attempt]
) -> Iterator[Choice]:
    """`if API in LAST: try … except ImportError: raise`, where the attempts before it set API as they failed."""
    names = frozenset(inner.id for inner in ast.walk(node.test) if isinstance(inner, ast.Name))
    earlier = [attempt for attempt in before if _bound(attempt.node) & names]
    for last in attempts if earlier else ():
        if last.node in node.body and _ends_module(last.node):
            group = [*earlier, last]
            if not _set_again(tree.body, group, node, names & _bound(earlier[-1].node)):
                yield from _choice(group, last.node)


def _ends_module(node: ast.Try | ast.TryStar) -> bool:
    handler = next((item for item in node.handlers if catches_import_error(item)), None)
    return handler is not None and gives_up(handler.body)


def _choice(attempts: Sequence[Attempt], place: ast.stmt) -> Iterator[Choice]:
    if attempts and all(attempt.ways for attempt in attempts):
        yield Choice(place.lineno, tuple(way for attempt in attempts for way in attempt.ways))


def _missing(test: ast.expr) -> list[Names]:
    """Sets of names, each of which makes `test` true when none of its names was found."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return [frozenset({name})]
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
            return [frozenset({name})]
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=op, values=values)):
            negated: list[ast.expr] = [ast.UnaryOp(op=ast.Not(), operand=value) for value in values]
            return _missing(ast.BoolOp(op=ast.And() if isinstance(op, ast.Or) else ast.Or(), values=negated))
        case ast.BoolOp(op=ast.Or(), values=values):
            return [names for value in values for names in _missing(value)]
        case ast.BoolOp(values=values):
            parts = [_missing(value) for value in values]
            return [frozenset().union(*(part[0] for part in parts))] if all(map(_is_one, parts)) else []
        case _:
            return []


def _is_one(part: Sequence[Names]) -> bool:
    return len(part) == 1


def _set_again(body: Iterable[ast.stmt], attempts: Sequence[Attempt], end: ast.stmt, names: Names) -> bool:
    """Whether one of `names` is bound between the first attempt and `end`, other than by the attempts."""
    if not attempts:
        return False
    own = {id(node) for attempt in attempts for node in ast.walk(attempt.node)}
    first = attempts[0].node.lineno
    return any(
        first < getattr(node, "lineno", 0) < end.lineno
        and id(node) not in own
        and not binds(node).isdisjoint(names)
        for statement in body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
    )


def _bound(node: ast.AST) -> Names:
    return frozenset(name for inner in ast.walk(node) for name in binds(inner))


def _within(node: ast.stmt, outer: ast.stmt) -> bool:
    return outer.lineno <= node.lineno <= (outer.end_lineno or outer.lineno)
