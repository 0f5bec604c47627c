"""What `pip install --report FILE` announces, as values."""

from __future__ import annotations

import json
from typing import Any

from safepip.errors import SafepipError
from safepip.model.arrival import Announced
from safepip.reading.sites.metadata import canonical


def read(path: str) -> tuple[Announced, ...]:
    """The distributions that pip would install, in no order that means anything."""
    try:
        with open(path, "rb") as stream:
            entries = json.load(stream)["install"]
        return tuple([_announced(entry) for entry in entries])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SafepipError("pip-report", f"pip's report cannot be understood: {error}") from error


def _announced(entry: dict[str, Any]) -> Announced:
    metadata, origin = entry["metadata"], entry["download_info"]
    archive = origin.get("archive_info") or {}
    method, _, digest = str(archive.get("hash", "")).partition("=")
    return Announced(
        key=canonical(metadata["name"]),
        name=metadata["name"],
        version=metadata["version"],
        url=str(origin["url"]),
        digest=digest if method == "sha256" else "",
        requested=bool(entry["requested"]),
        requires=tuple(metadata.get("requires_dist", ())),
        requires_python=bool(metadata.get("requires_python")),
    )
