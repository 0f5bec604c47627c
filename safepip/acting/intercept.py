"""The start-up hook of a guarded environment: lays it down, takes it away.

Three files of one name in site-packages, in no distribution's RECORD, so that neither an upgrade of pip nor the
removal of anything takes them. Python executes the `import` line of the `.pth` file at each start, so that line
decides by itself, and imports the hook only where `uninstall` or `install` stands on the command line; and only once, for a
virtual environment's files are read twice (site.venv and then site.main). From Python 3.18 on such
lines are ignored; from 3.15 on a `.start` file of the same name takes their place (PEP 829).
"""

from __future__ import annotations

import os
import sys

from safepip.acting import files
from safepip.errors import SafepipError
from safepip.model.guard import GuardState

NAME = "_safepip_guard"
OLDEST = (3, 8)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LINE = (
    'import sys; ("install" in sys.orig_argv or "uninstall" in sys.orig_argv if hasattr(sys, "orig_argv") else '
    'b"install\\0" in open("/proc/self/cmdline", "rb").read()) '
    f'and "{NAME}" not in sys.modules and __import__("{NAME}").act()\n'
)
_ENTRY_POINT = f"{NAME}:act\n"


def state(site: str) -> GuardState:
    present = {name: _content(f"{site}/{name}") for name in _wanted()}
    if not any(content is not None for content in present.values()):
        return GuardState.OFF
    return GuardState.ON if present == _wanted() else GuardState.STALE


def lay_down(site: str) -> None:
    """The hook itself first: a cut off run leaves nothing that is started and not there."""
    try:
        for name, content in _wanted().items():
            files.write_over(f"{site}/{name}", content)
            files.chmod(f"{site}/{name}", 0o644)
    except OSError as error:
        raise _failed("laid into", site, error) from error


def take_away(site: str) -> None:
    """What starts the hook first; its byte code too, and the folder of that if it holds nothing else."""
    cache = f"{site}/__pycache__"
    try:
        for name in reversed(_wanted()):
            if os.path.lexists(f"{site}/{name}"):
                files.unlink(f"{site}/{name}")
        compiled = os.listdir(cache) if os.path.isdir(cache) else []
        mine = [name for name in compiled if name.startswith(f"{NAME}.")]
        for name in mine:
            files.unlink(f"{cache}/{name}")
        if mine and len(mine) == len(compiled):
            files.rmdir(cache)
    except OSError as error:
        raise _failed("taken out of", site, error) from error


def _wanted() -> dict[str, bytes]:
    """Name and content of each file, in the order in which they are laid down."""
    with open(f"{_PACKAGE}/startup.py", encoding="utf-8") as file:
        source = file.read()
    for name, value in {"SAFEPIP_PYTHON": sys.executable, "SAFEPIP_FOLDER": _PACKAGE}.items():
        source = source.replace(f'{name} = ""', f"{name} = {value!r}", 1)
    return {
        f"{NAME}.py": source.encode("utf-8", "surrogateescape"),
        f"{NAME}.start": _ENTRY_POINT.encode(),
        f"{NAME}.pth": _LINE.encode(),
    }


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SafepipError("unreadable-guard", f"{path} cannot be read: {error.strerror}") from error


def _failed(what: str, site: str, error: OSError) -> SafepipError:
    return SafepipError("guard-not-changed", f"the guard could not be {what} {site}: {error.strerror}")
