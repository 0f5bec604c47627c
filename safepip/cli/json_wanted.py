"""Whether the answer is to be JSON: by an option of the command line, or for every call by the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from safepip.model import variables
from safepip.model.request import Ask, History, Request, Undo, Uninstall

_WITHOUT = frozenset({"init", "uv"})  # what is printed is code, or uv's


def is_wanted(arguments: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Also where the command line proves to be wrong: the error is JSON, then."""
    told = (
        "--json" in arguments or "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
    )
    return told or environ.get(variables.JSON) == "1"


def wanting(request: Request) -> Request:
    """`request` with JSON asked for, where it is a command of safepip's own."""
    match request:
        case Uninstall() | Undo() | History():
            return replace(request, json=True)
        case Ask(command, words) if command not in _WITHOUT and "--json" not in words:
            return replace(request, arguments=(*words, "--json"))
    return request
