"""The table of distributions whose C structures other compiled modules take (abi_partners.toml)."""

from __future__ import annotations

import os
import tomllib

from safepip.model.arrival import Partner
from safepip.model.paths import DistKey


def read() -> tuple[Partner, ...]:
    with open(os.path.join(os.path.dirname(__file__), "abi_partners.toml"), "rb") as stream:
        entries = tomllib.load(stream)["partner"]
    return tuple(
        [
            Partner(
                DistKey(entry["distribution"]),
                entry["holds"],
                entry["unless"],
                tuple(map(DistKey, entry["consumers"])),
                entry["why"],
                entry["since"],
            )
            for entry in entries
        ]
    )
