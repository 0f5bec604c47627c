"""Each entry of the table of known loads against the wheel it was read from, and against the newest one.

An entry that fails for the newest release only is one whose project changed its ways: read it anew.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from safepip.reading.elf_files.known_loads import TABLE
from support.released import fetch, missing_from

ROWS: list[dict[str, Any]] = tomllib.loads(Path(TABLE).read_text(encoding="utf-8"))["load"]
RELEASES = dict.fromkeys((row["wheel"], row["version"]) for row in ROWS)
NEWEST: dict[str, str] = dict([*RELEASES])  # of each wheel the release that the table has last
REQUIREMENTS = [
    *((wheel, version, f"{wheel}=={version}") for wheel, version in RELEASES),
    *((wheel, version, wheel) for wheel, version in NEWEST.items()),
]


@pytest.mark.large
@pytest.mark.parametrize(("wheel", "version", "requirement"), REQUIREMENTS)
def test_a_release_opens_what_the_table_says(
    tmp_path: Path, wheel: str, version: str, requirement: str
) -> None:
    fetched = fetch(requirement, tmp_path)
    rows = [row for row in ROWS if (row["wheel"], row["version"]) == (wheel, version)]
    found = {row["source"]: missing_from(fetched, row["file"], row["says"]) for row in rows}
    fetched.unlink()
    assert found == {row["source"]: [] for row in rows}
