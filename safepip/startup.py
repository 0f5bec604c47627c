"""The start-up hook of a guarded environment: `pip uninstall` and `pip install` become safepip's.

`safepip guard on` lays a copy of this file into site-packages, with the two places below filled in. It is run by the
environment's own Python, whatever its version (3.8 and later), while that starts; it must never stand in the way of
another program, so what it does not recognise it leaves alone.
"""

from __future__ import annotations

import os
import sys

SAFEPIP_PYTHON = ""  # the interpreter that safepip is installed for
SAFEPIP_FOLDER = ""  # the package itself, to see that it is still there
MARK = "SAFEPIP_RUNS_PIP"

_NO_VALUE = frozenset("bBdEhiIOPqRsSuvVx?")  # CPython's Python/getopt.c
_WITH_VALUE = frozenset("WX")
_SCRIPT_ENDS = ("", ".pyz")
_GUARDED = ("uninstall", "install")
_DEEPEST = 64  # parents that are looked at


def act() -> None:
    """Become safepip if this process was started to be `pip uninstall` or `pip install`; else return at once."""
    words = _command_line()
    if not any(word in words for word in _GUARDED):
        return
    arguments = _pip_arguments(words)
    if arguments is None or not any(word in arguments for word in _GUARDED):
        return
    if not _is_ours() or _is_run_by_safepip() or ("uninstall" not in arguments and _is_within_an_install()):
        return
    if not (os.access(SAFEPIP_PYTHON, os.X_OK) and os.path.isdir(SAFEPIP_FOLDER)):
        _say(f"safepip is gone from {SAFEPIP_FOLDER}: pip goes on unguarded (to end this: rm {_stem()}.*)")
        return
    command = [SAFEPIP_PYTHON, "-EP", "-m", "safepip", "--python", sys.executable, *arguments]
    try:
        os.execv(SAFEPIP_PYTHON, command)  # noqa: S606
    except OSError as error:
        _say(f"{SAFEPIP_PYTHON} cannot be started ({error.strerror}): pip goes on unguarded")


def _command_line() -> list[str]:
    words: list[str] | None = getattr(sys, "orig_argv", None)  # since Python 3.10
    if words is not None:
        return words
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


def _pip_arguments(words: list[str]) -> list[str] | None:
    """What pip is told where `words` start it as a module, a script, a folder or a zip file; else None."""
    index = 1
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--check-hash-based-pycs":
            index += 1
        elif word.startswith("--") and word != "--":
            continue
        elif word.startswith("-") and word not in ("-", "--"):
            letter, value = _cluster(word[1:])
            if letter in _WITH_VALUE and not value:
                index += 1
            elif letter == "m":
                module = value or (words[index] if index < len(words) else "")
                return words[index + (not value) :] if module in ("pip", "pip.__main__") else None
            elif letter in ("c", "other"):
                return None
        else:
            script = words[index] if word == "--" and index < len(words) else word
            return words[index + (word == "--") :] if _is_pip(script) else None
    return None


def _cluster(letters: str) -> tuple[str, str]:
    """The first letter that ends a cluster of options, and what of the word follows it."""
    for place, letter in enumerate(letters):
        if letter in _WITH_VALUE or letter in "cm":
            return letter, letters[place + 1 :]
        if letter not in _NO_VALUE:
            return "other", ""
    return "", ""


def _is_pip(script: str) -> bool:
    return any(_is_pip_name(path) for path in (script, os.path.realpath(script)))


def _is_pip_name(path: str) -> bool:
    folder, name = os.path.split(os.path.abspath(path))
    if name in ("__main__.py", "__pip-runner__.py"):
        return os.path.basename(folder) == "pip"
    stem, end = os.path.splitext(name) if name.endswith(".pyz") else (name, "")
    return end in _SCRIPT_ENDS and stem.startswith("pip") and not stem[3:].strip("-.0123456789t")


def _is_ours() -> bool:
    """Not where another environment only sees this one's site-packages (`venv --system-site-packages`)."""
    here, prefix = (os.path.realpath(path) for path in (__file__, sys.prefix))
    return here.startswith(os.path.join(prefix, ""))


def _is_run_by_safepip() -> bool:
    """Started by this very process, by its parent, or by that one's where pip runs itself under another Python."""
    mark = os.environ.get(MARK, "")
    return mark in (str(os.getpid()), str(os.getppid()), _grandparent()) if mark else False


def _is_within_an_install() -> bool:
    """What a build runs is part of the install that it is for, which is kept as a whole by then."""
    mark, process = os.environ.get(MARK, ""), str(os.getppid())
    for _ in range(_DEEPEST if mark else 0):
        if process == mark:
            return True
        process = _parent_of(process)
    return False


def _grandparent() -> str:
    return _parent_of(str(os.getppid()))


def _parent_of(process: str) -> str:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[1].decode()
    except (OSError, IndexError):
        return "none"


def _stem() -> str:
    return os.path.splitext(os.path.abspath(__file__))[0]


def _say(line: str) -> None:
    try:
        sys.stderr.write(f"safepip: guard: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
