"""What is installed in the site folders of a target, in the order in which pip finds it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from safepip.model.environment import Distribution, Fault, Inventory, Target, Unjudged
from safepip.model.paths import TargetPath
from safepip.model.rows import Rows, packed
from safepip.reading import plain_file, tree
from safepip.reading.sites import metadata
from safepip.reading.sites.installed import Folder, read_distribution

_PIP_PASSES_OVER_NAMELESS = (24, 2)  # before it
_PIP_FINDS_LOOSE_EGGS = (25, 1)  # before it
MOST_KEPT = 10_000_000  # characters of RECORDs whose rows may be kept each by itself


def take_inventory(target: Target) -> Inventory:
    """Every distribution that a RECORD, METADATA or entry_points.txt can be read of, or the reason why not.

    pip keeps the first of a name; the others are listed all the same, because their files are there.
    """
    distributions: list[Distribution] = []
    leftovers: list[TargetPath] = []
    unjudged: list[Unjudged] = []
    seen = set()
    size = 0
    for site in _places(target):
        folder = Folder(site)
        if folder.path in seen:  # lib64 beside lib
            continue
        seen.add(folder.path)
        for dist in _distributions(folder, target):
            if os.path.basename(dist.info).startswith("~"):
                leftovers.append(dist.info)
            elif _is_passed_over(dist, target):
                unjudged.append(
                    Unjudged(dist.info, f"pip {target.pip.version} passes over it: {dist.damage}")
                )
            else:
                size += dist.files.size if isinstance(dist.files, Rows) else sum(map(len, dist.files or ()))
                distributions.append(dist if size <= MOST_KEPT else _packed(dist))
                if dist.damage:
                    unjudged.append(Unjudged(dist.info, dist.damage))
    return Inventory(target, tuple(distributions), tuple(unjudged), tuple(leftovers))


def _places(target: Target) -> Iterable[TargetPath]:
    """What pip looks through, in the order of sys.path: folders, and zip files."""
    sites = frozenset(target.sites)
    on_path = (place for place in target.path if place in sites or tree.isfile(place))
    return dict.fromkeys((*on_path, *target.sites))


def _distributions(folder: Folder, target: Target) -> Iterator[Distribution]:
    """Pip's metadata/importlib/_envs.py, `Environment._iter_distributions`, for one folder of sys.path."""
    if target.pip.backend == "importlib":
        yield from (read_distribution(folder, name, target) for name in _infos(folder, target))
    else:
        yield from _of_egg(folder, target)
    if target.pip.backend != "importlib" or target.pip.release < _PIP_FINDS_LOOSE_EGGS:
        for name in folder.names:
            if name.endswith(".egg"):
                yield from _of_egg(Folder(TargetPath(f"{folder.path}/{name}")), target)
    for name in folder.names:
        if name.endswith(".egg-link"):
            yield from _linked(folder, name, target)


def _of_egg(folder: Folder, target: Target) -> Iterator[Distribution]:
    """As pkg_resources sees it: distutils' scripts in a zip file too, which importlib's `Distribution` passes over."""
    for name in _infos(folder, target):
        dist = read_distribution(folder, name, target)
        scripts = folder.packed(f"{dist.info}/scripts")
        yield replace(dist, packed_scripts=scripts) if scripts else dist


def _infos(folder: Folder, target: Target) -> list[str]:
    """importlib.metadata's `Lookup`: names are grouped, each group in the order of its first member."""
    is_egg = folder.path.lower().endswith(".egg")
    groups: dict[str, list[str]] = {}
    for name in folder.names:
        low = name.lower()
        if low.endswith((".dist-info", ".egg-info")) or (is_egg and low == "egg-info"):
            groups.setdefault(metadata.canonical(low.rpartition(".")[0].partition("-")[0]), []).append(name)
    if target.pip.backend != "importlib":
        groups = {key: _of_pkg_resources(folder, names, target) for key, names in groups.items()}
    return [name for names in groups.values() for name in names]


def _of_pkg_resources(folder: Folder, names: list[str], target: Target) -> list[str]:
    """pkg_resources' `find_on_path`: the highest version first; since the one in pip 23.1, by text.

    It passes over empty folders, and since then over a dist-info that is none.
    """
    is_new = target.pip.release >= (23, 1)
    found = [name for name in names if _is_seen(f"{folder.path}/{name}", is_new=is_new)]
    if len(found) < 2 or is_new:
        return sorted(found)
    from packaging.version import InvalidVersion, Version

    def version(name: str) -> Version:
        try:
            return Version(os.path.splitext(name)[0].split("-")[1])
        except (InvalidVersion, IndexError):
            return Version("0")

    return sorted(found, key=version, reverse=True)


def _is_seen(path: str, *, is_new: bool) -> bool:
    if not tree.isdir(path):
        return not is_new or not path.endswith(".dist-info")
    try:
        return bool(tree.listdir(path))
    except OSError:
        return True


def _linked(folder: Folder, name: str, target: Target) -> Iterator[Distribution]:
    """`find_legacy_editables`: the first line that is not empty names the project's folder."""
    link = TargetPath(f"{folder.path}/{name}")
    try:
        lines = plain_file.content(link).decode().replace("\r", "\n").split("\n")
        goal = next((line for line in map(str.strip, lines) if line), "")
    except (OSError, ValueError):
        return
    if goal:
        source = Folder(TargetPath(os.path.join(folder.path, goal)))
        for info in _infos(source, target):
            yield read_distribution(source, info, target, egg_link=link)


def _packed(dist: Distribution) -> Distribution:
    if dist.files is None:
        return dist
    rows = dist.files
    return replace(dist, files=rows.packed() if isinstance(rows, Rows) else packed(dist.location, rows))


def _is_passed_over(dist: Distribution, target: Target) -> bool:
    return (
        target.pip.backend == "importlib"
        and target.pip.release < _PIP_PASSES_OVER_NAMELESS
        and Fault.METADATA_WITHOUT_NAME in dist.faults
    )
