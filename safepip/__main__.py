"""`python -m safepip` and the console script."""

from __future__ import annotations


def main() -> int:
    """Entry point of the console script."""
    from safepip import cli

    return cli.main()
