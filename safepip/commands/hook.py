"""`safepip hook`: answers a coding agent's tool call before it runs.

The call is JSON on standard input, with the shell line under `tool_input.command`, as several agents send it to a
hook before a tool is used. Exit code 2 blocks the call, and the agent reads the reason on standard error; 0 lets it
through; agents let the call through on any other code, too, so nothing here may end otherwise. Removals are judged by
their effect, together where they are of one environment. What an install does is known when it is done, and asking
pip before would have it download, and build, for a line that nobody has allowed yet: it may run where a guard judges
it, and is sent through safepip elsewhere. Nothing of the judge is loaded for a harmless line.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # known to type checkers; `typing` itself costs more than a harmless answer
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from safepip.reasoning.shell.shell_lines import Call

BLOCK, LET_THROUGH = 2, 0

_MOST = 1600  # characters: an agent pays for each
_HOW_ELSE = "Name the packages and the environment: safepip --python PATH uninstall -y PACKAGE …"
_HOW_ELSE_INSTALL = "Name the environment: safepip --python PATH install PACKAGE …"
_OF_UV = "uv"  # a key of what is judged together, no variable of the environment
_PATIENCE = 120  # seconds
_HELP = """\
Usage: safepip hook < CALL.json

Answers a coding agent's tool call: JSON with a shell line under tool_input.command. Ends with 2 and a reason on
standard error where the line would remove what the rest of an environment needs, install where nobody judges it
(safepip install does, and so does every pip of an environment with `safepip guard on`), or cannot be followed; else
with 0.
"""


class _Blocked(Exception):  # noqa: N818  it is an answer
    """The reason in the first line, what to run instead in the last."""


def answer(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Read the call from standard input; the result is the exit code."""
    if arguments:
        sys.stdout.write(_HELP)
        return LET_THROUGH if arguments[0] in {"-h", "--help"} else BLOCK
    try:
        _judge_call(sys.stdin.buffer.read(), environ)
    except _Blocked as reason:
        return _block(str(reason))
    except Exception as error:  # noqa: BLE001  an agent takes a traceback for leave to go on
        return _block(f"it could not be judged ({type(error).__name__}: {error})\n{_HOW_ELSE}")
    return LET_THROUGH


