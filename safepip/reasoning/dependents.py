"""Who uses whom among the installed, by their metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.model.rows import Rows
from safepip.reasoning.requirements import requirement_key


def users_of(dist: Distribution, staying: Sequence[Distribution]) -> tuple[Distribution, ...]:
    """Who lists `dist` in Requires-Dist without an extra."""
    return tuple(user for user in staying if dist.key in _requirements(user))


def leading_to(reached: Sequence[Distribution], staying: Sequence[Distribution]) -> tuple[Distribution, ...]:
    """`reached` and all who list one of them in Requires-Dist without an extra, transitively."""
    users: dict[DistKey, list[Distribution]] = {}
    for dist in staying:
        for key in _requirements(dist):
            users.setdefault(key, []).append(dist)
    found = dict.fromkeys(reached)
    pending = list(reached)
    while pending:
        for user in users.get(pending.pop().key, ()):
            if user not in found:
                found[user] = None
                pending.append(user)
    return tuple(found)


def owner_of(
    staying: Sequence[Distribution], inventory: Inventory
) -> Callable[[TargetPath], Distribution | None]:
    """Whose a source or extension module is: of several, the first's along sys.path."""
    index = inventory.index
    if index is None:
        packed = [dist for dist in staying if isinstance(dist.files, Rows)]
        plain = (dist for dist in reversed(staying) if not isinstance(dist.files, Rows) or dist.sources)
        owners = {path: dist for dist in plain for path in dist.used if _is_code(path)}
        return _owner_by_folder(owners, packed) if packed else owners.get
    infos = {dist.info for dist in staying}
    unlisted = [dist for dist in reversed(staying) if dist.sources or dist in inventory.loose]
    rest = {path: dist for dist in unlisted for path in dist.used if _is_code(path)}

    def owner(path: TargetPath) -> Distribution | None:
        return next((dist for dist in index.get(path, ()) if dist.info in infos), None) or rest.get(path)

    return owner


def _owner_by_folder(
    owners: Mapping[TargetPath, Distribution], packed: Sequence[Distribution]
) -> Callable[[TargetPath], Distribution | None]:
    """Of very many rows not each is held by itself: those of `packed` are found by the folder that they lie in."""
    folders: dict[str, list[Distribution]] = {}
    for dist in packed:
        for folder in {path.rpartition("/")[0] for path in dist.files or () if _is_code(path)}:
            folders.setdefault(folder, []).append(dist)

    def owner(path: TargetPath) -> Distribution | None:
        there = folders.get(path.rpartition("/")[0], ()) if _is_code(path) else ()
        return owners.get(path) or next((dist for dist in there if path in (dist.files or ())), None)

    return owner


def _is_code(path: TargetPath) -> bool:
    return path.endswith((".py", ".so"))


@cache
def _requirements(dist: Distribution) -> frozenset[DistKey]:
    keys = (requirement_key(written) for written in dist.requires if "extra ==" not in written)
    return frozenset(key for key in keys if key)
