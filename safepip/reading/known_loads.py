"""The table of loads that ELF does not show."""

from __future__ import annotations

import os

from safepip.model.known_loads import KnownLoad
from safepip.model.paths import DistKey

TABLE = os.path.join(os.path.dirname(__file__), "known_loads.toml")


def read() -> tuple[KnownLoad, ...]:
    import tomllib

    with open(TABLE, "rb") as file:
        rows = tomllib.load(file)["load"]
    return tuple(
        KnownLoad(
            DistKey(row["distribution"]), tuple(row["sonames"]), row["folder"], row["source"], row["version"]
        )
        for row in rows
    )
