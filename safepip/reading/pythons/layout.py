"""Where an interpreter keeps its standard library, and what it calls itself: from files, or else by asking it.

The search is that of CPython's Modules/getpath.py: pyvenv.cfg beside the program or one folder up, then
upwards from its `home`, or from the program itself with links resolved, for lib/pythonX.Y/os.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from safepip.errors import TargetError
from safepip.reading import plain_file, tree
from safepip.reading.pythons import interpreter

_PROGRAM_NAME = re.compile(r"python(3\.\d+)$")
_PY_VERSION = re.compile(rb'^#define\s+PY_VERSION\s+"([^"+]+)', re.MULTILINE)
_SOABI = re.compile(rb"'SOABI': '([^']+)'")


class VenvConfig(NamedTuple):
    """pyvenv.cfg, as far as the interpreter and site.py read it."""

    prefix: str
    home: str
    system_site: bool
    version: str  # of the interpreter that made it, which may have been replaced since


class Layout(NamedTuple):
    """An interpreter apart from any virtual environment on top of it."""

    implementation: str  # cpython, pypy
    version: str
    base_prefix: str
    stdlib: str
    path: tuple[str, ...]  # sys.path as it is before site.py adds to it
    cache_tag: str
    soabi: str


def read_venv(executable: str) -> VenvConfig | None:
    """The virtual environment that `executable` stands for, or None."""
    folder = os.path.dirname(executable)
    prefix = os.path.dirname(folder)
    place = next((place for place in (folder, prefix) if tree.exists(f"{place}/pyvenv.cfg")), None)
    if place is None:
        return None
    try:
        text = plain_file.content(f"{place}/pyvenv.cfg")
    except OSError as error:
        raise TargetError(
            "unreadable-environment", f"{place}/pyvenv.cfg cannot be read: {error.strerror}"
        ) from error
    values = {
        key.strip().lower(): value.strip()
        for key, equals, value in (line.partition("=") for line in text.decode(errors="replace").splitlines())
        if equals
    }
    return VenvConfig(
        prefix=prefix,
        home=values.get("home", ""),
        system_site=values.get("include-system-site-packages", "true").lower() == "true",
        version=".".join((values.get("version_info") or values.get("version") or "").split(".")[:3]),
    )


def read_layout(executable: str, venv: VenvConfig | None, environ: Mapping[str, str]) -> Layout:
    """The interpreter behind `executable`. It is run only where its files leave a question open."""
    return _from_files(executable, venv) or _asked(executable, environ)


def _from_files(executable: str, venv: VenvConfig | None) -> Layout | None:
    program = _followed(executable)
    minor = _minor_version(program, venv)
    stdlib = next(_stdlibs(program, venv, minor), None) if minor else None
    if stdlib is None:
        return None
    base_prefix = os.path.dirname(os.path.dirname(stdlib))
    version = _full_version(base_prefix, minor, venv)
    soabi = _soabi(stdlib)
    tag = f"cpython-{minor.replace('.', '')}"
    if not version or not soabi or not soabi.startswith(f"{tag}-"):  # a debug or free-threaded build, PyPy
        return None
    start = (f"{os.path.dirname(stdlib)}/python{minor.replace('.', '')}.zip", stdlib, f"{stdlib}/lib-dynload")
    return Layout("cpython", version, base_prefix, stdlib, start, tag, soabi)


def _followed(program: str) -> str:
    """The program itself behind its links. Links among the folders stay: sys.prefix shows them."""
    for _ in range(40):
        if not tree.islink(program):
            break
        program = os.path.normpath(os.path.join(os.path.dirname(program), tree.readlink(program)))
    return program


def _minor_version(program: str, venv: VenvConfig | None) -> str:
    """`3.12`, by the program's name, else by what made the environment."""
    named = _PROGRAM_NAME.search(os.path.basename(program))
    if named:
        return named[1]
    return ".".join(venv.version.split(".")[:2]) if venv else ""


def _stdlibs(program: str, venv: VenvConfig | None, minor: str) -> Iterator[str]:
    starts = [venv.home] if venv and venv.home.startswith("/") else []
    for start in (*starts, os.path.dirname(program)):
        folder = os.path.normpath(start)
        while folder != "/":
            for lib in ("lib", "lib64"):
                if tree.exists(f"{folder}/{lib}/python{minor}/os.py"):
                    yield f"{folder}/{lib}/python{minor}"
            folder = os.path.dirname(folder)


def _full_version(base_prefix: str, minor: str, venv: VenvConfig | None) -> str:
    header = _text(f"{base_prefix}/include/python{minor}/patchlevel.h")
    found = _PY_VERSION.search(header) if header else None
    if found:
        return found[1].decode()
    return venv.version if venv and venv.version.startswith(f"{minor}.") else ""


def _soabi(stdlib: str) -> str:
    """From the build-time data of a plain build for this platform, of which a stdlib holds one."""
    try:
        names = [name for name in tree.listdir(stdlib) if name.startswith("_sysconfigdata__linux_")]
    except OSError:
        return ""
    text = _text(f"{stdlib}/{names[0]}") if len(names) == 1 else None
    found = _SOABI.search(text) if text else None
    return found[1].decode() if found else ""


def _asked(executable: str, environ: Mapping[str, str]) -> Layout:
    told = interpreter.ask(executable, environ)
    try:
        return Layout(**{name: told[name] for name in Layout._fields})
    except KeyError as error:
        raise TargetError("no-interpreter", f"{executable} does not answer as a Python would") from error


def _text(path: str) -> bytes | None:
    try:
        return plain_file.content(path)
    except OSError:
        return None
