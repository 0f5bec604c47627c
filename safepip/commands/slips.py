"""What may have been meant by a word that is none of those that are known."""

from __future__ import annotations

from collections.abc import Iterable

from safepip.reasoning.likeness import near


def meant(word: str, known: Iterable[str], shown: str = "{}") -> str:
    """Those most like `word`, each as `shown`, joined; "" where nothing is like it."""
    return " or ".join(shown.format(name) for name in near(word, known))
