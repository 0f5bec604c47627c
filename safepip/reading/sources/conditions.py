"""Which branches of a module an interpreter takes, and which failures of an import it survives."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
SUPPRESSING = frozenset({"suppress", "try_import"})
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
PLATFORM = {"sys.platform": "linux", "os.name": "posix", "platform.system()": "Linux"}
LATEST = 99  # a micro version: that of the interpreter decides nothing in practice


def catches_import_error(handler: ast.ExceptHandler) -> bool:
    match handler.type:
        case None:
            return True
        case ast.Tuple(elts=kinds):
            return any(_last(kind) in CATCHING for kind in kinds)
        case kind:
            return _last(kind) in CATCHING


def gives_up(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in an exception or ends the process, whatever it does before."""
    return any(
        isinstance(node, ast.Raise)
        or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and _last(node.value.func) in {"exit", "_exit"}
        )
        for node in body
    )


def suppresses(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or _last(context.func) not in SUPPRESSING:
        return False
    return not context.args or any(_last(kind) in CATCHING for kind in context.args)


def compared_with_none(test: ast.expr) -> str:
    """The name X of a test `X is not None`."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return name
        case _:
            return ""


def names_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name | ast.Attribute) and _last(test) == "TYPE_CHECKING"


def _last(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


class Deciding:
    """Conditions that the target's version and platform settle; names bound to such conditions are remembered."""

    def __init__(self, version: tuple[int, int]) -> None:
        self._version = (*version, LATEST, "final", 0)
        self._known: dict[str, bool] = {"TYPE_CHECKING": False, "PY2": False, "PY3": True}

    def learn(self, name: str, value: ast.expr) -> None:
        decided = None if isinstance(value, ast.Constant) else self.decide(value)  # a flag may be set again
        if decided is not None:
            self._known[name] = decided

    def decide(self, test: ast.expr) -> bool | None:
        """True, False, or None: not to be known from the file."""
        match test:
            case ast.Constant(value=value):
                return bool(value)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._known.get(name)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.decide(operand)
                return None if inner is None else not inner
            case ast.BoolOp(op=op, values=values):
                return self._both(isinstance(op, ast.And), [self.decide(value) for value in values])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(left, op, right)
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="platform"), attr="startswith"), args=[value]
            ):
                prefix = self._value(value)
                return PLATFORM["sys.platform"].startswith(prefix) if isinstance(prefix, str) else None
            case _:
                return None

    def _both(self, every: bool, parts: Sequence[bool | None]) -> bool | None:  # noqa: FBT001 - private
        if (not every) in parts:
            return not every
        return None if None in parts else every

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        if ast.unparse(left) == "__name__":
            return False if isinstance(op, ast.Eq) else None
        one, two = self._value(left), self._value(right)
        if one is None or two is None:
            return None
        if isinstance(op, ast.In | ast.NotIn):
            return (one in two) is isinstance(op, ast.In) if isinstance(two, tuple | str) else None
        try:
            return COMPARE[type(op)](one, two) if type(op) in COMPARE else None
        except TypeError:
            return None

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = tuple(self._value(item) for item in items)
                return None if None in values else values
            case ast.Subscript(value=inner, slice=index):
                return self._part(self._value(inner), index)
            case ast.Attribute(attr="version_info"):
                return self._version
            case ast.Attribute(value=inner, attr="major" | "minor" as part):
                version = self._value(inner)
                return version[part == "minor"] if isinstance(version, tuple) else None
            case ast.Attribute() | ast.Call():
                return PLATFORM.get(ast.unparse(node))
            case _:
                return None

    def _part(self, value: object, index: ast.expr) -> object:
        if not isinstance(value, tuple):
            return None
        match index:
            case ast.Constant(value=int(number)) if number < len(value):
                return value[number]
            case ast.Slice(lower=None, upper=ast.Constant(value=int(number)), step=None):
                return value[:number]
            case _:
                return None