def _block(reason: str) -> int:
    from safepip.errors import printable

    first, _, rest = reason.strip().partition("\n")
    rest, _, last = rest.rpartition("\n")
    room = _MOST - len(first) - len(last) - 60
    if len(rest) > room:
        rest = f"{rest[: max(room, 0)]} …"
    lines = [
        f"safepip: BLOCKED: {first[: _MOST // 2]}",
        *([rest] if rest else []),
        *([last[: _MOST // 2]] if last else []),
    ]
    shown = [printable(line) for text in lines for line in text.split("\n")]
    sys.stderr.write("".join(f"{line}\n" for line in shown))
    return BLOCK


def _is_plainly_harmless(data: bytes) -> bool:
    """No telltale word in all of the call: then its form does not matter, and `json` need not be loaded (10 ms).

    Quotes and backslashes count for nothing, a backslash before a line's end nothing either; what is written in
    another way (an escaped letter, UTF-16) is not plain.
    """
    whole = data.strip()
    if not (whole.startswith(b"{") and whole.endswith(b"}")) or b"\\u" in whole or b"\0" in whole:
        return False
    read = whole.replace(rb"\\\n", b"").translate(None, b"'\"\\").lower()
    return not any(word in read for word in (b"uninstall", b"pip", b"uv"))


def _judge_call(data: bytes, environ: Mapping[str, str]) -> None:
    if _is_plainly_harmless(data):
        return
    from safepip.reasoning.shell import shell_lines
    from safepip.reasoning.shell.shell_words import UnclearError

    line, folder = _line(data)
    try:
        found = shell_lines.calls(line)
    except UnclearError as why:
        what, instead = ("remove", _HOW_ELSE) if "uninstall" in line else ("install", _HOW_ELSE_INSTALL)
        raise _Blocked(f"this line may {what} packages, and cannot be followed: {why}\n{instead}") from why
    _judge([call for call in found if call.removes], folder, environ)
    for call in found:
        _judge_install(call, folder, environ)


def _line(data: bytes) -> tuple[str, str]:
    """The shell line, "" for a call of another kind of tool, and the folder that it starts in."""
    import json

    try:
        call = json.loads(data)
        given = call.get("tool_input", {})
        line = given.get("command", given.get("cmd", ""))
        folder = call.get("cwd") or ""
    except (ValueError, AttributeError, RecursionError) as error:
        raise _Blocked(f"the tool call could not be read: {error}\n{_HOW_ELSE}") from error
    if isinstance(line, list) and all(isinstance(word, str) for word in line):
        import shlex

        line = shlex.join(line)
    if not isinstance(line, str) or not isinstance(folder, str):
        raise _Blocked(f"the tool call holds no shell line where one belongs\n{_HOW_ELSE}")
    return line, folder


def _judge(found: Sequence[Call], folder: str, environ: Mapping[str, str]) -> None:
    """All that goes from one environment goes together: it is the end that counts."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for call in found:
        words = _asked(call)
        if words is not None:
            where = _where(call, words[0], folder, environ)
            asked.setdefault(where, []).extend(words[1:])
    for where, words in asked.items():
        _judge_one(words, where[0], _environment(where, environ))


def _judge_install(call: Call, folder: str, environ: Mapping[str, str]) -> None:
    """It may run where the guard of its environment judges it, and where there is nothing yet that it could break."""
    python, words = _installed(call, environ)
    if not words or _is_made_by_the_line(call, python, folder):
        return
    from safepip.commands import guard, target
    from safepip.errors import SafepipError

    where = _where(call, python, folder, environ)
    if os.path.isdir(where[0]):  # else the line makes it, and paths on the command line are none of it
        os.chdir(where[0])
    changed = _environment(where, environ)
    try:
        meant = target.meant(changed.pop("PIP_PYTHON", None), changed)
    except SafepipError as error:
        raise _Blocked(f"{error.message}\n{_HOW_ELSE_INSTALL}") from error
    if call.tool != "uv" and not call.bare and guard.acts(meant):
        return
    import shlex

    more = "…" if call.computed else shlex.join(words[words.index("install") + 1 :])
    tool = ("uv", "pip") if call.tool == "uv" else ()
    command = shlex.join(("safepip", "--python", meant.executable, *tool, "install"))
    why = "uv reads no guard" if call.tool == "uv" else "that environment is not guarded"
    raise _Blocked(
        f"nobody would judge what this install breaks in {meant.prefix}: {why}\n"
        "Through safepip it is judged when it is done, ends with 13 where something broke, and can be undone.\n"
        f"Run instead: {command} {more}"
    )


def _installed(call: Call, environ: Mapping[str, str]) -> tuple[str, Sequence[str]]:
    """The interpreter named ("" for none), and the words of an install into an environment; none where it is no such."""
    from safepip.grammar import install_grammar, pip_grammar, uv_grammar
    from safepip.model.request import PassThrough

    if call.tool == "uv":
        of_uv = uv_grammar.install(["pip", *call.words])
        return (of_uv.python or "", of_uv.words) if of_uv else ("", ())
    request = pip_grammar.parse(call.words)
    if not isinstance(request, PassThrough):
        return "", ()
    install = install_grammar.read(request.arguments, {**environ, **call.variables})
    return request.python or "", install.words if install and not install.dry_run else ()


def _is_made_by_the_line(call: Call, python: str, folder: str) -> bool:
    """Whether the environment is not there yet, and an earlier command makes it."""
    base = os.path.abspath(folder or ".")
    beside = os.path.dirname(os.path.dirname(call.program))
    of_uv = call.variables.get("VIRTUAL_ENV") or ".venv"
    default = of_uv if call.tool == "uv" else beside
    named = os.path.join(call.folder, os.path.expanduser(python or default))
    if not (python or beside) and call.activated:
        named = call.activated
    meant, *made = (
        os.path.normpath(os.path.join(base, os.path.expanduser(path))) for path in (named, *call.made)
    )
    return not os.path.lexists(meant) and meant in made


def _asked(call: Call) -> list[str] | None:
    """The interpreter named ("" for none) and what is to go; None where pip is asked for something else."""
    from safepip.errors import UsageError
    from safepip.grammar import pip_grammar, uv_grammar
    from safepip.model.request import Uninstall

    try:
        is_uv = call.tool == "uv"
        request = uv_grammar.parse(["pip", *call.words]) if is_uv else pip_grammar.parse(call.words)
    except UsageError as error:
        raise _Blocked(f"{error.message}\n{_HOW_ELSE}") from error
    if not isinstance(request, Uninstall):
        return None
    files = [word for file in request.requirement_files for word in ("-r", file)]
    return [request.python or "", *files, *request.names]


def _where(call: Call, python: str, folder: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folder to judge in, and the variables by which safepip finds the environment that is meant."""
    from safepip.model import variables
    from safepip.reading.pythons import uv_environment

    base = os.path.abspath(folder or ".")
    cwd = os.path.join(base, os.path.expanduser(call.folder))
    changed = dict(call.variables)
    path = changed.get("PATH", environ.get("PATH", os.defpath))
    if call.activated:
        changed["VIRTUAL_ENV"] = os.path.join(base, os.path.expanduser(call.activated))
        path = f"{changed['VIRTUAL_ENV']}/bin:{path}"
    program = os.path.expanduser(call.program)
    if call.tool == "uv":
        python = python or uv_environment.find(cwd, {**environ, **changed}) or ""
        changed[_OF_UV] = "1"
    elif "/" in program:
        if not os.path.exists(os.path.join(cwd, program)):
            instead = _HOW_ELSE if call.removes else _HOW_ELSE_INSTALL
            raise _Blocked(f"there is no {call.program}\n{instead}")
        path = f"{os.path.join(cwd, os.path.dirname(program))}:{path}"
    changed |= {
        "PATH": path,
        variables.STANDS_FOR: os.path.basename(program) if call.tool != "uv" else "python3",
    }
    if python:
        changed["PIP_PYTHON"] = python
    return cwd, *(f"{name}={value}" for name, value in sorted(changed.items()))


def _environment(where: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` as the call would find it, with what `_where` adds."""
    return {**environ, **dict(setting.split("=", 1) for setting in where[1:])}


def _judge_one(words: Sequence[str], cwd: str, environ: dict[str, str]) -> None:
    import subprocess

    from safepip.model import variables

    python = environ.pop("PIP_PYTHON", None)
    target = ["--python", python] if python else []
    target += ["uv", "pip"] if environ.pop(_OF_UV, None) else []
    environ.pop(variables.JSON, None)
    command = [sys.executable, "-EP", "-m", "safepip", *target, "uninstall", "--dry-run", *words]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environ,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        raise _Blocked(said.removeprefix("safepip: ") or f"safepip ended with {done.returncode}\n{_HOW_ELSE}")
