"""One's own sources: code that no distribution records, and that needs what it imports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from safepip.errors import UsageError
from safepip.model.environment import Distribution, Install
from safepip.model.paths import DistKey, TargetPath
from safepip.reading import tree

MOST_SOURCES = 20_000
APART = frozenset({"node_modules", "__pycache__", "site-packages"})


def projects(folders: Iterable[str]) -> tuple[Distribution, ...]:
    """Each of `folders` as what it would be if it were installed: its sources, under its own name."""
    return tuple(_project(tree.abspath(folder)) for folder in dict.fromkeys(folders))


def sources(folders: Iterable[str]) -> Iterator[TargetPath]:
    """The Python files below `folders`, in order; environments and hidden folders are somebody else's."""
    left = MOST_SOURCES
    for folder in folders:
        if tree.isfile(folder):
            yield TargetPath(tree.abspath(folder))
        for here, below, names in tree.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith(".") and name not in APART)
            if "pyvenv.cfg" in names:
                below.clear()
                continue
            for name in sorted(names):
                if name.endswith(".py") and left > 0:
                    left -= 1
                    yield TargetPath(tree.abspath(os.path.join(here, name)))


def _project(folder: str) -> Distribution:
    if not tree.exists(folder):
        raise UsageError("no-such-code", f"--code: there is no {folder}", "A folder of your own sources.")
    name = os.path.basename(folder) or folder
    place = TargetPath(folder if tree.isdir(folder) else os.path.dirname(folder))
    return Distribution(
        DistKey(name), name, "", place, TargetPath(folder), Install.OTHER, tuple(sources([folder]))
    )
