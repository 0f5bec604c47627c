"""The mark on a pip that safepip itself starts, by which the start-up hook of `guard on` lets it through.

It names the process that set it, which is that pip or its parent: whatever else inherits the variable is not meant.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # known to type checkers; `typing` itself costs more than a pass-through may
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "SAFEPIP_RUNS_PIP"


def marked(environ: Mapping[str, str]) -> dict[str, str]:
    return {**environ, NAME: str(os.getpid())}
