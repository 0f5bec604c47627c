"""Hold safepip's loader against the real one: every need of every object of real environments.

    scripts/loader_agreement.py ENV…

An ENV is a prefix with bin/python3, or PYTHON:FOLDER:… for an interpreter whose packages lie elsewhere, or
musl:FOLDER:… for unpacked musllinux wheels, which a small program of musl's opens in an interpreter's place.
Each object is opened in a process of its own, forked from the target's interpreter as it is before any
import, and the loader's link map is read there. An object that the loader refuses (a missing library, an
undefined symbol) is asked about a second time by LD_TRACE_LOADED_OBJECTS with the object preloaded. What a
constructor opens by dlopen meanwhile is nobody's need, and is counted apart. Exit
code 1: there was a disagreement.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from safepip.model.elf import Elf, LoaderConfig, Loading, Rule
from safepip.model.environment import Libc, PipInUse, Target
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import elf, ldconfig
from safepip.reasoning.libraries import linking, searches

PROBE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *out;
static struct link_map *first;

static void needs(struct link_map *m) {
  const char *strings = 0;
  for (ElfW(Dyn) *d = m->l_ld; d->d_tag; d++)
    if (d->d_tag == DT_STRTAB) strings = (const char *)d->d_un.d_ptr;
  if ((size_t)strings < m->l_addr) strings += m->l_addr;
  for (ElfW(Dyn) *d = m->l_ld; d->d_tag; d++) {
    if (d->d_tag != DT_NEEDED) continue;
    const char *name = strings + d->d_un.d_val;
    void *h = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *p = 0;
    if (h) dlinfo(h, RTLD_DI_LINKMAP, &p);
    fprintf(out, "need\t%s\t%s\t%s\n", m->l_name, name, p ? p->l_name : "?");
  }
}

static void probe(const char *path) {
  struct link_map *last = first, *m;
  while (last->l_next) last = last->l_next;
  void *h = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!h) { fprintf(out, "error\t%s\n", dlerror()); return; }
  for (m = last->l_next; m; m = m->l_next) fprintf(out, "object\t%s\n", m->l_name);
  for (m = last->l_next; m; m = m->l_next) needs(m);
}

int main(void) {
  char path[8192];
  out = fdopen(dup(1), "w");
  dup2(2, 1);
  void *self = dlopen(0, RTLD_LAZY);
  dlinfo(self, RTLD_DI_LINKMAP, &first);
  while (fgets(path, sizeof path, stdin)) {
    path[strcspn(path, "\n")] = 0;
    fprintf(out, "path\t%s\n", path);
    fflush(out);
    pid_t child = fork();
    if (!child) { alarm(120); probe(path); fflush(out); _exit(0); }
    int status = 0;
    waitpid(child, &status, 0);
    if (status) fprintf(out, "killed\t%d\n", status);
    fflush(out);
  }
  _exit(0);
}

void *PyInit_loader_probe(void) { main(); return 0; }
"""


class Environment(NamedTuple):
    name: str
    python: str
    folders: tuple[str, ...]


@dataclass(slots=True)
class Answer:
    """What the real loader said of one object."""

    path: str
    objects: list[str] = field(default_factory=list)
    needs: dict[tuple[str, str], str] = field(default_factory=dict)
    error: str = ""
    traced: dict[str, str] = field(default_factory=dict)  # by LD_TRACE_LOADED_OBJECTS; "": not found


class Outcome(NamedTuple):
    agreements: int
    disagreements: tuple[str, ...]
    kind: str


def main(arguments: Sequence[str]) -> int:
    if not arguments or "--help" in arguments:
        print(__doc__)
        return 0 if arguments else 2
    failed = False
    for argument in arguments:
        environment = environment_of(argument)
        started = time.perf_counter()
        outcomes = compare(environment)
        agreements = sum(outcome.agreements for outcome in outcomes)
        disagreements = [line for outcome in outcomes for line in outcome.disagreements]
        kinds = Counter(outcome.kind for outcome in outcomes)
        print(*disagreements, sep="\n", end="\n" if disagreements else "")
        print(
            f"{environment.name}: {len(outcomes)} objects"
            f" ({', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}),"
            f" {agreements} answers agree, {len(disagreements)} do not"
            f" ({time.perf_counter() - started:.0f} s)"
        )
        failed = failed or bool(disagreements) or not agreements
    return int(failed)


