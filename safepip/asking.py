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
from safepip.model.diagnosis import Check
from safepip.model.request import Ask

if TYPE_CHECKING:
    from safepip.commands.scene import Scene
    from safepip.commands.target import Found
    from safepip.model.diagnosis import Diagnosis
    from safepip.model.report import Policy
    from safepip.render.terminal import Style

CHECK_NAMES = tuple(check.value for check in Check)
REFUSED, BROKE = 10, 13
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


@COMMANDS.command()
@click.option("--list", "list_", is_flag=True, help="The checks, each with its meaning.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(CHECK_NAMES),
    metavar="CHECK",
    help="These checks and no others.",
)
@click.option(
    "--skip", multiple=True, type=click.Choice(CHECK_NAMES), metavar="CHECK", help="All checks but these."
)
@click.option("--fix", is_flag=True, help="Carry out the plan, step by step.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before --fix.")
@click.option("--json", "as_json", is_flag=True, help="The diagnosis as JSON.")
@click.option("--format", "kind", type=click.Choice(["terminal", "json"]), default="terminal")
@click.option("-v", "--verbose", is_flag=True, help="Every note.")
@click.pass_obj
def doctor(obj: Caller, /, kind: str, only: tuple[str, ...], skip: tuple[str, ...], **flags: bool) -> int:
    """What is broken now, by named checks, and the commands that mend it.

    Ends with 10 where something is broken. `safepip explain CHECK` tells what a check means.
    """
    from safepip.commands import doctor as command
    from safepip.render import doctor as render
    from safepip.render import document

    style = obj.style(1, verbose=flags["verbose"])
    if flags["list_"]:
        _write(render.checks(style))
        return 0
    checks = frozenset(
        check for check in Check if check.value in (only or CHECK_NAMES) and check.value not in skip
    )
    found, scene = _scene(obj.python)
    diagnosis = command.diagnose(scene, found.policy, checks)
    as_json = flags["as_json"] or kind == "json"
    if not (as_json and flags["fix"]):
        _write(
            document.dump_document(render.report(diagnosis)) + "\n"
            if as_json
            else render.show(diagnosis, style)
        )
    if flags["fix"] and diagnosis.cures:
        return _fix(diagnosis, found.policy, style, yes=flags["yes"], as_json=as_json)
    return REFUSED if diagnosis.broken else 0


def _fix(diagnosis: Diagnosis, policy: Policy, style: Style, *, yes: bool, as_json: bool) -> int:
    """Everything said meanwhile goes to standard error: with --json standard output is for the last diagnosis."""
    from safepip.commands import fixing
    from safepip.render import doctor as render
    from safepip.render import document

    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(
                "not-asked", "nobody is there to be asked; nothing was touched", "Give -y with --fix."
            )
        click.confirm("Carry out these steps?", abort=True, err=True)
    fixed = fixing.fix(
        diagnosis, policy, os.environ, lambda cure: click.echo(f"safepip: {cure.title}", err=True)
    )
    if as_json:
        _write(
            document.dump_document({**render.report(fixed.now), **render.fixed(fixed.done, fixed.failed)})
            + "\n"
        )
    sys.stderr.write(render.show_fixed(fixed.done, fixed.failed, fixed.worse, style))
    if not as_json:
        _write(render.show(fixed.now, style))
    if fixed.worse:
        return BROKE
    return REFUSED if fixed.now.broken or fixed.failed else 0


@COMMANDS.command()
@click.argument("kind", required=False)
@click.pass_obj
def explain(obj: Caller, kind: str | None) -> int:
    """What a KIND of finding or a check means, an example, what to do, and how to prove it by hand."""
    from safepip.render import explanations

    style = obj.style(1)
    if kind is None:
        _write(explanations.overview(style))
        return 0
    found = explanations.find(kind)
    if found is None:
        raise UsageError("no-such-kind", f"there is no kind {kind!r}", "`safepip explain` lists them all.")
    _write(explanations.show(kind, found, style))
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
