"""The pip that will do the removal: the target's own where it has one, else safepip's."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from safepip.errors import TargetError
from safepip.model.environment import PipInUse
from safepip.model.paths import TargetPath
from safepip.reading import plain_file, tree
from safepip.reading.pythons.layout import Layout

_VERSION_LINE = re.compile(rb"""^__version__ = ["']([^"']+)["']""", re.MULTILINE)


def find(folders: Sequence[str], lies: Layout, environ: Mapping[str, str]) -> PipInUse:
    """The pip that `-m pip` would run there, else safepip's own."""
    location = _first_pip(folders)
    version = _pip_version(location) if location else _own_version()
    if version is None:
        raise TargetError(
            "no-pip", "neither the environment nor safepip's own has a pip", "Install pip beside safepip."
        )
    cache = environ.get("PYTHONPYCACHEPREFIX")
    return PipInUse(
        version,
        TargetPath(location) if location else None,
        _backend(lies.version, environ),
        optimize=_optimize(environ.get("PYTHONOPTIMIZE", "")),
        of_debian=location == "/usr/lib/python3/dist-packages",
        pycache_prefix=TargetPath(tree.abspath(cache)) if cache else None,
    )


def _own_version() -> str | None:
    with tree.entered(None):  # safepip's own lies on this machine, whatever is looked at
        return _pip_version(_first_pip(sys.path) or "")


def _first_pip(folders: Iterable[str]) -> str | None:
    return next((folder for folder in folders if _pip_version(folder)), None)


def _optimize(told: str) -> str:
    """The level in a byte code file's name; what is no number counts as 1 (CPython's _Py_get_env_flag)."""
    level = max(int(told), 0) if told.strip().isdecimal() else int(bool(told))
    return str(level or "")


def _pip_version(folder: str) -> str | None:
    try:
        found = _VERSION_LINE.search(plain_file.start(f"{folder}/pip/__init__.py", 1 << 16))
    except OSError:
        return None
    return found[1].decode(errors="replace") if found and tree.isfile(f"{folder}/pip/__main__.py") else None


def _backend(version: str, environ: Mapping[str, str]) -> str:
    """pip's metadata/__init__.py:_should_use_importlib_metadata."""
    minor = tuple(int(part) for part in re.split(r"[^\d]", version)[:2])
    told = environ.get("_PIP_USE_IMPORTLIB_METADATA", "").lower()
    if minor < (3, 14) and told in {"0", "false", "no", "off", "n", "f"}:
        return "pkg_resources"
    if told in {"1", "true", "yes", "on", "y", "t"}:
        return "importlib"
    return "importlib" if minor >= (3, 11) else "pkg_resources"
