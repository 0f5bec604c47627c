"""`safepip install` as a dialogue."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from safepip.cli import streams
from safepip.model import variables
from safepip.model.request import PassThrough

if TYPE_CHECKING:
    from safepip.model.report import Verdict

REFUSED = 10
OWN = frozenset({"--json", "--rollback"})
ELSEWHERE = ("--target", "--root", "--prefix", "--user")  # an install into no environment that is judged
SETTINGS = frozenset({"PIP_TARGET", "PIP_ROOT", "PIP_PREFIX", "PIP_USER"})
_WITH_VALUE = "rceifC"  # pip's short options that take one, but for -t


class Words(NamedTuple):
    """An install's command line, without safepip's own options."""

    words: tuple[str, ...]
    dry_run: bool
    json: bool
    rollback: bool


def read(request: PassThrough) -> Words | None:
    """None where the install is not ours to judge: it leads elsewhere, or asks for help only."""
    before, mark, after = _parted(request.arguments)
    if not mark or any(map(_leads_elsewhere, after)) or not SETTINGS.isdisjoint(os.environ):
        return None
    own = OWN.intersection(after)
    words = (*before, mark, *(word for word in after if word not in OWN))
    as_json = "--json" in own or os.environ.get(variables.JSON) == "1"
    return Words(words, "--dry-run" in words, as_json, "--rollback" in own)


def answer(request: PassThrough) -> int | None:
    """The exit code, or None where pip is to do it as it is asked."""
    words = read(request)
    if words is None or not words.dry_run:
        return None
    from safepip.commands import install, target

    found = target.find(request.python)
    plain = tuple(word for word in words.words if word != "--dry-run")
    verdict = install.assess(plain, found, os.environ)
    _report(verdict, as_json=words.json, chosen=found.reason)
    return REFUSED if verdict.decision.value == "refuse" else 0


def _report(verdict: Verdict, *, as_json: bool, chosen: str) -> None:
    if as_json:
        from safepip.render import document

        sys.stdout.write(f"{document.dump(verdict)}\n")
        return
    from safepip.render import terminal

    sys.stdout.write(terminal.show(verdict, streams.style(1), chosen))


def _parted(arguments: Sequence[str]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """What stands before the command word, the word where it is `install`, and what follows it."""
    from safepip.grammar.options import VALUES

    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if arguments[index] in VALUES else 1
    if arguments[index : index + 1] != ("install",):
        return tuple(arguments), "", ()
    return tuple(arguments[:index]), "install", tuple(arguments[index + 1 :])


def _leads_elsewhere(word: str) -> bool:
    """Long options may be cut short (optparse); `--pre` is one of its own."""
    name = word.partition("=")[0]
    if name in {"-h", "--help"}:
        return True
    if name.startswith("--"):
        return name != "--pre" and len(name) > 3 and any(long.startswith(name) for long in ELSEWHERE)
    if name.startswith("-"):
        letters = name[1:]
        value = min(
            (letters.index(letter) for letter in _WITH_VALUE if letter in letters), default=len(letters)
        )
        return "t" in letters[:value]
    return False
