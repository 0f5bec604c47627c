"""Time safepip beside pip and the tools people use today, in one run on one environment.

    python3 scripts/bench.py ENV [--runs N] [--remove NAME …]

ENV is a virtual environment with pip; it is not changed (pip's own uninstall is timed on copies of hard links).
Prints Markdown tables: medians, the ratio to pip's, the largest peak of memory, and the system calls (strace). What is
not installed (uv, pipdeptree, strace; readers of ELF: see bench_readers.py) is left out. Timings are figures to read,
never a test. Run it with the python that safepip is installed in.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

STAGES = """
import os, sys, time
start = time.perf_counter()
from safepip.cli import main
from safepip.commands import examine, scene, target
from safepip.reading.sites import site
from safepip.reading.disk import Disk
from safepip.reasoning.changes import removal
marks = [("imports", time.perf_counter() - start)]
def stage(name, act):
    begin = time.perf_counter()
    result = act()
    marks.append((name, time.perf_counter() - begin))
    return result
found = stage("target", lambda: target.find(sys.argv[1]))
inventory = stage("metadata and RECORD", lambda: site.take_inventory(found.target))
stage("plan", lambda: removal.plan(sys.argv[2:], inventory, Disk()))
stage("all of it, judging and ELF included", lambda: examine.examine(sys.argv[2:], scene.Scene(found.target, os.environ)))
for name, seconds in marks:
    print(f"| {name} | {seconds * 1000:.0f} ms |")
"""


IMPORTS = """
import os, sys, time
from safepip.commands import code, examine, scene, target
look = code.look
def timed(evidence, there):
    start = time.perf_counter()
    result = look(evidence, there)
    print(time.perf_counter() - start)
    return result
