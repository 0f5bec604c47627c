"""The reports that other programs read and that are not safepip's own JSON: SARIF and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from safepip.model.report import Verdict
from safepip.render import markdown, notices, sarif
from safepip.render.notices import Notice


class Page(NamedTuple):
    title: str
    prefix: str
    notices: tuple[Notice, ...]
    ways: Sequence[tuple[str, Sequence[Sequence[str]]]]


def show(kind: str, page: Page, known: frozenset[str], version: str) -> str:
    if kind == "sarif":
        return sarif.dump(page.notices, known, page.prefix, version)
    return markdown.show(page.title, page.notices, known, page.ways)


def show_verdict(kind: str, verdict: Verdict, version: str) -> str:
    """Of a dry-run."""
    ways = [(remedy.title, remedy.commands) for remedy in verdict.remedies]
    prefix = verdict.target.prefix
    page = Page(notices.headline(verdict), prefix, tuple(notices.of_verdict(verdict)), ways)
    return show(kind, page, frozenset(), version)
