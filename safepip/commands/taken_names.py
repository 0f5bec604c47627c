"""Names that are taken from a module which is there and does not bind them: `from module import name`.

Only what one distribution takes of another is asked: what belongs together is released together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from safepip.model.environment import Distribution
from safepip.model.imports import Found, Gone, Reference
from safepip.model.paths import TargetPath
from safepip.reading.sources.bound_names import unbound
from safepip.reading.sources.modules import content
from safepip.reasoning.code.finder import Finder


class Modules(NamedTuple):
    """One world's modules: how they are found, whose they are, where their bytes lie."""

    finder: Finder
    owner: Callable[[TargetPath], Distribution | None]
    lies: Callable[[TargetPath], TargetPath]


def absent(taken: Iterable[tuple[Distribution, Reference]], modules: Modules) -> dict[str, Gone]:
    """The dotted names, of those that distributions take of others, which no statement binds and no file gives."""
    takers: dict[str, list[tuple[Distribution, tuple[str, ...]]]] = {}
    for dist, reference in taken:
        takers.setdefault(reference.module, []).append((dist, reference.names))
    gone: dict[str, Gone] = {}
    for module, asking in takers.items():
        found = modules.finder.find(module)
        owner = modules.owner(found.path) if found and found.path else None
        names = {name for dist, wanted in asking if dist != owner for name in wanted}
        if found is None or owner is None or not names:
            continue
        for name in sorted(unbound(_content(found, modules), names)):
            inner = f"{module}.{name}"
            if not (found.is_package and modules.finder.find(inner)):
                gone[inner] = Gone(inner, found, None, owner)
    return gone


def _content(found: Found, modules: Modules) -> bytes | None:
    """None where it is no source, or nobody can tell."""
    if found.path is None or not found.path.endswith(".py"):
        return None
    try:
        return content(modules.lies(found.path))
    except OSError:
        return None
