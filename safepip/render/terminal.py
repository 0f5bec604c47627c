"""A report for people: the verdict in the first line, one block a loss, then the safe ways.

It fits 24 lines of 80 columns unless `verbose`; commands are never broken, so that they can be pasted.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from safepip.errors import SafepipError, printable
from safepip.model.change import Why
from safepip.model.elf import Rule, Step
from safepip.model.report import Consumer, Decision, Finding, FindingKind, Remedy, Severity, Summary, Verdict
from safepip.render import tense

HEIGHT = 24  # lines, without -v
FITTED = ((3, 3), (3, 2), (2, 2), (1, 2), (1, 1))  # findings and ways that are shown, as many as fit
SIGN = {Severity.REFUSE: "\033[31;1m", Severity.WARN: "\033[33;1m", Severity.NOTE: "\033[2m"}
KEEPERS = {Why.DPKG: "dpkg's", Why.CONDA: "conda's"}
PLAIN = "\033[0m"


class Style(NamedTuple):
    width: int = 80
    colour: bool = False
    verbose: bool = False


def show(verdict: Verdict, style: Style, chosen: str = "") -> str:
    """The whole report, with a newline at its end. `chosen`: why it is this environment."""
    head = [
        *_wrapped(headline(verdict), "", style),
        *_wrapped(f"in {_environment(verdict)}{f', {chosen}' if chosen else ''}", "  ", style),
        *remarks(verdict, style),
    ]
    if verdict.removal.leaving and verdict.removal.skipped:
        head += _wrapped(f"pip leaves alone {_all_skipped(verdict)}", "  ", style)
    told = (finding for finding in verdict.findings if finding.severity is not Severity.NOTE)
    blocks = [["", *_block(block, verdict, style)] for block in _fold(told)]
    notes = [finding for finding in verdict.findings if finding.severity is Severity.NOTE]
    tail = [line for finding in notes for line in _wrapped(f"note: {finding.message}", "  ", style)]
    tail += _unjudged(verdict, style)
    ways = _ways(verdict.remedies, style)
    lines: list[str] = []
    for most in ((len(blocks), len(ways)),) if style.verbose else FITTED:
        safe = ["", "Safe ways", *_first(ways, most[1])] if ways else []
        lines = [*head, *_first(blocks, most[0]), *tail, *safe]
        if len(lines) <= HEIGHT:
            break
    return "".join(line + "\n" for line in lines)


def _first(parts: Sequence[Sequence[str]], most: int) -> list[str]:
    left = len(parts) - most
    more = [f"  … and {left} more (-v shows all)"] if left > 0 else []
    return [*(line for part in parts[:most] for line in part), *more]


def remarks(verdict: Verdict, style: Style) -> Iterator[str]:
    for line in verdict.remarks.lines:
        yield from _wrapped(line, "  ", style)


def show_outcome(summary: Summary, broken: Verdict | None, style: Style) -> str:
    """What pip did otherwise than planned, and loudly what is broken now; nothing where all went as foreseen."""
    lines: list[str] = []
    left = len(summary.remaining)
    if left and summary.removed:
        lines += _wrapped(
            f"safepip: pip left {_count(left, 'file')} that {'was' if left == 1 else 'were'} to go: {_some(summary.remaining)}",
            "",
            style,
        )
    if summary.unplanned:
        lines += _wrapped(
            f"safepip: pip also removed {_some(summary.unplanned)}, which was not planned", "", style
        )
    if broken is not None:
        lines += _wrapped(f"safepip: BROKEN NOW: {_some(_losers(broken, Severity.REFUSE))}", "", style)
        for finding in tense.done(broken).findings:
            if finding.severity is Severity.REFUSE:
                lines += _wrapped(finding.message, "  ", style, f"{finding.kind.value}: ", finding.severity)
        lines += ["", "To mend it", *_first(_ways(broken.remedies, style), len(broken.remedies))]
    return "".join(line + "\n" for line in lines)


def show_error(error: SafepipError, style: Style) -> str:
    lines = _wrapped(f"safepip: error: {error.message}", "", style)
    lines += _wrapped(error.hint, "  ", style) if error.hint else []
    return "".join(line + "\n" for line in lines)


def headline(verdict: Verdict) -> str:
    if verdict.installing:
        return _headline_of_install(verdict)
    leaving = [f"{dist.name} {dist.version}".strip() for dist in verdict.removal.leaving]
    halt = verdict.removal.halt
    tried = [*([halt.name] if halt else []), *(skip.name for skip in verdict.removal.skipped)]
    what = _some(leaving or tried) or "nothing"
    refused = verdict.remarks.despite or "REFUSED"
    match verdict.decision:
        case Decision.REFUSE if not (leaving or tried):
            return f"safepip: {refused}: what installing {_some(_losers(verdict, Severity.REFUSE))} would do is not known"
        case Decision.REFUSE:
            losers = _some(_losers(verdict, Severity.REFUSE))
            would = f"removing {what} would break {losers}" if losers and leaving else f"not removing {what}"
            return f"safepip: {refused}: {would}"
        case Decision.WARN:
            losers = _some(_losers(verdict, Severity.WARN))
            return f"safepip: WARNING: removing {what} {f'takes something from {losers}' if losers else 'does not go unnoticed'}"
        case Decision.ALLOW if not leaving and verdict.removal.skipped:
            return f"safepip: nothing to remove: pip leaves alone {_all_skipped(verdict)}"
        case Decision.ALLOW:
            return f"safepip: ok to remove {what}: nothing that stays needs it"


def _all_skipped(verdict: Verdict) -> str:
    return _some([f"{skip.name}, {skip.said}" for skip in verdict.removal.skipped])


def _headline_of_install(verdict: Verdict) -> str:
    what = _some([f"{item.name} {item.version}" for item in verdict.installing])
    match verdict.decision:
        case Decision.REFUSE:
            return (
                f"safepip: REFUSED: installing {what} would break {_some(_losers(verdict, Severity.REFUSE))}"
            )
        case Decision.WARN:
            return f"safepip: WARNING: installing {what} takes something from {_some(_losers(verdict, Severity.WARN))}"
        case Decision.ALLOW:
            return f"safepip: ok to install {what}: nothing that is there loses by it"


def _losers(verdict: Verdict, severity: Severity) -> list[str]:
    """A package of dpkg's or conda's is told from a distribution by who keeps it."""
    keepers = {reach.owner: KEEPERS[reach.why] for reach in verdict.removal.reaches if reach.why in KEEPERS}
    names = (f.distribution for f in verdict.findings if f.severity is severity and f.distribution)
    return [f"{keepers[name]} {name}" if name in keepers else name for name in dict.fromkeys(names)]


def _environment(verdict: Verdict) -> str:
    return f"{verdict.target.place} (Python {verdict.target.version})"


def _fold(findings: Iterable[Finding]) -> list[list[Finding]]:
    """One block for the libraries that the same survivors lose, and one for all that lose a requirement."""
    all_of_them = list(findings)
    users: dict[str, frozenset[str]] = {
        soname: frozenset(item.distribution for item in all_of_them if item.soname == soname)
        for soname in {item.soname for item in all_of_them if item.soname}
    }
    blocks: dict[tuple[object, ...], list[Finding]] = {}
    for finding in all_of_them:
        reason: tuple[object, ...] = (finding.kind, users.get(finding.soname, finding.distribution))
        if finding.kind in {FindingKind.REQUIREMENT_LOST, FindingKind.IMPORT_LOST}:
            reason = ("what one imports and the other requires",)
        blocks.setdefault((finding.severity, *reason), []).append(finding)
    return [sorted(block, key=_telling) for block in blocks.values()]


def _telling(finding: Finding) -> tuple[bool, int, str]:
    """What shows the most comes first: an import, then the most consumers."""
    at_import = any(
        consumer.chain[:1] and consumer.chain[0].startswith("import ") for consumer in finding.consumers
    )
    return (not at_import, -len(finding.consumers), finding.soname)


def _block(block: Sequence[Finding], verdict: Verdict, style: Style) -> list[str]:
    first = block[0]
    if first.soname:
        return _library(block, verdict, style)
    others = list(dict.fromkeys(f.distribution for f in block if f.distribution != first.distribution))
    more = f"; so {'does' if len(others) == 1 else 'do'} {_some(others)}" if others else ""
    text = first.message + more
    lines = _wrapped(text, "  ", style, f"{first.kind.value}: ", first.severity)
    for consumer in first.consumers[:1]:
        lines += _wrapped(_chain(consumer), "    ", style)
    holder = first.provider.bytes_of if first.provider and first.kind is not FindingKind.IMPORT_LOST else ""
    if holder and holder != first.distribution:
        lines += _wrapped(f"the bytes there now are those of {holder}", "    ", style)
    if first.broken_before:
        lines += _wrapped(f"so {first.distribution} may not work now either", "    ", style)
    return lines + (_details(block, style) if style.verbose else [])


def _library(block: Sequence[Finding], verdict: Verdict, style: Style) -> list[str]:
    first = block[0]
    alike = [item for item in block if item.soname == first.soname]
    users = [f"{item.distribution} ({len(item.consumers) or 'at run time'})" for item in alike]
    others = len({item.soname for item in block}) - 1
    more = f" and {_count(others, 'library', 'libraries')} more" if others else ""
    text = f"{first.soname}{more}, needed by {_some(users)}"
    lines = _wrapped(text, "  ", style, f"{first.kind.value}: ", first.severity)
    for consumer in first.consumers[:1]:
        lines += _wrapped(_chain(consumer), "    ", style)
    if first.provider:
        owners = " and ".join(first.provider.owners) or "nobody"
        whose = (
            f", bytes of {first.provider.bytes_of}"
            if len(first.provider.owners) > 1 and first.provider.bytes_of
            else ""
        )
        path = _short(first.provider.path, verdict)
        lines += _wrapped(f"now: {path}, owned by {owners}{whose}", "    ", style)
    if first.kind in {FindingKind.LIBRARY_LOST, FindingKind.LAST_COPY}:
        lines += _wrapped(f"then: {_places(first.searched)}", "    ", style)
    return lines + (_details(block, style) if style.verbose else [])


def _places(steps: Sequence[Step]) -> str:
    rules = list(dict.fromkeys(step.rule for step in steps if step.rule is not Rule.LOADED))
    if not rules:
        return "the loader has no other place to look"
    return f"the loader looks in {_count(len(steps), 'place')} ({', '.join(rule.value for rule in rules)}) and finds it in none"


def _details(block: Sequence[Finding], style: Style) -> list[str]:
    lines: list[str] = []
    tried: dict[str, None] = {}
    for finding in block:
        for consumer in finding.consumers:
            lines += _wrapped(f"{consumer.distribution}: {_chain(consumer)}", "      ", style)
        for step in finding.searched:
            tried[
                f"      tried {step.path} ({step.rule.value}{f' {step.element}' if step.element else ''})"
            ] = None
        for path in finding.paths if finding.kind is FindingKind.FILE_LOST else ():
            lines.append(printable(f"      {path}"))
    proof = next((finding.proof for finding in block if finding.proof), ())
    return [
        *lines,
        *map(printable, tried),
        *([printable(f"      proof: {shlex.join(proof)}")] if proof else []),
    ]


def _unjudged(verdict: Verdict, style: Style) -> list[str]:
    if not verdict.unjudged:
        return []
    if not style.verbose:
        count = len(verdict.unjudged)
        return _wrapped(
            f"note: {count} thing{'s' * (count > 1)} could not be read (-v names them)", "  ", style
        )
    return [
        line
        for item in verdict.unjudged
        for line in _wrapped(f"unjudged: {item.subject}: {item.reason}", "  ", style)
    ]


def _ways(remedies: Sequence[Remedy], style: Style) -> list[list[str]]:
    ways = []
    for number, remedy in enumerate(remedies, 1):
        commands = [printable(f"     {shlex.join(command)}") for command in remedy.commands]
        ways.append([*_wrapped(f"{number}. {remedy.title}", "  ", style), *commands])
    return ways


def _chain(consumer: Consumer) -> str:
    return " → ".join(consumer.chain) if consumer.chain else consumer.path


def _short(path: str, verdict: Verdict) -> str:
    for folder in (*verdict.target.site_folders, verdict.target.prefix):
        if path.startswith(f"{folder}/"):
            return path.removeprefix(f"{folder}/")
    return path


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _count(number: int, noun: str, many: str = "") -> str:
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def _wrapped(
    text: str, indent: str, style: Style, label: str = "", severity: Severity = Severity.NOTE
) -> list[str]:
    lines = textwrap.wrap(
        f"{label}{printable(text)}",
        style.width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    if label and style.colour:  # painted when wrapped: colour takes no columns
        lines[0] = lines[0].replace(label.rstrip(), f"{SIGN[severity]}{label.rstrip()}{PLAIN}", 1)
    return lines
