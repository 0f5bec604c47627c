"""Runtimes that an environment holds more than once, and who is bound to which of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

from safepip.model.audit import Bound, Build, Mixed
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Objects, Survey
from safepip.reasoning.health.audit import cuda_majors
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.requirements import requires_closure

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "CUDA runtime": ("libcudart.so.*", "libcudart-*.so.*"),
    "cuDNN": ("libcudnn.so.*",),
    "cuBLAS": ("libcublas.so.*",),
    "NCCL": ("libnccl.so.*",),
    "OpenMP": (
        "libgomp.so.*",
        "libgomp-*.so.*",
        "libiomp5.so*",
        "libiomp5-*.so*",
        "libomp.so*",
        "libomp-*.so*",
    ),
    "MKL": ("libmkl_rt.so*", "libmkl_core.so*"),
    "Qt": ("libQt5Core.so.*", "libQt6Core.so.*", "libQt?Core-*.so.*"),
    "HDF5": ("libhdf5.so.*", "libhdf5-*.so.*"),
    "OpenSSL": ("libssl.so.*", "libssl-*.so.*"),
}
BuildOf = Callable[[TargetPath], Build]


@cache
def family_of(name: str) -> str:
    """The runtime that a library of this name is a build of; "" where of none."""
    return next((family for family, patterns in FAMILIES.items() if _fits(name, patterns)), "")


def members(objects: Objects) -> dict[str, list[TargetPath]]:
    """The environment's own builds of each runtime."""
    found: dict[str, list[TargetPath]] = {}
    for path, elf in objects.elves.items():
        for name in elf_objects.names(path, elf):
            family = family_of(name)
            if family:
                found.setdefault(family, []).append(path)
                break
    return found


def find(survey: Survey, objects: Objects, inventory: Inventory, build: BuildOf) -> Iterator[Mixed]:
    """Each runtime with several builds, or with one that lies in another's place."""
    majors = cuda_majors(inventory)
    if len(majors) > 1:
        yield Mixed("CUDA", (), (), _of_majors(majors))
    own = members(objects)
    bound = _bound(survey, objects)
    for family in FAMILIES:
        users = tuple(sorted(bound.get(family, ())))
        paths = dict.fromkeys([*own.get(family, ()), *(item.provider for item in users)])
        builds = tuple(build(path) for path in paths)
        usurped = [found for item in builds for found in _usurped(item, family, users, inventory)]
        if usurped or len(builds) > 1:
            said = "; ".join(text for _, text in usurped) or _said(family, builds, users)
            yield Mixed(family, builds, users, said, tuple(dict.fromkeys(key for key, _ in usurped)))


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _bound(survey: Survey, objects: Objects) -> dict[str, set[Bound]]:
    found: dict[str, set[Bound]] = {}
    for need, answer in survey.answers.items():
        family = family_of(need.wants.rpartition("/")[2])
        owner = objects.owner.get(need.consumer)
        if family and answer.provider is not None and owner is not None:
            found.setdefault(family, set()).add(Bound(owner.name, need.consumer, answer.provider))
    return found


def _usurped(
    build: Build, family: str, users: Sequence[Bound], inventory: Inventory
) -> Iterator[tuple[DistKey, str]]:
    """Who gets the bytes of one owner where it requires another owner of the same file."""
    if len(build.owners) < 2 or not build.bytes_of:
        return
    using = {item.distribution for item in users if item.provider == build.path}
    for user in inventory.distributions:
        if user.name not in using:
            continue
        required = requires_closure(user, inventory)
        own = [dist for dist in required if dist.name in build.owners]
        if own and all(dist.name != build.bytes_of for dist in own):
            mine = f"its own {own[0].name} {own[0].version} was overwritten"
            yield own[0].key, f"{user.name} uses {family} {build.version} from {build.bytes_of}; {mine}"


def _of_majors(majors: Mapping[int, tuple[Distribution, ...]]) -> str:
    parts = [
        f"CUDA {major} ({len(dists)} distribution{'s' * (len(dists) > 1)})"
        for major, dists in sorted(majors.items())
    ]
    return f"{' and '.join(parts)} side by side"


def _said(family: str, builds: Sequence[Build], users: Sequence[Bound]) -> str:
    used = [build for build in builds if any(item.provider == build.path for item in users)]
    count = f"{len(builds)} builds of {family}"
    if len(used) == len(builds):
        return f"{count}, all in use"
    return f"{count}, {len(used) or 'none'} of them bound by a need"
