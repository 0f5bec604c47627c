"""The answer to `safepip why`, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from safepip.errors import printable
from safepip.model.answers import Answered, Match, Use
from safepip.model.survey import Standing
from safepip.render import document, tables
from safepip.render.document import SCHEMA
from safepip.render.terminal import Style

MOST = 12  # rows of a kind without -v


def report(answer: Answered) -> dict[str, Any]:
    target = answer.target
    return {
        "schema": SCHEMA,
        "query": answer.query,
        "environment": document.environment(target),
        "matches": [
            {
                "soname": match.soname or None,
                "path": match.path,
                "owners": match.owners,
                "bytes_of": match.bytes_of,
                "bytes": match.bytes,
                "package": match.package.name if match.package else None,
            }
            for match in answer.matches
        ],
        "distributions": [item._asdict() for item in answer.distributions],
        "needed_by": [
            {
                "path": use.path,
                "distribution": use.distribution,
                "how": use.how.name.lower(),
                "bound_to": use.bound_to,
                "rule": use.rule,
                "wants": use.wants,
                "chain": use.chain,
            }
            for use in answer.needed_by
        ],
        "searched": [{"rule": place.rule, "path": place.path} for place in _searched(answer)],
        "elsewhere": [{"rule": place.rule, "path": place.path} for place in answer.elsewhere],
        "required_by": [
            {"distribution": item.distribution, "requirement": item.requirement, "extra": item.extra}
            for item in answer.required_by
        ],
        "imported_by": [
            {
                "distribution": item.distribution,
                "path": item.path,
                "line": item.line,
                "guarded": item.guarded,
            }
            for item in answer.imported_by
        ],
        "opened_by": [item._asdict() for item in answer.opened_by],
        "unjudged": [{"subject": one.subject, "reason": one.reason} for one in answer.unjudged],
        "brought_by": [
            {"distribution": item.distribution, "because": item.because, "command": item.command}
            for item in answer.brought_by
        ],
        "like": answer.like,
    }


def show(answer: Answered, style: Style) -> str:
    if answer.is_empty and not answer.brought_by:
        said = f"nothing in {answer.target.place} matches {answer.query!r}, and nothing needs it"
        lines = tables.paragraph(f"safepip: {said}", style)
        lines += tables.paragraph(f"like it: {', '.join(answer.like)}", style, 2) if answer.like else []
        return tables.text(lines)
    most = None if style.verbose else MOST
    lines = [tables.painted(line, tables.BOLD, style) for line in tables.paragraph(answer.query, style)]
    lines += _matches(answer, style, most)
    lines += _uses(answer, style, most)
    lines += _opened(answer, style, most)
    lines += _declared(answer, style, most)
    lines += _imported(answer, style, most)
    lines += _places(answer, style)
    lines += _bringers(answer, style)
    for item in answer.unjudged:
        lines += ["", *tables.paragraph(f"unjudged: {_short(item.subject, answer)}: {item.reason}", style)]
    if answer.distributions and not answer.is_needed and not answer.unjudged:
        lines += ["", *tables.paragraph("nothing that is installed needs it", style)]
    return tables.text(lines)


def _matches(answer: Answered, style: Style, most: int | None) -> list[str]:
    if answer.distributions and not answer.matches:
        named = tables.some([f"{item.name} {item.version}" for item in answer.distributions])
        return tables.paragraph(f"{named}, without a library that an object could need", style, 2)
    if not answer.matches:
        return tables.paragraph("no file of that name is there", style, 2)
    lines: list[str] = []
    for match in answer.matches[:most]:
        lines += tables.paragraph(_match(match, answer), style, 2)
    return lines + _more(len(answer.matches), most)


def _match(match: Match, answer: Answered) -> str:
    owned = f"owned by {' and '.join(match.owners)}" if match.owners else "owned by no distribution"
    whose = ""
    if len(match.owners) > 1 or (match.owners and match.bytes_of != match.owners[0]):
        whose = f", bytes of {match.bytes_of or 'none of them'}"
    if match.package:
        whose += f", kept by {match.package.by.value.partition(' ')[0]} ({match.package.name})"
    soname = (
        f", SONAME {match.soname}" if match.soname and not match.path.endswith(f"/{match.soname}") else ""
    )
    return f"{_short(match.path, answer)}, {tables.size(match.bytes)}{soname}, {owned}{whose}"


def _uses(answer: Answered, style: Style, most: int | None) -> list[str]:
    if not answer.needed_by:
        if not any(match.soname for match in answer.matches):
            return []
        return ["", *tables.paragraph("no object of another file needs it by name", style)]
    files = {match.path for match in answer.matches}
    inner = [use for use in answer.needed_by if use.path in files and use.bound_to] if most else []
    shown = [use for use in answer.needed_by if use not in inner] or inner
    lines = ["", "Needed by"]
    groups = _folded(_alike(shown)) if most else [(group, 0) for group in _alike(shown)]
    told = [_bound(group, answer) for group, _ in groups[:most]]
    for (group, more), bound, following in zip(groups[:most], told, [*told[1:], ""], strict=True):
        first = group[0]
        way = " → ".join((*first.chain[:-1], ", ".join(use.chain[-1] for use in group)))
        also = f", and {tables.count(more, 'more object')} of it" if more else ""
        lines += tables.paragraph(f"{first.distribution or 'nobody'}: {way}{also}", style, 2, 4)
        if bound != following or style.verbose:
            lines += tables.paragraph(bound, style, 6)
    if inner and shown != inner:
        lines += tables.paragraph(
            f"and by one another ({tables.count(len(inner), 'need')}, -v shows them)", style, 2
        )
    return lines + _more(len(groups), most)


def _opened(answer: Answered, style: Style, most: int | None) -> list[str]:
    lines = ["", "Opened at run time by"] if answer.opened_by else []
    for item in answer.opened_by[:most]:
        names = tables.some(item.names) if most else ", ".join(item.names)
        lines += tables.paragraph(f"{item.distribution}: {names} ({item.source})", style, 2, 4)
    return lines + _more(len(answer.opened_by), most)


def _alike(uses: Sequence[Use]) -> list[list[Use]]:
    """The needs of one object that are met in one folder by one rule: told together."""
    groups: dict[tuple[object, ...], list[Use]] = {}
    for use in uses:
        folder = use.bound_to and use.bound_to.rpartition("/")[0]
        groups.setdefault((use.chain[:-1], use.how, use.rule, folder), []).append(use)
    return list(groups.values())


def _folded(groups: Sequence[list[Use]]) -> list[tuple[list[Use], int]]:
    """Of the objects of one distribution that get the same from one place the first, and how many more there are."""
    alike: dict[tuple[object, ...], list[list[Use]]] = {}
    for group in groups:
        first, wanted = group[0], tuple(use.wants for use in group)
        rule = first.rule.replace(first.path.rpartition("/")[2], "")
        key = (first.distribution, first.how, rule, first.bound_to, wanted)
        alike.setdefault(key, []).append(group)
    return [(same[0], len(same) - 1) for same in alike.values()]


def _bound(group: Sequence[Use], answer: Answered) -> str:
    use = group[0]
    if use.bound_to is None:
        held = ", though a file of that name is there" if use.how is Standing.ELSEWHERE else ""
        return f"{use.how.name}: {use.rule}{held}"
    path = _short(use.bound_to, answer)
    what = path if len(group) == 1 else f"{len(group)} files in {path.rpartition('/')[0]}"
    return f"{use.how.name.lower()}: {what} ({use.rule})"


def _declared(answer: Answered, style: Style, most: int | None) -> list[str]:
    plain = [item for item in answer.required_by if not item.extra]
    extra = [item for item in answer.required_by if item.extra]
    lines = ["", "Required by"] if plain or extra else []
    lines += tables.table([(item.distribution, item.requirement) for item in plain[:most]], style)
    lines += _more(len(plain), most)
    if extra:
        names = tables.some([item.distribution for item in extra])
        lines += tables.paragraph(f"under an extra only: {names}", style, 2)
    return lines


def _imported(answer: Answered, style: Style, most: int | None) -> list[str]:
    rows = [
        (
            item.distribution,
            f"{_short(item.path, answer)}:{item.line}{' (guarded, or in a function)' if item.guarded else ''}",
        )
        for item in sorted(answer.imported_by, key=lambda item: item.guarded)
    ]
    return ["", "Imported by", *tables.table(rows[:most], style), *_more(len(rows), most)] if rows else []


def _places(answer: Answered, style: Style) -> list[str]:
    lines: list[str] = []
    missing = [use for use in answer.needed_by if use.bound_to is None]
    if missing or style.verbose:
        asker = next((use.path.rpartition("/")[2] for use in answer.needed_by if use.searched), "")
        lines += ["", f"Searched, in order{asker and f', for {printable(asker)}'}"]
        lines += _steps(answer, style)
    if answer.elsewhere:
        rows = [(place.rule, place.path) for place in answer.elsewhere]
        lines += ["", "Also there, outside the environment", *tables.table(rows, style)]
    return lines


def _steps(answer: Answered, style: Style) -> list[str]:
    """Folders, below the rule that names them: the file's name is known."""
    lines: list[str] = []
    steps = [(*place.rule.partition(": "), place.path.rpartition("/")[0]) for place in _searched(answer)]
    for rule, group in groupby(steps, key=lambda step: step[0]):
        lines += tables.paragraph(rule, style, 2)
        rows = [(element, _short(folder, answer)) for _, _, element, folder in group if folder not in rule]
        lines += tables.table(rows if any(row[0] for row in rows) else [row[1:] for row in rows], style, 4)
    return lines


def _bringers(answer: Answered, style: Style) -> list[str]:
    lines = ["", "Would bring it"] if answer.brought_by else []
    for item in answer.brought_by:
        lines += tables.paragraph(f"{item.distribution}: {item.because}", style, 2)
        lines += [f"    {tables.command(item.command)}"] if item.command else []
    return lines


def _searched(answer: Answered) -> tuple[Any, ...]:
    """Of the one in most need: the first use is the worst off."""
    return next((use.searched for use in answer.needed_by if use.searched or use.bound_to is None), ())


def _short(path: str, answer: Answered) -> str:
    return tables.short(path, (*answer.target.site_folders, answer.target.prefix))


def _more(there: int, most: int | None) -> list[str]:
    return [f"  … and {there - most} more (-v shows all)"] if most is not None and there > most else []
