"""The mark on a pip that safepip itself starts, by which the start-up hook of `guard on` lets it through.

It names the process that set it, which is that pip or its parent: whatever else inherits the variable is not meant.
"""

from __future__ import annotations

import os

from safepip.model import variables

TYPE_CHECKING = False  # known to type checkers; `typing` itself costs more than a pass-through may
if TYPE_CHECKING:
    from collections.abc import Mapping


def marked(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name != variables.STANDS_FOR}
    return {**kept, variables.RUNS_PIP: str(os.getpid())}
