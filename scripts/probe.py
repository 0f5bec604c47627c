"""Try everything that an environment can load. Run by the environment's own python; prints JSON.

    PYTHON probe.py [--touches] [--only NAME …]
    PYTHON probe.py --named < NAMED.json

For each distribution (or only those named), in a forked process of its own: import every top-level module, then, in
forked children of that, import each compiled inner module, load each entry point and open every shared object
that it owns. The answer is {"loads": {distribution: {"import module" | "open path" | "load entry point": "ok" or
the error}}, "lost": {distribution: files of RECORD that are gone}}. --touches adds whose files each one opened or
mapped meanwhile: only a change of those can change its answers.

--named tries single things: {"statements": ["file:line of an import below site-packages"], "objects": [path]}.
"""

from __future__ import annotations

import ast
import csv
import ctypes
import importlib
import importlib.metadata
import json
import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterable

QUIET = {
    "CUDA_VISIBLE_DEVICES": "",
    "QT_QPA_PLATFORM": "offscreen",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}
LEFT_OUT = {"pip", "setuptools", "wheel", "safepip"}
SECONDS = 60  # that one import may take
PREFIX = os.path.realpath(sys.prefix)

Answers = dict[str, str]
touched: set[str] = set()


def main(arguments: list[str]) -> None:
    if "--help" in arguments:
        print(__doc__)
        return
    sys.path.pop(0)  # this script's own folder
    os.chdir("/")
    os.environ.update(QUIET)
    if "--named" in arguments:
        print(json.dumps(named(json.load(sys.stdin))))
        return
    dists = list({dist.name: dist for dist in importlib.metadata.distributions()}.values())
    recorded = {dist.name: rows(dist) for dist in dists}
    chosen = [
        dist
        for dist in dists
        if dist.name.lower() not in LEFT_OUT and ("--only" not in arguments or dist.name in arguments)
    ]
    watching = "--touches" in arguments
    answers = {dist.name: probe(dist, recorded[dist.name], watching=watching) for dist in chosen}
    said: dict[str, object] = {
        "loads": {name: loads for name, (loads, _) in answers.items()},
        "lost": {dist.name: lost for dist in dists if (lost := gone(dist, recorded[dist.name]))},
    }
    if watching:
        owners = owners_of(dists, recorded)
        said["touches"] = {
            name: sorted({owner for path in paths for owner in owners.get(path, ())} - {name})
            for name, (_, paths) in answers.items()
        }
    print(json.dumps(said))


def rows(dist: importlib.metadata.Distribution) -> list[str]:
    """RECORD as written, the missing files too."""
    return [row[0] for row in csv.reader((dist.read_text("RECORD") or "").splitlines()) if row]


def gone(dist: importlib.metadata.Distribution, paths: list[str]) -> list[str]:
    return [path for path in paths if not os.path.lexists(str(dist.locate_file(path)))]


def owners_of(
    dists: Iterable[importlib.metadata.Distribution], recorded: dict[str, list[str]]
) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for dist in dists:
        for path in recorded[dist.name]:
            owners.setdefault(os.path.normpath(str(dist.locate_file(path))), set()).add(dist.name)
    return owners


def probe(
    dist: importlib.metadata.Distribution, paths: list[str], *, watching: bool
) -> tuple[Answers, list[str]]:
    modules = sorted(top_modules(paths))
    inner = sorted(inner_modules(paths) - {*modules})
    located = {
        os.path.abspath(str(dist.locate_file(path))) for path in paths if ".so" in path.rpartition("/")[2]
    }
    objects = sorted(filter(is_object, located))
    points = sorted({(f"{point.group} {point.name}", point.value) for point in dist.entry_points})

    def load() -> Answers:
        if watching:
            sys.addaudithook(watch)
        answers = {f"import {name}": attempt(importing(name)) for name in modules}
        for name in inner:
            answers.update(apart(f"import {name}", importing(name)))
        for key, value in points:
            answers.update(apart(f"load {key}", entering(value)))
        for path in objects:
            answers.update(apart(f"open {path}", opening(path)))
        return answers

    said, seen = forked(load, seconds=900)
    answers = said or {"import ?": "the probe died"}
    return (
        {key.replace(PREFIX, "PREFIX"): answer.replace(PREFIX, "PREFIX") for key, answer in answers.items()},
        seen,
    )


def watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path = arguments[0]
    elif event == "import":
        path = arguments[1]  # of a compiled module its file
    else:
        return
    if isinstance(path, str) and path.startswith(PREFIX):
        touched.add(os.path.normpath(path))


def mapped() -> set[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        return {line[line.index("/") :].rstrip("\n") for line in file if PREFIX in line}


def importing(name: str) -> Callable[[], object]:
    return lambda: importlib.import_module(name)


def entering(value: str) -> Callable[[], object]:
    return lambda: importlib.metadata.EntryPoint("x", value, "x").load()


def opening(path: str) -> Callable[[], object]:
    return lambda: ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)


def attempt(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as error:
        return str(error)[:300]
    except BaseException as error:  # noqa: BLE001  (a module may raise SystemExit too)
        return f"{type(error).__name__}: {error}"[:300]
    return "ok"


def apart(key: str, act: Callable[[], object]) -> Answers:
    said, seen = forked(lambda: {key: attempt(act)}, seconds=SECONDS)
    touched.update(seen)
    return said or {key: "died"}


def forked(act: Callable[[], Answers], *, seconds: int) -> tuple[Answers, list[str]]:
    """What `act` says in a process of its own, which may die of it, and the files that it touched."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            signal.alarm(seconds)
            said = act()
            answer = json.dumps([said, sorted(touched | mapped())]).encode("utf-8", "surrogateescape")
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    try:
        said, seen = json.loads(text)
    except ValueError:
        return {}, []
    return said, seen


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
    """Compiled ones, and the packages of a namespace, which has no top-level module to import."""
    suffixes = (f".{sysconfig.get_config_var('SOABI')}.so", ".abi3.so")
    names = set()
    tops = {path.split("/")[0] for path in paths if path.count("/") == 1 and path.endswith("/__init__.py")}
    for path in paths:
        parts = path.split("/")
        if {"tests", "test"} & {*parts} or len(parts) < 2:
            continue
        for suffix in suffixes:
            inside = path.removesuffix(suffix).split("/")
            if path.endswith(suffix) and all(map(str.isidentifier, inside)):
                names.add(".".join(inside))
        if parts[-1] == "__init__.py" and parts[0] not in tops and all(map(str.isidentifier, parts[:-1])):
            names.add(".".join(parts[:-1]))
    return names


def is_object(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def named(wanted: dict[str, list[str]]) -> Answers:
    site = sysconfig.get_path("purelib")
    answers: Answers = {}
    for place in wanted["statements"]:
        answers.update(apart(place, stating(site, place)))
    for path in wanted["objects"]:
        answers.update(apart(path, opening(os.path.join(PREFIX, path))))
    return answers


def stating(site: str, place: str) -> Callable[[], object]:
    """The import at a line, done as the file would do it."""

    def act() -> None:
        path, _, line = place.rpartition(":")
        with open(os.path.join(site, path), "rb") as file:
            tree = ast.parse(file.read())
        found = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno == int(line)
        ]
        if not found:
            raise LookupError(f"no import at {place}")
        package = ".".join(os.path.dirname(path).split("/"))
        code = compile(ast.Module(list(found), []), path, "exec")
        exec(code, {"__name__": package + ".x", "__package__": package})  # noqa: S102  (what the file says)

    return act


if __name__ == "__main__":
    main(sys.argv[1:])
