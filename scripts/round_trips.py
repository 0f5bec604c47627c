"""Uninstall each distribution of an environment by force and undo it: the tree must be as it was.

    python scripts/round_trips.py ENVIRONMENT [NAME …]

ENVIRONMENT is changed and put back; give it a copy. Inodes are compared as well as paths, types, modes, sizes
and times: what is the same file has the same bytes. Digests of everything are compared once, at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from safepip.reading.pythons import targets
from safepip.reading.sites import site
from support.trees import snapshot

Stats = dict[str, tuple[int, int, int, int]]


def stats(prefix: Path) -> Stats:
    found: Stats = {}
    for here, folders, names in os.walk(prefix):
        if here == str(prefix) and ".safepip" in folders:
            folders.remove(".safepip")
        for name in [*folders, *names]:
            status = os.lstat(f"{here}/{name}")
            size = 0 if name in folders else status.st_size
            inode = 0 if name in folders or os.path.islink(f"{here}/{name}") else status.st_ino
            found[f"{here}/{name}"] = (status.st_mode, size, status.st_mtime_ns, inode)
    return found


def safepip(prefix: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "safepip", "--python", str(prefix / "bin/python"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr


def main(arguments: list[str]) -> int:
    if not arguments or "--help" in arguments:
        print(__doc__)
        return 0 if arguments else 2
    prefix, only = Path(arguments[0]).resolve(), arguments[1:]
    target = targets.read_target(
        targets.choose(str(prefix), os.environ, "", running_as_module=True).executable, os.environ
    )
    names = only or [dist.key for dist in site.take_inventory(target).distributions if dist.key != "pip"]
    whole, first = snapshot(prefix), stats(prefix)
    failed = []
    for name in dict.fromkeys(names):
        began = time.perf_counter()
        code, said = safepip(prefix, "uninstall", "-y", "--force", name)
        gone = len(first) - len(stats(prefix))
        between = time.perf_counter()
        undone, complaint = safepip(prefix, "undo")
        now = stats(prefix)
        same = now == first
        print(
            f"{name:40} {code:3} {gone:6} gone {between - began:6.2f} s   undo {undone:2} {time.perf_counter() - between:6.2f} s  {'same' if same else 'DIFFERS'}",
            flush=True,
        )
        if not same or undone:
            failed.append(name)
            print(
                said[-500:],
                complaint[-300:],
                [
                    (path, now.get(path), first.get(path))
                    for path in set(now) ^ set(first) | {p for p in now if now[p] != first.get(p)}
                ][:5],
            )
    equal = snapshot(prefix) == whole
    print(
        f"{len(names)} distributions, {len(failed)} not as before: {failed}; all digests {'equal' if equal else 'DIFFER'}"
    )
    return 1 if failed or not equal else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
