"""An earlier report, JSON or SARIF: the fingerprints of what is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from safepip.errors import SafepipError

MARK = "safepip/v1"


def read(path: str) -> frozenset[str]:
    """Every fingerprint in the report at `path`."""
    try:
        with open(path, "rb") as stream:
            return frozenset(_fingerprints(json.load(stream)))
    except OSError as error:
        raise SafepipError("baseline", f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SafepipError(
            "baseline", f"{path} is no report: {error}", "Make one with --format json or --format sarif."
        ) from error


def _fingerprints(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in {"fingerprint", MARK} and isinstance(item, str):
                yield item
            else:
                yield from _fingerprints(item)
    elif isinstance(value, list):
        for item in value:
            yield from _fingerprints(item)
