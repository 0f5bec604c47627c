"""A small hand-made environment in which a real pip may delete what it likes."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from safepip.model.environment import Target
from support.pips import Pip, interpreter, runner
from support.targets import target_of

_WITHOUT_ROOTS_RIGHTS = """
import ctypes, os, sys
prctl = ctypes.CDLL(None).prctl
for capability in (1, 2, 3):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
    prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.argv[1], sys.argv[1:])
"""
T = TypeVar("T")
_DAC = 0b1110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
_VERSION_3 = 0x20080522  # of capset(2)


class Deed(NamedTuple):
    """What a run of pip did."""

    gone: frozenset[str]
    changed: frozenset[str]
    code: int
    said: str


class Box:
    """A venv `v` made of links, or a copy of the base prefix, with OUT, HOME and TMP around it."""

    def __init__(
        self, root: Path, pip: Pip, *, system: bool = False, site: bool = False, name: str = "v"
    ) -> None:
        self.root, self.pip = root, pip
        self.out, self.home, self.tmp, self.sys = (root / part for part in ("out", "home", "tmp", "sys"))
        for folder in (self.out, self.home, self.tmp):
            folder.mkdir(parents=True)
        self.version = f"python{pip.python}"
        base = interpreter(pip.python)
        if system or site:
            base = self._copy_system(base)
        self.v = self.sys if system else root / name
        if not system:
            self._make_venv(base, site=site)
        self.sp = self.v / "lib" / self.version / "site-packages"
        self.bin = self.v / "bin"
        self.python = self.bin / "python"
        self.env: dict[str, str] = {}
        self.cwd = self.out
        self.rootless = False
        self.user_site = self.home / ".local/lib" / self.version / "site-packages"
        self.system_site = self.sys / "lib" / self.version / "site-packages"
        self.egg = f"pkg-1.0-py{pip.python}.egg"
        self.tag = f"cpython-{pip.python.replace('.', '')}"

    def _copy_system(self, python: Path) -> Path:
        (self.sys / "bin").mkdir(parents=True)
        lib = self.sys / "lib" / self.version
        (lib / "site-packages").mkdir(parents=True)
        executable = self.sys / "bin" / "python"
        try:
            os.link(python, executable)
        except OSError:
            executable.write_bytes(python.read_bytes())
            executable.chmod(0o755)
        stdlib = python.parent.parent / "lib" / self.version
        for child in (stdlib if stdlib.exists() else Path(sysconfig.get_path("stdlib"))).iterdir():
            if child.name not in {"site-packages", "dist-packages", "EXTERNALLY-MANAGED", "__pycache__"}:
                (lib / child.name).symlink_to(child)
        return executable

    def _make_venv(self, base: Path, *, site: bool) -> None:
        (self.v / "bin").mkdir(parents=True)
        (self.v / "lib" / self.version / "site-packages").mkdir(parents=True)
        (self.v / "lib64").symlink_to("lib")
        (self.v / "bin/python").symlink_to(base)
        self.put(
            "pyvenv.cfg", at=self.v, text=f"home = {base.parent}\ninclude-system-site-packages = {site}\n"
        )

    def put(self, *names: str, at: Path | None = None, text: str | bytes = "x = 1\n") -> Box:
        for name in names:
            path = Path(os.path.join(at or self.sp, name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return self

    def link(self, name: str, goal: str | Path, at: Path | None = None) -> Box:
        path = (at or self.sp) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(goal)
        return self

    def dist(
        self,
        name: str,
        *files: str,
        version: str = "1.0",
        rows: Sequence[str] = (),
        record: str | bytes | None = "as listed",
        scripts: str | bytes | None = None,
        info: Mapping[str, str | bytes] = {},
        at: Path | None = None,
        folder: str = "",
        metadata: str | bytes | None = None,
    ) -> Box:
        """A distribution as pip would have left it; nothing is written for `rows`."""
        folder = folder or f"{name}-{version}.dist-info"
        self.put(*files, at=at)
        inside: dict[str, str | bytes] = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        }
        if metadata is not None:
            inside["METADATA"] = metadata
        inside["INSTALLER"] = "pip\n"
        if scripts is not None:
            inside["entry_points.txt"] = scripts
        inside.update(info)
        for key, text in inside.items():
            self.put(f"{folder}/{key}", at=at, text=text)
        if record == "as listed":
            listed = [*files, *(f"{folder}/{key}" for key in inside), *rows, f"{folder}/RECORD"]
            record = "".join(f"{_quoted(row)},,\n" for row in listed)
        if record is not None:
            self.put(f"{folder}/RECORD", at=at, text=record)
        return self

    def install_pip(self) -> Box:
        """The pip of this box as an installed distribution of it."""
        source = runner(self.pip).parent
        files = []
        for path in source.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files.append(str(path.relative_to(source.parent)))
                self.put(files[-1], text=path.read_bytes())
        scripts = "[console_scripts]\npip = pip._internal.cli.main:main\npip3 = pip._internal.cli.main:main\n"
        return self.dist("pip", rows=files, version=self.pip.version, scripts=scripts)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_ROOT_USER_ACTION": "ignore",
            "PIP_NO_INDEX": "1",
            **self.env,
        }

    def target(self) -> Target:
        return target_of(
            self.python.parent.parent, pip=self.pip.version, backend=self.pip.backend, env=self.environment()
        )

    def uninstall(self, *names: str, own_pip: bool = False) -> Deed:
        """The real thing. `own_pip`: the pip that is installed in the box."""
        program = ["-m", "pip"] if own_pip else [str(runner(self.pip))]
        command = [str(self.python), *program, "uninstall", "-y", *names]
        if self.rootless and os.getuid() == 0:
            command = [sys.executable, "-c", _WITHOUT_ROOTS_RIGHTS, *command]
        before = self.snapshot()
        done = subprocess.run(
            command,
            env=self.environment(),
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            check=False,
        )
        after = self.snapshot()
        changed = {path for path in before.keys() & after.keys() if before[path] != after[path]}
        return Deed(frozenset(before.keys() - after.keys()), frozenset(changed), done.returncode, done.stdout)

    def snapshot(self) -> dict[str, str]:
        """Every path but the temporary folder's, with what a change of it would show."""
        found = {}
        for here, folders, files in os.walk(self.root):
            for name in [*folders, *files]:
                path = os.path.join(here, name)
                found[path] = _look(path)
            if here == str(self.root):
                folders.remove("tmp")
        return found

    def asked(self, question: Callable[[], T]) -> T:
        """`question` answered with the rights that pip has here."""
        with without_roots_rights() if self.rootless else contextlib.nullcontext():
            return question()


@contextlib.contextmanager
def without_roots_rights() -> Iterator[None]:
    """File permissions count inside, although the tests may run as root."""
    before = _effective()
    _set_effective(before & ~_DAC)
    try:
        yield
    finally:
        _set_effective(before)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def _effective() -> int:
    sets = (_Sets * 2)()
    ctypes.CDLL(None).capget(ctypes.byref(_Header(_VERSION_3, 0)), sets)
    return int(sets[0].effective)


def _set_effective(capabilities: int) -> None:
    sets = (_Sets * 2)()
    libc = ctypes.CDLL(None)
    libc.capget(ctypes.byref(_Header(_VERSION_3, 0)), sets)
    sets[0].effective = capabilities
    libc.capset(ctypes.byref(_Header(_VERSION_3, 0)), sets)


def _quoted(row: str) -> str:
    return '"{}"'.format(row.replace('"', '""')) if re.search('[",]', row) else row


def _look(path: str) -> str:
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(path)
    if stat.S_ISREG(status.st_mode) and status.st_size < 1 << 20:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    return stat.filemode(status.st_mode)[0]
