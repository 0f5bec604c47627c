"""Give safepip spoilt and hostile files by the million, and hold every rule over each.

    python scripts/fuzz.py --inputs 1000000 --processes 2 --state fuzz.json     again: goes on where it ended
    python scripts/fuzz.py --seed 1 --again 4711                               one input once more, written to a file

Rules: no exception but safepip's own; none over a second or 64 MB; nothing outside the target opened for writing,
nothing run; no path outside it planned for deletion or restored; no control character in a report; and no clean
"allow" where a file of a refused removal is damaged and really doing it breaks what worked. Ends with 1 where one
was broken.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.fuzzing import watch
from support.fuzzing.campaign import Campaign, subject_of
from support.fuzzing.place import place

BATCH = 5000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--state", type=Path, help="where the run stands; read again by the next one")
    parser.add_argument("--again", type=int, metavar="NUMBER", help="this input only")
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batch is not None:
        return batch(options.seed, options.start, options.batch)
    if options.again is not None:
        return again(options.seed, options.again)
    return campaign(options)


def campaign(options: argparse.Namespace) -> int:
    """Batches in processes of their own: one that crashes takes no more than itself along."""
    state: dict[str, Any] = {
        "seed": options.seed,
        "done": options.start,
        "counts": {},
        "faults": [],
        "seconds": 0,
    }
    if options.state and options.state.exists():
        state = json.loads(options.state.read_text())
    end = options.start + options.inputs
    running: list[tuple[int, int, subprocess.Popen[str]]] = []
    started, before = time.monotonic(), state["seconds"]
    following = state["done"]
    while following < end or running:
        while len(running) < options.processes and following < end:
            size = min(BATCH, end - following)
            running.append((following, size, _start(state["seed"], following, size)))
            following += size
        first, size, process = running.pop(0)
        _collect(state, first, size, process)
        state["seconds"] = before + time.monotonic() - started
        state["done"] = first + size
        if options.state:
            options.state.write_text(json.dumps(state, indent=1))
    return _tell(state)


def batch(seed: str, start: int, size: int) -> int:
    """One process's part; what it found is a line of JSON."""
    made = place("fuzz")
    try:
        os.environ.update(made.environ)
        watch.bound()
        watch.listen()
        run = Campaign(made, seed)
        faults = run.run(range(start, start + size))
    finally:
        shutil.rmtree(made.root, ignore_errors=True)
    found = [fault._asdict() | {"data": _packed(fault.data)} for fault in faults]
    print(json.dumps({"counts": run.counts, "faults": found}))
    return 0


def again(seed: str, number: int) -> int:
    made = place("fuzz")
    try:
        os.environ.update(made.environ)
        run = Campaign(made, seed)
        data = run.data(number)
        name = Path(f"fuzz-{seed}-{number}")
        name.write_bytes(data)
        print(f"{subject_of(number).name}: {len(data)} bytes, in {name}: {data[:200]!r}", flush=True)
        watch.bound()
        watch.listen()
        print(run.try_(subject_of(number), data) or "every rule holds")
    finally:
        shutil.rmtree(made.root, ignore_errors=True)
    return 0


def _packed(data: bytes) -> str:
    """The input itself: another set of subjects gives its number another meaning."""
    return base64.b64encode(zlib.compress(data)).decode()


def _start(seed: str, start: int, size: int) -> subprocess.Popen[str]:
    words = [sys.executable, __file__, "--seed", seed, "--start", str(start), "--batch", str(size)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def _collect(state: dict[str, Any], first: int, size: int, process: subprocess.Popen[str]) -> None:
    out, _ = process.communicate()
    if process.returncode:
        said = f"the process ended with {process.returncode}"
        state["faults"].append({"number": first, "subject": f"{size} inputs from here on", "said": said})
        return
    told = json.loads(out.splitlines()[-1])
    state["counts"] = dict(Counter(state["counts"]) + Counter(told["counts"]))
    state["faults"] += told["faults"]


def _tell(state: dict[str, Any]) -> int:
    faults = state["faults"]
    for fault in faults[:40]:  # each input stands in the state too, packed
        print(f"{fault['number']:>9}  {fault['subject']}: {fault['said']}")
    for name, number in sorted(state["counts"].items()):
        print(f"{number:>9}  {name}")
    inputs = sum(state["counts"].values())
    print(f"{inputs} inputs, {len(faults)} broke a rule, {state['seconds']:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
