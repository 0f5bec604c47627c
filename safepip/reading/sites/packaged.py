"""Which files belong to a package manager that keeps its own account: dpkg's lists, conda's records.

What pip deletes of them is missing in those accounts' eyes only when the package breaks. rpm's database is no text
and is not read; INSTALLER says where it was at work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from safepip.model.change import Package, Reach, Removal, Skip, Why
from safepip.model.environment import Distribution, Inventory, Target, Unjudged
from safepip.model.paths import TargetPath
from safepip.reading import plain_file, tree

LISTS = "/var/lib/dpkg/info"
DIVERSIONS = "/var/lib/dpkg/diversions"
OF_DPKG = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/etc/")
LOCAL = "/usr/local/"
MOST = 1 << 26  # bytes of one list or record


def reaches(removal: Removal, target: Target) -> tuple[Reach, ...]:
    """Each path that goes and that a package manager keeps."""
    if not removal.leaving:
        return ()
    files = frozenset(removal.files)
    system = frozenset(path for path in files if path.startswith(OF_DPKG) and not path.startswith(LOCAL))
    kept = ((of_dpkg(system) if system else {}, Why.DPKG), (_of_conda(files, target), Why.CONDA))
    if not any(owned for owned, _ in kept):
        return ()
    taker = {path: dist for dist in removal.leaving for path in dist.used}
    return tuple(
        Reach(path, why, taker.get(path, removal.leaving[0]), package)
        for owned, why in kept
        for path, package in sorted(owned.items())
    )


def kept(inventory: Inventory) -> dict[TargetPath, Package]:
    """By info: whose metadata a package lists. Its RECORD is that of the build that was packaged, and the package's
    account tells what lies there: scripts elsewhere, empty files left out, modules compiled anew, prefixes exchanged.
    """
    infos = {
        TargetPath(f"{dist.info}/{name}"): dist.info
        for dist in inventory.distributions
        for name in ("METADATA", "PKG-INFO")
    }
    system = frozenset(
        dist.info
        for dist in inventory.distributions
        if dist.info.startswith(OF_DPKG) and not dist.info.startswith(LOCAL)
    )
    of_conda = _of_conda(frozenset(infos), inventory.target)
    return {
        **{infos[path]: Package(Why.CONDA, name) for path, name in of_conda.items()},
        **{info: Package(Why.DPKG, name) for info, name in (of_dpkg(system) if system else {}).items()},
    }


def packages(files: frozenset[TargetPath], target: Target) -> dict[TargetPath, Package]:
    """Each of `files` that a package manager keeps, with what it keeps it as."""
    return {
        **{path: Package(Why.CONDA, name) for path, name in _of_conda(files, target).items()},
        **{path: Package(Why.DPKG, name) for path, name in of_dpkg(files).items()},
    }


def listed(files: frozenset[TargetPath], target: Target) -> frozenset[TargetPath]:
    """Those of `files` that a package manager keeps."""
    return frozenset(packages(files, target))


def told(removal: Removal, inventory: Inventory) -> Removal:
    """`removal` where what pip leaves alone outside the environment says who keeps it."""
    return replace(removal, skipped=tuple(_with_keeper(skip, inventory) for skip in removal.skipped))


def of_dpkg(files: frozenset[TargetPath]) -> dict[TargetPath, str]:
    """Each of `files` that a package lists, by the package's name; a diverted file is the diverter's."""
    try:
        names = sorted(name for name in tree.listdir(LISTS) if name.endswith(".list"))
    except OSError:
        return {}
    diverted = _diversions()
    heads = {b"/".join(path.encode("utf-8", "surrogateescape").split(b"/")[:5]) for path in files}
    owned: dict[TargetPath, str] = {}
    for name in names:
        try:
            data = plain_file.content(f"{LISTS}/{name}", MOST)
        except OSError:
            continue
        if not any(head.removeprefix(b"/usr") in data for head in heads):
            continue
        package = name.removesuffix(".list").partition(":")[0]
        for line in data.decode("utf-8", "surrogateescape").splitlines():
            to, by = diverted.get(line, (line, package))
            path = TargetPath(line if by == package else to)
            for real in (path, TargetPath(f"/usr{path}")):  # where /lib is a link into /usr
                if real in files:
                    owned.setdefault(real, package)
    return owned


def _with_keeper(skip: Skip, inventory: Inventory) -> Skip:
    dist = next((dist for dist in inventory.distributions if dist.name == skip.name), None)
    if dist is None or "outside environment" not in skip.reason:
        return skip
    try:
        inside = [TargetPath(f"{dist.info}/{name}") for name in tree.listdir(dist.info)]
    except OSError:
        inside = []
    keeper = next(iter(of_dpkg(frozenset([dist.info, *inside])).values()), None)
    if keeper is None:
        return skip
    command = " ".join(inventory.target.inside("apt", "remove", keeper))
    return skip._replace(reason=f"{skip.reason}: dpkg keeps it as {keeper} ({command})")


def noted(removal: Removal) -> tuple[Unjudged, ...]:
    """What only says of itself that another tool keeps it."""
    return tuple(
        Unjudged(
            dist.info,
            "installed by rpm, whose database is not read: which of its files rpm keeps is not known",
        )
        for dist in removal.leaving
        if _tool(dist) == "rpm"
    )


def _tool(dist: Distribution) -> str:
    return dist.installer.strip().lower()


def _diversions() -> dict[str, tuple[str, str]]:
    """From a path to where it is diverted, and the package for which it is."""
    try:
        lines = plain_file.content(DIVERSIONS).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return {}
    return {
        path: (to, by.partition(":")[0])
        for path, to, by in zip(lines[::3], lines[1::3], lines[2::3], strict=False)
    }


def _of_conda(files: frozenset[TargetPath], target: Target) -> dict[TargetPath, str]:
    """Each of `files` that a record in conda-meta lists, by the package's name and version."""
    owned: dict[TargetPath, str] = {}
    for prefix in dict.fromkeys((target.prefix, target.base_prefix)):
        try:
            names = sorted(name for name in tree.listdir(f"{prefix}/conda-meta") if name.endswith(".json"))
        except OSError:
            continue
        real = tree.realpath(prefix)
        inside = {path[len(real) + 1 :]: path for path in files if path.startswith(f"{real}/")}
        needles = {"/".join(path.split("/")[:5]).encode("utf-8", "surrogateescape") for path in inside}
        for name in names if inside else ():
            for path, package in _recorded(f"{prefix}/conda-meta/{name}", needles):
                if path in inside:
                    owned.setdefault(inside[path], package)
    return owned


def _recorded(path: str, needles: set[bytes]) -> Iterator[tuple[str, str]]:
    try:
        data = plain_file.content(path, MOST)
    except OSError:
        return
    if not any(needle in data for needle in needles):
        return
    import json

    try:
        record = json.loads(data)
        package = f"{record['name']}={record['version']}"
        files = record["files"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    for file in files if isinstance(files, list) else ():
        if isinstance(file, str):
            yield file, package
