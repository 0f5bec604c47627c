"""Hold safepip's symbols against the real loader's: what each object of real environments lacks.

    scripts/symbol_agreement.py ENV…

The real loader is asked by LD_TRACE_LOADED_OBJECTS with LD_WARN: it then relocates everything and names each
symbol and version that it does not find. glibc only. Exit code 1: there was a disagreement.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from safepip.model.elf import Loading, Symbol, VersionNeed
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import ldconfig
from safepip.reasoning.libraries import linking, searches, symbols

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.loader_agreement import environment_of, objects_below, target_of


def main(arguments: Sequence[str]) -> int:
    if not arguments or "--help" in arguments:
        print(__doc__)
        return 0 if arguments else 2
    failed = False
    for argument in arguments:
        environment = environment_of(argument)
        started = time.perf_counter()
        config = ldconfig.load(target_of(environment.python), os.environ)
        assert config, "the interpreter has no loader"
        world, memo = Disk(), searches.Memo()
        program = linking.main_program(world, config)
        paths = [TargetPath(path) for folder in environment.folders for path in objects_below(folder)]
        loadings = [linking.link(path, world, config, main=program, memo=memo) for path in paths]
        loadings = [loading for loading in loadings if loading.objects and ":" not in loading.root]
        roots = [loading.root for loading in loadings]
        with ThreadPoolExecutor(2) as pool:
            real = list(pool.map(asked, [environment.python] * len(loadings), roots))
        wrong = lacks = 0
        for loading, found in zip(loadings, real, strict=True):
            ours = lacking(loading, world, program)
            lacks += bool(ours)
            if ours != found:
                wrong += 1
                print(
                    f"{loading.root}: only real {sorted(found - ours)[:4]}, only safepip {sorted(ours - found)[:4]}"
                )
        print(
            f"{environment.name}: {len(loadings)} objects, of which {lacks} lack something,"
            f" {wrong} disagreements ({time.perf_counter() - started:.0f} s)"
        )
        failed = failed or bool(wrong) or not loadings
    return int(failed)


def asked(python: str, root: str) -> frozenset[str]:
    """The names that the real loader misses for `root` itself."""
    variables = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "1", "LD_BIND_NOW": "1", "LD_PRELOAD": root}
    done = subprocess.run(
        [python],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    said = done.stdout + done.stderr
    where = re.escape(root)
    missing = re.findall(rf"undefined symbol: (\S+?)(?:, version \S+)?\t\({where}\)", said)
    versions = re.findall(rf"version `([^']*)' not found \(required by {where}\)", said)
    return frozenset((*missing, *(f"version {name}" for name in versions)))


def lacking(loading: Loading, world: Disk, program: Loading) -> frozenset[str]:
    names = set[str]()
    for binding in loading.bindings:
        if binding.consumer == loading.root and binding.provider:
            names |= spelled(symbols.versions_lacking(loading, loading.root, binding.provider, world))
    return frozenset(
        names | spelled(symbols.lacking(loading, loading.root, loading.root, world, main=program))
    )


def spelled(lacks: Iterable[VersionNeed | Symbol]) -> set[str]:
    return {f"version {item.version}" if isinstance(item, VersionNeed) else item.name for item in lacks}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
