"""The table of loads that ELF does not show."""

from __future__ import annotations

import os

from safepip.model.known_loads import KnownLoad, When

TABLE = os.path.join(os.path.dirname(__file__), "known_loads.toml")


def read() -> tuple[KnownLoad, ...]:
    import tomllib

    with open(TABLE, "rb") as file:
        rows = tomllib.load(file)["load"]
    return tuple(
        KnownLoad(
            row["distribution"],
            tuple(row["sonames"]),
            row["folder"],
            row["source"],
            row["version"],
            When(row["when"]),
            row["required"],
        )
        for row in rows
    )
