"""Put back what pip moved aside and left: each file to its place, and nothing over what is there again."""

from __future__ import annotations

import os

from safepip.acting import files
from safepip.errors import SafepipError
from safepip.model.diagnosis import Stash


def put_back(stash: Stash) -> None:
    """Every file of the stash goes back where nothing has taken its place; the rest is pip's litter and goes, and so
    is all of it where nobody misses anything.
    """
    try:
        for here, _, names in os.walk(stash.path, topdown=False):
            beside = os.path.normpath(os.path.join(stash.original, os.path.relpath(here, stash.path)))
            links = [name for name in os.listdir(here) if os.path.islink(os.path.join(here, name))]
            for name in dict.fromkeys([*names, *links]):
                path = os.path.join(here, name)
                if stash.in_the_way:
                    files.unlink(path)
                else:
                    _return(path, os.path.join(beside, name))
            files.rmdir(here)
    except OSError as error:
        raise SafepipError("disk", f"{error.filename or stash.path}: {error.strerror}") from error


def _return(path: str, place: str) -> None:
    if os.path.lexists(place):
        files.unlink(path)
        return
    _make(os.path.dirname(place))
    files.rename(path, place)


def _make(folder: str) -> None:
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder))
        files.mkdir(folder, 0o755)
