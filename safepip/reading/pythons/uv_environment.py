"""Which environment uv acts on by itself: the active one, else a `.venv` here or above."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # known to type checkers; read on the way of `safepip hook`
if TYPE_CHECKING:
    from collections.abc import Mapping


def find(folder: str, environ: Mapping[str, str]) -> str | None:
    active = environ.get("VIRTUAL_ENV") or environ.get("CONDA_PREFIX")
    if active:
        return active
    while not os.path.isfile(f"{folder}/.venv/pyvenv.cfg"):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return f"{folder}/.venv"
