"""A command line into a command, and a report onto a stream."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from safepip import grammar, json_wanted
from safepip.errors import OutOfTimeError, SafepipError
from safepip.model.request import Ask, History, PassThrough, Request, ShowHelp, ShowVersion, Undo, Uninstall

if TYPE_CHECKING:
    from types import FrameType

    from safepip.commands.carrying_out import Outcome
    from safepip.commands.target import Found
    from safepip.commands.uninstall import Assessment
    from safepip.model.environment import Target
    from safepip.render.terminal import Style


def run(arguments: Sequence[str]) -> int:
    """Do what `arguments` ask for; the result is the exit code."""
    as_json = json_wanted.is_wanted(arguments, os.environ)
    try:
        request = grammar.parse(arguments)
        return _answer(json_wanted.wanting(request) if as_json else request)
    except SafepipError as error:
        return _fail(error, as_json=as_json)
    except KeyboardInterrupt:
        return _fail(
            SafepipError("interrupted", "interrupted while judging; nothing was touched"), as_json=as_json
        )
    except BrokenPipeError:  # whoever read us has gone: no traceback at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SafepipError.exit_code
    except Exception as error:  # noqa: BLE001  a guard that fails must fail closed, with its own exit code
        return _fail(_internal(error), as_json=as_json)


def _internal(error: Exception) -> SafepipError:
    import traceback

    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    message = f"a mistake of safepip's own: {type(error).__name__}: {error} ({where})"
    return SafepipError(
        "internal-error", message, "Please report it; pip itself is still there: python -m pip."
    )


def _answer(request: Request) -> int:
    match request:
        case ShowVersion(of_pip):
            from safepip import __version__

            print(f"safepip {__version__}", file=sys.stderr)
            return _pass_through(of_pip)
        case ShowHelp(command):
            from safepip.render import help_text

            print(help_text.show(command), end="")
            return 0
        case Uninstall() as request:
            return _uninstall(request)
        case Undo() as request:
            return _undo(request)
        case History() as request:
            return _history(request)
        case Ask("guard" | "init") as request:
            from safepip import standing

            return standing.answer(request)
        case Ask() as request:
            from safepip import asking

            return asking.answer(request, _style)
        case PassThrough() as request:
            return _pass_through(request)


def _pass_through(request: PassThrough) -> NoReturn:
    from safepip.acting import pip
    from safepip.commands import pass_through, target

    words = pass_through.start(request.python, os.environ, sys.argv[0])
    pip.exec_pip(words or pip.command(target.find(request.python).target), request.arguments, os.environ)


def _undo(request: Undo) -> int:
    from safepip.commands import target, undo
    from safepip.render import changes

    undone = undo.undo(target.find(request.python).target, request.number)
    print(changes.dump_undone(undone) if request.json else changes.show_undone(undone, _style(1)).rstrip())
    return undo.REFUSED if undone.in_the_way else 0


def _history(request: History) -> int:
    from safepip.commands import target, undo
    from safepip.render import changes

    found = target.find(request.python).target
    ledger = undo.drop(found) if request.drop else undo.history(found)
    if request.json:
        print(changes.dump_history(ledger, dropped=request.drop))
    else:
        print(changes.show_history(ledger, _style(1), dropped=request.drop), end="")
    return 0


def _uninstall(request: Uninstall) -> int:
    from safepip.commands import target

    found = target.find(request.python, isolated=request.isolated)
    if not request.requirement_files:
        return _judge(request, found, again=True)
    from safepip.acting import pip

    with pip.spool(request) as request_as_read:
        return _judge(request_as_read, found, again=True)


def _judge(request: Uninstall, found: Found, *, again: bool) -> int:
    from safepip.commands import uninstall

    _mend(found.target, look_only=request.dry_run)
    with _deadline(found.policy.timeout):
        assessment = uninstall.assess(request, found, os.environ)
    code = assessment.stops
    if code is not None:
        _report(assessment)
        return code
    from safepip.commands import keeping

    try:
        return _carry_out(assessment)
    except keeping.OvertakenError as error:
        if not again:
            raise
        sys.stderr.write(f"safepip: {error.message}: judging it anew\n")
        return _judge(request, found, again=False)


def _mend(environment: Target, *, look_only: bool) -> None:
    """An earlier run that was cut off is ended, or where nothing may be touched named, before anything is judged."""
    from safepip.reading import homes

    if not any(os.path.isdir(f"{home}/.safepip") for home in homes.homes_of(environment)):
        return
    from safepip.commands import keeping

    if look_only:
        notes = [
            f"a change of {entry.what} is not complete; what follows is judged as things are now"
            for entry in keeping.unfinished(environment)
        ]
    else:
        notes = list(keeping.mend(environment))
    if notes:
        from safepip.render.terminal import printable

        sys.stderr.writelines(f"safepip: {printable(note)}\n" for note in notes)


def _carry_out(assessment: Assessment) -> int:
    from safepip.acting import pip
    from safepip.commands import carrying_out

    request, target = assessment.request, assessment.found.target
    if not request.json:
        _report(assessment)
    if assessment.sparing is not None and not _may_go_on(assessment):
        return 0
    with _standard_output_kept(for_us=request.json):
        outcome = carrying_out.carry_out(
            assessment, lambda keep_open: pip.uninstall(request, target, os.environ, keep_open)
        )
    if request.json:
        from safepip.render import document

        print(document.dump(assessment.verdict, files=request.files, outcome=outcome.summary), flush=True)
    _report_outcome(outcome, assessment)
    return outcome.exit_code


def _may_go_on(assessment: Assessment) -> bool:
    """pip's question (utils/misc.py:ask), where safepip does the removing itself."""
    request, settings = assessment.request, assessment.found.settings
    if request.yes or settings.yes:
        return True
    if request.no_input or settings.no_input:
        raise SafepipError("no-input", "no input is allowed, and -y was not given; nothing was touched")
    try:
        while (answer := input("Proceed (Y/n)? ").strip().lower()) not in {"", "y", "n"}:
            print(f"Your response ({answer!r}) was not one of the expected responses: y, n")
    except EOFError:
        raise SafepipError("no-input", "there was no answer; nothing was touched", "Add -y.") from None
    return answer != "n"


