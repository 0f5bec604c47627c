"""The short way for what is only passed on: `safepip list` becomes the `pip` on the PATH at once.

Everything else of safepip costs more to import than pip's own answer may be delayed by, so this module knows
nothing but `os`. What it does not recognise at sight it leaves to the command line proper.
"""

from __future__ import annotations

import os

PASSED = frozenset(
    {
        "cache", "check", "completion", "config", "debug", "download", "freeze", "hash", "index", "inspect", "list",
        "lock", "search", "show", "wheel",
    }
)  # fmt: skip


def become_pip(argv: list[str]) -> None:
    """Does not return where the first argument is a command that takes nothing away, and `pip` is plain to see."""
    if len(argv) < 2 or argv[1] not in PASSED:
        return
    called, pip = _on_path(os.path.basename(argv[0])), _on_path("pip")
    if pip is None or called is None or called != os.path.abspath(argv[0]):
        return  # `python -m safepip` or a safepip called by its path stands for another environment's pip
    try:
        os.execv(pip, [pip, *argv[1:]])  # noqa: S606
    except OSError:
        return  # the long way says what is wrong with it


def _on_path(name: str) -> str | None:
    for folder in os.environ.get("PATH", os.defpath).split(":"):
        path = os.path.abspath(os.path.join(folder, name))
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return None