code.look = timed
examine.examine(sys.argv[2:], scene.Scene(target.find(sys.argv[1]).target, os.environ))
"""


class Figure(NamedTuple):
    wall: float  # seconds, median
    memory: int  # MiB, the largest peak


def main() -> int:
    options = read_options()
    environment = options.environment.resolve()
    print(f"{environment.name}: {options.runs} runs each, {os.cpu_count()} processors, medians\n")
    print(
        "| removal | pip uninstall | safepip --dry-run, imports read | ratio | peak memory | its first look |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |"
    )
    for name in options.remove:
        first, again, pip = removal_figures(environment, name, options.runs)
        print(
            f"| {name} | {pip.wall:.3f} s | {again.wall:.3f} s | {again.wall / pip.wall:.2f} "
            f"| {again.memory} MiB | {first.wall:.3f} s, {first.memory} MiB |",
            flush=True,
        )
    print_commands(environment, options.remove[-1], options.runs)
    print("\n| command | pip | safepip | more |\n| --- | --- | --- | --- |")
    pip_list = measured([environment / "bin" / "python", "-m", "pip", "list"], options.runs)
    ours = measured([*safepip(environment), "list"], options.runs)
    print(
        f"| list | {pip_list.wall:.3f} s | {ours.wall:.3f} s | {(ours.wall - pip_list.wall) * 1000:.0f} ms |"
    )
    print(
        "\n| what imports add to a dry-run | nothing kept | kept by another removal | kept |\n| --- | --- | --- | --- |"
    )
    for name in options.remove:
        cold, warmer, warm = import_figures(environment, name, options.remove, options.runs)
        print(
            f"| {name} | {cold * 1000:.0f} ms | {warmer * 1000:.0f} ms | {warm * 1000:.0f} ms |", flush=True
        )
    print(f"\nWhere the time of one dry-run goes ({options.remove[0]}):\n\n| stage | time |\n| --- | --- |")
    subprocess.run([sys.executable, "-c", STAGES, environment, options.remove[0]], check=True, env=quiet())
    return 0


def print_commands(environment: Path, name: str, runs: int) -> None:
    """Every question that safepip answers, beside what people ask today."""
    python = environment / "bin" / "python"
    commands: dict[str, list[str | Path]] = {
        f"safepip uninstall --dry-run {name}": [*safepip(environment), "uninstall", "--dry-run", name],
        "safepip why libcudnn": [*safepip(environment), "why", "libcudnn"],
        "safepip audit": [*safepip(environment), "audit"],
        "safepip doctor": [*safepip(environment), "doctor"],
        "pip check": [python, "-m", "pip", "check"],
        "pip list": [python, "-m", "pip", "list"],
        "pipdeptree": [beside("pipdeptree"), "--python", python],
        "uv pip check": [beside("uv"), "pip", "check", "--python", python],
        "uv pip uninstall --dry-run": [
            beside("uv"),
            "pip",
            "uninstall",
            "--dry-run",
            "--python",
            python,
            name,
        ],
    }
    print("\n| command | median | peak memory | system calls |\n| --- | ---: | ---: | ---: |")
    for title, command in commands.items():
        if Path(command[0]).exists():
            figure = measured(command, runs)
            print(
                f"| {title} | {figure.wall:.3f} s | {figure.memory} MiB | {system_calls(command)} |",
                flush=True,
            )


def beside(name: str) -> Path:
    """A tool installed with safepip, or found on the PATH."""
    own = Path(sys.executable).with_name(name)
    return own if own.exists() else Path(shutil.which(name) or own)


def system_calls(command: list[str | Path]) -> str:
    strace = shutil.which("strace")
    if strace is None:
        return "-"
    with tempfile.NamedTemporaryFile("r") as counts:
        traced = [strace, "-f", "-c", "-U", "calls,name", "-o", counts.name, *command]
        subprocess.run(traced, check=False, capture_output=True, env=quiet())
        return next((line.split()[0] for line in counts if line.rstrip().endswith("total")), "-")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environment", type=Path, metavar="ENV")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument(
        "--remove", nargs="+", default=["iniconfig", "numpy", "nvidia-cudnn-cu13"], metavar="NAME"
    )
    return parser.parse_args()


def removal_figures(environment: Path, name: str, runs: int) -> tuple[Figure, Figure, Figure]:
    """The guard's first and second look, and pip's removal, in turn, so that all meet the same machine."""
    copy = environment.with_name(environment.name + ".bench")
    look: list[str | Path] = [*safepip(copy), "uninstall", "--dry-run", name]
    rounds = []
    for _ in range(runs + 1):
        fresh(environment, copy)
        pip: list[str | Path] = [copy / "bin" / "python", "-m", "pip", "uninstall", "-y", name]
        rounds.append((once(look), once(look), once(pip)))
    shutil.rmtree(copy, ignore_errors=True)
    first, again, pips = zip(*rounds[1:], strict=True)  # the first warms the page cache
    return summed(first), summed(again), summed(pips)


def import_figures(environment: Path, name: str, names: list[str], runs: int) -> tuple[float, ...]:
    """Medians with an empty cache, after the removal of another one was judged, and the second time."""
    other = next(one for one in (*reversed(names), "pip") if one != name)
    rows = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as cache:
            cold = import_seconds(environment, name, empty)
            import_seconds(environment, other, cache)
            rows.append((cold, *(import_seconds(environment, name, cache) for _ in range(2))))
    return tuple(statistics.median(column) for column in zip(*rows, strict=True))


def import_seconds(environment: Path, name: str, cache: str) -> float:
    command: list[str | Path] = [sys.executable, "-c", IMPORTS, environment, name]
    environ = {**quiet(), "XDG_CACHE_HOME": cache}
    return float(subprocess.run(command, check=True, env=environ, capture_output=True, text=True).stdout)


def measured(command: list[str | Path], runs: int) -> Figure:
    once(command)
    return summed([once(command) for _ in range(runs)])


def once(command: list[str | Path]) -> Figure:
    """One process from start to end; its own peak of memory, as the kernel counts it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=quiet())
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Figure(time.perf_counter() - start, usage.ru_maxrss // 1024)


def summed(figures: Sequence[Figure]) -> Figure:
    return Figure(
        statistics.median(figure.wall for figure in figures), max(figure.memory for figure in figures)
    )


def fresh(environment: Path, copy: Path) -> None:
    link: Callable[[str, str], None] = os.link
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(environment, copy, symlinks=True, copy_function=link)
    for path in copy.rglob("*.pth"):  # pip edits these in place
        own = path.with_suffix(".own")
        shutil.copy2(path, own)
        own.replace(path)


def safepip(environment: Path) -> list[str | Path]:
    return [Path(sys.executable).with_name("safepip"), "--python", environment]


def quiet() -> dict[str, str]:
    environ = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # byte code is part of every installation
    return environ


if __name__ == "__main__":
    sys.exit(main())
