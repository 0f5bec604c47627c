"""Which Python of an image is meant: nothing runs there, so no PATH and no active environment tells."""

from __future__ import annotations

import os
from collections.abc import Iterator

from safepip.errors import TargetError
from safepip.model.paths import TargetPath
from safepip.model.request import Chosen
from safepip.reading import tree
from safepip.reading.pythons import targets


def choose(python: str | None) -> Chosen:
    """The interpreter named, else the only one at the places where images have theirs."""
    if python is not None:
        return Chosen(targets.named(python, {}), "named by --python")
    found: dict[str, str] = {}
    for folder in (*tree.IMAGE_ENVIRON["PATH"].split(":"), *_image_folders()):
        for path in (f"{folder}/python3", f"{folder}/python"):
            if tree.isfile(path):
                found.setdefault(_identity(path), path)
    if len(found) == 1:
        return Chosen(TargetPath(*found.values()), "the only Python of the image")
    if found:
        raise TargetError(
            "several-environments",
            f"the image has several Pythons: {', '.join(found.values())}",
            "Name one of them with --python.",
        )
    raise TargetError(
        "no-environment",
        "the image has no Python on the usual PATH, nor in /opt, /app, /venv or /root",
        "Name it with --python, by its path inside the image.",
    )


def _image_folders() -> Iterator[str]:
    """Where recipes lay virtual environments and conda."""
    for name in (*_listed("/opt"), ""):
        yield f"/opt/{name}/bin" if name else "/venv/bin"
    for home in ("", "/app", "/root", "/code", "/srv"):
        yield from (f"{home}/{name}/bin" for name in (".venv", "venv"))


def _listed(folder: str) -> list[str]:
    try:
        return sorted(tree.listdir(folder))
    except OSError:
        return []


def _identity(python: str) -> str:
    """A virtual environment is its own, though its python is a link to the one it was made of."""
    folder = tree.realpath(os.path.dirname(python))
    prefix = os.path.dirname(folder)
    return prefix if tree.isfile(f"{prefix}/pyvenv.cfg") else tree.realpath(python)
