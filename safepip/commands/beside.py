"""uv, which installs and removes beside pip: where it is, and on which environment it acts."""

from __future__ import annotations

from collections.abc import Mapping

from safepip.errors import SafepipError, TargetError
from safepip.reading.pythons import calling, uv_environment


def uv(environ: Mapping[str, str]) -> str:
    """The program."""
    program = calling.on_path("uv", environ)
    if program is None:
        raise SafepipError("no-uv", "there is no uv on the PATH")
    return program


def environment_of_uv(folder: str, environ: Mapping[str, str]) -> str:
    """A folder or a python; of what is named on the command line `uv` itself decides."""
    found = uv_environment.find(folder, environ)
    if found is None:
        raise TargetError(
            "no-environment", "uv would find no environment here", "Activate one, or name it with --python."
        )
    return found
