"""What `safepip explain` says of each kind of finding and each of the doctor's checks."""

from __future__ import annotations

from typing import Any

from safepip.render import tables
from safepip.render.document import SCHEMA
from safepip.render.meanings import CHECKS, KINDS, Explanation
from safepip.render.terminal import Style


def find(name: str) -> Explanation | None:
    """The explanation of a kind or a check; where both have the name, the check's."""
    for table in (CHECKS, KINDS):
        for key, explanation in table.items():
            if key.value == name:
                return explanation
    return None


def names() -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(kind.value for kind in KINDS), *(check.value for check in CHECKS)]))


def report(*listed: str) -> dict[str, Any]:
    """For programs, of each name that has an explanation."""
    found = ((name, find(name)) for name in listed)
    return {
        "schema": SCHEMA,
        "explanations": [{"kind": name, **item._asdict()} for name, item in found if item],
    }


def show(name: str, found: Explanation, style: Style) -> str:
    lines = [tables.painted(name, tables.BOLD, style), *tables.paragraph(found.meaning, style, 2, 0)]
    for title, said in (("Example", found.example), ("What to do", found.remedy)):
        lines += ["", title, *tables.paragraph(said, style, 2, 0)]
    where = "By hand, in site-packages (capitals stand for what the finding names)"
    lines += ["", *tables.paragraph(where, style), *(f"  {line}" for line in found.proof)]
    return tables.text(lines)


def overview(style: Style) -> str:
    """Every kind and check in a line."""
    kinds = [(kind.value, item.meaning) for kind, item in KINDS.items()]
    checks = [(check.value, item.meaning) for check, item in CHECKS.items()]
    return tables.text(
        [
            "Kinds of findings",
            *tables.table(kinds, style),
            "",
            "Checks of the doctor",
            *tables.table(checks, style),
        ]
    )
