"""`safepip uninstall` as a dialogue: judge, report, and where nothing forbids it let pip do it and say what became of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from safepip.cli import streams
from safepip.errors import SafepipError, UsageError
from safepip.model.request import Uninstall

if TYPE_CHECKING:
    from safepip.commands.carrying_out import Outcome
    from safepip.commands.safely import Staged
    from safepip.commands.target import Found
    from safepip.commands.uninstall import Assessment
    from safepip.model.environment import Target
    from safepip.model.policy import Known


def answer(request: Uninstall) -> int:
    from safepip.commands import target

    with target.looked_at(request.root):
        return _answer(request)


def _answer(request: Uninstall) -> int:
    from safepip.commands import target

    found = target.find(request.python, isolated=request.isolated)
    if not request.requirement_files or request.root is not None:
        return _judge(request, found, again=True)
    from safepip.acting import pip

    with pip.spool(request) as request_as_read:
        return _judge(request_as_read, found, again=True)


def _judge(request: Uninstall, found: Found, *, again: bool) -> int:
    from safepip.commands import uninstall

    _mend(found.target, look_only=request.dry_run)
    with streams.deadline(found.policy.timeout):
        assessment = uninstall.assess(request, found, os.environ)
    if assessment.stops is not None:
        return _stop(assessment)
    from safepip.commands import keeping, safely

    try:
        with safely.own_bytes(assessment.sparing, found.target, os.environ) as staged:
            with streams.deadline(found.policy.timeout):
                assessment = uninstall.assess_fetched(assessment, staged)
            return _carry_out(assessment, staged)
    except keeping.OvertakenError as error:
        if not again:
            raise
        streams.say(f"safepip: {error.message}: judging it anew\n")
        return _judge(request, found, again=False)


def _mend(environment: Target, *, look_only: bool) -> None:
    """An earlier run that was cut off is ended, or where nothing may be touched named, before anything is judged."""
    from safepip.commands import target

    if not target.has_vault(environment):
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
        from safepip.errors import printable

        streams.say("".join(f"safepip: {printable(note)}\n" for note in notes))


def _carry_out(assessment: Assessment, staged: Staged) -> int:
    from safepip.commands import carrying_out

    if assessment.stops is not None:
        return _stop(assessment)
    request, target = assessment.request, assessment.found.target
    if not request.json:
        _report(assessment, {})
    if assessment.sparing is not None and not _may_go_on(assessment):
        return 0
    if assessment.sparing is None:
        _refuse_unanswered(assessment)
    with streams.standard_output_kept(for_us=request.json):
        outcome = carrying_out.carry_out(assessment, _act(request, target), staged)
    if request.json:
        from safepip.render import changes, document

        kept = changes.describe_kept(outcome.kept)
        said = document.dump(assessment.verdict, files=request.files, outcome=outcome.summary, kept=kept)
        streams.write(f"{said}\n")
    _report_outcome(outcome, assessment)
    return outcome.exit_code


def _stop(assessment: Assessment) -> int:
    """Here the guard ends it. A look does not fail on what a baseline or the configuration knows."""
    request, policy = assessment.request, assessment.found.policy
    code = assessment.stops or 0
    if not (request.dry_run and (request.baseline or policy.ignored or policy.ended)):
        _report(assessment, {})
        return code
    from safepip.cli import counting
    from safepip.render import notices

    seen = tuple(notices.of_verdict(assessment.verdict))
    known = counting.known(policy, request.baseline)
    said = counting.remarks(seen, known, policy)
    code = code and counting.exit_code(seen, known, fail_on_warn=request.fail_on_warn)
    before = assessment.verdict.remarks
    remarks = before._replace(
        weakened=(*said.weakened, *before.weakened),
        ended=said.ended,
        despite=before.despite or ("" if code else "LET PASS (all of it is known)"),
    )
    _report(replace(assessment, verdict=replace(assessment.verdict, remarks=remarks)), known)
    return code


def _act(request: Uninstall, target: Target) -> Callable[[Sequence[int]], int]:
    if request.of_uv:
        from safepip.acting import uv
        from safepip.commands import beside

        program = beside.uv(os.environ)
        return lambda keep_open: uv.uninstall(program, request, keep_open)
    from safepip.acting import pip

    return lambda keep_open: pip.uninstall(request, target, os.environ, keep_open)


def _refuse_unanswered(assessment: Assessment) -> None:
    """Where nobody can answer pip's question it ends with a traceback of its own."""
    request, settings = assessment.request, assessment.found.settings
    asks = bool(assessment.case.removal.leaving) and not (request.yes or settings.yes or request.of_uv)
    if asks and (request.no_input or settings.no_input or not streams.is_answered()):
        raise UsageError(
            "no-input", "pip would ask before it removes, and nobody answers; nothing was touched", "Add -y."
        )


def _may_go_on(assessment: Assessment) -> bool:
    """pip's question (utils/misc.py:ask), where safepip does the removing itself."""
    request, settings = assessment.request, assessment.found.settings
    if request.yes or settings.yes:
        return True
    if request.no_input or settings.no_input:
        raise SafepipError("no-input", "no input is allowed, and -y was not given; nothing was touched")
    try:
        while (answer := input("Proceed (Y/n)? ").strip().lower()) not in {"", "y", "n"}:
            streams.write(f"Your response ({answer!r}) was not one of the expected responses: y, n\n")
    except EOFError:
        raise SafepipError("no-input", "there was no answer; nothing was touched", "Add -y.") from None
    return answer != "n"


def _report(assessment: Assessment, known: Mapping[str, Known]) -> None:
    """To standard error where pip's own output follows or would have; JSON and dry-runs to standard output."""
    request, verdict = assessment.request, assessment.verdict
    if request.json:
        from safepip.render import document

        streams.write(document.dump(verdict, files=request.files) + "\n")
        return
    if request.format != "terminal":
        from safepip import __version__
        from safepip.render import machines

        streams.write(machines.show_verdict(request.format, verdict, known, __version__))
        return
    from safepip.render import terminal

    tell, number = (streams.write, 1) if request.dry_run else (streams.say, 2)
    style = streams.style(number, verbose=request.verbose > 0)
    if not (request.quiet and assessment.stops in {None, 0} and not verdict.warned):
        if assessment.stops and not os.isatty(number) and not request.verbose:
            from safepip.render import brief

            tell(brief.show(verdict))
            return
        tell(terminal.show(verdict, style, assessment.found.reason))
        if assessment.sparing is not None:
            from safepip.render import changes

            tell(changes.show_sparing(assessment.sparing, style, done=False))


def _report_outcome(outcome: Outcome, assessment: Assessment) -> None:
    from safepip.render import changes, terminal

    removal, target = assessment.case.removal, assessment.found.target
    streams.say(terminal.show_outcome(outcome.summary, outcome.verdict, streams.style(2)))
    if assessment.sparing is not None and outcome.kept.receipt is not None:
        streams.say(changes.show_sparing(assessment.sparing, streams.style(2), done=True))
    if not assessment.request.quiet or outcome.verdict is not None:
        streams.say(changes.show_kept(outcome.kept, removal, target, streams.style(2)))
