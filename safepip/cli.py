"""A command line into a command, and a report onto a stream."""

from __future__ import annotations


def main() -> int:
    """Run safepip with the process's own arguments; the result is the exit code."""
    return 12
