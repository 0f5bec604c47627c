"""What extension modules import when they start: no statement shows it, generated code holds the name as a string."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from safepip.model.environment import Distribution
from safepip.model.imports import Gone
from safepip.model.paths import TargetPath
from safepip.reasoning.requirements import requirement_key

# By cffi, by sip, and by sip for what is built on PyQt.
IMPORTED_AT_START = ("_cffi_backend", "sip", "PyQt5.sip", "PyQt6.sip", "PyQt5.QtCore", "PyQt6.QtCore")

Compiled = Callable[[Distribution, Collection[str]], tuple[tuple[TargetPath, str], ...]]
"""The extension modules of a distribution that hold one of some names, each with the name."""


def at_start(
    staying: Iterable[Distribution],
    leaving: Iterable[Distribution],
    missed: Callable[[str], Gone | None],
    naming: Compiled,
) -> Iterator[tuple[TargetPath, tuple[str, Gone]]]:
    """Extension modules that import a lost name when they start, of those who declare whose it is."""
    names = {name: gone for name in IMPORTED_AT_START if (gone := missed(name))}
    keys = {dist.key for dist in leaving}
    for dist in staying if names else ():
        if any(requirement_key(written) in keys for written in dist.requires):
            for path, name in naming(dist, tuple(names)):
                yield path, (name, names[name])
