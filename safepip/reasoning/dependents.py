"""Who uses whom among the installed, by their metadata."""

from __future__ import annotations

from collections.abc import Sequence

from safepip.model.environment import Distribution
from safepip.model.paths import DistKey
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


def _requirements(dist: Distribution) -> frozenset[DistKey]:
    keys = (requirement_key(written) for written in dist.requires if "extra ==" not in written)
    return frozenset(key for key in keys if key)
