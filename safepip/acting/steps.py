"""One step of a repair plan, carried out by safepip itself in a process of its own: judged and kept like any other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence


def run(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Its exit code. What it says goes to standard error: the report has standard output for itself.

    -P: a module in the current folder must not stand in for safepip.
    """
    words = [sys.executable, "-P", "-m", *command]
    return subprocess.run(words, env=dict(environ), stdout=2, check=False).returncode
