"""The command lines of the commands that look before one cleans: why, audit, doctor and explain.

click reads them, and is imported here alone: the guard itself has no time for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from safepip.cli.asking.audits import audit
from safepip.cli.asking.common import Caller
from safepip.cli.asking.doctors import doctor
from safepip.cli.asking.questions import explain, why
from safepip.errors import UsageError
from safepip.model.request import Ask

if TYPE_CHECKING:
    from safepip.render.terminal import Style


def answer(request: Ask, style: Callable[..., Style]) -> int:
    """Carry out `request`; the result is the exit code. `style` is that of a stream's number."""
    group = click.Group(
        commands=[why, audit, doctor, explain], context_settings={"help_option_names": ["-h", "--help"]}
    )
    try:
        code = group.main(
            [request.command, *(("--root", request.root) if request.root else ()), *request.arguments],
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
