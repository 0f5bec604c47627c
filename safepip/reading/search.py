"""Whether a file holds certain bytes: asked of files that cannot be parsed."""

from __future__ import annotations

from collections.abc import Iterable

from safepip.reading import tree

BLOCK = 1 << 20


def holds_any(path: str, needles: Iterable[bytes]) -> bool:
    """Whether one of `needles` stands in the file; True where it cannot be read, since then nobody can tell."""
    wanted = tuple(needles)
    overlap = max(map(len, wanted), default=1) - 1
    tail = b""
    try:
        with tree.open(path, "rb") as file:
            while block := file.read(BLOCK):
                text = tail + block
                if any(needle in text for needle in wanted):
                    return True
                tail = text[-overlap:] if overlap else b""
    except OSError:
        return True
    return False
