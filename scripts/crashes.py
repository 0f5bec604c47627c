"""Kill the real program, pip included, at random moments; the next run must leave the tree as before or as after.

    python scripts/crashes.py [KILLS] [SEED]

One environment is made with a small pip-installed overlap. Each round copies it, starts one of uninstall,
uninstall --safe, undo and history --drop, and kills it with SIGKILL: safepip alone, so that its pip goes on,
or both at once. Then the next safepip runs, and the tree is held against both ends.
"""

from __future__ import annotations

import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.trees import Node, snapshot
from support.wheels import make_wheel

OLD = {f"pkg/m{number}.py": f"old = {number}\n" for number in range(300)}
NEW = {f"pkg/m{number}.py": f"new = {number}\n" for number in range(300)} | {
    f"pkg/own/n{number}.py": "" for number in range(300)
}
AIMED = 0.7  # of the kills: at the part in which the disk is changed
Tree = dict[str, Node]


class Round(NamedTuple):
    words: tuple[str, ...]
    start: Path  # an environment to copy
    before: Tree
    after: Tree
    seconds: float
    changing: float  # of them: those in which the journal is open


def safepip(prefix: Path, *words: str, wheels: Path) -> subprocess.Popen[bytes]:
    settings = {
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "UV_CACHE_DIR": "/nonexistent",
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "safepip", "--python", prefix / "bin/python", *words],
        env={**os.environ, **settings},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def copy(source: Path, target: Path) -> Path:
    """With hard links within, as the vault has them, and none to the source."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-a", source, target], check=True)
    return target


def make(folder: Path) -> tuple[Path, Path]:
    wheels, base = folder / "wheels", folder / "base"
    wheels.mkdir()
    make_wheel(wheels, "old", OLD)
    make_wheel(wheels, "new", NEW)
    venv.create(base, symlinks=True)  # without pip: safepip's own acts on it, and the tree is small
    for name in ("old", "new"):
        install = ["install", "-q", "--no-index", "--find-links", str(wheels), name]
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(base / "bin/python"), *install], check=True
        )
    return base, wheels


def tree(prefix: Path) -> Tree:
    """Times of folders and of what was fetched are those of the day: only the order of the steps is at stake."""
    return {
        path: node._replace(mtime=0) for path, node in snapshot(prefix).items() if "__pycache__" not in path
    }


def rounds(base: Path, wheels: Path, folder: Path) -> list[Round]:
    """Each operation from its start to its end, undisturbed, for the trees and the time that it takes."""
    force, safe = ("uninstall", "-y", "--force", "new"), ("uninstall", "-y", "--safe", "new")
    removed, spared = copy(base, folder / "removed"), copy(base, folder / "spared")
    safepip(removed, *force, wheels=wheels).communicate()
    safepip(spared, *safe, wheels=wheels).communicate()
    operations = [
        (force, base),
        (safe, base),
        (("undo",), removed),
        (("undo", "1"), spared),
        (("history", "--drop"), removed),
    ]
    found = []
    for words, start in operations:
        work = copy(start, folder / "work")
        began = time.perf_counter()
        process = safepip(work, *words, wheels=wheels)
        await_journal(process, work)
        opened = time.perf_counter()
        while (work / ".safepip/journal").exists():
            time.sleep(0.001)
        closed = time.perf_counter()
        process.communicate()
        seconds = time.perf_counter() - began
        found.append(Round(words, start, tree(start), tree(work), seconds, closed - opened))
    return found


def await_journal(process: subprocess.Popen[bytes], prefix: Path) -> None:
    """Where an operation has none, its end is waited for."""
    while process.poll() is None and not (prefix / ".safepip/journal").exists():
        time.sleep(0.0005)


def kill(process: subprocess.Popen[bytes], *, whole: bool) -> None:
    if whole:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
    while True:  # a pip that goes on holds the lock; the next safepip would wait for it, and give up
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)


def main(arguments: Sequence[str]) -> int:
    if "--help" in arguments:
        print(__doc__)
        return 0
    kills, seed = (*map(int, arguments), *(200, 1)[len(arguments) :])
    chance = random.Random(seed)  # noqa: S311
    counted: collections.Counter[tuple[str, str]] = collections.Counter()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="safepip-crashes-") as name:
        folder = Path(name)
        base, wheels = make(folder)
        every = rounds(base, wheels, folder)
        killed = 0
        while killed < kills:
            chosen = chance.choice(every)
            work = copy(chosen.start, folder / "work")
            process = safepip(work, *chosen.words, wheels=wheels)
            if chance.random() < AIMED and chosen.changing > 0.001:
                await_journal(process, work)
                time.sleep(chance.uniform(0, 1) * chosen.changing)
            else:
                time.sleep(chance.uniform(0.3, 1.0) * chosen.seconds)
            if process.poll() is not None:
                process.communicate()
                continue
            killed += 1
            kill(process, whole=chance.random() < 0.7)
            between = tree(work)
            said = safepip(work, "history", "--drop", wheels=wheels).communicate()[1].decode()
            end = tree(work)
            label = "before" if end == chosen.before else "after" if end == chosen.after else "BETWEEN"
            state = "whole" if between in (chosen.before, chosen.after) else "torn"
            counted[" ".join(chosen.words), f"{state}, then {label}"] += 1
            if label == "BETWEEN":
                wrong += 1
                print(f"kill {killed}: {chosen.words}: {sorted(set(end) ^ set(chosen.before))[:5]} {said}")
    for (words, label), number in sorted(counted.items()):
        print(f"{number:4}  {words:32} {label}")
    print(f"{killed} kills, {wrong} environments between before and after")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
