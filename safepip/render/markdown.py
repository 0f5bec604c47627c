"""Markdown: for a comment on a change, or a job's summary."""

from __future__ import annotations

import re
import shlex

from safepip.errors import printable
from safepip.model.report import Severity
from safepip.render.notices import Notice, Page

WORD = {Severity.REFUSE: "**error**", Severity.WARN: "warning", Severity.NOTE: "note"}
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#!~])")


def show(page: Page) -> str:
    """A heading, a table of what is new, how much is known already, remarks, and the commands."""
    fresh = [notice for notice in page.notices if not notice.is_known(page.known)]
    lines = [f"### {text(page.title)}", ""]
    if fresh:
        lines += ["| | what | whose | |", "| --- | --- | --- | --- |", *map(_row, fresh), ""]
    if len(fresh) < len(page.notices):
        lines += [f"{len(page.notices) - len(fresh)} more, known already.", ""]
    lines += [*(f"- {text(said)}" for said in page.remarks), ""] if page.remarks else []
    for name, commands in page.ways:
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
