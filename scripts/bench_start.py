"""Time what safepip adds to a start: pass-through over pip, the hook of `guard on`, and `safepip hook`.

    python3 scripts/bench_start.py [--starts N]

Each figure is a difference of two command lines that were run in turn on the same machine, so that both meet the
same load; the median of the differences is printed with the middle half of them. Needs a Python that safepip is
installed in (not as an editable checkout, whose own start-up hook would be counted) and makes a venv of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

HARMLESS = json.dumps({"tool_name": "Bash", "tool_input": {"command": "git status && ls -la | head"}})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=200, metavar="N")
    starts = parser.parse_args().starts
    with tempfile.TemporaryDirectory() as folder:
        own, plain, guarded = (Path(folder) / name for name in ("own", "plain", "guarded"))
        for path in (own, plain, guarded):
            venv.create(path, with_pip=True, symlinks=True)
        root = Path(__file__).resolve().parent.parent
        subprocess.run([own / "bin/pip", "install", "-q", root], check=True)
        safepip = own / "bin/safepip"
        subprocess.run([safepip, "guard", "on", "--python", guarded], check=True, stdout=subprocess.DEVNULL)
        pip = plain / "bin/pip"
        few = max(starts // 4, 10)
        print("| what | added, median | middle half |\n| --- | --- | --- |")
        row("`safepip list` over `pip list`", [pip, "list"], [safepip, "--python", plain, "list"], few)
        on_path = {**os.environ, "PATH": f"{plain}/bin:{os.defpath}"}
        linked = Path(folder) / "bin" / "safepip"
        linked.parent.mkdir()
        linked.symlink_to(safepip)
        row("the same, found on the PATH", [pip, "list"], [linked, "list"], few, environ=on_path)
        one = ["-c", "pass"]
        row(
            "a start of a guarded Python",
            [plain / "bin/python", *one],
            [guarded / "bin/python", *one],
            starts,
        )
        row(
            "`safepip hook`, a harmless line, over Python's start",
            [own / "bin/python", *one],
            [safepip, "hook"],
            starts,
            stdin=HARMLESS,
        )
    return 0


def row(  # noqa: PLR0913 -- one line of the table
    what: str,
    without: Sequence[str | Path],
    with_it: Sequence[str | Path],
    starts: int,
    *,
    stdin: str = "",
    environ: dict[str, str] | None = None,
) -> None:
    environ = {**(os.environ if environ is None else environ), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for command in (without, with_it):
        once(command, stdin, environ)
    added = [once(with_it, stdin, environ) - once(without, stdin, environ) for _ in range(starts)]
    low, middle, high = statistics.quantiles(added, n=4)
    print(f"| {what} | {middle * 1000:.2f} ms | {low * 1000:.2f} to {high * 1000:.2f} ms |", flush=True)


def once(command: Sequence[str | Path], stdin: str, environ: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, input=stdin.encode(), capture_output=True, check=False, env=environ)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
