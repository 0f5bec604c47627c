"""A command line into a command, and a report onto a stream."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Do what `arguments` ask for; the result is the exit code."""
    del arguments
    return 12
