"""A wheel that is not installed, read as the distribution that pip would make of it."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Mapping
from typing import NamedTuple

from safepip.errors import SafepipError
from safepip.model.arrival import Announced
from safepip.model.environment import Claim, Distribution, Install, Target
from safepip.model.paths import TargetPath
from safepip.reading.sites import metadata, record

_LAUNCHED = frozenset({"console_scripts", "gui_scripts"})
_BY_PIP = ("INSTALLER", "RECORD")  # written by pip itself, whatever the wheel has
_MOST = 1 << 24  # bytes of a text that is believed: what is packed small may be endless


class WheelError(SafepipError):
    """The archive is no wheel that can be read."""


class Opened(NamedTuple):
    """What a wheel's directory says, each member by the path that it would be installed at."""

    dist: Distribution
    members: Mapping[TargetPath, zipfile.ZipInfo]
    claims: Mapping[TargetPath, Claim]
    launchers: tuple[TargetPath, ...]


def open_wheel(path: str, announced: Announced, target: Target, site: TargetPath) -> Opened:
    """`site` is where pip lays modules: purelib and platlib are one in every environment that has sites at all."""
    try:
        with zipfile.ZipFile(path) as bundle:
            return _opened(bundle, announced, target, site)
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        zlib.error,
        EOFError,
    ) as error:
        raise WheelError("broken-wheel", f"{path} cannot be read: {error}") from error


def _opened(bundle: zipfile.ZipFile, announced: Announced, target: Target, site: TargetPath) -> Opened:
    infos = [info for info in bundle.infolist() if not info.filename.endswith("/")]
    folder = next(
        (info.filename.partition("/")[0] for info in infos if info.filename.endswith(".dist-info/METADATA")),
        "",
    )
    if not folder:
        raise WheelError("broken-wheel", f"{bundle.filename} has no METADATA")
    data = f"{folder.removesuffix('.dist-info')}.data/"
    placed = {info.filename: _place(info.filename, data, announced, target, site) for info in infos}
    members = {placed[info.filename]: info for info in infos}
    rows = {row[0]: row for row in record.rows(_text(bundle, f"{folder}/RECORD")) if row}
    claims = {placed[name]: record.claim(row) for name, row in rows.items() if name in placed}
    head = metadata.head(_text(bundle, f"{folder}/METADATA"))
    points = metadata.entry_points(_text(bundle, f"{folder}/entry_points.txt"))
    launchers = tuple(
        TargetPath(f"{target.scripts}/{point.name}") for point in points if point.group in _LAUNCHED
    )
    info = TargetPath(f"{site}/{folder}")
    written = (TargetPath(f"{info}/{name}") for name in _BY_PIP)
    dist = Distribution(
        key=announced.key,
        name=head.name or announced.name,
        version=head.version or announced.version,
        location=site,
        info=info,
        install=Install.DIST_INFO,
        files=tuple(dict.fromkeys([*members, *launchers, *written])),
        requires=head.requires,
        extras=head.extras,
        entry_points=points,
        installer="pip",
        requested=announced.requested,
    )
    return Opened(dist, members, claims, launchers)


def _place(name: str, data: str, announced: Announced, target: Target, site: TargetPath) -> TargetPath:
    """Where pip puts a member (operations/install/wheel.py, `_install_wheel`)."""
    if not name.startswith(data):
        return TargetPath(posixpath.normpath(f"{site}/{name}"))
    scheme, _, inside = name.removeprefix(data).partition("/")
    homes = {
        "purelib": site,
        "platlib": site,
        "scripts": target.scripts,
        "data": target.prefix,
        "headers": f"{target.prefix}/include/site/python{'.'.join(map(str, target.python))}/{announced.name}",
    }
    return TargetPath(posixpath.normpath(f"{homes.get(scheme, site)}/{inside}"))


def _text(bundle: zipfile.ZipFile, name: str) -> str:
    try:
        with bundle.open(name) as member:
            data = member.read(_MOST + 1)
    except KeyError:
        return ""
    if len(data) > _MOST:
        raise WheelError("broken-wheel", f"{bundle.filename}: {name} is larger than {_MOST >> 20} MiB")
    return data.decode(errors="surrogateescape")
