"""What an install would bring, on the disk: pip's own report of it, the wheels it names, and the objects in them.

All of it lies in one temporary folder; the environment is not touched. Nothing is built: that would run code of
the package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from safepip.acting import mark, pip
from safepip.errors import RefusedByPipError, SafepipError
from safepip.model.arrival import Announced
from safepip.model.environment import Target
from safepip.model.paths import DistKey, TargetPath

_KEPT = ("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "PIP_CERT",
         "PIP_CACHE_DIR", "PIP_CLIENT_CERT", "PIP_PROXY", "PIP_NO_INDEX", "PIP_RETRIES", "PIP_TIMEOUT")  # fmt: skip


@contextmanager
def workshop() -> Iterator[str]:
    """A folder for as long as judging lasts."""
    folder = tempfile.mkdtemp(prefix="safepip-")
    try:
        yield os.path.realpath(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def announce(words: Sequence[str], target: Target, environ: Mapping[str, str], folder: str) -> str:
    """The path of the report of `pip WORDS`, which begin with pip's own options and `install`."""
    report = f"{folder}/report.json"
    starting = pip.command(target)
    command = [*starting, *words, "--dry-run", "--quiet", "--report", report]
    marked = pip.environment(starting, environ)
    done = subprocess.run(command, env=marked, stdout=subprocess.DEVNULL, check=False)
    if done.returncode or not os.path.exists(report):
        code = done.returncode if done.returncode > 0 else 1
        raise RefusedByPipError("pip itself would not install that; its words are above", code)
    return report


def fetch(
    announced: Sequence[Announced], target: Target, environ: Mapping[str, str], folder: str
) -> dict[DistKey, str]:
    """Where each wheel lies; those that are no wheels, or cannot be had, are left out."""
    found: dict[DistKey, str] = {}
    missing: list[Announced] = []
    for item in announced:
        address = urllib.parse.urlsplit(item.url)
        if not address.path.endswith(".whl"):
            continue
        if address.scheme == "file":
            found[item.key] = urllib.parse.unquote(address.path)
        else:
            missing.append(item)
    if missing:
        _download(missing, target, environ, folder)
    for item in missing:
        path = f"{folder}/{urllib.parse.unquote(item.url.partition('#')[0].rpartition('/')[2])}"
        if os.path.isfile(path):
            found[item.key] = path
    return {key: path for key, path in found.items() if os.path.isfile(path)}


def unpack(
    wheel: str, members: Mapping[TargetPath, zipfile.ZipInfo], folder: str
) -> dict[TargetPath, TargetPath]:
    """A copy of each of `members`, under numbers, in a folder of its own."""
    stage = tempfile.mkdtemp(dir=folder)
    copies: dict[TargetPath, TargetPath] = {}
    try:
        with zipfile.ZipFile(wheel) as bundle:
            for number, (path, info) in enumerate(members.items()):
                copies[path] = TargetPath(f"{stage}/{number}")
                with bundle.open(info) as source, open(copies[path], "xb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        zlib.error,
        EOFError,
    ) as error:
        raise SafepipError("broken-wheel", f"{wheel} cannot be unpacked: {error}") from error
    return copies


def _download(missing: Sequence[Announced], target: Target, environ: Mapping[str, str], folder: str) -> None:
    """By the very addresses of the report, so that pip's cache serves what it holds. A failure shows by what is not there."""
    addresses = [f"{item.url}#sha256={item.digest}" if item.digest else item.url for item in missing]
    words = [
        *pip.command(target),
        "download",
        "--quiet",
        "--no-deps",
        "--no-input",
        "--disable-pip-version-check",
    ]
    others = {name: value for name, value in environ.items() if not name.startswith("PIP_") or name in _KEPT}
    subprocess.run(
        [*words, "--dest", folder, *addresses],
        env=mark.marked(others),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
