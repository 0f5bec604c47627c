"""A command line into a command, and a report onto a stream."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from safepip.cli import json_wanted, streams
from safepip.errors import SafepipError
from safepip.grammar import pip_grammar
from safepip.model.request import Ask, History, PassThrough, Request, ShowHelp, ShowVersion, Undo, Uninstall

OBJECTS = (
    100_000  # new ones before garbage is looked for: what one command finds out is kept to its end anyhow
)


def run(arguments: Sequence[str]) -> int:
    """Do what `arguments` ask for; the result is the exit code."""
    gc.set_threshold(OBJECTS)
    streams.keep_open()
    as_json = json_wanted.is_wanted(arguments, os.environ)
    try:
        request = pip_grammar.parse(arguments)
        return _answer(json_wanted.wanting(request) if as_json else request)
    except SafepipError as error:
        return _fail(error, as_json=as_json)
    except KeyboardInterrupt:
        return _fail(
            SafepipError("interrupted", "interrupted while judging; nothing was touched"), as_json=as_json
        )
    except BrokenPipeError:  # whoever read us has gone: no traceback at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SafepipError.exit_code
    except Exception as error:  # noqa: BLE001  a guard that fails must fail closed, with its own exit code
        return _fail(_internal(error), as_json=as_json)


def _internal(error: Exception) -> SafepipError:
    import traceback

    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    message = f"a mistake of safepip's own: {type(error).__name__}: {error} ({where})"
    return SafepipError(
        "internal-error", message, "Please report it; pip itself is still there: python -m pip."
    )


def _answer(request: Request) -> int:
    match request:
        case ShowVersion(of_pip):
            from safepip import __version__

            streams.say(f"safepip {__version__}\n")
            return _pass_through(of_pip)
        case ShowHelp(command):
            from safepip.render import help_text

            streams.write(help_text.show(command))
            return 0
        case Uninstall() as request:
            from safepip.cli import uninstalling

            return uninstalling.answer(request)
        case Undo() as request:
            return _undo(request)
        case History() as request:
            return _history(request)
        case Ask("guard" | "init" | "uv") as request:
            from safepip.cli import standing

            return standing.answer(request)
        case Ask() as request:
            from safepip.cli import asking

            return asking.answer(request, streams.style)
        case PassThrough(words) as request if "install" in words:
            from safepip.cli import installing

            code = installing.answer(request)
            return _pass_through(request) if code is None else code
        case PassThrough() as request:
            return _pass_through(request)


def _pass_through(request: PassThrough) -> NoReturn:
    from safepip.acting import pip
    from safepip.commands import pass_through, target

    slip = pip_grammar.unknown(request.arguments)
    if slip:
        _ask_back(slip)
    words = pass_through.start(request.python, os.environ, sys.argv[0])
    pip.exec_pip(words or pip.command(target.find(request.python).target), request.arguments, os.environ)


def _ask_back(word: str) -> None:
    """pip knows only its own commands; a newer one may have this one, too."""
    from safepip.commands import slips
    from safepip.grammar.options import OWN_COMMANDS

    meant = slips.meant(word, OWN_COMMANDS, "`safepip {}`")
    if meant:
        streams.say(f"safepip: {word!r} goes to pip; perhaps {meant} was meant\n")


def _undo(request: Undo) -> int:
    from safepip.commands import target, undo
    from safepip.commands.scene import Scene
    from safepip.render import changes

    found = target.find(request.python).target
    undone = undo.look_again(undo.undo(found, request.number), Scene(found, os.environ))
    streams.write(
        changes.dump_undone(undone) + "\n"
        if request.json
        else changes.show_undone(undone, streams.style(1)).rstrip() + "\n"
    )
    if undone.in_the_way:
        return undo.REFUSED
    return undo.BROKE if undone.unmet else 0


def _history(request: History) -> int:
    from safepip.commands import target, undo
    from safepip.render import changes

    found = target.find(request.python).target
    ledger = undo.drop(found) if request.drop else undo.history(found)
    if request.json:
        streams.write(changes.dump_history(ledger, dropped=request.drop) + "\n")
    else:
        streams.write(changes.show_history(ledger, streams.style(1), dropped=request.drop))
    return 0


def _fail(error: SafepipError, *, as_json: bool) -> int:
    from safepip.render import document, terminal

    if as_json and error.reference != streams.OUTPUT_LOST:
        streams.write(document.dump_error(error) + "\n")
    else:
        streams.say(terminal.show_error(error, streams.style(2)))
    return error.exit_code
