"""Who uses whom among the installed, by their metadata."""

from __future__ import annotations

from collections.abc import Sequence

from safepip.model.environment import Distribution
from safepip.model.paths import DistKey
from safepip.reasoning.requirements import requirement_key


def leading_to(reached: Sequence[Distribution], staying: Sequence[Distribution]) -> tuple[Distribution, ...]:
    """`reached` and all who list one of them in Requires-Dist without an extra, transitively."""
    users: dict[DistKey, list[Distribution]] = {}
    for dist in staying:
        for written in dist.requires:
            key = requirement_key(written)
            if key and "extra ==" not in written:
                users.setdefault(key, []).append(dist)
    found = dict.fromkeys(reached)
    pending = list(reached)
    while pending:
        for user in users.get(pending.pop().key, ()):
            if user not in found:
                found[user] = None
                pending.append(user)
    return tuple(found)
