"""The reports that other programs read and that are not safepip's own JSON: SARIF and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from safepip.model.environment import Unjudged
from safepip.model.policy import Known
from safepip.model.report import Verdict
from safepip.render import markdown, notices, sarif
from safepip.render.notices import Page


def show(kind: str, page: Page, version: str) -> str:
    if kind == "sarif":
        return sarif.dump(page, version)
    return markdown.show(page)


def show_verdict(kind: str, verdict: Verdict, known: Mapping[str, Known], version: str) -> str:
    """Of a dry-run."""
    ways = [(remedy.title, remedy.commands) for remedy in verdict.remedies]
    prefix = verdict.target.prefix
    seen = tuple(notices.of_verdict(verdict))
    page = Page(notices.headline(verdict), prefix, seen, ways, known, remarks_of(verdict))
    return show(kind, page, version)


def remarks_of(verdict: Verdict) -> tuple[str, ...]:
    return (*verdict.remarks.lines, *unjudged(verdict.unjudged))


def unjudged(items: Iterable[Unjudged]) -> tuple[str, ...]:
    return tuple(f"unjudged: {item.subject}: {item.reason}" for item in items)
