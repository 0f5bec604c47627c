"""`python -m safepip` and the console script."""

from __future__ import annotations

import sys


def main() -> int:
    """Entry point of the console script."""
    from safepip.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
