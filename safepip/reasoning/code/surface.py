"""Where using a distribution begins: its top-level modules, its commands and its plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from safepip.model.environment import Distribution, EntryPoint, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.code.finder import Finder

COMMANDS = frozenset({"console_scripts", "gui_scripts"})
# Hosts that load every plugin of a group when they start, and end where one cannot be imported.
STOPPED_BY_PLUGINS: Mapping[str, DistKey] = {
    "pytest11": DistKey("pytest"),
    "flake8.extension": DistKey("flake8"),
}
SIDE_FOLDERS = frozenset({"test", "tests", "doc", "docs", "example", "examples", "benchmark", "benchmarks"})


class Start(NamedTuple):
    module: str
    label: str  # `import torch`, `command twine`, `plugin pytest_cov (pytest11)`
    host: DistKey | None = None  # whom a failure stops as well


def starts(dist: Distribution, tops: Iterable[str], inventory: Inventory) -> Iterator[Start]:
    """The surface of `dist`: its top modules first, then its commands and plugins."""
    for name in tops:
        yield Start(name, f"import {name}")
    for entry in dist.entry_points:
        module = entry.value.partition(":")[0].partition("[")[0].strip()
        if not module or "[" in entry.value:
            continue
        if entry.group in COMMANDS:
            yield Start(module, f"command {entry.name}")
        elif _is_loaded(entry, inventory):
            host = STOPPED_BY_PLUGINS.get(entry.group)
            yield Start(module, f"plugin {entry.name} ({entry.group})", host)


def top_modules(dist: Distribution, inventory: Inventory, finder: Finder) -> tuple[str, ...]:
    """The topmost names that `dist` gives: in a namespace package, or inside a package of another, those below it."""
    names: dict[str, None] = {}
    own = frozenset(dist.used)
    for path in dist.used:
        if not path.endswith((".py", ".so", ".pyc")) or "/__pycache__/" in path:
            continue  # most files end here
        *folders, last = inventory.target.below(path).split("/")
        if folders and (folders[0] in SIDE_FOLDERS or folders[0] in names):
            continue
        stem = finder.stem(last)
        parts = folders if stem == "__init__" else [*folders, stem]
        if all(part.isidentifier() for part in parts):
            name = _topmost(parts, own, finder)
            if name:
                names[name] = None
    return tuple(sorted(names, key=lambda name: (name.startswith("_"), name.count("."), name)))


def topmost_names(inventory: Inventory) -> frozenset[str]:
    """What removals would take away, told from the places of files alone: below a name that several share, its packages."""
    folders: dict[str, list[set[str]]] = {}  # by topmost name: what each distribution has inside
    for dist in inventory.distributions:
        inside: dict[str, set[str]] = {}
        for path in dist.used:
            top, _, rest = inventory.target.below(path).partition("/")
            folder, slash, _ = rest.partition("/")
            inside.setdefault(top.partition(".")[0], set()).update([folder] if slash else [])
        for top, own in inside.items():
            folders.setdefault(top, []).append(own)
    inner = (
        f"{top}.{one}" for top, shared in folders.items() if len(shared) > 1 for own in shared for one in own
    )
    return frozenset(name for name in (*folders, *inner) if all(map(str.isidentifier, name.split("."))))


def _topmost(parts: list[str], own: frozenset[TargetPath], finder: Finder) -> str:
    """The first on the way that is one of `own` files: the packages above it may be another's."""
    for name in accumulate(parts, "{}.{}".format):
        found = finder.find(name)
        if found is None:
            return ""
        if found.path in own:
            return name
    return ""


def _is_loaded(entry: EntryPoint, inventory: Inventory) -> bool:
    """Whether the program that asks for a group of plugins is there: groups are named after it."""
    host = STOPPED_BY_PLUGINS.get(entry.group)
    names = {host} if host else {DistKey(part) for part in _prefixes(entry.group)}
    return any(inventory.find(name) is not None for name in names)


def _prefixes(group: str) -> Iterator[str]:
    words = group.lower().replace(".", "-").replace("_", "-").split("-")
    return accumulate(words, "{}-{}".format)
