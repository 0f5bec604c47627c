"""Names like one that is not there: what a person may have meant."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 3
ALIKE = 0.75  # of difflib's ratio: one slip in a name of four letters


def near(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Of `names` those most like `name`: libraries of one name in another version first, then by spelling."""
    from difflib import get_close_matches

    by_word: dict[str, str] = {}
    for known in sorted(names):
        by_word.setdefault(_word(known), known)
    word = _word(name)
    close = get_close_matches(word, by_word, MOST, ALIKE)
    return tuple(by_word[other] for other in close)


def _word(name: str) -> str:
    """`cudnn` of `libcudnn.so.9`; of any other name itself, as PEP 503 takes it."""
    low = name.lower()
    if low.startswith("lib") and ".so" in low:
        return low.removeprefix("lib").partition(".so")[0]
    return low.replace("_", "-").replace(".", "-")
