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
from safepip.model.elf import Elf
from safepip.reading import plain_file, tree
from safepip.reading.elf_files import elf
from safepip.reading.pythons import interpreter

_PROGRAM_NAME = re.compile(r"(python|pypy)(3\.\d+)(t?)d?$")
_PYPY_VERSION = re.compile(rb'^#define\s+PYPY_VERSION\s+"(\d+)\.(\d+)', re.MULTILINE)
_TRIPLETS = {  # by bits, byte order and e_machine, as PyPy is built for
    (64, True, 62): "x86_64-linux-gnu",
    (64, True, 183): "aarch64-linux-gnu",
    (32, True, 3): "i386-linux-gnu",
    (64, False, 22): "s390x-linux-gnu",
}
_MOST_OF_PROGRAM = 64 << 20  # bytes
_MOST_OF_CONFIG = 1 << 16
_LONGEST = 4096  # PATH_MAX of the kernel
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
        text = plain_file.content(f"{place}/pyvenv.cfg", _MOST_OF_CONFIG)
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
    name = _name(program, venv)
    stdlib = next(_stdlibs(program, venv, name), None) if name else None
    if stdlib is None:
        return None
    return _pypy(program, stdlib, venv) if name.startswith("pypy") else _cpython(program, stdlib, venv)


def _cpython(program: str, stdlib: str, venv: VenvConfig | None) -> Layout | None:
    base_prefix = os.path.dirname(os.path.dirname(stdlib))
    name = os.path.basename(stdlib)
    minor = name.removeprefix("python").rstrip("t")
    version = _full_version(base_prefix, program, name, venv)
    flags = "d" if _PROGRAM_NAME.search(program) and program.endswith("d") else ""
    flags = f"{name.removeprefix('python').removeprefix(minor)}{flags}"
    soabi = _soabi(stdlib, flags)
    tag = f"cpython-{minor.replace('.', '')}"
    if not version or not soabi.startswith(f"{tag}{flags}-"):
        return None
    packed = f"{os.path.dirname(stdlib)}/{name.replace('.', '')}.zip"
    return Layout(
        "cpython", version, base_prefix, stdlib, (packed, stdlib, f"{stdlib}/lib-dynload"), tag, soabi
    )


def _pypy(program: str, stdlib: str, venv: VenvConfig | None) -> Layout | None:
    """Its suffix holds PyPy's own version; the rest is as with CPython (pypy/module/imp/importing.py)."""
    base_prefix = os.path.dirname(os.path.dirname(stdlib))
    name = os.path.basename(stdlib)
    version = _full_version(base_prefix, program, name, venv)
    header = _text(f"{base_prefix}/include/{name}/patchlevel.h") or b""
    own = _PYPY_VERSION.search(header)
    found = elf.read(tree.realpath(program))
    triplet = _TRIPLETS.get(found.abi[:3]) if isinstance(found, Elf) else None
    if not version or own is None or triplet is None:
        return None
    tag = name.replace(".", "")
    soabi = f"{tag}-pp{own[1].decode()}{own[2].decode()}-{triplet}"
    return Layout("pypy", version, base_prefix, stdlib, (stdlib,), tag, soabi)


def _followed(program: str) -> str:
    """The program itself behind its links. Links among the folders stay: sys.prefix shows them."""
    for _ in range(40):
        if not tree.islink(program):
            break
        program = os.path.normpath(os.path.join(os.path.dirname(program), tree.readlink(program)))
    return program


def _name(program: str, venv: VenvConfig | None) -> str:
    """The name of the folder of the standard library: `python3.12`, `python3.13t`, `pypy3.10`.

    By the program's name, else by what made the environment. A debug build shares the folder of a plain one.
    """
    named = _PROGRAM_NAME.search(os.path.basename(program))
    if named:
        return f"{named[1]}{named[2]}{named[3] or ''}"
    minor = ".".join(venv.version.split(".")[:2]) if venv else ""
    return f"python{minor}" if minor else ""


def _stdlibs(program: str, venv: VenvConfig | None, name: str) -> Iterator[str]:
    starts = [venv.home] if venv and venv.home.startswith("/") else []
    for start in (*starts, os.path.dirname(program)):
        folder = os.path.normpath(start) if len(start) <= _LONGEST else ""
        while folder.strip("/"):  # the top may be written `//` too
            for lib in ("lib", "lib64"):
                if tree.exists(f"{folder}/{lib}/{name}/os.py"):
                    yield f"{folder}/{lib}/{name}"
            folder = os.path.dirname(folder)


def _full_version(base_prefix: str, program: str, name: str, venv: VenvConfig | None) -> str:
    minor = name.removeprefix("python").removeprefix("pypy").rstrip("t")
    header = _text(f"{base_prefix}/include/{name}/patchlevel.h")
    found = _PY_VERSION.search(header) if header else None
    if found:
        return found[1].decode()
    if venv and venv.version.startswith(f"{minor}."):
        return venv.version
    return _embedded_version(base_prefix, program, name, minor) if tree.root() is not None else ""


def _embedded_version(base_prefix: str, program: str, name: str, minor: str) -> str:
    """PY_VERSION as the program holds it, or its library: an image without headers has it nowhere else."""
    needle = re.compile(rb"\0(%s\.\d+(?:(?:a|b|rc)\d+)?)\+?\0" % re.escape(minor.encode()))
    library = f"{base_prefix}/lib/lib{name}.so.1.0"
    for path in (tree.realpath(program), library):
        try:
            found = needle.search(plain_file.start(path, _MOST_OF_PROGRAM))
        except OSError:
            continue
        if found:
            return found[1].decode()
    return ""


def _soabi(stdlib: str, flags: str) -> str:
    """From the build-time data of a build for this platform, of which a stdlib holds one for each set of flags."""
    try:
        names = [name for name in tree.listdir(stdlib) if name.startswith(f"_sysconfigdata_{flags}_")]
    except OSError:
        return ""
    names = [name for name in names if "_linux_" in name] or names  # Debian leaves that out, for some builds
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
