"""`pip install`, as far as a guard must understand it: an install is judged by what it does, so that only what leads
elsewhere must be known.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from safepip.grammar.options import VALUES

_OWN = frozenset({"--json", "--rollback"})
_ELSEWHERE = ("--target", "--root", "--prefix", "--user")  # an install into no environment that is judged
_SETTINGS = ("PIP_TARGET", "PIP_ROOT", "PIP_PREFIX", "PIP_USER")
_WITH_VALUE = "rceifC"  # pip's short options that take one, but for -t


class Install(NamedTuple):
    """An install's command line, without safepip's own options."""

    words: tuple[str, ...]
    dry_run: bool
    json: bool
    rollback: bool


def read(arguments: Sequence[str], environ: Container[str]) -> Install | None:
    """None where `pip ARGUMENTS` is no install that is ours to judge: it leads elsewhere, asks for help only, or asks
    pip itself what it would do.
    """
    before, mark, after = _parted(arguments)
    if not mark or any(map(_leads_elsewhere, after)) or any(name in environ for name in _SETTINGS):
        return None
    if "--dry-run" in after and any(word.startswith("--report") for word in after):
        return None
    own = _OWN.intersection(after)
    words = (*before, mark, *(word for word in after if word not in _OWN))
    return Install(words, "--dry-run" in words, "--json" in own, "--rollback" in own)


def _parted(arguments: Sequence[str]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """What stands before the command word, the word where it is `install`, and what follows it."""
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if arguments[index] in VALUES else 1
    if index == len(arguments) or arguments[index] != "install":
        return tuple(arguments), "", ()
    return tuple(arguments[:index]), "install", tuple(arguments[index + 1 :])


def _leads_elsewhere(word: str) -> bool:
    """Long options may be cut short (optparse); `--pre` is one of its own."""
    name = word.partition("=")[0]
    if name in {"-h", "--help"}:
        return True
    if name.startswith("--"):
        return name != "--pre" and len(name) > 3 and any(long.startswith(name) for long in _ELSEWHERE)
    if name.startswith("-"):
        letters = name[1:]
        value = min(
            (letters.index(letter) for letter in _WITH_VALUE if letter in letters), default=len(letters)
        )
        return "t" in letters[:value]
    return False
