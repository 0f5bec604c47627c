"""Runs uv on the caller's own streams."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from safepip.errors import SafepipError
from safepip.model.request import Uninstall


def uninstall(program: str, request: Uninstall, keep_open: Sequence[int] = ()) -> int:
    return run(program, request.pip_arguments, keep_open)


def run(program: str, words: Sequence[str], keep_open: Sequence[int] = ()) -> int:
    """Hand `words` to uv; its exit code. A ctrl-C reaches uv by the terminal, and its end is awaited."""
    process = subprocess.Popen([program, *words], pass_fds=keep_open)
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            continue
        return code if code >= 0 else 128 - code


def become(program: str, words: Sequence[str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(program, [program, *words])  # noqa: S606
    except OSError as error:
        raise SafepipError("uv-not-started", f"{program} cannot be started: {error.strerror}") from error