def environment_of(argument: str) -> Environment:
    if ":" in argument:
        python, *folders = argument.split(":")
        return Environment(argument, python, tuple(folders))
    return Environment(argument, f"{argument}/bin/python3", (argument,))


def compare(environment: Environment) -> list[Outcome]:
    paths = [path for folder in environment.folders for path in objects_below(folder)]
    with tempfile.TemporaryDirectory() as folder:
        if environment.python == "musl":
            environment = environment._replace(python=f"{folder}/loader_probe")
            build_probe(folder, "musl-gcc", environment.python)
        target = target_of(environment.python)
        config = ldconfig.load(target, os.environ)
        assert config, "the interpreter has no loader"
        world = Disk()
        program = linking.main_program(world, config)
        compiler = "musl-gcc" if config.libc is Libc.MUSL else "cc"
        build_probe(folder, compiler, f"{folder}/loader_probe.so", "-shared", "-fPIC")
        parts = (paths[0::2], paths[1::2])
        with ThreadPoolExecutor(2) as pool:
            answers = [
                a
                for part in pool.map(lambda p: list(ask(environment.python, folder, p)), parts)
                for a in part
            ]
            refused = [a for a in answers if a.error]
            traces = pool.map(lambda a: trace(environment.python, config, a.path), refused)
            for answer, traced in zip(refused, traces, strict=True):
                answer.traced = traced
    assert [a.path for a in answers] == [*parts[0], *parts[1]], "the probe lost objects"
    memo = searches.Memo()
    return [
        held_against(a, linking.link(TargetPath(a.path), world, config, main=program, memo=memo))
        for a in answers
    ]


def target_of(python: str) -> Target:
    """As much of a Target as the loader's configuration asks for."""
    interpreter = TargetPath(str(Path(python).resolve()))
    program = elf.read(interpreter)
    assert isinstance(program, Elf), f"{python}: no ELF program"
    libc = Libc.MUSL if "ld-musl" in (program.interpreter or "") else Libc.GLIBC
    nowhere = TargetPath("")
    return Target(
        executable=TargetPath(python),
        interpreter=interpreter,
        version="",
        prefix=nowhere,
        base_prefix=nowhere,
        stdlib=nowhere,
        scripts=nowhere,
        sites=(),
        path=(),
        cache_tag="",
        soabi="",
        libc=libc,
        markers={},
        pip=PipInUse("", None),
    )


