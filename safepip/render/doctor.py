"""A diagnosis, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from safepip.model.diagnosis import Ailment, Check, Cure, Diagnosis, Level
from safepip.model.survey import Standing
from safepip.render import document, notices, tables
from safepip.render.document import SCHEMA
from safepip.render.meanings import CHECKS
from safepip.render.terminal import Style

COLOUR = {Level.ERROR: tables.RED, Level.WARN: tables.YELLOW, Level.NOTE: tables.DIM}
MOST_NOTES = 3


def report(found: Diagnosis) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "environment": document.environment(found.target),
        "healthy": not found.broken,
        "broken": [_ailment(item) for item in found.ailments],
        "hollow": [
            {
                "name": item.dist.name,
                "version": item.dist.version,
                "missing": len(item.missing),
                "of": item.of,
                "paths": item.missing,
            }
            for item in found.hollow
        ],
        "overwritten": [
            {"path": item.path, "owners": item.owners, "bytes_of": item.bytes_of}
            for item in found.overwritten
        ],
        "remedies": [
            {
                "title": cure.title,
                "commands": [cure.command],
                "cures": [notices.of_ailment(item).fingerprint for item in cure.cures],
                "note": cure.note,
                "foreseen": cure.is_foreseen,
            }
            for cure in found.cures
        ],
        "incurable": [notices.of_ailment(item).fingerprint for item in found.incurable],
        "unjudged": [{"subject": item.subject, "reason": item.reason} for item in found.unjudged],
    }


def show(found: Diagnosis, style: Style, left_out: Iterable[Cure] = ()) -> str:
    """`left_out`: steps of the plan that are not among those to be carried out now."""
    errors, warnings = _of(found, Level.ERROR), _of(found, Level.WARN)
    where = f"{found.target.place} (Python {found.target.version})"
    broken = f"{tables.count(len(errors), 'thing')} broken" if errors else "nothing is broken"
    also = f", {len(warnings)} to look at" if warnings else ""
    said = f"safepip: {broken} in {where}{also}"
    lines = [tables.painted(line, tables.BOLD, style) for line in tables.paragraph(said, style)]
    for item in _folded((*errors, *warnings)):
        lines += ["", *_lines(item, style)]
    lines += _notes(_of(found, Level.NOTE), style)
    lines += [
        line
        for item in found.unjudged
        for line in tables.paragraph(f"unjudged: {item.subject}: {item.reason}", style, 2)
    ]
    steps = [*plan(found.cures, style), *plan(left_out, style, "Left to you, for --fix does not do it")]
    return tables.text([*lines, *steps, *_incurable(found.incurable, style)])


def plan(cures: Iterable[Cure], style: Style, title: str = "To mend it") -> list[str]:
    lines, cures = list[str](), tuple(cures)
    for number, cure in enumerate(cures, 1):
        lines = lines or ["", tables.painted(title, tables.BOLD, style)]
        lines += tables.paragraph(f"{number}. {cure.title}", style, 2, 3)
        lines.append(f"     {tables.command(cure.command)}")
        mended = tables.some([_short(item) for item in cure.cures], 4)
        lines += tables.paragraph(f"mends {mended}", style, 5) if cure.cures else []
        lines += tables.paragraph(cure.note, style, 5) if cure.note else []
    unseen = [str(number) for number, cure in enumerate(cures, 1) if not cure.is_foreseen]
    if unseen:
        what = f"step {unseen[0]} fetches" if len(unseen) == 1 else f"steps {', '.join(unseen)} fetch"
        said = (
            f"{what} what is not here: tried by RECORDs and requirements alone; --fix looks anew after each"
        )
        lines += tables.paragraph(said, style, 2)
    return lines


def fixed(done: Iterable[Cure], failed: Cure | None) -> dict[str, Any]:
    return {"done": [cure.title for cure in done], "failed": failed and failed.title}


def show_fixed(done: Iterable[Cure], failed: Cure | None, worse: Iterable[Ailment], style: Style) -> str:
    lines = [line for cure in done for line in tables.paragraph(f"done: {cure.title}", style, 2)]
    broken = list(worse)
    if failed is not None:
        why = "it made things worse" if broken else "it ended with an error"
        lines += tables.paragraph(f"safepip: stopped at `{failed.title}`: {why}", style)
    for item in broken:
        lines += _lines(item, style)
    if broken:
        lines += tables.paragraph(
            "`safepip undo` takes back what the step removed; `safepip history` lists it", style, 2
        )
    return tables.text(lines)


def checks(style: Style) -> str:
    """What `--list` shows."""
    rows = [(check.value, found.meaning) for check, found in CHECKS.items()]
    return tables.text(tables.table(rows, style, 0))


def _of(found: Diagnosis, level: Level) -> list[Ailment]:
    return [item for item in found.ailments if item.level is level]


def _folded(items: Iterable[Ailment]) -> Iterator[Ailment]:
    """Libraries that one object does not find, though they are there, in one finding."""
    groups: dict[tuple[object, ...], list[Ailment]] = {}
    for item in items:
        alike = item.check is Check.MISSING_LIBRARY and item.how is Standing.ELSEWHERE
        key = (item.path, item.level) if alike else (id(item),)
        groups.setdefault(key, []).append(item)
    for first, *others in groups.values():
        if not others:
            yield first
            continue
        names = tables.some([item.soname for item in (first, *others)], 4)
        what = f"{names} are not found, though they are there"
        user = f"{(first.path or '').rpartition('/')[2]} of {first.distribution}"
        yield replace(first, message=f"{what}: {user} needs them", chain=first.chain[:-1])


def _lines(item: Ailment, style: Style) -> list[str]:
    label = f"{item.check.value}: "
    lines = tables.paragraph(f"{label}{item.message}", style, 2)
    lines[0] = lines[0].replace(label.rstrip(), tables.painted(label.rstrip(), COLOUR[item.level], style), 1)
    if len(item.chain) > 2:
        lines += tables.paragraph(" → ".join(item.chain), style, 4)
    return lines


def _notes(items: list[Ailment], style: Style) -> list[str]:
    most = len(items) if style.verbose else MOST_NOTES
    lines = [""] if items else []
    for item in items[:most]:
        lines += tables.paragraph(f"note: {item.check.value}: {item.message}", style, 2)
    if len(items) > most:
        lines.append(f"  … and {tables.count(len(items) - most, 'more note')} (-v shows all)")
    return lines


def _incurable(items: Iterable[Ailment], style: Style) -> list[str]:
    listed = list(items)
    if not listed:
        return []
    said = f"no command is known that mends {tables.some([_short(item) for item in listed], 4)}"
    return [
        "",
        *tables.paragraph(said, style, 2),
        *tables.paragraph("`safepip explain` tells what to do about each", style, 2),
    ]


def _short(item: Ailment) -> str:
    what = item.soname or item.distribution or item.check.value
    return what if what == item.check.value else f"{what} ({item.check.value})"


def _ailment(item: Ailment) -> dict[str, Any]:
    return {
        "check": item.check.value,
        "severity": item.level.name.lower(),
        "path": item.path,
        "distribution": item.distribution or None,
        "soname": item.soname or None,
        "how": item.how.name.lower() if item.how is not None else None,
        "message": item.message,
        "chain": item.chain,
        "paths": item.paths,
        "fingerprint": notices.of_ailment(item).fingerprint,
    }
