"""`safepip audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from safepip.cli.asking.common import Caller, Reporting, Told, at_root, progress, reporting
from safepip.errors import SafepipError
from safepip.reading import tree

if TYPE_CHECKING:
    from safepip.commands.scene import Scene
    from safepip.commands.target import Found
    from safepip.model.audit import Audit
    from safepip.render.notices import Notice
    from safepip.render.terminal import Style


@click.command()
@click.argument("packages", nargs=-1, metavar="[--remove PKG…]")
@click.option("--remove", is_flag=True, help="Judge the removal of these, as one set.")
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False),
    help="Judge the install that pip announced in this file (pip install --dry-run --report FILE).",
)
@click.option(
    "--code",
    multiple=True,
    callback=lambda _, __, folders: tuple(map(_existing, folders)),
    help="A folder of your own code: it needs what it imports.",
)
@click.option("--html", type=click.Path(dir_okay=False), help="A page to look at, in one file.")
@at_root
@reporting
@click.pass_obj
def audit(  # noqa: PLR0913  each is an option
    obj: Caller,
    /,
    packages: tuple[str, ...],
    how: Reporting,
    *,
    remove: bool,
    plan: str | None,
    code: tuple[str, ...],
    html: str | None,
) -> int:
    """What can go: the verdict of each distribution's removal, what nobody needs, and what is mixed.

    With --remove the named ones are judged as one set: which may go, which not, and how. Ends with 10 where
    the set is refused. With --plan an install is judged, as `safepip install --dry-run` does; pip fetches its wheels.
    """
    from safepip.commands import audit as command
    from safepip.render import audit as render
    from safepip.render import machines, notices

    if bool(packages) != remove:
        said = "name packages after --remove" if remove else f"what is to happen to {packages[0]}?"
        raise click.UsageError(said)
    if plan and (remove or html or code or tree.root() is not None):
        raise click.UsageError("--plan stands alone: without --remove, --code, --html and --root")
    found, scene = obj.scene()
    style, prefix = obj.style(1), found.target.prefix
    if plan:
        told, seen = _of_plan(plan, found, scene, style)
        return how.tell(told, seen, found.policy, style)
    if remove:
        set_ = command.together(packages, scene, found.policy)
        told = Told(
            lambda: render.report_together(set_),
            lambda: render.show_together(set_, style),
            notices.headline(set_.verdict),
            prefix,
            [("Safe ways", set_.commands)],
            machines.remarks_of(set_.verdict),
        )
        return how.tell(told, tuple(notices.of_verdict(set_.verdict)), found.policy, style)
    audited = command.audit(scene, found.policy, code, progress())
    if html:
        _write_page(audited, html)
    told = Told(
        lambda: render.report(audited),
        lambda: render.show(audited, style),
        f"safepip audit of {prefix}",
        prefix,
        [(f"{len(item.dists)} {item.title}", [item.command]) for item in audited.unneeded if item.command],
        machines.unjudged(audited.unjudged),
    )
    return how.tell(told, tuple(notices.of_audit(audited)), found.policy, style)


def _of_plan(plan: str, found: Found, scene: Scene, style: Style) -> tuple[Told, tuple[Notice, ...]]:
    from safepip.commands import install
    from safepip.render import document, machines, notices, terminal

    verdict = install.assess_plan(plan, found, scene)
    told = Told(
        lambda: document.report(verdict, files=False),
        lambda: terminal.show(verdict, style, found.reason),
        notices.headline(verdict),
        found.target.prefix,
        [(remedy.title, remedy.commands) for remedy in verdict.remedies],
        machines.remarks_of(verdict),
    )
    return told, tuple(notices.of_verdict(verdict))


def _existing(folder: str) -> str:
    if not tree.exists(folder):
        raise click.BadParameter(f"Path {folder!r} does not exist.")
    return folder


def _write_page(audited: Audit, path: str) -> None:
    from importlib.resources import files

    from safepip.render import page

    text = page.show(audited, (files("safepip.render") / "page.html").read_text("utf-8"))
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SafepipError("page", f"{path} cannot be written: {error.strerror}") from error
