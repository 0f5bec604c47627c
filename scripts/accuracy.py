"""Hold the guard's verdicts against what really happens.

    python3 scripts/accuracy.py ENV [--results FILE] [--deep] [NAME | NAME+NAME …]

ENV is a virtual environment with pip; it is not changed. For each removal (every distribution alone, unless some
are named) the guard is asked first; then the removal is really done in a copy made of hard links, everything
is imported and opened by probe.py, and what worked before and does not now is written down, one JSON object a
line in FILE. A run goes on where an earlier one with the same FILE ended. At the end comes the table.

A removal breaks if something loads no more, or if a survivor's file that is neither a stub nor an empty
`__init__.py` is gone. Where only `pip check` newly complains, refuse and warn are both right.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LEFT_OUT = {"pip", "setuptools", "wheel", "safepip"}
HARMLESS = (".pyi", ".h", ".txt", ".md", ".rst", "__init__.py", "LICENSE", ".pyc", "py.typed")
LOST = """
import csv, importlib.metadata as md, json, os
lost = {}
for dist in md.distributions():
    rows = [row[0] for row in csv.reader((dist.read_text("RECORD") or "").splitlines()) if row]
    lost[dist.name] = [path for path in rows if not os.path.lexists(dist.locate_file(path))]
print(json.dumps(lost))
"""

Answers = dict[str, Any]


def main() -> int:
    options = read_options()
    environment = options.environment.resolve()
    trials = options.removals or distributions(environment)
    done = {record["trial"]: record for record in read_results(options.results)}
    if any(trial not in done for trial in trials):
        measure(environment, [trial for trial in trials if trial not in done], options)
        done = {record["trial"]: record for record in read_results(options.results)}
    rows = [judged(environment, done[trial]) for trial in trials]
    report(rows)
    return 1 if any(row["outcome"].startswith(("MISS", "FALSE")) for row in rows) else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environment", type=Path, metavar="ENV")
    parser.add_argument("removals", nargs="*", metavar="NAME")
    parser.add_argument("--results", type=Path, default=Path("accuracy.jsonl"), metavar="FILE")
    parser.add_argument("--deep", action="store_true", help="import compiled inner modules too")
    return parser.parse_intermixed_args()


def measure(environment: Path, trials: list[str], options: argparse.Namespace) -> None:
    """Do each removal for real in a copy, and append what it broke to the results."""
    copy = environment.with_name(environment.name + ".trial")
    fresh(environment, copy)
    before = look(copy, deep=options.deep)
    for trial in trials:
        fresh(environment, copy)
        python(copy, "-m", "pip", "uninstall", "-y", *trial.split("+"))
        after = look(copy, deep=options.deep)
        record = {"trial": trial, **difference(before, after)}
        with options.results.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(f"{trial}: {len(record['broke'])} broke", flush=True)
    shutil.rmtree(copy, ignore_errors=True)


def fresh(environment: Path, copy: Path) -> None:
    """A copy of hard links; `.pth` files are copied for real, since pip edits them in place."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(environment, copy, symlinks=True, copy_function=os.link)
    for path in copy.rglob("*.pth"):
        own = path.with_suffix(".own")
        shutil.copy2(path, own)
        own.replace(path)


def look(prefix: Path, *, deep: bool) -> Answers:
    loads = json.loads(python(prefix, str(HERE / "probe.py"), *(["--deep"] if deep else [])))
    lost = json.loads(python(prefix, "-c", LOST))
    complaints = [
        line for line in python(prefix, "-m", "pip", "check").splitlines() if not line.startswith("No broken")
    ]
    return {"loads": loads, "lost": lost, "check": complaints}


def difference(before: Answers, after: Answers) -> Answers:
    broke = [
        [dist, *item.split(" ", 1), answers.get(item, "gone")]
        for dist, answers in after["loads"].items()
        for item, was in before["loads"].get(dist, {}).items()
        if was == "ok" and answers.get(item, "gone") != "ok"
    ]
    lost = {dist: sorted({*paths} - {*before["lost"].get(dist, ())}) for dist, paths in after["lost"].items()}
    return {
        "broke": broke,
        "lost": {dist: paths for dist, paths in lost.items() if paths},
        "check": sorted({*after["check"]} - {*before["check"]}),
    }


def judged(environment: Path, record: Answers) -> Answers:
    """The guard's verdict beside what happened."""
    report = json.loads(guard(environment, record["trial"].split("+")))
    verdict = report.get("verdict", "error")
    mattering = [path for paths in record["lost"].values() for path in paths if not path.endswith(HARMLESS)]
    broke = bool(record["broke"] or mattering)
    kinds = sorted(
        {finding["kind"] for finding in report.get("findings", []) if finding["severity"] != "note"}
    )
    return {
        **record,
        "verdict": verdict,
        "kinds": kinds,
        "broken": broke,
        "outcome": outcome(verdict, broke=broke, record=record),
    }


def outcome(verdict: str, *, broke: bool, record: Answers) -> str:
    if broke:
        return (
            "refused, broke"
            if verdict == "refuse"
            else "MISS: allowed, broke"
            if verdict == "allow"
            else "warned, broke"
        )
    if record["check"]:
        return (
            "MISS: allowed, pip check complains"
            if verdict == "allow"
            else f"{verdict}, only pip check complains"
        )
    return {
        "refuse": "FALSE: refused, harmless",
        "warn": "warned, harmless",
        "allow": "allowed, harmless",
    }.get(verdict, verdict)


def report(rows: list[Answers]) -> None:
    print()
    for row in rows:
        first = " ".join(map(str, row["broke"][0])) if row["broke"] else next(iter(row["check"]), "")
        print(f"{row['outcome']:36} {row['trial']:32} {','.join(row['kinds']):40} {first[:90]}")
    print()
    for name, count in Counter(row["outcome"] for row in rows).most_common():
        print(f"{count:5}  {name}")
    print(f"{len(rows):5}  removals in all")


def distributions(environment: Path) -> list[str]:
    code = (
        "import importlib.metadata as m; print(*sorted({d.name for d in m.distributions()}, key=str.lower))"
    )
    return [name for name in python(environment, "-c", code).split() if name.lower() not in LEFT_OUT]


def read_results(path: Path) -> list[Answers]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def guard(environment: Path, names: list[str]) -> str:
    command = [
        sys.executable,
        "-m",
        "safepip",
        "--python",
        str(environment),
        "uninstall",
        "--dry-run",
        "--json",
        *names,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def python(prefix: Path, *arguments: str) -> str:
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(prefix / "bin" / "python"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **quiet}, check=False
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
