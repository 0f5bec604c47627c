"""How fast ELF objects are read and linked, side by side in one run, and how that grows.

    scripts/bench_readers.py ENV [ROUNDS]

Readers take turns, so that a busy machine is busy for all; the median counts. What is not installed
(libtree, auditwheel) is left out. Growth is measured on hard links of the environment's own objects, each
step in a process of its own for its peak memory.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from safepip.model.elf import Elf
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import elf, elf_hints, elf_library, ldconfig
from safepip.reasoning.libraries import linking, searches

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.loader_agreement import environment_of, objects_below, target_of

SAMPLE = 40  # objects for the tools that start a process, or need a second, for each
STEPS = (100, 1_000, 10_000)


def main(arguments: Sequence[str]) -> int:
    if not arguments or "--help" in arguments:
        print(__doc__)
        return 0 if arguments else 2
    if arguments[0] == "--grown":
        print(*grown(arguments[1], arguments[2]))
        return 0
    environment = environment_of(arguments[0])
    rounds = int(arguments[1]) if len(arguments) > 1 else 5
    paths = [path for folder in environment.folders for path in objects_below(folder)]
    paths = [path for path in paths if not os.path.islink(path)]
    print(f"{len(paths)} objects of {environment.name}, median of {rounds} rounds")
    readers = {
        "safepip: dynamic sections": lean,
        "safepip: and every root linked": lambda some: link_all(environment.python, some),
        "safepip: names opened at run time": hints,
        "pyelftools: dynamic sections": library,
        "libtree": libtree,
        "ldd, a process each": ldd,
        "auditwheel's lddtree": lddtree,
    }
    times: dict[str, list[float]] = {name: [] for name in readers}
    for number in range(rounds):
        for name, reader in readers.items():
            some = sample(paths) if reader in {ldd, lddtree} else paths
            if reader in {ldd, lddtree} and number:
                continue
            times[name].append(seconds(reader, some) * len(paths) / len(some))
    for name, taken in times.items():
        print(f"  {name:36} {text_of(taken)}")
    growth(environment.python, paths)
    return 0


def text_of(taken: list[float]) -> str:
    middle = statistics.median(taken)
    scaled = f"   ({SAMPLE} objects, scaled)" if len(taken) == 1 else ""
    return f"{middle:8.3f} s{scaled}" if middle >= 0 else "not installed"


def sample(paths: list[str]) -> list[str]:
    return paths[:: max(1, len(paths) // SAMPLE)][:SAMPLE]


def seconds(reader: Callable[[list[str]], bool], paths: list[str]) -> float:
    started = time.perf_counter()
    done = reader(paths)
    return time.perf_counter() - started if done else -1.0


def lean(paths: list[str]) -> bool:
    return bool([elf.read(path) for path in paths])


def hints(paths: list[str]) -> bool:
    return bool([elf_hints.read(path) for path in paths])


def library(paths: list[str]) -> bool:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        elf_library.read(handle)
        os.close(handle)
    return True


def link_all(python: str, paths: list[str]) -> bool:
    config = ldconfig.load(target_of(python), os.environ)
    assert config
    world, memo = Disk(), searches.Memo()
    program = linking.main_program(world, config)
    for path in paths:
        linking.link(TargetPath(path), world, config, main=program, memo=memo)
    return True


def libtree(paths: list[str]) -> bool:
    return bool(shutil.which("libtree")) and run(["libtree", *paths])


def ldd(paths: list[str]) -> bool:
    return all(run(["ldd", path]) for path in paths)


def lddtree(paths: list[str]) -> bool:
    if not find_spec("auditwheel"):
        return False
    tree = import_module("auditwheel.lddtree").ldd
    for path in paths:
        with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):
            tree(Path(path))
    return True


def run(command: list[str]) -> bool:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return True


def growth(python: str, paths: list[str]) -> None:
    print("growth, hard links of the same objects:")
    with tempfile.TemporaryDirectory(dir=Path(paths[0]).parent) as folder:
        for count in STEPS:
            for number in range(count):
                link = Path(folder, f"{number // 500}/lib{number}.so")
                link.parent.mkdir(exist_ok=True)
                if not link.exists():
                    link.hardlink_to(paths[number % len(paths)])
            done = subprocess.run(
                [sys.executable, __file__, "--grown", python, folder],
                capture_output=True,
                text=True,
                check=True,
            )
            read, linked, memory = map(float, done.stdout.split())
            print(f"  {count:6} objects  read {read:7.3f} s   linked {linked:7.3f} s   peak {memory:5.0f} MB")


def grown(python: str, folder: str) -> tuple[float, float, float]:
    """Seconds to read and to link every object below `folder`, and the peak of memory."""
    paths = [entry.path for part in os.scandir(folder) for entry in os.scandir(part)]
    started = time.perf_counter()
    assert sum(isinstance(elf.read(path), Elf) for path in paths) > len(paths) // 2
    read = time.perf_counter() - started
    started = time.perf_counter()
    link_all(python, paths)
    linked = time.perf_counter() - started
    return read, linked, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
