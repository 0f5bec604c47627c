"""Try everything that an environment can load. Run by the environment's own python; prints JSON.

    PYTHON probe.py [--deep] [NAME …]

For each distribution (or those named): import every top-level module in a fresh process, then, in forked
children of it, load each of its entry points and open every shared object that it owns. --deep also imports
each compiled inner module by its dotted name. The answer is {distribution: {"import module" | "open path" | "load entry point": "ok" or the error}}.
"""

from __future__ import annotations

import csv
import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

QUIET = {
    "CUDA_VISIBLE_DEVICES": "",
    "QT_QPA_PLATFORM": "offscreen",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}
LEFT_OUT = {"pip", "setuptools", "wheel", "safepip"}

CHILD = """
import ctypes, importlib, importlib.metadata, json, os, signal, sys
modules, inner, points, objects = json.load(sys.stdin)
answers = {}
keep = os.dup(1)
nowhere = os.open(os.devnull, os.O_WRONLY)
os.dup2(nowhere, 1); os.dup2(nowhere, 2)

def attempt(act):
    try:
        act()
    except OSError as error:
        return str(error)[:300]
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "ok"

def apart(act):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(30)
        os.write(writer, attempt(act).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer or "died"

for name in modules:
    answers["import " + name] = attempt(lambda: importlib.import_module(name))
for name in inner:
    answers["import " + name] = apart(lambda: importlib.import_module(name))
for key, value in points:
    answers["load " + key] = apart(lambda: importlib.metadata.EntryPoint("x", value, "x").load())
for path in objects:
    answers["open " + path] = apart(lambda: ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL))
os.write(keep, json.dumps(answers).encode())
os._exit(0)
"""


def rows(dist: importlib.metadata.Distribution) -> list[str]:
    """RECORD as written, the missing files too."""
    return [row[0] for row in csv.reader((dist.read_text("RECORD") or "").splitlines()) if row]


def top_modules(paths: list[str]) -> set[str]:
    names = set()
    for path in paths:
        parts = path.split("/")
        if len(parts) == 1 and path.endswith((".py", ".so")):
            names.add(path.split(".")[0])
        elif len(parts) == 2 and parts[1] == "__init__.py":
            names.add(parts[0])
    return {name for name in names if name.isidentifier() and not name.startswith("__")}


def inner_modules(paths: list[str]) -> set[str]:
    suffixes = (f".{sysconfig.get_config_var('SOABI')}.so", ".abi3.so")
    names = set()
    for path in paths:
        for suffix in suffixes:
            parts = path.removesuffix(suffix).split("/")
            if (
                path.endswith(suffix)
                and len(parts) > 1
                and all(map(str.isidentifier, parts))
                and not {"tests", "test"} & {*parts}
            ):
                names.add(".".join(parts))
    return names


def is_object(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def probe(dist: importlib.metadata.Distribution, *, deep: bool) -> dict[str, str]:
    paths = rows(dist)
    modules = top_modules(paths)
    inner = inner_modules(paths) - modules if deep else set()
    located = {
        os.path.abspath(str(dist.locate_file(path))) for path in paths if ".so" in path.rpartition("/")[2]
    }
    objects = sorted(filter(is_object, located))
    points = sorted((f"{point.group} {point.name}", point.value) for point in dist.entry_points)
    work = json.dumps([sorted(modules), sorted(inner), points, objects])
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=work,
            capture_output=True,
            text=True,
            timeout=900,
            env={**os.environ, **QUIET},
            cwd="/",
            check=True,
        )
        answers: dict[str, str] = json.loads(done.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        answers = {"import ?": f"the probe died: {type(error).__name__}"}
    prefix = os.path.realpath(sys.prefix)
    return {
        key.replace(prefix, "PREFIX"): answer.replace(prefix, "PREFIX") for key, answer in answers.items()
    }


def main(arguments: list[str]) -> None:
    wanted = {name.lower() for name in arguments if not name.startswith("-")}
    dists = [dist for dist in importlib.metadata.distributions() if dist.name.lower() not in LEFT_OUT]
    dists = [dist for dist in dists if not wanted or dist.name.lower() in wanted]
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda dist: probe(dist, deep="--deep" in arguments), dists)
        print(json.dumps({dist.name: answer for dist, answer in zip(dists, answers, strict=True)}))


if __name__ == "__main__":
    main(sys.argv[1:])
