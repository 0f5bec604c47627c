"""Which environment to act on, and what it is: read from its files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping

from safepip.errors import TargetError
from safepip.model.elf import Elf
from safepip.model.environment import Libc, Target
from safepip.model.paths import TargetPath
from safepip.model.request import Chosen
from safepip.reading import plain_file, tree
from safepip.reading.elf_files import elf
from safepip.reading.pythons import calling, interpreter, layout, markers, pip_in_use, sys_path

_EXEC_LINE = re.compile(rb"""^'''exec' (.+) "\$0" "\$@"$""")  # of distlib, pip, uv and conda for long paths
_BESIDE = b'"$(dirname -- "$(realpath -- "$0")")"/'  # of uv's relocatable environments


def choose(python: str | None, environ: Mapping[str, str], argv0: str, *, running_as_module: bool) -> Chosen:
    """The interpreter to act on: the one named, else that of safepip as it was called, else that of `pip`."""
    if python is not None:
        return Chosen(named(python, environ), "named by --python")
    if running_as_module:
        return Chosen(TargetPath(sys.executable), "the Python that runs safepip")
    own = calling.own_python(argv0, environ)
    if own:
        return Chosen(TargetPath(own), f"the environment of {argv0}")
    meant = calling.python_on_path(environ)
    if meant:
        return Chosen(TargetPath(meant), f"the first {os.path.basename(meant)} on the PATH")
    pip = calling.pip_on_path(environ)
    if pip:
        why = f"the environment of {pip}, the first {os.path.basename(pip)} on the PATH"
        return Chosen(_python_of(pip, environ), why, TargetPath(pip))
    python3 = calling.on_path("python3", environ)
    if python3:
        return Chosen(TargetPath(python3), "the first python3 on the PATH, where there is no pip")
    raise TargetError(
        "no-environment", "neither pip nor python3 is on the PATH", "Name the environment with --python."
    )


def named(python: str, environ: Mapping[str, str]) -> TargetPath:
    """A python, or an environment's folder (pip's cli/main_parser.py:identify_python_interpreter)."""
    for path in (python, f"{python}/bin/python") if tree.isdir(python) else (python,):
        if tree.exists(path) and not tree.isdir(path):
            return TargetPath(tree.abspath(path))
        if tree.islink(path) and not tree.exists(path):
            raise _dangling(path)
    if tree.isdir(python):
        raise TargetError(
            "no-python-in-folder",
            f"{python} is no environment: it has no bin/python",
            "Name a virtual environment's folder, or the python itself.",
        )
    found = calling.on_path(python, environ) if "/" not in python and tree.root() is None else None
    raise TargetError(
        "no-interpreter",
        f"there is no interpreter {python}",
        f"--python wants a path: {found}" if found else "Name a python, or a virtual environment's folder.",
    )


def _python_of(script: str, environ: Mapping[str, str]) -> TargetPath:
    """The interpreter of a console script; of a shim (pyenv, mise) the one that the python beside it is."""
    named = _shebang(script, environ)
    if named is None:
        shims = (f"{os.path.dirname(script)}/{name}" for name in ("python", "python3"))
        named = next((shim for shim in shims if tree.access(shim, os.X_OK)), None)
    if named is None:
        raise TargetError(
            "unknown-pip", f"{script} does not say to which environment it belongs", "Name it with --python."
        )
    if not tree.exists(named):
        raise TargetError(
            "broken-pip",
            f"{script}, the first pip on the PATH, wants {named}, which is not there",
            "Name the environment with --python, or mend it.",
        )
    return TargetPath(tree.abspath(named))


def _shebang(script: str, environ: Mapping[str, str]) -> str | None:
    """The python in a script's first lines; None where it is no Python script."""
    try:
        first, second = (line.rstrip() for line in [*plain_file.start(script, 1 << 14).split(b"\n"), b""][:2])
    except OSError:
        return None
    long = _EXEC_LINE.match(second)
    if first.split()[:1] == [b"#!/bin/sh"] and long:
        return _exec_target(script, long[1])
    if not first.startswith(b"#!"):
        return None
    words = [word for word in first[2:].split() if word != b"-S"]
    if words and os.path.basename(words[0]) == b"env":
        words = words[1:]
        found = calling.on_path(os.fsdecode(words[0]), environ) if words else None
        words[:1] = [os.fsencode(found)] if found else []
    if words and re.search(rb"(python|pypy)[\d.]*t?$", words[0]):
        return os.fsdecode(words[0])
    return None


def _exec_target(script: str, words: bytes) -> str:
    if words.startswith(_BESIDE):
        folder = os.path.dirname(tree.realpath(script))
        return os.path.join(folder, os.fsdecode(words.removeprefix(_BESIDE).strip(b"'\"")))
    return os.fsdecode(words.strip(b"'\"").replace(b"'\"'\"'", b"'"))


def read_target(executable: str, environ: Mapping[str, str]) -> Target:
    """The environment that `executable` starts in."""
    if environ.get("PYTHONHOME"):
        raise TargetError("python-home", "PYTHONHOME is set: every interpreter is misled by it", "Unset it.")
    program = _program(executable, environ)
    venv = layout.read_venv(program)
    lies = layout.read_layout(program, venv, environ)
    if venv:
        _refuse_outdated(venv, lies)
    path = sys_path.make(lies, venv, environ)
    prefix = venv.prefix if venv else lies.base_prefix
    sites = _sites(path.folders, lies)
    scripts = f"{prefix}/local/bin" if path.debian and venv is None and prefix == "/usr" else f"{prefix}/bin"
    return Target(
        executable=TargetPath(program),
        interpreter=TargetPath(tree.realpath(program)),
        version=lies.version,
        prefix=TargetPath(prefix),
        base_prefix=TargetPath(lies.base_prefix),
        stdlib=TargetPath(lies.stdlib),
        scripts=TargetPath(scripts),
        sites=sites,
        path=tuple(TargetPath(folder) for folder in path.folders),
        cache_tag=lies.cache_tag,
        soabi=lies.soabi,
        libc=_libc(program),
        markers=markers.read(lies, program),
        pip=pip_in_use.find(path.folders, lies, environ),
        user_site=TargetPath(path.user_site) if path.user_site else None,
        user_scripts=TargetPath(f"{path.user_base}/bin") if path.user_site else None,
        root=tree.root(),
        externally_managed=venv is None and tree.isfile(f"{lies.stdlib}/EXTERNALLY-MANAGED"),
        real_sites=tuple(real for site in sites if (real := TargetPath(tree.realpath(site))) not in sites),
    )


def _refuse_outdated(venv: layout.VenvConfig, lies: layout.Layout) -> None:
    """An interpreter that was replaced by its successor sees nothing of what the environment holds."""
    made = ".".join(venv.version.split(".")[:2])
    now = os.path.basename(lies.stdlib)
    if (
        made
        and made != ".".join(lies.version.split(".")[:2])
        and tree.isdir(f"{venv.prefix}/lib/python{made}")
        and not tree.isdir(f"{venv.prefix}/lib/{now}")
    ):
        raise TargetError(
            "outdated-environment",
            f"{venv.prefix} was made for Python {made}, and its interpreter is {lies.version} by now",
            "Make the environment anew.",
        )


def _program(executable: str, environ: Mapping[str, str]) -> str:
    """`executable` itself, or what it starts where it is a script around the interpreter."""
    path = tree.abspath(executable)
    try:
        head = plain_file.start(path, 4)
    except OSError as error:
        if tree.islink(path) and not tree.exists(path):
            raise _dangling(path) from error
        raise TargetError(
            "no-interpreter", f"{path} cannot be read: {error.strerror}", "Name a python with --python."
        ) from error
    if head == b"\x7fELF":
        return path
    return str(interpreter.ask(path, environ)["executable"])


def _dangling(path: str) -> TargetError:
    return TargetError(
        "broken-interpreter",
        f"{path} leads to {tree.realpath(path)}, which is not there",
        "Bring that Python back, or make the environment anew.",
    )


def _sites(folders: Iterable[str], lies: layout.Layout) -> tuple[TargetPath, ...]:
    """The folders of sys.path in which distributions can lie, each once by whatever name comes first."""
    seen: set[str] = set()
    sites = []
    for folder in folders:
        real = tree.realpath(folder)
        if real not in seen and tree.isdir(real) and (folder not in lies.path or _has_metadata(real)):
            sites.append(TargetPath(folder))
        seen.add(real)
    return tuple(sites)


def _has_metadata(folder: str) -> bool:
    try:
        return any(name.endswith((".dist-info", ".egg-info")) for name in tree.listdir(folder))
    except OSError:
        return False


def _libc(program: str) -> Libc | None:
    found = elf.read(tree.realpath(program))
    name = os.path.basename(found.interpreter or "") if isinstance(found, Elf) else ""
    if name.startswith("ld-musl"):
        return Libc.MUSL
    return Libc.GLIBC if name.startswith(("ld-linux", "ld64", "ld.so")) else None
