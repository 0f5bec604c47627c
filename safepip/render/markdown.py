"""Markdown: for a comment on a change, or a job's summary."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from safepip.errors import printable
from safepip.model.report import Severity
from safepip.render.notices import Notice

WORD = {Severity.REFUSE: "**error**", Severity.WARN: "warning", Severity.NOTE: "note"}
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#!~])")


def show(
    title: str,
    notices: Sequence[Notice],
    known: frozenset[str],
    ways: Sequence[tuple[str, Sequence[Sequence[str]]]] = (),
) -> str:
    """A heading, a table of what is new, what the baseline knows in one line, and the commands."""
    fresh = [notice for notice in notices if notice.fingerprint not in known]
    lines = [f"### {text(title)}", ""]
    if fresh:
        lines += ["| | what | whose | |", "| --- | --- | --- | --- |", *map(_row, fresh), ""]
    if len(fresh) < len(notices):
        lines += [f"{len(notices) - len(fresh)} more, as in the baseline.", ""]
    for name, commands in ways:
        lines += [text(name), ""]
        if commands:
            lines += ["```sh", *(printable(shlex.join(command)) for command in commands), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def text(words: str) -> str:
    """Nothing in a name is taken for markup."""
    return _ACTIVE.sub(r"\\\1", printable(words))


def _row(notice: Notice) -> str:
    cells = (WORD[notice.severity], notice.rule, text(notice.distribution), text(notice.message))
    return f"| {' | '.join(cells)} |"
