"""`safepip why` and `safepip explain`."""

from __future__ import annotations

import click

from safepip.cli import streams
from safepip.cli.asking.common import Caller, at_root
from safepip.commands import slips
from safepip.errors import UsageError

NOT_FOUND = 1  # as `pip show` ends where there is nothing of that name


@click.command()
@click.argument("query", metavar="SONAME|PATH|MODULE|DISTRIBUTION")
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
@click.option("--format", "kind", type=click.Choice(["terminal", "json"]), default="terminal")
@click.option("-v", "--verbose", is_flag=True, help="Every row, and every place the loader looks at.")
@at_root
@click.pass_obj
def why(obj: Caller, query: str, kind: str, *, as_json: bool, verbose: bool) -> int:
    """What QUERY is, who needs it, and which file each of them really gets, by which rule.

    QUERY may be a part of a name, or a pattern: cudnn, 'libcu*.so.12'. Ends with 1 where nothing matches.
    """
    if not query.strip():
        raise UsageError(
            "wrong-arguments", "why wants a name, and this one is empty", "See `safepip why --help`."
        )
    from safepip.commands import why as command
    from safepip.render import document
    from safepip.render import why as render

    answered = command.why(query, obj.scene()[1])
    if as_json or kind == "json":
        streams.write(document.dump_document(render.report(answered)) + "\n")
    else:
        streams.write(render.show(answered, obj.style(1, verbose=verbose)))
    return NOT_FOUND if answered.is_empty else 0


@click.command()
@click.argument("kind", required=False)
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
@click.pass_obj
def explain(obj: Caller, kind: str | None, *, as_json: bool) -> int:
    """What a KIND of finding or a check means, an example, what to do, and how to prove it by hand."""
    from safepip.render import document, explanations

    style = obj.style(1)
    kind = kind and kind.lower().replace("_", "-")
    found = explanations.find(kind) if kind is not None else None
    if kind is not None and found is None:
        meant = slips.meant(kind or "", explanations.names(), "`safepip explain {}`")
        hint = f"Perhaps {meant}; " if meant else ""
        raise UsageError(
            "no-such-kind", f"there is no kind {kind!r}", f"{hint}`safepip explain` lists them all."
        )
    if as_json:
        listed = explanations.names() if kind is None else (kind,)
        streams.write(document.dump_document(explanations.report(*listed)) + "\n")
    else:
        streams.write(
            explanations.overview(style) if found is None else explanations.show(kind or "", found, style)
        )
    return 0
