"""`safepip install` as a dialogue."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from safepip.cli import streams
from safepip.errors import SafepipError, TargetError
from safepip.grammar import install_grammar
from safepip.grammar.install_grammar import Install
from safepip.model import variables
from safepip.model.request import PassThrough

if TYPE_CHECKING:
    from collections.abc import Callable

    from safepip.commands.target import Found
    from safepip.commands.transaction import Done
    from safepip.grammar import uv_grammar
    from safepip.model.report import Verdict

    Act = Callable[[Sequence[str], Sequence[int]], int]

REFUSED = 10


def answer(request: PassThrough) -> int | None:
    """The exit code, or None where pip is to do it as it is asked."""
    words = install_grammar.read(request.arguments, os.environ)
    if words is None:
        return None
    words = words._replace(json=words.json or os.environ.get(variables.JSON) == "1")
    from safepip.commands import target

    try:
        found = target.find(request.python, isolated="--isolated" in words.words)
    except TargetError:  # pip itself may know better, as for any other command
        if words.dry_run or words.json or words.rollback:
            raise
        return None
    if words.dry_run:
        return _judge(words, found)
    from safepip.acting import pip
    from safepip.commands import pass_through

    def act(start: Sequence[str], keep_open: Sequence[int]) -> int:
        return pip.run(start, words.words, os.environ, keep_open)

    start = pass_through.start(request.python, os.environ, sys.argv[0]) or pip.command(found.target)
    return _carry_out(words, found, tuple(start), act)


def answer_uv(install: uv_grammar.Install, python: str | None) -> int | None:
    """The same for `uv pip install`; None where uv is to do it, with a line that says why it is not guarded."""
    from safepip.acting import uv
    from safepip.commands import beside, target

    program = beside.uv(os.environ)
    try:
        named = install.python or python or beside.environment_of_uv(os.getcwd(), os.environ)
        found = target.find(named)
    except SafepipError as error:
        streams.say(f"safepip: this install is not guarded: {error.message}\n")
        return None
    as_json = install.json or os.environ.get(variables.JSON) == "1"
    words = Install(install.words, dry_run=False, json=as_json, rollback=install.rollback)

    def act(_: Sequence[str], keep_open: Sequence[int]) -> int:
        return uv.run(program, words.words, keep_open)

    return _carry_out(words, found, (program,), act)


def _judge(words: Install, found: Found) -> int:
    from safepip.commands import install

    plain = tuple(word for word in words.words if word != "--dry-run")
    verdict = install.assess(plain, found, os.environ)
    _report(verdict, as_json=words.json, chosen=found.reason)
    return REFUSED if verdict.decision.value == "refuse" else 0


def _carry_out(words: Install, found: Found, start: tuple[str, ...], act: Act) -> int | None:
    from safepip.commands import transaction

    home = transaction.home_of(found)
    if home is None:
        return None
    order = transaction.Order(
        words=words.words,
        found=found,
        environ=os.environ,
        start=start,
        act=act,
        bounded=lambda: streams.deadline(found.policy.timeout, acted=True),
    )
    with streams.standard_output_kept(for_us=words.json):
        done = transaction.run(order, home)
    return _conclude(words, done, found)


def _conclude(words: Install, done: Done, found: Found) -> int:
    from safepip.commands import transaction

    unasked = words.rollback or found.policy.rollback
    back = done.receipt is not None and (
        (unasked and (done.broke or done.stopped or done.verdict is None))
        or (done.broke and _wants_back(words, done, found))
    )
    if back:
        transaction.take_back(done)
    code = (done.pip_exit_code or REFUSED) if back else done.exit_code
    if words.json:
        from safepip.render import installs

        streams.write(f"{installs.dump(done.verdict, found.target, _outcome(done, back=back))}\n")
    else:
        _tell(done, found, back=back)
    return code


def _wants_back(words: Install, done: Done, found: Found) -> bool:
    """Asked of a person only; a program finds the way back in the report."""
    if words.json or not (sys.stdin.isatty() and sys.stderr.isatty()) or done.verdict is None:
        return False
    if "--no-input" in words.words or found.settings.no_input:
        return False
    from safepip.render import installs

    streams.say(installs.show(done.verdict, streams.style(2), went_back=False))
    streams.say("Take the install back (y/N)? ")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _tell(done: Done, found: Found, *, back: bool) -> None:
    from safepip.render import installs

    style = streams.style(2)
    undo = (
        "safepip",
        "--python",
        found.target.executable,
        "undo",
        str(done.receipt.id if done.receipt else ""),
    )
    said = [*done.notes, *([done.unjudged] if done.unjudged else [])]
    streams.say(installs.show_notes(said, style))
    if done.verdict is not None:
        streams.say(installs.show(done.verdict, style, went_back=back))
    if done.receipt is not None and (done.stopped or done.verdict is None):
        streams.say(installs.show_stopped(done.pip_exit_code, () if back else undo, style))


def _outcome(done: Done, *, back: bool) -> dict[str, object]:
    kept = None if back or done.receipt is None else done.receipt.id
    return {
        "pip_exit_code": done.pip_exit_code,
        "rolled_back": back,
        "kept": {"id": kept},
        "unjudged": done.unjudged or None,
        "notes": done.notes,
    }


def _report(verdict: Verdict, *, as_json: bool, chosen: str) -> None:
    if as_json:
        from safepip.render import document

        streams.write(f"{document.dump(verdict)}\n")
        return
    if not verdict.installing and not verdict.findings:
        streams.write("safepip: nothing is to be installed: what is asked for is there\n")
        return
    from safepip.render import terminal

    streams.write(terminal.show(verdict, streams.style(1), chosen))
