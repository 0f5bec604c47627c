"""An environment written down in a few lines, for tests that touch no disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from safepip.model.environment import Distribution, EntryPoint, Install, Inventory, Libc, PipInUse, Target
from safepip.model.paths import DistKey, TargetPath
from support.fake_world import Content, program

PREFIX = TargetPath("/env")
SITE = TargetPath("/env/lib/python3.12/site-packages")
STDLIB = TargetPath("/usr/lib/python3.12")
PYTHON = TargetPath("/usr/bin/python3.12")
MARKERS = {"python_version": "3.12", "sys_platform": "linux", "platform_machine": "x86_64", "extra": ""}
EXT = ".cpython-312-x86_64-linux-gnu.so"


def target() -> Target:
    return Target(
        executable=TargetPath("/env/bin/python"),
        interpreter=PYTHON,
        version="3.12.1",
        prefix=PREFIX,
        base_prefix=TargetPath("/usr"),
        stdlib=STDLIB,
        scripts=TargetPath("/env/bin"),
        sites=(SITE,),
        path=(STDLIB, SITE),
        cache_tag="cpython-312",
        soabi="cpython-312-x86_64-linux-gnu",
        libc=Libc.GLIBC,
        markers=MARKERS,
        pip=PipInUse("26.3", SITE),
    )


def dist(
    name: str,
    files: Sequence[str] = (),
    *,
    version: str = "1.0",
    requires: Sequence[str] = (),
    extras: Sequence[str] = (),
    entry_points: Sequence[EntryPoint] = (),
) -> Distribution:
    """A wheel that is installed; `files` are below its site folder."""
    info = TargetPath(f"{SITE}/{name.replace('-', '_')}-{version}.dist-info")
    return Distribution(
        DistKey(name.lower()),
        name,
        version,
        SITE,
        info,
        Install.DIST_INFO,
        (*(at(file) for file in files), TargetPath(f"{info}/RECORD")),
        requires=tuple(requires),
        extras=tuple(extras),
        entry_points=tuple(entry_points),
    )


def inventory(*dists: Distribution) -> Inventory:
    return Inventory(target(), dists)


def at(file: str) -> TargetPath:
    return TargetPath(f"{SITE}/{file}" if not file.startswith("/") else file)


def files(contents: Mapping[str, Content]) -> dict[str, Content]:
    """The contents of a site folder, and the interpreter that everything is loaded into."""
    return {PYTHON: program(), **{at(file): content for file, content in contents.items()}}
