"""The command lines of the commands that look before one cleans: why, audit, doctor and explain.

click reads them, and is imported here alone: the guard itself has no time for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from safepip.errors import UsageError
from safepip.model.request import Ask

if TYPE_CHECKING:
    from safepip.commands.scene import Scene
    from safepip.commands.target import Found
    from safepip.render.terminal import Style

NOT_FOUND = 1  # as `pip show` ends where there is nothing of that name


def answer(request: Ask, style: Callable[..., Style]) -> int:
    """Carry out `request`; the result is the exit code. `style` is that of a stream's number."""
    try:
        code = COMMANDS.main(
            [request.command, *request.arguments],
            prog_name="safepip",
            standalone_mode=False,
            obj=(request.python, style),
        )
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        hint = f"See `safepip {request.command} --help`."
        raise UsageError("wrong-arguments", error.format_message(), hint) from error
    except click.Abort:
        raise KeyboardInterrupt from None
    return int(code or 0)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def COMMANDS() -> None:  # noqa: N802  a table, made by click's decorators
    """Look before you clean."""


@COMMANDS.command()
@click.argument("query", metavar="SONAME|PATH|MODULE|DISTRIBUTION")
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
@click.option("--format", "kind", type=click.Choice(["terminal", "json"]), default="terminal")
@click.option("-v", "--verbose", is_flag=True, help="Every row, and every place the loader looks at.")
@click.pass_obj
def why(
    obj: tuple[str | None, Callable[..., Style]], query: str, kind: str, *, as_json: bool, verbose: bool
) -> int:
    """What QUERY is, who needs it, and which file each of them really gets, by which rule.

    QUERY may be a part of a name, or a pattern: cudnn, 'libcu*.so.12'. Ends with 1 where nothing matches.
    """
    from safepip.commands import why as command
    from safepip.render import document
    from safepip.render import why as render

    python, style = obj
    answered = command.why(query, _scene(python)[1])
    if as_json or kind == "json":
        _write(document.dump_document(render.report(answered)) + "\n")
    else:
        _write(render.show(answered, style(1, verbose=verbose)))
    return NOT_FOUND if answered.is_empty else 0


def _scene(python: str | None) -> tuple[Found, Scene]:
    from safepip.commands import target
    from safepip.commands.scene import Scene

    found = target.find(python)
    return found, Scene(found.target, os.environ)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
