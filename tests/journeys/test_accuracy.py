"""Verdicts against what happens, on one small environment; the large runs are scripts/accuracy.py's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts import accuracy_table, trials

REQUIREMENTS = ("rich==15.0.0", "markdown-it-py==4.3.0", "mdurl==0.1.2", "Pygments==2.21.0", "six==1.17.0")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> trials.Bench:
    environment = tmp_path_factory.mktemp("accuracy") / "small"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    done = subprocess.run(
        [environment / "bin" / "python", "-m", "pip", "install", "-q", *REQUIREMENTS],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no package index: {done.stderr[-200:]}")
    return trials.prepare(environment)


def test_no_removal_that_breaks_is_allowed_and_none_that_is_harmless_is_refused(bench: trials.Bench) -> None:
    changes = [*trials.distributions(bench.environment), "rich+mdurl"]
    rows = [accuracy_table.judged(trials.attempt(bench, trial)) for trial in changes]
    assert {row["trial"]: row["outcome"] for row in rows if row["broke"] or row["check"]} == {
        "markdown-it-py": "refused, only pip check complains",
        "mdurl": "refused, broke",
        "Pygments": "refused, only pip check complains",
        "rich+mdurl": "refused, broke",
    }
    assert [row for row in rows if row["outcome"].startswith(("MISS", "FALSE"))] == []
