"""Who uses whom among the installed, by their metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.model.rows import Rows, head_of
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
        return _looking_through(staying)
    infos = {dist.info for dist in staying}
    unlisted = [dist for dist in reversed(staying) if dist.sources or dist in inventory.loose]
    rest = {path: dist for dist in unlisted for path in dist.used if _is_code(path)}

    def owner(path: TargetPath) -> Distribution | None:
        return next((dist for dist in index.get(path, ()) if dist.info in infos), None) or rest.get(path)

    return owner


def _looking_through(staying: Sequence[Distribution]) -> Callable[[TargetPath], Distribution | None]:
    """Only those are asked that have a row beginning as the path does: most are asked for nothing."""
    order = {dist.info: number for number, dist in enumerate(staying)}
    listed: dict[TargetPath, Distribution] = {}
    heads: dict[tuple[TargetPath, str], list[tuple[Rows, Distribution]]] = {}
    for dist in reversed(staying):
        rows = dist.files
        if isinstance(rows, Rows) and not dist.sources:
            for head in rows.heads():
                heads.setdefault((rows.folder, head), []).append((rows, dist))
        else:
            listed.update({path: dist for path in dist.used if _is_code(path)})
    folders = {folder for folder, _ in heads}

    def owner(path: TargetPath) -> Distribution | None:
        if not _is_code(path):
            return None
        asked = [pair for folder in folders for pair in heads.get((folder, head_of(path, folder)), ())]
        found = [dist for rows, dist in asked if path in rows]
        if path in listed:
            found.append(listed[path])
        return min(found, key=lambda dist: order[dist.info], default=None)

    return owner


def _is_code(path: TargetPath) -> bool:
    return path.endswith((".py", ".so"))


@cache
def _requirements(dist: Distribution) -> frozenset[DistKey]:
    keys = (requirement_key(written) for written in dist.requires if "extra ==" not in written)
    return frozenset(key for key in keys if key)