def _report(assessment: Assessment) -> None:
    """To standard error where pip's own output follows or would have; JSON and dry-runs to standard output."""
    request, verdict = assessment.request, assessment.verdict
    if request.json:
        from safepip.render import document

        print(document.dump(verdict, files=request.files), flush=True)
        return
    from safepip.render import terminal

    stream = sys.stdout if request.dry_run else sys.stderr
    style = _style(stream.fileno(), verbose=request.verbose > 0)
    if not (request.quiet and assessment.stops in {None, 0} and not verdict.warned):
        if assessment.stops and not stream.isatty() and not request.verbose:
            from safepip.render import brief

            stream.write(brief.show(verdict))
            return
        stream.write(terminal.show(verdict, style, assessment.found.reason))
        if assessment.sparing is not None:
            from safepip.render import changes

            stream.write(changes.show_sparing(assessment.sparing, style, done=False))
        stream.flush()


def _report_outcome(outcome: Outcome, assessment: Assessment) -> None:
    from safepip.render import changes, terminal

    removal, target = assessment.case.removal, assessment.found.target
    sys.stderr.write(terminal.show_outcome(outcome.summary, outcome.verdict, _style(2)))
    if assessment.sparing is not None and outcome.kept.receipt is not None:
        sys.stderr.write(changes.show_sparing(assessment.sparing, _style(2), done=True))
    if not assessment.request.quiet or outcome.verdict is not None:
        sys.stderr.write(changes.show_kept(outcome.kept, removal, target, _style(2)))


def _fail(error: SafepipError, *, as_json: bool) -> int:
    from safepip.render import document, terminal

    if as_json:
        print(document.dump_error(error), flush=True)
    else:
        sys.stderr.write(terminal.show_error(error, _style(2)))
    return error.exit_code


def _style(stream: int, *, verbose: bool = False) -> Style:
    import shutil

    from safepip.render.terminal import Style

    terminal = os.isatty(stream)
    width = min(shutil.get_terminal_size().columns, 120) if terminal else 80
    return Style(width, colour=terminal and "NO_COLOR" not in os.environ, verbose=verbose)


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """A guard that hangs is a guard that is taken away."""

    def ring(_: int, __: FrameType | None) -> NoReturn:
        raise OutOfTimeError(
            "out-of-time",
            f"judging took longer than {seconds:g} s; nothing was touched",
            "Raise `timeout` in the configuration.",
        )

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _standard_output_kept(*, for_us: bool) -> Iterator[None]:
    """With --json standard output is the report's alone: pip speaks on standard error meanwhile."""
    if not for_us:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
