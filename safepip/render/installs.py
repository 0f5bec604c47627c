"""What an install that was done has broken or overwritten, and the way back."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable
from typing import Any

from safepip.errors import printable
from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.report import Decision, Finding, FindingKind, Severity, Verdict
from safepip.render import document, tense
from safepip.render.terminal import Style, remarks

SHOWN = 4  # findings
WAYS = 3


def dump(verdict: Verdict | None, target: Target, outcome: dict[str, Any]) -> str:
    """For programs. Where nothing was changed, nothing is found."""
    found = verdict or Verdict(target, Removal())
    found = found if outcome["rolled_back"] else tense.done(found)
    return document.dump_document({**document.report(found, files=False), "outcome": outcome})


def show(verdict: Verdict, style: Style, *, went_back: bool) -> str:
    """With a newline at its end; "" where nothing got worse. A requirement alone that is not met is called so, as by
    the doctor: whether something fails over it, imports do not show.
    """
    if verdict.decision is Decision.ALLOW:
        return ""
    verdict = verdict if went_back else tense.done(verdict)
    told = [finding for finding in verdict.findings if finding.severity is not Severity.NOTE]
    lines = [*_wrapped(_headline(verdict, went_back=went_back), "", style)]
    lines += remarks(verdict, style)
    lines += [line for item in told[:SHOWN] for line in _finding(item, style)]
    if len(told) > SHOWN:
        lines.append(f"  … and {len(told) - SHOWN} more (--json has all)")
    for number, remedy in enumerate(() if went_back else verdict.remedies[:WAYS], 1):
        lines += _wrapped(f"{number}. {remedy.title}", "  ", style)
        lines += [printable(f"     {shlex.join(command)}") for command in remedy.commands]
    return "".join(f"{line}\n" for line in lines)


def show_notes(notes: Iterable[str], style: Style) -> str:
    return "".join(f"{line}\n" for note in notes for line in _wrapped(f"safepip: {note}", "", style))


def show_stopped(code: int, undo: tuple[str, ...], style: Style) -> str:
    """Where pip ended with an error and had changed something, or what it did is not judged. No `undo`: it is done."""
    ended = f"pip ended with {code} and had changed something" if code else "what pip has done is kept"
    said = f"safepip: {ended}; {'to take it back:' if undo else 'all is as it was before'}"
    return "".join(f"{line}\n" for line in (*_wrapped(said, "", style), *_command(undo)))


def _headline(verdict: Verdict, *, went_back: bool) -> str:
    told = [finding for finding in verdict.findings if finding.severity is verdict.findings[0].severity]
    names = _some(dict.fromkeys(finding.distribution for finding in told if finding.distribution))
    what = _some(f"{item.name} {item.version}" for item in verdict.installing) or "what was installed"
    if went_back:
        return f"safepip: TAKEN BACK: {what} would have broken {names}; all is as it was before"
    if verdict.decision is Decision.REFUSE:
        unmet = all(finding.kind is FindingKind.REQUIREMENT_LOST for finding in told)
        return (
            f"safepip: UNMET NOW: requirements of {names}, by {what}"
            if unmet
            else f"safepip: BROKEN NOW: {names}, by {what}"
        )
    return f"safepip: WARNING: {what} took something from {names}"


def _finding(finding: Finding, style: Style) -> list[str]:
    lines = _wrapped(f"{finding.kind.value}: {finding.message}", "  ", style)
    chain = next((" → ".join(item.chain) for item in finding.consumers if item.chain), "")
    return lines + (_wrapped(chain, "    ", style) if chain else [])


def _command(words: tuple[str, ...]) -> list[str]:
    return [printable(f"  {shlex.join(words)}")] if words else []


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _wrapped(text: str, indent: str, style: Style) -> list[str]:
    return textwrap.wrap(
        printable(text),
        style.width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
