"""Files that are not what RECORD promised: by size, and by digest where reading them is cheap."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.sites import record

SMALL = (
    1 << 16
)  # bytes; nearly every source is smaller, and large files of the same size are hardly ever edited


def find(dist: Distribution, shared: Collection[TargetPath]) -> Iterator[TargetPath]:
    """Those of the files of `dist` alone that exist and differ. Rows without a digest promise nothing."""
    for path, claim in record.claims(dist, dist.files or ()).items():
        if not claim.digest or path in shared:
            continue
        try:
            size = tree.stat(path).st_size
        except (OSError, ValueError):
            continue
        if (claim.size is not None and size != claim.size) or (
            size <= SMALL and record.digest(path, claim.digest) not in {"", claim.digest}
        ):
            yield path
