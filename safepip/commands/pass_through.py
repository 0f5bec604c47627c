"""What is not safepip's goes to pip at once: this module decides it before anything of the judge is loaded.

It imports nothing beyond `os` and three small modules of ours, and answers only what is plain. Everything else
(an option unknown here, an environment that has no pip of its own) is left to the grammar and the full look.
"""

from __future__ import annotations

import os
import sys

from safepip.acting import mark
from safepip.grammar.options import COMMANDS, FLAGS, OWN_COMMANDS, VALUES
from safepip.model import variables
from safepip.reading.pythons import calling

TYPE_CHECKING = False  # known to type checkers; `typing` itself would cost more than this module
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

OWN: Final = OWN_COMMANDS | {"help", "install", "uninstall"}
COMPLETING: Final = "PIP_AUTO_COMPLETE"  # set by the shell function that `pip completion` prints

_MODULE = ["-m", "pip"]
_SHADOWS = ("pip.py", "pip/__init__.py")  # in the current folder `-m pip` would run them


class Plain:
    """A command line that is pip's at sight."""

    __slots__ = ("python", "version", "words")

    def __init__(self, words: list[str], python: str | None, *, version: bool) -> None:
        self.words = words  # without the interpreter
        self.python = python
        self.version = version


def go(arguments: Sequence[str], environ: Mapping[str, str], argv0: str) -> None:
    """Become pip where `arguments` are plainly pip's; return where they are not, or where that fails."""
    if variables.COMPLETES in environ:
        return
    plain = Plain([], None, version=False) if COMPLETING in environ else _read(arguments)
    words = None if plain is None else start(plain.python, environ, argv0)
    if plain is None or words is None:
        return
    if plain.version and variables.STANDS_FOR not in environ:
        from safepip import __version__

        sys.stderr.write(f"safepip {__version__}\n")
        sys.stderr.flush()
    try:
        os.execve(words[0], [*words, *plain.words], _environment(words, plain, environ))  # noqa: S606
    except OSError:
        return  # the full look finds out why


def start(python: str | None, environ: Mapping[str, str], argv0: str) -> list[str] | None:
    """The words that start the pip meant; None where finding it needs the full look."""
    if python is not None:
        there = os.path.exists(f"{python}/bin/python" if os.path.isdir(python) else python)
        pip = None if there else calling.pip_on_path(environ)
        return [pip, "--python", python] if pip else _pip_of(python)  # pip itself says what is missing
    if calling.as_module():
        return [sys.executable, *_MODULE]
    meant = calling.python_on_path(environ)
    if meant:
        return [meant, *_MODULE]
    own = calling.own_python(argv0, environ)
    pip = f"{os.path.dirname(own)}/pip" if own else calling.pip_on_path(environ)
    return [pip] if pip and os.access(pip, os.X_OK) else None


def _read(arguments: Sequence[str]) -> Plain | None:
    """None where it is not plain that the command is pip's."""
    words: list[str] = []
    python, version, index = None, False, 0
    while index < len(arguments):
        word = arguments[index]
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            is_pips = version or (word in COMMANDS and not _is_own(arguments[index:]))
            return Plain([*words, *arguments[index:]], python, version=version) if is_pips else None
        last = index + (name in VALUES and not equals)
        if last == len(arguments) or not (name in VALUES or _is_flag(word)):
            return None
        if name == "--python":
            python = value if equals else arguments[last]
        else:
            words += arguments[index : last + 1]
        version = version or FLAGS.get(name) == "version"
        index = last + 1
    return Plain(words, python, version=True) if version else None


def _is_own(words: Sequence[str]) -> bool:
    """`help` is, too, where it asks about nothing or about what is safepip's."""
    return words[0] in OWN and (words[0] != "help" or len(words) == 1 or words[1] in OWN)


def _is_flag(word: str) -> bool:
    """Of no meaning to safepip. A cluster may hold only letters that need no second look."""
    if word.startswith("--") or len(word) == 2:
        return FLAGS.get(word, "help") != "help"
    return not word.strip("-qv")


def _pip_of(python: str) -> list[str] | None:
    """Of a virtual environment that plainly has a pip."""
    if os.path.isdir(python):
        python = f"{python}/bin/python"
    python = os.path.abspath(python)
    prefix = os.path.dirname(os.path.dirname(python))
    if not os.access(python, os.X_OK) or not os.path.isfile(f"{prefix}/pyvenv.cfg"):
        return None
    if any(os.path.exists(name) for name in _SHADOWS) or not os.path.isdir(f"{prefix}/lib"):
        return None
    folders = [name for name in os.listdir(f"{prefix}/lib") if name.startswith("python")]
    pips = [f"{prefix}/lib/{name}/site-packages/pip/__main__.py" for name in folders]
    return [python, *_MODULE] if len(pips) == 1 and os.path.isfile(pips[0]) else None


def _environment(words: Sequence[str], plain: Plain, environ: Mapping[str, str]) -> Mapping[str, str]:
    if variables.STANDS_FOR in environ:
        environ = {name: value for name, value in environ.items() if name != variables.STANDS_FOR}
    if (
        plain.python is not None and words[1:] == _MODULE
    ):  # PIP_PYTHON shall not start another: pip's cli/main_parser.py
        environ = {**environ, "_PIP_RUNNING_IN_SUBPROCESS": "1"}
    # A word that the hook of `guard on` takes for the command, and that is another command's argument.
    hooked = "uninstall" in plain.words or "install" in plain.words
    return mark.marked(environ) if hooked else environ
