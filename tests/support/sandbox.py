"""Real environments with small distributions, and the real command line."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from support.elves import write
from support.fake_world import lib
from support.wheels import Contents, install

TAG = f"cpython-{sys.version_info.major}{sys.version_info.minor}-x86_64-linux-gnu"


class Run(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.out)
        _schema().validate(answer)
        return answer


@functools.cache
def _schema() -> Any:
    """What every report promises: the file that is shipped."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    text = (files("safepip.render") / "schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


class Environment(NamedTuple):
    prefix: Path

    @property
    def python(self) -> Path:
        return self.prefix / "bin" / "python"

    @property
    def site(self) -> Path:
        return (
            self.prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        )

    def add(
        self,
        name: str,
        files: Contents,
        *,
        version: str = "1.0",
        requires: Sequence[str] = (),
        entry_points: str = "",
    ) -> Path:
        return install(self.site, name, files, version=version, requires=requires, entry_points=entry_points)

    def safepip(self, *arguments: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Run:
        command = [sys.executable, "-m", "safepip", "--python", str(self.python), *arguments]
        return run(command, env=env, stdin=stdin)

    def tree(self) -> dict[str, bytes | str]:
        """Every path with what it holds: equal before and after means that nothing was touched."""
        return {
            str(path.relative_to(self.prefix)): os.readlink(path)
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else ""
            for path in self.prefix.rglob("*")
            if "__pycache__" not in path.parts
        }


def run(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, stdin: str = "", cwd: Path | None = None
) -> Run:
    environ = {
        **os.environ,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CONFIG_HOME": "/nonexistent",
        **(env or {}),
    }
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, check=False, env=environ, cwd=cwd
    )
    return Run(done.returncode, done.stdout, done.stderr)


def module(*needs: str, runpath: str | None = None) -> bytes:
    """An extension module as far as the loader looks at it."""
    return write(lib(needs=needs, runpath=runpath))


def library(soname: str, *needs: str, runpath: str | None = None) -> bytes:
    return write(lib(soname, needs=needs, runpath=runpath))
