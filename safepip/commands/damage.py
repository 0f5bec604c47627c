"""Which of the files that are not what was recorded nobody can use: cut off, emptied, or of another name inside."""

from __future__ import annotations

from collections.abc import Iterable

from safepip.commands.scene import Scene
from safepip.model.elf import Definitions, Flaw
from safepip.model.environment import Distribution
from safepip.model.imports import Unread
from safepip.model.paths import TargetPath
from safepip.reasoning.code.imports import module_of
from safepip.reasoning.libraries import objects

TAGS = (
    ".cpython-",
    ".abi3",
    ".pypy",
)  # of extension modules; others by the name of one may be opened otherwise
STARTS = ("PyInit", "PyModExport")  # one is enough, the second from CPython 3.15 on (PEP 793)


def of(altered: Iterable[tuple[Distribution, TargetPath]], scene: Scene) -> dict[TargetPath, str]:
    """By path, what is wrong with it."""
    found = {path: _of(dist, path, scene) for dist, path in altered}
    return {path: what for path, what in found.items() if what}


def _of(dist: Distribution, path: TargetPath, scene: Scene) -> str:
    if not scene.disk.size(path):
        return "it is empty"
    if path.endswith(".py"):
        name, is_package = module_of(path, scene.inventory)
        source = scene.modules.read(dist, path, name, is_package=is_package)
        return f"it cannot be parsed: {source.reason}" if isinstance(source, Unread) else ""
    if not objects.is_object_name(path):
        return ""
    elf = scene.disk.elf(path)
    if isinstance(elf, Flaw):
        return elf.value
    base = path.rpartition("/")[2]
    name = base.partition(".")[0]
    given = scene.disk.definitions(path, [f"{start}_{name}" for start in STARTS])
    if any(tag in base for tag in TAGS) and isinstance(given, Definitions) and not given.symbols:
        return f"it has no {STARTS[0]}_{name}, so it is another module"
    return ""
