"""Modules that are there and are no longer found, because what has come is found first.

In one folder a package comes before a module and an extension before a source, an earlier folder of sys.path before
a later one; and a package with an `__init__` ends the namespace that other folders took part in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from safepip.model.environment import Inventory
from safepip.model.paths import TargetPath
from safepip.reasoning.code.finder import Finder


def shadowed(
    fresh: Iterable[TargetPath], before: Finder, after: Finder, inventory: Inventory
) -> Mapping[TargetPath, TargetPath]:
    """By the file of a module that is found `before`: the one, of those that are `fresh`, that `after` finds for it."""
    came = frozenset(fresh)
    names = dict.fromkeys(name for path in sorted(came) for name in _names(path, after))
    found: dict[TargetPath, TargetPath] = {}
    for name in names:
        was, now = before.find(name), after.find(name)
        if was is None or now is None or now.path not in came:
            continue
        if was.path is not None:
            found[was.path] = now.path
            continue
        for folder in set(was.folders).difference(now.folders):
            inside = (path for dist in inventory.everybody for path in dist.used)
            found.update((path, now.path) for path in inside if path.startswith(f"{folder}/"))
    return found


def _names(path: TargetPath, finder: Finder) -> Iterator[str]:
    """What the module in this file is called, by each folder of the path that it lies in."""
    for root in finder.path:
        if path.startswith(f"{root}/"):
            *folders, last = path[len(root) + 1 :].split("/")
            stem = finder.stem(last)
            parts = folders if stem == "__init__" else [*folders, stem]
            if all(map(str.isidentifier, parts)):
                yield ".".join(parts)
