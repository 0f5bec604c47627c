"""A part of what `scripts/fuzz.py` does, with numbers of its own: 20,000 spoilt inputs, each with every rule held."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/fuzz.py"
INPUTS, PARTS = 20_000, 4
# Open faults, by the number of the input and what is said of it. Each is to be mended; none may join them unnoticed.
OPEN: dict[int, str | tuple[str, ...]] = {
    9544: "allowed, and really done it breaks a file",  # a survivor's RECORD whose one quote swallows five rows
    12685: "an import is not seen in what is cut out of the file",  # a source that is damaged below its imports
    16074: (
        "was stopped after 4 s of the processor",
        "took ",
    ),  # 4 MB of import statements, read by Python 3.11
}


@pytest.mark.parametrize("part", range(PARTS))
def test_spoilt_input_breaks_no_rule(part: int, tmp_path: Path) -> None:
    """In a process of its own: limits and an audit hook cannot be taken off again."""
    here = INPUTS // PARTS
    words = [
        "--seed",
        "ci",
        "--start",
        str(part * here),
        "--inputs",
        str(here),
        "--state",
        str(tmp_path / "state.json"),
    ]
    subprocess.run([sys.executable, SCRIPT, *words], stdout=subprocess.DEVNULL, check=False)
    state = json.loads((tmp_path / "state.json").read_text())
    new = [
        fault for fault in state["faults"] if not fault["said"].startswith(OPEN.get(fault["number"], "\0"))
    ]
    assert (new, state["done"]) == ([], (part + 1) * here)
