"""What is not safepip's goes to pip at once: this module decides it before anything of the judge is loaded.

It imports nothing beyond `os` and three small modules of ours, and answers only what is plain. Everything else
(an option unknown here, an environment that has no pip of its own) is left to the grammar and the full look.
"""

from __future__ import annotations

import os
import sys

from safepip.options import FLAGS, VALUES
from safepip.reading import calling

TYPE_CHECKING = False  # known to type checkers; `typing` itself would cost more than this module
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWN = frozenset(
    {
        "audit",
        "doctor",
        "explain",
        "guard",
        "help",
        "history",
        "hook",
        "init",
        "undo",
        "uninstall",
        "uv",
        "why",
    }
)
COMPLETING = "PIP_AUTO_COMPLETE"
MARK = "SAFEPIP_RUNS_PIP"  # the process that starts pip on purpose: the start-up hook lets that one through

_SHOWN = frozenset({"help", "version"})
_SHADOWS = ("pip.py", "pip/__init__.py")  # in the current folder `-m pip` would run them


def go(arguments: Sequence[str], environ: Mapping[str, str], argv0: str, *, as_module: bool) -> None:
    """Become pip where `arguments` are plainly pip's; return where they are not, or where that fails."""
    words = _words(arguments, environ, argv0, as_module=as_module)
    if words is None:
        return
    try:
        os.execve(words[0], words, _environment(words, environ))  # noqa: S606
    except OSError:
        return  # the full look finds out why


def _words(
    arguments: Sequence[str], environ: Mapping[str, str], argv0: str, *, as_module: bool
) -> list[str] | None:
    plain = _plain(arguments)
    if plain is None:
        return None
    dropped, python = plain
    rest = [word for index, word in enumerate(arguments) if index not in dropped]
    if python is not None:
        start = _pip_of(python)
    elif as_module:
        start = [sys.executable, "-m", "pip"]
    else:
        start = _called(environ, argv0)
    return None if start is None else [*start, *rest]


def _plain(arguments: Sequence[str]) -> tuple[set[int], str | None] | None:
    """Which arguments name the interpreter, and it; None where it is not plain that the command is pip's."""
    dropped: set[int] = set()
    python = None
    index = 0
    while index < len(arguments):
        name, equals, value = arguments[index].partition("=")
        if not name.startswith("-"):
            return None if arguments[index] in OWN else (dropped, python)
        takes = name in VALUES
        if takes and not equals:
            if index + 1 == len(arguments):
                return None
            value = arguments[index + 1]
        if name == "--python":
            python = value
            dropped |= {index, index} if equals else {index, index + 1}
        elif not takes and (equals or not _is_flag(name)):
            return None
        index += 1 + (takes and not equals)
    return None


def _is_flag(word: str) -> bool:
    if word.startswith("--"):
        return word in FLAGS and FLAGS[word] not in _SHOWN
    return len(word) > 1 and not word.strip("-qv")


def _called(environ: Mapping[str, str], argv0: str) -> list[str] | None:
    own = calling.own_python(argv0, environ)
    pip = f"{os.path.dirname(own)}/pip" if own else calling.pip_on_path(environ)
    return [pip] if pip and os.access(pip, os.X_OK) else None


def _pip_of(python: str) -> list[str] | None:
    """Of a virtual environment that plainly has a pip."""
    if os.path.isdir(python):
        python = f"{python}/bin/python"
    python = os.path.abspath(python)
    prefix = os.path.dirname(os.path.dirname(python))
    if not os.access(python, os.X_OK) or not os.path.isfile(f"{prefix}/pyvenv.cfg"):
        return None
    if any(os.path.exists(name) for name in _SHADOWS):
        return None
    folders = [name for name in os.listdir(f"{prefix}/lib") if name.startswith("python")]
    pips = [f"{prefix}/lib/{name}/site-packages/pip/__main__.py" for name in folders]
    return [python, "-m", "pip"] if len(pips) == 1 and os.path.isfile(pips[0]) else None


def _environment(words: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    changed = dict(environ)
    if len(words) > 2 and words[1:3] == ["-m", "pip"]:
        changed["_PIP_RUNNING_IN_SUBPROCESS"] = "1"
    if "uninstall" in words:
        changed[MARK] = str(os.getpid())
    return changed
