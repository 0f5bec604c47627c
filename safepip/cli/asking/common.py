"""What the commands that look have in common: whose environment, in which form, and what is known already."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from safepip.cli import counting, streams

if TYPE_CHECKING:
    from safepip.commands.scene import Scene
    from safepip.commands.target import Found
    from safepip.model.policy import Policy
    from safepip.render.notices import Notice
    from safepip.render.terminal import Style

FORMATS = ["terminal", "json", "sarif", "markdown"]


class Caller(NamedTuple):
    """What stood before the command, and how a stream is to be written to."""

    python: str | None
    style: Callable[..., Style]

    def scene(self) -> tuple[Found, Scene]:
        from safepip.commands import target
        from safepip.commands.scene import Scene

        found = target.find(self.python)
        return found, Scene(found.target, os.environ)


class Told(NamedTuple):
    """A report in each of its forms, made when it is asked for."""

    document: Callable[[], dict[str, Any]]
    text: Callable[[], str]
    title: str
    prefix: str
    ways: Sequence[tuple[str, Sequence[Sequence[str]]]]
    remarks: Sequence[str]  # what is to be known of the report itself


class Reporting(NamedTuple):
    """How an audit or a diagnosis is to be told, and what of it is known already."""

    kind: str
    baseline: str | None
    fail_on: str | None

    def tell(self, told: Told, notices: Sequence[Notice], policy: Policy, style: Style) -> int:
        """Write the report; the exit code is what the new ones among `notices` come to."""
        from safepip.render import document, machines, tables
        from safepip.render.notices import Page

        known = counting.known(policy, self.baseline)
        remarks = counting.remarks(notices, known, policy)
        match self.kind:
            case "terminal":
                said = [line for said in remarks.lines for line in tables.paragraph(said, style, 2)]
                streams.write(told.text() + tables.text(said))
            case "json":
                listed = told.document()
                weakened = [*listed.get("weakened", ()), *remarks.weakened]
                streams.write(
                    document.dump_document({**listed, "weakened": weakened, "ended": remarks.ended}) + "\n"
                )
            case _:
                said = [*remarks.lines, *told.remarks]
                page = Page(told.title, told.prefix, tuple(notices), told.ways, known, said)
                streams.write(machines.show(self.kind, page, version()))
        return counting.exit_code(notices, known, fail_on_warn=self.fail_on is not None)


def reporting(command: Callable[..., int]) -> Callable[..., int]:
    """The options that audit and doctor have in common, as the one argument `how`."""

    @click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
    @click.option("--format", "kind", type=click.Choice(FORMATS), default="terminal", show_default=True)
    @click.option(
        "--baseline",
        type=click.Path(exists=True, dir_okay=False),
        help="An earlier report, JSON or SARIF: fail only on what is new.",
    )
    @click.option("--fail-on", type=click.Choice(["warn"]), help="End with 11 where there are warnings.")
    @functools.wraps(command)
    def with_options(
        *arguments: Any, as_json: bool, kind: str, baseline: str | None, fail_on: str | None, **options: Any
    ) -> int:
        how = Reporting("json" if as_json else kind, baseline, fail_on)
        return command(*arguments, how=how, **options)

    return with_options


def at_root(command: Callable[..., int]) -> Callable[..., int]:
    """The option --root: from there on all that is looked at lies in that image."""

    def enter(context: click.Context, _: click.Parameter, root: str | None) -> None:
        from safepip.commands import target

        if root is not None:
            context.with_resource(target.looked_at(root))

    return click.option(
        "--root",
        metavar="DIR",
        is_eager=True,
        expose_value=False,
        callback=enter,
        help="Look at the image unpacked or mounted at DIR; nothing of it runs, nothing of this machine counts.",
    )(command)


def progress() -> Callable[[str, int, int], None]:
    """A line that overwrites itself, on a terminal only."""
    if not sys.stderr.isatty():
        return lambda *_: None

    def tell(name: str, number: int, total: int) -> None:
        done = number == total
        streams.say("\r\033[K" if done else f"\r\033[K{number}/{total} {name[:60]}")

    return tell


def version() -> str:
    from safepip import __version__

    return __version__
