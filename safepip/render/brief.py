"""A refusal for whoever reads no screen: a script's log, a program that pays for each character.

The first line says what is refused and why, the last one what to run instead; in between as much evidence as fits.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from safepip.errors import printable
from safepip.model.environment import Target
from safepip.model.report import Decision, Finding, Severity, Verdict
from safepip.render import terminal

MOST = 1600  # characters, about 400 tokens; only commands longer than that go beyond it

_HEADLINE = 500
_EVIDENCE = 300


def show(verdict: Verdict) -> str:
    """With a newline at its end."""
    worst = max((finding.severity for finding in verdict.findings), default=Severity.NOTE)
    findings = [finding for finding in verdict.findings if finding.severity is worst]
    first = _cut(
        printable(f"{terminal.headline(verdict)}: {findings[0].message}; nothing was touched"),
        _HEADLINE,
    )
    last = printable(_instead(verdict))
    lines = [first, _cut(printable(f"environment: {_environment(verdict.target)}"), _EVIDENCE)]
    lines += [_cut(printable(line), _EVIDENCE) for line in verdict.remarks.lines[:3]]
    room = MOST - len(last) - sum(len(line) + 1 for line in lines) - len("… and 1000 more: add --json\n")
    for number, finding in enumerate(findings):
        line = _cut(printable(_evidence(finding)), _EVIDENCE)
        room -= len(line) + 1
        if room < 0:
            lines.append(f"… and {len(findings) - number} more: add --json")
            break
        lines.append(line)
    return "".join(f"{line}\n" for line in (*lines, last))


def _evidence(finding: Finding) -> str:
    chain = next((" → ".join(consumer.chain) for consumer in finding.consumers if consumer.chain), "")
    return f"{finding.kind.value}: {finding.message}{f' [{chain}]' if chain else ''}"


def _instead(verdict: Verdict) -> str:
    for number, remedy in enumerate(verdict.remedies):
        if remedy.commands and (number == 0 or not any(map(_removes_more, remedy.commands))):
            command = " && ".join(map(shlex.join, remedy.commands))
            best = f"nothing. {verdict.remedies[0].title}. {remedy.title}: " if number else ""
            return f"Run instead: {best}{command}"
    if verdict.remedies:
        return f"Run instead: nothing. {verdict.remedies[0].title}"
    force = ["--force"] if verdict.decision is Decision.REFUSE else []
    keys = [dist.key for dist in verdict.removal.leaving]
    words = ("safepip", "--python", verdict.target.executable, "uninstall", *force, *keys)
    return f"Run instead: nothing, or `{shlex.join(verdict.target.inside(*words))}` on a person's word"


def _environment(target: Target) -> str:
    return target.executable if target.root is None else f"{target.executable} of the image {target.root}"


def _removes_more(command: Sequence[str]) -> bool:
    """Than was asked, or in spite of the refusal: a program shall not take that for the best."""
    return "uninstall" in command and "--safe" not in command


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]} …"
