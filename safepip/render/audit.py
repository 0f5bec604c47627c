"""An audit, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from safepip.model.audit import Audit, Judged, Mixed, Reason, Together, Unneeded
from safepip.model.environment import Target
from safepip.model.report import Decision, FindingKind, Severity
from safepip.render import document, notices, tables
from safepip.render.document import SCHEMA
from safepip.render.terminal import Style

WHY = {
    FindingKind.LIBRARY_LOST: "library",
    FindingKind.SYMBOL_LOST: "symbols",
    FindingKind.FILE_LOST: "files",
    FindingKind.IMPORT_LOST: "import",
    FindingKind.REQUIREMENT_LOST: "required",
    FindingKind.LAST_COPY: "last copy",
}
USERS = 3


def report(audit: Audit) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "environment": document.environment(audit.target),
        "mixed": [_mixed(item) for item in audit.mixed],
        "distributions": [_judged(item) for item in audit.judged],
        "unneeded": [
            {
                "names": [dist.name for dist in item.dists],
                "bytes": item.bytes,
                "why": item.why.name.lower(),
                "message": item.title,
                "command": item.command,
                "fingerprint": notices.of_unneeded(item),
            }
            for item in audit.unneeded
        ],
        "unjudged": [{"subject": item.subject, "reason": item.reason} for item in audit.unjudged],
    }


def report_together(item: Together) -> dict[str, Any]:
    return {
        **document.report(item.verdict, files=False),
        "may_go": [{"name": dist.name, "version": dist.version} for dist in item.may_go],
        "must_stay": [_judged(judged) for judged in item.must_stay],
        "frees": item.bytes,
        "commands": item.commands,
    }


def show(audit: Audit, style: Style) -> str:
    needed = [item for item in audit.judged if item.verdict.decision is Decision.REFUSE]
    left = [item for item in audit.judged if item.left_alone]
    free = len(audit.judged) - len(needed) - len(left)
    head = (
        f"safepip: {tables.count(len(audit.judged), 'distribution')} in {audit.target.place} "
        f"(Python {audit.target.version}): {free} could go alone, {len(needed)} could not"
        + (f", {len(left)} pip leaves alone" if left else "")
    )
    lines = [tables.painted(line, tables.BOLD, style) for line in tables.paragraph(head, style)]
    if audit.mixed:
        lines += ["", _title("Mixed", style)]
        for item in audit.mixed:
            lines += _mixed_lines(item, audit.target, style)
    lines += _unneeded_lines(audit.unneeded, style)
    if len(left) < len(audit.judged):
        lines += ["", _title("What each removal would break", style), *_rows(audit, style)]
    lines += _left_lines(left, style)
    lines += [
        line
        for item in audit.unjudged
        for line in tables.paragraph(f"unjudged: {item.subject}: {item.reason}", style, 2)
    ]
    return tables.text(lines)


def show_together(item: Together, style: Style) -> str:
    names = tables.some([dist.name for dist in item.verdict.removal.leaving], 4)
    head = {
        Decision.ALLOW: f"safepip: ok to remove {names} together",
        Decision.WARN: f"safepip: WARNING: removing {names} together takes something",
        Decision.REFUSE: f"safepip: REFUSED: {names} cannot go together",
    }[item.verdict.decision]
    lines = [tables.painted(line, tables.BOLD, style) for line in tables.paragraph(head, style)]
    if item.may_go:
        names = ", ".join(dist.name for dist in item.may_go)
        lines += ["", _title(f"May go (frees {tables.size(item.bytes)})", style)]
        lines += tables.paragraph(names, style, 2, 0)
    if item.must_stay:
        going = {dist.name for dist in item.may_go}
        rows = [
            (judged.dist.name, _users([one for one in judged.needed_by if one.distribution not in going]))
            for judged in item.must_stay
        ]
        lines += ["", _title("Must stay", style), *tables.table(rows, style)]
    if item.commands:
        lines += ["", _title("Safe ways", style)]
        lines += [f"  {tables.command(command)}" for command in item.commands]
    return tables.text(lines)


def _title(text: str, style: Style) -> str:
    return tables.painted(text, tables.BOLD, style)


def _mixed_lines(item: Mixed, target: Target, style: Style) -> list[str]:
    folders = (*target.site_folders, target.prefix)
    lines = tables.paragraph(f"{item.family}: {item.message}", style, 2)
    rows = []
    for build in item.builds:
        users = sorted({one.distribution for one in item.bound if one.provider == build.path}, key=str.lower)
        used = tables.some(users) if users else "bound by no need"
        rows.append((tables.short(build.path, folders), used))
    return [*lines, *tables.table(rows, style, 4)]


def _unneeded_lines(items: Iterable[Unneeded], style: Style) -> list[str]:
    lines: list[str] = []
    for item in items:
        if not lines:
            lines = ["", _title("Nothing installed needs", style)]
        names = ", ".join(dist.name for dist in item.dists)
        said = f"{tables.count(len(item.dists), 'distribution')}: {item.title}"
        freed = f" (frees {tables.size(item.bytes)})" if item.command else ""
        lines += tables.paragraph(f"{said}{freed}", style, 2)
        lines += tables.paragraph(names, style, 4, 0)
        lines += [f"    {tables.command(item.command)}"] if item.command else []
    return lines


def _left_lines(items: Iterable[Judged], style: Style) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for item in items:
        by_reason.setdefault(item.left_alone.partition(": ")[0], []).append(item.dist.name)
    lines = ["", _title("What pip leaves alone", style)] if by_reason else []
    for reason, names in by_reason.items():
        lines += tables.paragraph(reason, style, 2)
        lines += tables.paragraph(", ".join(names), style, 4, 0)
    return lines


def _rows(audit: Audit, style: Style) -> list[str]:
    order = {Decision.REFUSE: 0, Decision.WARN: 1, Decision.ALLOW: 2}
    ranked = sorted(
        (item for item in audit.judged if not item.left_alone),
        key=lambda item: (order[item.verdict.decision], -len(item.needed_by), item.dist.key),
    )
    names = max((len(item.dist.name) for item in ranked), default=0)
    left = style.width - 2 - len("verdict") - len("494 MB") - names - 3 * tables.GAP
    rows = [("verdict", "distribution", "frees", "needed by")]
    rows += [
        (item.verdict.decision.value, item.dist.name, tables.size(item.bytes), _why(item, left))
        for item in ranked
    ]
    lines = tables.table(rows, style)
    if audit.bytes > 2 * audit.freed:
        said = f"of {tables.size(audit.bytes)} only {tables.size(audit.freed)} would be freed: the files have other names too"
        lines += tables.paragraph(f"{said} (hard links to a cache, as uv makes them)", style, 2)
    return lines


def _why(item: Judged, width: int) -> str:
    if item.needed_by:
        return _fitting(item.needed_by, width)
    first = next((one for one in item.verdict.findings if one.severity is not Severity.NOTE), None)
    if first is not None:
        return first.message
    return "your code imports it" if item.in_code else "-"


def _fitting(reasons: Sequence[Reason], width: int) -> str:
    """As many as one line has room for, but one at least."""
    every = (_users(reasons, most) for most in range(USERS, 1, -1))
    return next((said for said in every if len(said) <= width), _users(reasons, 1))


def _users(reasons: Sequence[Reason], most: int = USERS) -> str:
    said = [f"{one.distribution} ({WHY.get(one.kind, one.kind.value)})" for one in reasons[:most]]
    return ", ".join(said) + (f" and {len(reasons) - most} more" if len(reasons) > most else "")


def _judged(item: Judged) -> dict[str, Any]:
    return {
        "name": item.dist.name,
        "version": item.dist.version,
        "verdict": item.verdict.decision.value,
        "findings": document.report(item.verdict, files=False)["findings"],
        "needed_by": [
            {
                "distribution": reason.distribution,
                "kind": reason.kind.value,
                "severity": reason.severity.name.lower(),
                "message": reason.message,
            }
            for reason in item.needed_by
        ],
        "bytes": item.bytes,
        "requested": item.dist.requested,
        "left_alone": item.left_alone or None,
    }


def _mixed(item: Mixed) -> dict[str, Any]:
    return {
        "family": item.family,
        "message": item.message,
        "severity": item.severity.name.lower(),
        "fingerprint": notices.of_mixed(item).fingerprint,
        "builds": [
            {
                "path": build.path,
                "soname": build.soname,
                "owners": build.owners,
                "bytes_of": build.bytes_of,
                "version": build.version,
            }
            for build in item.builds
        ],
        "bound": [
            {"distribution": one.distribution, "path": one.consumer, "bound_to": one.provider}
            for one in item.bound
        ],
    }
