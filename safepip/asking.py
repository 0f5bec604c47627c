"""The command lines of the commands that look before one cleans: why, audit, doctor and explain.

click reads them, and is imported here alone: the guard itself has no time for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import click

from safepip.errors import UsageError
from safepip.model.request import Ask

if TYPE_CHECKING:
    from safepip.commands.scene import Scene
    from safepip.commands.target import Found
    from safepip.render.terminal import Style

REFUSED = 10
NOT_FOUND = 1  # as `pip show` ends where there is nothing of that name


class Caller(NamedTuple):
    """What stood before the command, and how a stream is to be written to."""

    python: str | None
    style: Callable[..., Style]


def answer(request: Ask, style: Callable[..., Style]) -> int:
    """Carry out `request`; the result is the exit code. `style` is that of a stream's number."""
    try:
        code = COMMANDS.main(
            [request.command, *request.arguments],
            prog_name="safepip",
            standalone_mode=False,
            obj=Caller(request.python, style),
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
def why(obj: Caller, query: str, kind: str, *, as_json: bool, verbose: bool) -> int:
    """What QUERY is, who needs it, and which file each of them really gets, by which rule.

    QUERY may be a part of a name, or a pattern: cudnn, 'libcu*.so.12'. Ends with 1 where nothing matches.
    """
    from safepip.commands import why as command
    from safepip.render import document
    from safepip.render import why as render

    answered = command.why(query, _scene(obj.python)[1])
    if as_json or kind == "json":
        _write(document.dump_document(render.report(answered)) + "\n")
    else:
        _write(render.show(answered, obj.style(1, verbose=verbose)))
    return NOT_FOUND if answered.is_empty else 0


@COMMANDS.command()
@click.argument("packages", nargs=-1, metavar="[--remove PKG…]")
@click.option("--remove", is_flag=True, help="Judge the removal of these, as one set.")
@click.option(
    "--code",
    multiple=True,
    type=click.Path(exists=True),
    help="A folder of your own code: it needs what it imports.",
)
@click.option("--json", "as_json", is_flag=True, help="The audit as JSON.")
@click.option("--format", "kind", type=click.Choice(["terminal", "json"]), default="terminal")
@click.pass_obj
def audit(  # noqa: PLR0913  each is an option
    obj: Caller, packages: tuple[str, ...], code: tuple[str, ...], kind: str, *, remove: bool, as_json: bool
) -> int:
    """What can go: the verdict of each distribution's removal, what nobody needs, and what is mixed.

    With --remove the named ones are judged as one set: which may go, which not, and how. Ends with 10 where
    the set is refused.
    """
    from safepip.commands import audit as command
    from safepip.render import audit as render
    from safepip.render import document

    if bool(packages) != remove:
        raise click.UsageError(
            "name packages after --remove" if remove else f"what is to happen to {packages[0]}?"
        )
    found, scene = _scene(obj.python)
    as_json = as_json or kind == "json"
    if remove:
        set_ = command.together(packages, scene, found.policy)
        _write(
            document.dump_document(render.report_together(set_)) + "\n"
            if as_json
            else render.show_together(set_, obj.style(1))
        )
        return REFUSED if set_.verdict.decision.value == "refuse" else 0
    audited = command.audit(scene, found.policy, code, _progress())
    _write(
        document.dump_document(render.report(audited)) + "\n"
        if as_json
        else render.show(audited, obj.style(1))
    )
    return 0


def _progress() -> Callable[[str, int, int], None]:
    """A line that overwrites itself, on a terminal only."""
    if not sys.stderr.isatty():
        return lambda *_: None

    def tell(name: str, number: int, total: int) -> None:
        done = number == total
        sys.stderr.write("\r\033[K" if done else f"\r\033[K{number}/{total} {name[:60]}")
        sys.stderr.flush()

    return tell


def _scene(python: str | None) -> tuple[Found, Scene]:
    from safepip.commands import target
    from safepip.commands.scene import Scene

    found = target.find(python)
    return found, Scene(found.target, os.environ)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
