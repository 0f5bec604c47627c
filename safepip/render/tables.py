"""Columns and paragraphs for people: they fit the width, and no name drives the terminal."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence

from safepip.errors import printable
from safepip.render.terminal import Style

GAP = 2
BOLD, RED, YELLOW, DIM, PLAIN = "\033[1m", "\033[31;1m", "\033[33;1m", "\033[2m", "\033[0m"


def table(rows: Sequence[Sequence[str]], style: Style, indent: int = 2) -> list[str]:
    """`rows` in columns as wide as they need; the last one wraps into what is left of the width."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not cells:
        return []
    most = max(style.width - indent, 20) * 2 // 3
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]) - 1)]
    while sum(widths) + GAP * len(widths) > most:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    lines: list[str] = []
    for row in cells:
        lines += _row(row, widths, style, indent)
    return lines


def paragraph(text: str, style: Style, indent: int = 0, hanging: int = 2) -> list[str]:
    return textwrap.wrap(
        printable(text),
        style.width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )


def painted(text: str, colour: str, style: Style) -> str:
    return f"{colour}{text}{PLAIN}" if style.colour else text


def size(number: int) -> str:
    """`4.1 GB`, as pip counts: thousands."""
    amount = float(number)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def some(names: Sequence[str], most: int = 3) -> str:
    listed = list(dict.fromkeys(names))
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")


def command(words: Sequence[str]) -> str:
    """On one line, quoted, so that it can be pasted."""
    return printable(shlex.join(words))


def short(path: str, folders: Sequence[str]) -> str:
    """`path` below the first of `folders` that it lies in."""
    for folder in folders:
        if path.startswith(f"{folder}/"):
            return path.removeprefix(f"{folder}/")
    return path


def text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _row(row: Sequence[str], widths: Sequence[int], style: Style, indent: int) -> list[str]:
    """A cell too long for its column goes on in the lines below."""
    left = max(style.width - indent - sum(widths) - GAP * len(widths), 10)
    parts = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=False)]
    parts.append(_wrapped(row[-1], left))
    lines = []
    for number in range(max(map(len, parts))):
        pieces = [part[number] if number < len(part) else "" for part in parts]
        head = "".join(piece.ljust(width + GAP) for piece, width in zip(pieces, widths, strict=False))
        lines.append((" " * indent + head + pieces[-1]).rstrip())
    return lines


def _wrapped(cell: str, width: int) -> list[str]:
    """In lines of at most `width`; a path that is longer goes on behind a slash."""
    lines = [""]
    for word in cell.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
        while len(lines[-1]) > width:
            last = lines.pop()
            cut = (
                last.rfind("/", 1, width) + 1
                or max(last.rfind(mark, 1, width) for mark in "_-.") + 1
                or width
            )
            lines += [last[:cut], last[cut:]]
    return lines
