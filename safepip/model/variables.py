"""Environment variables of safepip's own."""

from __future__ import annotations

RUNS_PIP = (
    "SAFEPIP_RUNS_PIP"  # the process that starts pip on purpose: the start-up hook lets that pip through
)
STANDS_FOR = "SAFEPIP_STANDS_FOR"  # the command that a shell function was called as: pip, pip3, python
COMPLETES = "SAFEPIP_COMPLETES"  # set by the completion that `init` gives a shell
JSON = "SAFEPIP_JSON"  # "1": as if --json were given
