"""The bytes of sources."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.sources.source import LIMIT

BLOCK = 1 << 18  # nearly every source fits


def readable(paths: Iterable[TargetPath]) -> Iterator[tuple[TargetPath, bytes]]:
    """Those that can be read, with what they hold."""
    for path in paths:
        try:
            data = content(path)
        except OSError:
            continue
        yield path, data


def content(path: str) -> bytes:
    handle = tree.handle(path)
    try:
        data = os.read(handle, BLOCK)
        while len(data) >= BLOCK and len(data) <= LIMIT:
            more = os.read(handle, LIMIT + 1 - len(data))
            if not more:
                break
            data += more
        return data
    finally:
        os.close(handle)
