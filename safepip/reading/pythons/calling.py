"""Which pip a command line means, as far as the PATH and the way safepip was called tell it.

On the way of every pass-through: nothing is imported beyond what each Python has loaded at its start.
"""

from __future__ import annotations

import os
import sys

from safepip.model import variables

TYPE_CHECKING = False  # known to type checkers; `typing` itself would cost more than this module
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEAD = 4096  # bytes; the scripts that pip and uv write are below 500


def as_module() -> bool:
    """Whether safepip was started by `python -m`, and so stands for that python's pip."""
    if variables.STANDS_FOR in os.environ:
        return False
    return getattr(sys.modules.get("__main__"), "__spec__", None) is not None


def on_path(name: str, environ: Mapping[str, str]) -> str | None:
    return next(_all_on_path(name, environ), None)


def pip_on_path(environ: Mapping[str, str]) -> str | None:
    """The first `pip` that is not safepip itself under that name: calling that one would never end."""
    name = environ.get(variables.STANDS_FOR, "pip")
    return next((path for path in _all_on_path(name, environ) if not _calls_safepip(path)), None)


def python_on_path(environ: Mapping[str, str]) -> str | None:
    """That of `python -m pip`, where safepip stands for that."""
    name = environ.get(variables.STANDS_FOR, "")
    return on_path(name, environ) if name.startswith("python") else None


def own_python(argv0: str, environ: Mapping[str, str]) -> str | None:
    """The python beside a safepip that the PATH alone would not have found."""
    called = os.path.abspath(argv0)
    if (
        variables.STANDS_FOR in environ
        or "/" not in argv0
        or on_path(os.path.basename(argv0), environ) == called
    ):
        return None
    beside = os.path.dirname(called)
    if os.path.realpath(beside) != os.path.realpath(f"{sys.prefix}/bin"):
        return None  # a link to a tool's own environment, as pipx and uv make them
    return next((path for path in (f"{beside}/python", f"{beside}/python3") if os.path.exists(path)), None)


def _all_on_path(name: str, environ: Mapping[str, str]) -> Iterator[str]:
    for folder in environ.get("PATH", os.defpath).split(":"):
        path = os.path.abspath(os.path.join(folder, name))
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            yield path


def _calls_safepip(script: str) -> bool:
    """A link to safepip, or a wrapper around it. The lines that name an interpreter are none of what it does."""
    try:
        with open(script, "rb") as file:
            lines = file.read(_HEAD).split(b"\n")
    except OSError:
        return False
    return any(b"safepip" in line for line in lines[1:] if not line.startswith(b"'''exec'"))