def objects_below(folder: str) -> Iterator[str]:
    """Every ELF file of a tree, by the path under which it would be opened; links to files too."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = f"{parent}/{name}"
            if os.path.isfile(path) and is_elf(path):
                yield path


def is_elf(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(4) == b"\x7fELF"


def build_probe(folder: str, compiler: str, built: str, *flags: str) -> None:
    source = Path(folder, "loader_probe.c")
    source.write_text(PROBE)
    subprocess.run([compiler, *flags, "-w", "-O1", "-o", built, str(source), "-ldl"], check=True)


def ask(python: str, folder: str, paths: Sequence[str]) -> Iterator[Answer]:
    """Open each of `paths` in a fork of the interpreter, and tell what its loader did."""
    origin = f"ModuleSpec('loader_probe', None, origin={folder + '/loader_probe.so'!r})"  # of whatever suffix
    code = f"from _imp import create_dynamic; from importlib.machinery import ModuleSpec; create_dynamic({origin})"
    own_program = python == f"{folder}/loader_probe"
    done = subprocess.run(
        [python] if own_program else [python, "-I", "-S", "-c", code],
        input="".join(f"{path}\n" for path in paths).encode("utf-8", "surrogateescape"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    answer: Answer | None = None
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        what, *rest = line.split("\t")
        if what == "path":
            if answer:
                yield answer
            answer = Answer(rest[0])
        elif answer and what == "object":
            answer.objects.append(rest[0])
        elif answer and what == "need":
            answer.needs[rest[0], rest[1]] = rest[2]
        elif answer and what in {"error", "killed"}:
            answer.error = answer.error or f"{'' if what == 'error' else 'killed by status '}{rest[0]}"
    if answer:
        yield answer


def trace(python: str, config: LoaderConfig, path: str) -> dict[str, str]:
    """The binding of each name by LD_TRACE_LOADED_OBJECTS, which relocates and initialises nothing.

    musl has no such thing for a library that a program opens; its `--list` takes the library for the program,
    which is the same to it where the program has no paths of its own.
    """
    if any(sign in path for sign in ": "):
        return {}
    glibc = config.libc is Libc.GLIBC
    traced = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": path} if glibc else {}
    done = subprocess.run(
        [python] if glibc else [interpreter_of(python), "--list", path],
        env={**os.environ, **traced},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    names = {}
    for line in (done.stdout + done.stderr).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            names[name] = "" if rest == "not found" else rest.rpartition(" (0x")[0]
        elif line.startswith("Error loading shared library "):
            names[line.removeprefix("Error loading shared library ").split(":")[0]] = ""
    return names


def interpreter_of(python: str) -> str:
    program = elf.read(os.path.realpath(python))
    return (program.interpreter or "") if isinstance(program, Elf) else ""


def held_against(answer: Answer, loading: Loading) -> Outcome:
    if not answer.error:
        needed = without_opened(answer)
        kind = "loaded" if needed.objects == answer.objects else "loaded, and a constructor opened more"
        return Outcome(*of_loaded(needed, loading), kind)
    if loading.flaw:
        same = loading.flaw.value in answer.error or "Exec format error" in answer.error
        line = f"{answer.path}: real {answer.error!r}, safepip {loading.flaw.value!r}"
        return Outcome(int(same), () if same else (line,), "refused by their own header")
    missing = [binding.wants for binding in loading.missing]
    lines = []
    error = answer.error.removeprefix("Error loading shared library ")
    if "cannot open shared object file" in error or "No such file" in error:
        first = error.split(":")[0]
        if first not in missing[:1]:
            lines.append(f"{answer.path}: first missing: real {first}, safepip {missing[:1]}")
        kind = "lack a library"
    elif missing:
        lines.append(f"{answer.path}: real {answer.error!r}, safepip misses {missing}")
        kind = "refused for another reason"
    else:
        kind = "refused for a symbol" if "symbol" in answer.error else f"refused: {answer.error[-60:]}"
    agreed, more = of_traced(answer, loading)
    return Outcome(agreed + (not lines), (*lines, *more), kind)


def without_opened(answer: Answer) -> Answer:
    """The same without what constructors opened by dlopen meanwhile: nothing needs it."""
    needed = {answer.objects[0]} if answer.objects else set()
    pending = list(needed)
    while pending:
        consumer = pending.pop()
        new = {real for (who, _), real in answer.needs.items() if who == consumer} - needed
        needed |= new
        pending += new
    return Answer(
        answer.path,
        [path for path in answer.objects if path in needed],
        {need: real for need, real in answer.needs.items() if need[0] in needed},
    )


def of_loaded(answer: Answer, loading: Loading) -> tuple[int, tuple[str, ...]]:
    if loading.flaw or loading.missing:
        why = loading.flaw or [binding.wants for binding in loading.missing]
        return 0, (f"{answer.path}: real loads it, safepip: {why}",)
    lines = []
    ours = [loaded.path for loaded in loading.objects]
    if ours != answer.objects:
        lines.append(f"{answer.path}: real link map {answer.objects}, safepip {ours}")
    bound = {(b.consumer, b.wants): b.provider for b in loading.bindings}
    lines += [
        f"{answer.path}: {consumer} needs {wants}: real {real}, safepip {bound.get((TargetPath(consumer), wants))}"
        for (consumer, wants), real in answer.needs.items()
        if bound.get((TargetPath(consumer), wants)) != real
    ]
    return len(answer.needs) + 1 - len(lines), tuple(lines)


def of_traced(answer: Answer, loading: Loading) -> tuple[int, tuple[str, ...]]:
    """The trace names what was loaded by a search, so what was met by a loaded object is not compared."""
    ours = {b.wants: b.provider or "" for b in loading.bindings if not (b.how and b.how.rule is Rule.LOADED)}
    lines = [
        f"{answer.path}: {wants}: real {answer.traced.get(wants)!r}, safepip {provider!r}"
        for wants, provider in ours.items()
        if answer.traced and answer.traced.get(wants) != provider
    ]
    return len(ours) - len(lines), tuple(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
