"""What the values of safepip's own options may be, and which options need one another."""

from __future__ import annotations

from collections.abc import Mapping

from safepip.errors import UsageError
from safepip.grammar.options import FORMATS
from safepip.model.request import Safe


def check(values: Mapping[str, list[str]]) -> None:
    """UsageError for a level that is none, and for an image that would be changed."""
    for level in values.get("fail_on", ()):
        if level != "warn":
            raise UsageError(
                "no-such-level", f"option --fail-on: invalid choice: {level!r} (choose from 'warn')"
            )
    if "baseline" in values and "dry_run" not in values:
        raise UsageError("dry-run-only", "--baseline is for --dry-run", "It changes no verdict.")
    if "root" in values and "dry_run" not in values:
        raise only_looked_at()


def only_looked_at() -> UsageError:
    return UsageError(
        "root-is-looked-at",
        "an image under --root is only looked at: uninstall --dry-run, audit, doctor and why",
        "Judge it so, then act inside the image, with its own pip or safepip.",
    )


def format_of(values: Mapping[str, list[str]]) -> str:
    kind = values.get("format", ["terminal"])[-1]
    if kind not in FORMATS:
        choices = ", ".join(map(repr, FORMATS))
        raise UsageError(
            "no-such-choice", f"option --format: invalid choice: {kind!r} (choose from {choices})"
        )
    if kind in FORMATS[2:] and "dry_run" not in values:
        raise UsageError("dry-run-only", f"--format {kind} is for --dry-run")
    return kind


def safe_of(value: str) -> Safe:
    try:
        return Safe(value)
    except ValueError:
        message = f"option --safe: invalid choice: {value!r} (choose from 'keep')"
        raise UsageError("no-such-choice", message) from None
