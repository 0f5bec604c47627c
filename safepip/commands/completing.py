"""What pip itself would complete a command line to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from safepip.commands import pass_through
from safepip.model import variables


def pips_words(environ: Mapping[str, str], argv0: str) -> list[str]:
    """Empty where there is no pip; pip ends with 1 whatever it says (cli/autocompletion.py)."""
    start = pass_through.start(None, environ, argv0)
    if start is None:
        return []
    dropped = {variables.COMPLETES, variables.STANDS_FOR}
    environ = {name: value for name, value in environ.items() if name not in dropped}
    try:
        done = subprocess.run(
            start, capture_output=True, check=False, env={**environ, pass_through.COMPLETING: "1"}
        )
    except OSError:
        return []
    return os.fsdecode(done.stdout).split()
