"""What the commands that look have in common: whose environment, in which form, and what is known already."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from safepip.cli import streams

if TYPE_CHECKING:
    from safepip.commands.scene import Scene
    from safepip.commands.target import Found
    from safepip.model.policy import Policy
    from safepip.render.notices import Notice
    from safepip.render.terminal import Style

FORMATS = ["terminal", "json", "sarif", "markdown"]
REFUSED, WARNED = 10, 11


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


class Reporting(NamedTuple):
    """How an audit or a diagnosis is to be told, and what of it is known already."""

    kind: str
    baseline: str | None
    fail_on: str | None

    def known(self, policy: Policy) -> Mapping[str, str]:
        """Fingerprints, and the file that each is from."""
        from safepip.reading.settings import baseline

        earlier = dict.fromkeys(baseline.read(self.baseline), self.baseline) if self.baseline else {}
        return {**earlier, **policy.ignored}

    def tell(self, told: Told, notices: Sequence[Notice], known: Mapping[str, str]) -> int:
        """Write the report; the exit code is what the new ones among `notices` come to."""
        from safepip.errors import printable
        from safepip.render import document, machines

        weakened = _weakened([known[item.fingerprint] for item in notices if item.fingerprint in known])
        match self.kind:
            case "terminal":
                streams.write(told.text() + "".join(f"  weakened: {printable(said)}\n" for said in weakened))
            case "json":
                listed = told.document()
                said = [*listed.get("weakened", ()), *weakened]
                streams.write(document.dump_document({**listed, "weakened": said}) + "\n")
            case _:
                page = machines.Page(told.title, told.prefix, tuple(notices), told.ways)
                streams.write(machines.show(self.kind, page, frozenset(known), version()))
        fresh = [notice.severity.name for notice in notices if notice.fingerprint not in known]
        if "REFUSE" in fresh:
            return REFUSED
        return WARNED if self.fail_on and "WARN" in fresh else 0


def _weakened(sources: Sequence[str]) -> list[str]:
    """What makes an exit code better than what was found."""
    return [f"{sources.count(path)} of these do not count, by {path}" for path in dict.fromkeys(sources)]


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
