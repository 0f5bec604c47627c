"""`safepip doctor`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from safepip.cli import streams
from safepip.cli.asking.common import Caller, Reporting, Told, at_root, reporting
from safepip.cli.counting import REFUSED
from safepip.commands import slips
from safepip.errors import UsageError
from safepip.model.diagnosis import Check
from safepip.reading import tree

if TYPE_CHECKING:
    from safepip.model.diagnosis import Cure, Diagnosis
    from safepip.model.policy import Policy
    from safepip.render.terminal import Style

CHECK_NAMES = tuple(check.value for check in Check)
BROKE = 13


def _checks(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        if name not in CHECK_NAMES:
            like = slips.meant(name, CHECK_NAMES)
            like = f" ({like}?)" if like else ""
            raise click.BadParameter(
                f"there is no check {name!r}{like}: `safepip doctor --list` has them all"
            )
    return given


@click.command()
@click.option("--list", "list_", is_flag=True, help="The checks, each with its meaning.")
@click.option(
    "--only",
    multiple=True,
    callback=_checks,
    metavar="CHECK",
    help="These checks and no others.",
)
@click.option("--skip", multiple=True, callback=_checks, metavar="CHECK", help="All checks but these.")
@click.option("--fix", is_flag=True, help="Carry out the plan, step by step.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before --fix.")
@click.option("-v", "--verbose", is_flag=True, help="Every note.")
@at_root
@reporting
@click.pass_obj
def doctor(
    obj: Caller, /, only: tuple[str, ...], skip: tuple[str, ...], how: Reporting, **flags: bool
) -> int:
    """What is broken now, by named checks, and the commands that mend it.

    Ends with 10 where something is broken. `safepip explain CHECK` tells what a check means.
    """
    from safepip.commands import doctor as command
    from safepip.render import doctor as render
    from safepip.render import machines, notices

    if flags["fix"] and tree.root() is not None:
        raise UsageError(
            "root-is-looked-at",
            "an image under --root is only looked at: --fix is for inside it",
            "Give its plan to a shell there.",
        )
    style = obj.style(1, verbose=flags["verbose"])
    if flags["list_"]:
        streams.write(render.checks(style))
        return 0
    wanted = frozenset(only or CHECK_NAMES).difference(skip)
    found, scene = obj.scene()
    diagnosis = command.diagnose(scene, found.policy, frozenset(c for c in Check if c.value in wanted))
    cures = [cure for cure in diagnosis.cures if cure.is_safepips and (only or not cure.loses_changes)]
    if flags["fix"] and cures:
        if how.kind == "terminal":
            left_out = [cure for cure in diagnosis.cures if cure not in cures]
            streams.write(render.show(replace(diagnosis, cures=tuple(cures)), style, left_out))
        if not (flags["yes"] or _agree()):
            streams.say("safepip: nothing was touched\n")
            return REFUSED
        return _fix(diagnosis, cures, found.policy, style, as_json=how.kind == "json")
    target = found.target
    if target.root is not None:
        inside = (replace(cure, command=target.inside(*cure.command)) for cure in diagnosis.cures)
        diagnosis = replace(diagnosis, cures=tuple(inside))
    told = Told(
        lambda: render.report(diagnosis),
        lambda: render.show(diagnosis, style),
        f"safepip doctor of {found.target.prefix}",
        found.target.prefix,
        [(cure.title, [cure.command]) for cure in diagnosis.cures],
        machines.unjudged(diagnosis.unjudged),
    )
    return how.tell(told, tuple(notices.of_diagnosis(diagnosis)), found.policy, style)


def _agree() -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "not-asked", "nobody is there to be asked; nothing was touched", "Give -y with --fix."
        )
    try:
        return click.confirm("Carry out these steps?", err=True)
    except click.Abort:  # end of input, or Ctrl-C
        streams.say("\n")
        return False


def _fix(diagnosis: Diagnosis, cures: Sequence[Cure], policy: Policy, style: Style, *, as_json: bool) -> int:
    """Everything said meanwhile goes to standard error: with --json standard output is for the last diagnosis."""
    from safepip.commands import fixing
    from safepip.render import doctor as render
    from safepip.render import document

    fixed = fixing.fix(
        cures, diagnosis, policy, os.environ, lambda cure: click.echo(f"safepip: {cure.title}", err=True)
    )
    if as_json:
        streams.write(
            document.dump_document({**render.report(fixed.now), **render.fixed(fixed.done, fixed.failed)})
            + "\n"
        )
    streams.say(render.show_fixed(fixed.done, fixed.failed, fixed.worse, style))
    if not as_json:
        streams.write(render.show(fixed.now, style))
    if fixed.worse:
        return BROKE
    return REFUSED if fixed.now.broken or fixed.failed else 0
