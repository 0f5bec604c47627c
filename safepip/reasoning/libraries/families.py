"""Libraries that are built to work together, and whether one process would get them from two places.

A family is what shares a release: cuDNN opens its parts by name and checks that their versions are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.survey import Objects, Survey

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "cuDNN": ("libcudnn",),
    "cuBLAS": ("libcublas", "libnvblas"),
    "cuSOLVER": ("libcusolver",),
    "cuSPARSE": ("libcusparse.",),
    "cuFFT": ("libcufft",),
    "NPP": ("libnpp",),
    "NCCL": ("libnccl",),
    "NVSHMEM": ("libnvshmem",),
    "NVRTC": ("libnvrtc",),
    "PyTorch": ("libtorch", "libc10"),
    "MKL": ("libmkl_",),
    "TBB": ("libtbb",),
    "Arrow": ("libarrow", "libparquet"),
    "OpenCV": ("libopencv_",),
    "ICU": ("libicu",),
    "Qt 5": ("libQt5",),
    "Qt 6": ("libQt6",),
}
MAJOR = re.compile(r"\.so\.([0-9]+)")


class Split(NamedTuple):
    """Members of one family that a root would get from several folders, and got from one before."""

    family: str
    survivor: Distribution
    root: TargetPath
    members: tuple[
        tuple[TargetPath, str], ...
    ]  # provider and the name it answers to, one of each folder first


@cache
def family_of(name: str) -> str:
    """The family of the library `name` with its major version, since two majors may live side by side; "" for none."""
    for family, stems in FAMILIES.items():
        if name.startswith(stems):
            major = MAJOR.search(name)
            return f"{family} ({major[1]})" if major else family
    return ""


def split(before: Survey, after: Survey, objects: Objects) -> Iterator[Split]:
    """One for each survivor and family: the root that needs it most plainly."""
    was, now = _folders(before), _folders(after)
    found: dict[tuple[TargetPath, str], Split] = {}
    for (root, family), members in now.items():
        survivor = objects.owner.get(root)
        if survivor is None or len(members) < 2 or len(was.get((root, family), {})) > 1:
            continue
        if not after.works(root):  # it has lost more than that
            continue
        firsts = [next(iter(names.items())) for names in members.values()]
        rest = [item for names in members.values() for item in list(names.items())[1:]]
        item = Split(family, survivor, root, (*firsts, *rest))
        best = found.get((survivor.info, family))
        if best is None or (root.count("/"), root) < (best.root.count("/"), best.root):
            found[survivor.info, family] = item
    yield from (found[key] for key in sorted(found))


_Members = dict[TargetPath, dict[TargetPath, str]]  # by folder: the files there, and for which name


def _folders(survey: Survey) -> dict[tuple[TargetPath, str], _Members]:
    """For each root and family the folders that its members come from."""
    found: dict[tuple[TargetPath, str], _Members] = {}
    families = {name: family_of(name) for name in {need.wants for need in survey.answers}}
    for need, answer in survey.answers.items():
        family = families[need.wants]
        if family and answer.provider is not None:
            folder = TargetPath(answer.provider.rpartition("/")[0])
            members = found.setdefault((need.root, family), {})
            members.setdefault(folder, {})[answer.provider] = need.wants
    return found
