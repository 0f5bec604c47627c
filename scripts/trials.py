"""Really make a change in a copy of an environment, and see what worked before and does not now.

A trial is text: `NAME`, `NAME+NAME …` (removed together) or `install:REQUIREMENT REQUIREMENT …`.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
LEFT_OUT = {"pip", "setuptools", "wheel", "safepip"}
HARMLESS = (".pyi", ".h", ".txt", ".md", ".rst", "LICENSE", ".pyc", "py.typed")
PLACE = re.compile(r"([\w./-]+\.py:\d+)")
SAMPLED = 0.1  # of the trials probe everything: does the choice of what to probe leave out nothing?
REMEDIED = 0.2  # of the refusals have their first remedy carried out

Answers = dict[str, Any]


class Bench(NamedTuple):
    """An environment, its copy, and what works in it."""

    environment: Path
    copy: Path
    before: Answers
    requirers: Mapping[str, set[str]]


def prepare(environment: Path) -> Bench:
    copy = environment.with_name(environment.name + ".trial")
    fresh(environment, copy)
    return Bench(environment, copy, look(copy, "--touches"), requirers_of(environment))


def distributions(environment: Path) -> list[str]:
    code = (
        "import importlib.metadata as m; print(*sorted({d.name for d in m.distributions()}, key=str.lower))"
    )
    return [name for name in python(environment, "-c", code).split() if name.lower() not in LEFT_OUT]


def attempt(bench: Bench, trial: str) -> Answers:
    """One record: the guard's report beside what the change broke, and what its first remedy leaves broken."""
    dice = random.Random(f"{bench.environment.name} {trial}")  # noqa: S311
    said = ask(bench.environment, trial)
    full = trial.startswith("install:") or dice.random() < SAMPLED
    chosen = touched(bench, trial.split("+"), said)
    fresh(bench.environment, bench.copy)
    done = change(bench.copy, trial)
    arrived = {plain(item["name"]) for item in said.get("installing", [])}
    record: Answers = {
        "trial": trial,
        "environment": bench.environment.name,
        "rc": done.returncode,
        **({} if done.returncode == 0 else {"pip": done.stderr[-500:]}),
        "full": full,
        **difference(bench, None if full else chosen, arrived),
        "report": said,
    }
    if full and not trial.startswith("install:"):
        record["beyond"] = sorted({dist for dist, *_ in record["broke"]} - chosen)
    if said.get("verdict") not in {"allow", None} and not record["broke"]:
        record["named"] = named(bench, said)
    if said.get("verdict") == "refuse" and dice.random() < REMEDIED:
        record["remedy"] = remedied(bench, trial, said)
    return record


def ask(environment: Path, trial: str) -> Answers:
    words = (
        ["install", "--dry-run", "--json", *trial.removeprefix("install:").split()]
        if trial.startswith("install:")
        else ["uninstall", "--dry-run", "--json", *trial.split("+")]
    )
    done = safepip(environment, *words)
    try:
        answer: Answers = json.loads(done.stdout)
    except ValueError:
        return {"error": {"message": done.stderr[-500:]}}
    return trimmed(answer)


def change(copy: Path, trial: str) -> subprocess.CompletedProcess[str]:
    words = (
        ["install", "-q", *trial.removeprefix("install:").split()]
        if trial.startswith("install:")
        else ["uninstall", "-q", "-y", *trial.split("+")]
    )
    return python_run(copy, "-m", "pip", *words)


def fresh(environment: Path, copy: Path) -> None:
    """A copy of hard links; `.pth` files are copied for real, since pip edits them in place."""
    subprocess.run(["rm", "-rf", copy], check=True)
    subprocess.run(["cp", "-al", environment, copy], check=True)
    for path in [*copy.glob("lib/python*/site-packages/*.pth")]:
        own = path.with_suffix(".own")
        shutil.copy2(path, own)
        own.replace(path)


def look(prefix: Path, *words: str) -> Answers:
    answers: Answers = json.loads(python(prefix, str(HERE / "probe.py"), *words))
    answers["check"] = [
        line for line in python(prefix, "-m", "pip", "check").splitlines() if not line.startswith("No broken")
    ]
    return answers


def touched(bench: Bench, leaving: Iterable[str], said: Answers) -> set[str]:
    """Whose answers the change can alter: who opened or mapped its files, shares them, requires it, or is named by the guard."""
    gone = {plain(name) for name in leaving}
    found = {finding["distribution"] for finding in said.get("findings", [])}
    shared = {owner for item in said.get("removal", {}).get("shared", []) for owner in item["owners"]}
    touching = {name for name, others in bench.before["touches"].items() if gone & {*map(plain, others)}}
    reached, queue = set(gone), list(gone)
    while queue:
        for name in bench.requirers.get(queue.pop(), set()) - reached:
            reached.add(name)
            queue.append(name)
    everyone = {plain(name): name for name in bench.before["loads"]}
    wanted = {plain(name) for name in found | shared | touching} | reached
    return {everyone[name] for name in wanted - gone if name in everyone}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirers_of(environment: Path) -> dict[str, set[str]]:
    code = """
import importlib.metadata as m, json, re
plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
found = {}
for d in m.distributions():
    for line in d.requires or []:
        found.setdefault(plain(re.match(r"[\\w.-]+", line)[0]), set()).add(plain(d.name))
print(json.dumps({name: sorted(others) for name, others in found.items()}))
"""
    return {name: {*others} for name, others in json.loads(python(environment, "-c", code)).items()}


