"""pip's `~name` folders: what it moved aside and neither deleted nor put back.

pip's utils/temp_dir.py, `AdjacentTempDirectory`: the new name is as long as the old one, begins with `~`, and
keeps the old one's end. What lies in it keeps its place relative to the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from safepip.model.diagnosis import Stash
from safepip.model.environment import Inventory
from safepip.model.paths import TargetPath
from safepip.reading import plain_file, tree
from safepip.reading.sites import metadata, record


def find(inventory: Inventory, missing: Mapping[TargetPath, Iterable[TargetPath]]) -> tuple[Stash, ...]:
    """Each `~` folder beside a folder that a RECORD knows, and moved metadata that nothing is known of any more.

    `missing`: by info, rows that are not there.
    """
    lost = dict(_rows_of_leftovers(inventory))
    for dist in inventory.distributions:
        lost.update(dict.fromkeys(missing.get(dist.info, ()), dist.name))
    whole = {path: dist.name for dist in inventory.distributions for path in dist.files or ()}
    folders: dict[str, set[str]] = {}
    for path in (*lost, *whole):
        head, _, name = path.rpartition("/")
        while head and head != inventory.target.prefix:
            above, _, name = head.rpartition("/")
            known = name in folders.setdefault(above, set())
            folders[above].add(name)
            if known:
                break
            head = above
    found = [
        stash
        for above, names in sorted(folders.items())
        for stash in _beside(above, names, (lost, whole), inventory)
    ]
    told = {stash.path for stash in found}
    return (*found, *(_litter(info) for info in inventory.leftovers if info not in told))


def _litter(info: TargetPath) -> Stash:
    """Metadata that pip had moved aside, of a version that nothing else is left of."""
    folder, _, name = info.rpartition("/")
    return Stash(info, TargetPath(f"{folder}/{name.lstrip('~')}"), _name(info), in_the_way=True)


def _rows_of_leftovers(inventory: Inventory) -> Iterator[tuple[TargetPath, str]]:
    """The rows of dist-info folders that were moved aside themselves."""
    for info in inventory.leftovers:
        site = info.rpartition("/")[0]
        try:
            rows = record.paths(plain_file.content(f"{info}/RECORD").decode())
        except (OSError, ValueError):
            continue
        name = _name(info)
        for row in rows:
            yield TargetPath(os.path.normpath(os.path.join(site, row))), name


def _name(info: str) -> str:
    try:
        found = metadata.head(plain_file.content(f"{info}/METADATA").decode(errors="surrogateescape"))
    except OSError:
        found = metadata.Head()
    return found.name or os.path.basename(info).partition("-")[0].lstrip("~")


def _beside(
    above: str,
    names: set[str],
    rows: tuple[Mapping[TargetPath, str], Mapping[TargetPath, str]],
    inventory: Inventory,
) -> Iterator[Stash]:
    """`rows`: those that are missed, and all. Of a folder that nobody misses anything of nothing is put back."""
    if not above.startswith(f"{inventory.target.prefix}"):
        return
    try:
        tildes = sorted(name for name in tree.listdir(above) if name.startswith("~"))
    except OSError:
        return
    if not tildes or tree.realpath(above) != above:
        return
    lost, whole = rows
    for tilde in tildes:
        folder = f"{above}/{tilde}"
        if tree.islink(folder) or not tree.isdir(folder):
            continue
        inside = [os.path.relpath(path, folder) for path in _files(folder)]
        for name in sorted(names):
            if not _was(tilde, name):
                continue
            places = [TargetPath(f"{above}/{name}/{row}") for row in inside]
            missed = [lost[path] for path in places if path in lost]
            whose = missed or [whole[path] for path in places if path in whole]
            if whose:
                taken = not missed or all(map(tree.lexists, places))
                original = TargetPath(f"{above}/{name}")
                yield Stash(TargetPath(folder), original, max(set(whose), key=whose.count), taken)
                break


def _was(tilde: str, name: str) -> bool:
    """`~umpy` and `~~mpy` were `numpy`."""
    return len(tilde) == len(name) and any(tilde[start:] == name[start:] for start in range(1, len(name)))


def _files(folder: str) -> Iterator[str]:
    for here, _, names in tree.walk(folder):
        yield from (os.path.join(here, name) for name in names)
