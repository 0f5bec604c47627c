"""What parsing a source would cost, before that is spent: `ast` takes up to 2 kB and 7 µs for each token."""

from __future__ import annotations

import re

MOST_TOKENS = 32_000  # of code; what an import runs of the largest modules has 22,000
MOST_IMPORTS = 10_000  # a tenth is much
_WITH_TEXT = 8 * MOST_TOKENS  # words of comments and texts counted too
_CLASSES = bytes(
    32 if code in b" \t\n\f" else 97 if code > 127 or code == 95 or chr(code).isalnum() else 43
    for code in range(256)
)
_TEXT = re.compile(
    rb"""
    \#[^\n]*+
    | ([fFtT][rR]?|[rR][fFtT])? (?:
          '''(?:[^\\']++|\\.|'(?!''))*+(?:'''|\Z)
        | \"""(?:[^\\"]++|\\.|"(?!""))*+(?:\"""|\Z)
        | ('(?:[^'\\\n]++|\\.)*+'?|"(?:[^"\\\n]++|\\.)*+"?)
    )
    """,
    re.DOTALL | re.VERBOSE,
)
_GAP = r"(?:[ \t\f]|\\\n)*+"
_WORD = rf"[\w\x80-\xff]++{_GAP}"
_DOT = rf"\.{_GAP}"
# CPython's parser makes a name with dots anew for each part of it: the square of its length.
_ENDLESS_NAME = re.compile(
    rf"""(?:import|from)(?![\w\x80-\xff]){_GAP}
    (?:{_WORD}(?:{_DOT}{_WORD})*+(?:as(?![\w\x80-\xff]){_GAP}{_WORD})?+,{_GAP})*?
    (?:(?:{_WORD})?+{_DOT}){{200}}""".replace("\n    ", "").encode()
)


def too_heavy(data: bytes) -> str:
    """Why `data` is not to be parsed; "" where nothing speaks against it."""
    rough = _tokens(data)
    if rough > MOST_TOKENS and (rough > _WITH_TEXT or _tokens(_TEXT.sub(_shorter, data)) > MOST_TOKENS):
        return f"more than {MOST_TOKENS} tokens"
    return "a name of more than 200 parts" if _ENDLESS_NAME.search(data) else ""


def _tokens(data: bytes) -> int:
    """Marks, and words behind a space: about as many as the tokenizer would find."""
    classes = data.translate(_CLASSES)
    return classes.count(b"+") + classes.count(b" a")


def _shorter(found: re.Match[bytes]) -> bytes:
    """Comments and long texts have no tokens in them; an f-string has code."""
    return found[0] if found[1] or found[2] else b""
