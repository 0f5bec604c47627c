"""A part of what `scripts/fuzz.py` does, with numbers of its own: 20,000 spoilt inputs, each with every rule held."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/fuzz.py"
INPUTS, PARTS = 20_000, 4


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
    said = [(fault["number"], fault["subject"], fault["said"]) for fault in state["faults"]]
    assert (said, state["done"]) == ([], (part + 1) * here)
