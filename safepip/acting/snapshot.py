"""An environment kept while somebody else works on it: before that begins, or as it goes (see `watch`).

The index says what was there: with it the next run can end what this one could not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from safepip import watch
from safepip.acting import files, vault
from safepip.model.environment import Target
from safepip.model.paths import TargetPath

_WATCHED = (3, 8)  # the first Python with audit hooks


def begin(home: TargetPath, number: int, command: Sequence[str]) -> str:
    """A folder of the vault for it, with an index that says nothing yet."""
    folder = f"{home}/.safepip/vault/{number}"
    files.mkdir(folder)
    files.write(f"{folder}/{watch.INDEX}", json.dumps({"command": command}).encode() + b"\n")
    return folder


def keep_all(home: TargetPath, folder: str, tops: Sequence[str]) -> None:
    """At once, where nobody tells of what is going to change."""
    try:
        watch.Keeper(home, folder, list(tops)).keep_all()
    except OSError as error:
        files.clear(folder)
        raise vault.NotKeptError(
            "not-kept", f"the environment cannot be kept: {error.strerror} ({error.filename or folder})"
        ) from error


def watched(
    start: Sequence[str], target: Target, home: TargetPath, folder: str, tops: Sequence[str]
) -> tuple[str, ...] | None:
    """The words that start the same pip, so that it tells; None where it cannot."""
    version = tuple(int(part) for part in target.version.split(".")[:2])
    if len(start) == 1:
        python, script = _interpreter(start[0], target), start[0]
    else:
        python, script = start[:1] if tuple(start[1:]) == ("-m", "pip") else (), "-m"
    if not python or version < _WATCHED:
        return None
    return (*python, os.path.abspath(watch.__file__), home, folder, json.dumps(list(tops)), script)


def _interpreter(script: str, target: Target) -> Sequence[str]:
    """What the script's first line starts, with its options, where that is the target's own Python."""
    try:
        with open(script, "rb") as stream:
            first = os.fsdecode(stream.readline(512))
    except OSError:
        return ()
    words = first.removeprefix("#!").split(maxsplit=1) if first.startswith("#!") else []
    is_own = bool(words) and os.path.realpath(os.path.dirname(words[0])) == os.path.realpath(
        os.path.dirname(target.executable)
    )
    return [word.strip() for word in words] if is_own and "python" in os.path.basename(words[0]) else ()
