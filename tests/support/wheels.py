"""Wheels and installed distributions from a dict of path to contents."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

Contents = Mapping[str, str | bytes]


def make_wheel(
    folder: Path,
    name: str,
    files: Contents,
    *,
    version: str = "1.0",
    requires: Sequence[str] = (),
    entry_points: str = "",
    tag: str = "py3-none-any",
) -> Path:
    """A wheel in `folder` that pip accepts; paths below `name-version.data/` are its data files."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    content = {
        **files,
        f"{info}/METADATA": metadata(name, version, requires),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: {str(tag.endswith('any')).lower()}\nTag: {tag}\n",
        **({f"{info}/entry_points.txt": entry_points} if entry_points else {}),
    }
    path = folder / f"{name.replace('-', '_')}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as bundle:
        for inside, text in content.items():
            bundle.writestr(inside, text)
        bundle.writestr(f"{info}/RECORD", record(content, info))
    return path


def install(
    site: Path,
    name: str,
    files: Contents,
    *,
    version: str = "1.0",
    requires: Sequence[str] = (),
    entry_points: str = "",
) -> Path:
    """Lay a distribution into `site` as pip would leave it, with a right RECORD; the dist-info is returned."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    content = {
        **files,
        f"{info}/METADATA": metadata(name, version, requires),
        f"{info}/INSTALLER": "pip\n",
        **({f"{info}/entry_points.txt": entry_points} if entry_points else {}),
    }
    for inside, text in {**content, f"{info}/RECORD": record(content, info)}.items():
        path = site / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(text))
    return site / info


def metadata(name: str, version: str, requires: Sequence[str] = ()) -> str:
    lines = [f"Requires-Dist: {requirement}\n" for requirement in requires]
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{''.join(lines)}"


def record(content: Contents, info: str) -> str:
    rows = [row(path, as_bytes(text)) for path, text in content.items()]
    return "".join([*rows, f"{info}/RECORD,,\n"])


def row(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    quoted = '"' + path.replace('"', '""') + '"'
    cell = quoted if {'"', ","} & set(path) else path
    return f"{cell},sha256={digest},{len(data)}\n"


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
