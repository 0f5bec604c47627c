"""Time and memory in a very large environment, made for it: 10,000 distributions, 1,000,000 rows, 10,000 objects.

    python scripts/bench_scale.py [FOLDER] [DISTRIBUTIONS]

A second run on the same folder measures only. Growth is told by running it for 1,000 and for 10,000.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.elves import write
from support.fake_world import lib

ROWS = 100  # of each distribution


def make(prefix: Path, count: int) -> None:
    """Each distribution has a package of sources, and one module that needs the library of the one before it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    site = next(prefix.glob("lib/python3*/site-packages"))
    tag = f"cpython-{sys.version_info.major}{sys.version_info.minor}-x86_64-linux-gnu"
    for number in range(count):
        name, before = f"d{number:05}", f"d{max(number - 1, 0) // 50 * 50:05}"
        package, info = site / name, site / f"{name}-1.0.dist-info"
        package.mkdir()
        info.mkdir()
        if number % 50 == 0:
            (package / f"lib{name}.so.1").write_bytes(write(lib(f"lib{name}.so.1")))
        else:
            module = write(lib(needs=[f"lib{before}.so.1"], runpath=f"$ORIGIN/../{before}"))
            (package / f"_c.{tag}.so").write_bytes(module)
        for row in range(ROWS - 4):
            (package / f"m{row}.py").touch()
        (package / "__init__.py").write_text(f"import {before}\n" if before != name else "")
        requires = f"Requires-Dist: {before}\n" if before != name else ""
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
        (info / "INSTALLER").write_text("pip\n")
        rows = [
            *(f"{name}/{path}" for path in os.listdir(package)),
            f"{info.name}/METADATA",
            f"{info.name}/RECORD",
        ]
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in rows))


def measure(prefix: Path, *words: str) -> str:
    start = time.monotonic()
    command = [sys.executable, "-m", "safepip", "--python", str(prefix / "bin/python"), *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = process.stderr.read().strip() if process.stderr else ""
    seconds = time.monotonic() - start
    return f"{' '.join(words[:2]):24} {seconds:7.2f} s {usage.ru_maxrss / 1024:7.0f} MB  exit {process.returncode} {said[-200:]}"


def main(arguments: Sequence[str]) -> int:
    if "--help" in arguments:
        print(__doc__)
        return 0
    prefix = Path(arguments[0] if arguments else tempfile.mkdtemp(prefix="safepip-scale-"))
    count = int(arguments[1]) if len(arguments) > 1 else 10_000
    if not (prefix / "pyvenv.cfg").exists():
        make(prefix, count)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for words in (
        ("uninstall", "--dry-run", "d00049"),
        ("uninstall", "--dry-run", "d00050"),
        ("audit",),
        ("doctor",),
    ):
        print(measure(prefix, *words), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