def difference(bench: Bench, chosen: set[str] | None, arrived: set[str]) -> Answers:
    after = look(bench.copy, *(() if chosen is None else ("--only", *sorted(chosen))))
    before = bench.before
    broke = [
        [dist, *item.split(" ", 1), answers.get(item, "gone")]
        for dist, answers in after["loads"].items()
        for item, was in before["loads"].get(dist, {}).items()
        if was == "ok"
        and answers.get(item, "gone") != "ok"
        and not (plain(dist) in arrived and answers.get(item, "gone") == "gone")
    ]
    lost = {dist: sorted({*paths} - {*before["lost"].get(dist, ())}) for dist, paths in after["lost"].items()}
    site = next(bench.environment.glob("lib/python*/site-packages"))
    return {
        "broke": broke,
        "lost": {dist: paths for dist, paths in lost.items() if paths},
        "mattering": sorted({path for paths in lost.values() for path in paths if matters(site / path)}),
        "check": sorted({*after["check"]} - {*before["check"]}),
    }


def matters(path: Path) -> bool:
    if path.name == "__init__.py":
        return not trivial(path)
    return not path.name.endswith(HARMLESS)


def trivial(path: Path) -> bool:
    """Nothing but text and the old spellings of a namespace."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError):
        return True
    said = [
        node
        for node in tree.body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return not said or "extend_path" in ast.unparse(tree) or "declare_namespace" in ast.unparse(tree)


def named(bench: Bench, said: Answers) -> Answers:
    """What findings name, tried in the untouched environment and in the copy: {what: fails now}."""
    shown = [finding for finding in said["findings"] if finding["severity"] != "note"]
    places = sorted({place for finding in shown for place in PLACE.findall(finding["message"])})
    prefix = f"{said['environment']['prefix']}/"
    objects = sorted(
        {
            path.removeprefix(prefix)
            for finding in shown
            for path in finding["paths"]
            if ".so" in path.rpartition("/")[2]
        }
    )
    wanted = json.dumps({"statements": places, "objects": objects})
    was, now = (
        json.loads(python_run(prefix, str(HERE / "probe.py"), "--named", stdin=wanted).stdout or "{}")
        for prefix in (bench.environment, bench.copy)
    )
    return {
        what: now.get(what, "died")
        for what, answer in was.items()
        if answer == "ok" and now.get(what) != "ok"
    }


def remedied(bench: Bench, trial: str, said: Answers) -> Answers | None:
    """The first remedy that is one of the guard's commands, carried out in a fresh copy: does what loaded load still?"""
    offered = [remedy for remedy in said["remedies"] if remedy["commands"]]
    if not offered or any(command[0] != "safepip" for command in offered[0]["commands"]):
        return None
    fresh(bench.environment, bench.copy)
    leaving = set(trial.split("+"))
    for command in offered[0]["commands"]:
        words = [
            word for word in command[1:] if word not in {"--python", str(bench.environment / "bin/python")}
        ]
        done = safepip(bench.copy, *words[:1], *(["-y"] if words[0] == "uninstall" else []), *words[1:])
        leaving.update(words[1:])
        if done.returncode:
            return {"title": offered[0]["title"], "rc": done.returncode, "said": done.stderr[-500:]}
    gone = {*map(plain, leaving)}
    chosen = {name for name in touched(bench, leaving, said) if plain(name) not in gone}
    found = difference(bench, chosen, gone)
    return {"title": offered[0]["title"], "rc": 0, "broke": found["broke"], "check": found["check"]}


def trimmed(answer: Answers) -> Answers:
    """Without what no judging reads: where the loader looked, and the proofs."""
    for finding in answer.get("findings", []):
        finding.pop("searched", None)
        finding.pop("proof", None)
        finding["consumers"] = finding["consumers"][:20]
    for item in (shared := answer.get("removal", {})).get("shared", []):
        item.pop("bytes_of", None)
    if shared:
        shared["shared"] = shared["shared"][:200]
    return answer


def safepip(environment: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "safepip", "--python", str(environment), *words]
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, cwd=HERE.parent
    )


def python(prefix: Path, *arguments: str) -> str:
    return python_run(prefix, *arguments).stdout


def python_run(prefix: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [str(prefix / "bin" / "python"), *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        env={**os.environ, **quiet},
        check=False,
    )
