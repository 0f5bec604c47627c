"""Hold the guard's verdicts against what really happens.

    python3 scripts/accuracy.py [--make FOLDER] [--results FOLDER] [--pairs N] [--trial TRIAL …] ENV | FILE.txt …

Each ENV is a virtual environment with pip; it is not changed. Each FILE.txt (see scripts/environments) lists the
requirements of one, which is made below FOLDER first. For each change (every distribution alone, N random pairs,
and what the lines `#: TRIAL` of the file name) the guard is asked; then pip really does it in a copy made of hard
links, what the change can touch is imported and opened by probe.py, and what worked before and does not now is
written down, one JSON object a line, in accuracy-NAME.jsonl. A run goes on where an earlier one ended. At the end
comes the table of accuracy_table.py.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts import accuracy_table, trials


def main() -> int:
    options = read_options()
    results = []
    for given in options.environments:
        environment = made(given, options.make) if given.suffix == ".txt" else given.resolve()
        wanted = options.trial or planned(environment, given, options.pairs)
        results.append(options.results / f"accuracy-{environment.name}.jsonl")
        measure(environment, wanted, results[-1])
    rows = accuracy_table.read(results)
    print(accuracy_table.listing(rows))
    print(accuracy_table.table(rows))
    return 1 if any(row["outcome"].startswith(("MISS", "FALSE")) for row in rows) else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environments", type=Path, nargs="+", metavar="ENV|FILE.txt")
    parser.add_argument("--make", type=Path, default=Path("environments"), metavar="FOLDER")
    parser.add_argument("--results", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--pairs", type=int, default=8, metavar="N")
    parser.add_argument("--trial", action="append", metavar="TRIAL")
    return parser.parse_args()


def made(file: Path, folder: Path) -> Path:
    """The environment of a file of requirements: made once, and again where the file has changed."""
    environment = folder.resolve() / file.stem
    stamp = environment / "made-from"
    if stamp.exists() and stamp.read_text() == file.read_text():
        return environment
    print(f"making {environment} …", flush=True)
    venv.create(environment, with_pip=True, clear=True)
    subprocess.run(
        [environment / "bin" / "python", "-m", "pip", "install", "-q", "-r", file.resolve()], check=True
    )
    stamp.write_text(file.read_text())
    return environment


def planned(environment: Path, file: Path, pairs: int) -> list[str]:
    names = trials.distributions(environment)
    every = list(itertools.combinations(names, 2))
    chosen = random.Random(environment.name).sample(every, min(pairs, len(every)))  # noqa: S311
    said = file.read_text().splitlines() if file.suffix == ".txt" else []
    named = [line.removeprefix("#:").strip() for line in said if line.startswith("#:")]
    return list(dict.fromkeys([*named, *("+".join(pair) for pair in chosen), *names]))


def measure(environment: Path, wanted: list[str], results: Path) -> None:
    written = results.read_text().splitlines() if results.exists() else []
    done = {json.loads(line)["trial"] for line in written}
    if not (left := [trial for trial in wanted if trial not in done]):
        return
    bench = trials.prepare(environment)
    for trial in left:
        record = trials.attempt(bench, trial)
        with results.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(f"{environment.name} {trial}: {len(record['broke'])} broke", flush=True)
    subprocess.run(["rm", "-rf", bench.copy], check=True)


if __name__ == "__main__":
    sys.exit(main())
