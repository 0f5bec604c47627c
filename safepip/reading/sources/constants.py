"""Strings written in a Python file, and the names that are bound to them: what a call is given without running it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

MOST_JOINED = 64  # texts; names of modules that are tried are fewer


class Constants:
    """Names seen so far, each with the strings that it can stand for."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def bind(self, name: str, value: ast.expr) -> None:
        found = self.strings(value)
        if found:
            self._known[name] = found

    def loop(self, target: ast.expr, over: ast.expr) -> bool:
        """Bind the names of a `for`; whether what it goes over is written in the file."""
        literal = isinstance(over, ast.Tuple | ast.List | ast.Set) or (
            isinstance(over, ast.Name) and over.id in self._known
        )
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        for position, name in enumerate(names):
            if isinstance(name, ast.Name) and literal:
                self._known[name.id] = self.strings(over, position if len(names) > 1 else None)
        return literal

    def strings(self, node: ast.expr, position: int | None = None) -> tuple[str, ...]:
        """The strings that `node` stands for; of a list of tuples, those at `position`."""
        match node:
            case ast.Constant(value=str(text)) if text:
                return (text,) if position is None else ()
            case ast.Name(id=name):
                return self._known.get(name, ())
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined([left, right])
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                return self.strings(inner)
            case ast.Dict():
                return tuple(text for key in node.keys if key for text in self.strings(key))
            case ast.Tuple() | ast.List() | ast.Set():
                return tuple(text for item in node.elts for text in self._item(item, position))
            case _:
                return ()

    def _joined(self, parts: Sequence[ast.expr]) -> tuple[str, ...]:
        """Every text that `parts` can give when they are put together."""
        texts: tuple[str, ...] = ("",)
        for part in parts:
            texts = tuple(one + other for one in texts for other in self.strings(part))
            if len(texts) > MOST_JOINED:
                return ()
        return texts

    def _item(self, item: ast.expr, position: int | None) -> tuple[str, ...]:
        if position is None or not isinstance(item, ast.Tuple | ast.List):
            return self.strings(item) if isinstance(item, ast.Constant | ast.Name) else ()
        return self.strings(item.elts[position]) if position < len(item.elts) else ()
