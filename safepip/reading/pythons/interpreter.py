"""Asks an interpreter where it lies, where files do not say: one constant program, no site, no user's settings.

`-S` keeps the `.pth` files of installed packages from running, which is package code; `-I` keeps PYTHONPATH
and the folder of the caller out. A program that somebody less privileged could have written is not run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from safepip.errors import TargetError
from safepip.model.environment import Target
from safepip.reading import tree, users

_SECONDS = 10
_PROGRAM = """
import sys, os, _imp
impl = sys.implementation
print(repr({
    "executable": sys.executable,
    "implementation": impl.name,
    "version": ".".join(map(str, sys.version_info[:3])) + {"final": ""}.get(
        sys.version_info[3], {"alpha": "a", "beta": "b"}.get(sys.version_info[3], "rc") + str(sys.version_info[4])),
    "base_prefix": sys.base_prefix,
    "stdlib": os.path.dirname(os.path.abspath(os.__file__)),
    "path": tuple(sys.path),
    "cache_tag": impl.cache_tag or "",
    "soabi": (_imp.extension_suffixes() or ["."])[0][1:].rpartition(".")[0],
}))
"""


def ask(executable: str, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """What `executable` says of itself. TargetError where it is none of ours to run, or no Python 3."""
    if tree.root() is not None:
        raise TargetError(
            "unsettled-layout",
            f"{executable}: its files do not tell where it looks, and nothing of an image is run",
            "Judge it inside the image.",
        )
    if not any("py" in os.path.basename(name) for name in (executable, os.path.realpath(executable))):
        raise _no_python(executable, "a program of that name is not run")
    refuse_foreign(executable)
    import subprocess

    command = [executable, "-I", "-S", "-B", "-c", _PROGRAM]
    try:
        told = subprocess.run(
            command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise TargetError("slow-interpreter", f"{executable} gave no answer in {_SECONDS} seconds") from error
    except OSError as error:
        raise _no_python(executable, error.strerror or str(error)) from error
    answer = _parsed(told.stdout)
    if told.returncode or not isinstance(answer, dict):
        last = told.stderr.decode(errors="replace").strip().splitlines()
        raise _no_python(executable, last[-1] if last else f"it ended with {told.returncode}")
    return answer


def refuse_foreign_target(target: Target) -> None:
    """Before the target's own Python or pip is started, to change it or to fetch what it would get."""
    refuse_foreign(target.executable, target.prefix, target.pip.location or target.prefix)


def refuse_foreign(*needed: str) -> None:
    """Root runs nothing that another user can exchange: neither a file nor a folder on the way to it."""
    if users.effective() != 0:
        return
    steps: set[str] = set()
    for path in needed:
        for step in (os.path.abspath(path), os.path.realpath(path)):
            while step not in steps:
                steps.add(step)
                _refuse_writable(step, path)
                step = os.path.dirname(step)  # noqa: PLW2901


def _refuse_writable(path: str, needed: str) -> None:
    try:
        about = os.stat(path)
    except OSError:
        return  # whoever runs it will say so
    sticky_folder = stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISVTX
    others = stat.S_IWOTH | (stat.S_IWGRP if about.st_gid != 0 else 0)
    if about.st_uid != 0 or (about.st_mode & others and not sticky_folder):
        raise TargetError(
            "foreign-interpreter",
            f"root does not run {needed}: another user can write {path}",
            "Run safepip as that user.",
        )


def _parsed(output: bytes) -> object:
    from ast import literal_eval

    try:
        return literal_eval(output.decode("utf-8", "surrogateescape").strip())
    except (ValueError, SyntaxError):
        return None


def _no_python(executable: str, reason: str) -> TargetError:
    return TargetError(
        "no-interpreter",
        f"{executable} is no Python 3 that can be run: {reason}",
        "Name the environment's python with --python.",
    )
