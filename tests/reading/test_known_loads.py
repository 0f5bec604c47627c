"""The table of known loads: well formed, and as one small real wheel has it."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from safepip.model.known_loads import KnownLoad, When
from safepip.reading.elf_files import known_loads
from support.released import fetch, missing_from

ROWS: list[dict[str, Any]] = tomllib.loads(Path(known_loads.TABLE).read_text(encoding="utf-8"))["load"]


def test_every_entry_says_what_was_read_and_in_which_release() -> None:
    columns = {
        *(
            "distribution",
            "sonames",
            "folder",
            "when",
            "required",
            "source",
            "version",
            "wheel",
            "file",
            "says",
        )
    }
    assert [row["distribution"] for row in ROWS if set(row) != columns or not all(row["says"])] == []
    assert [row["wheel"] for row in ROWS if not fnmatchcase(row["wheel"], row["distribution"])] == []


def test_the_table_becomes_one_value_for_each_entry() -> None:
    loads = known_loads.read()
    assert len(loads) == len(ROWS)
    openmp = KnownLoad(
        "mkl", ("libiomp5.so",), "", ROWS[-2]["source"], ROWS[-2]["version"], When.LATER, required=True
    )
    assert loads[-2] == openmp


def test_cuda_pathfinder_has_the_table_that_is_said_of_it(tmp_path: Path) -> None:
    (row,) = [row for row in ROWS if row["distribution"] == "cuda-pathfinder"]
    wheel = fetch(f"cuda-pathfinder=={row['version']}", tmp_path)
    assert missing_from(wheel, row["file"], row["says"]) == []
    assert missing_from(wheel, row["file"], ["libnosuch.so.1"]) == ["libnosuch.so.1"]


@pytest.mark.parametrize("name", ["libcudnn.so.9", "libcublasLt.so.12", "libnvshmem_host.so.3"])
def test_torch_opens_its_libraries_before_its_own_modules_need_them(name: str) -> None:
    found = {
        (load.version, load.when, load.required, load.folder)
        for load in known_loads.read()
        if load.distribution == "torch" and any(fnmatchcase(name, pattern) for pattern in load.sonames)
    }
    assert found == {(version, When.IMPORT, True, "nvidia/*/lib") for version in ("2.9.1", "2.14.1")}
