"""`python -m safepip` and the console script."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> int:
    """Entry point of the console script."""
    if sys.argv[1:2] == ["hook"]:
        from safepip.commands import hook

        return hook.answer(sys.argv[2:], os.environ)

    from safepip.commands import pass_through
    from safepip.model import variables

    pass_through.go(sys.argv[1:], os.environ, sys.argv[0])

    if variables.COMPLETES in os.environ:
        from safepip.cli import standing

        return standing.complete()
    from safepip.cli.main import run

    return _end(run(sys.argv[1:]))


def _end(code: int) -> NoReturn:
    """At once: taking a hundred thousand objects apart one by one costs a tenth of a dry-run, and serves nobody."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(
            OSError, ValueError
        ):  # what is of consequence has been written, and flushed, where it arose
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
        del sys.path[0]  # `python -m` puts the working folder first: a json.py there is not meant
    sys.exit(main())
