"""A survivor's own bytes: from its wheel, at its exact version, believed only as far as its RECORD's digests.

The wheel comes from uv's cache where it lies there unpacked, else by the target's pip, with all of pip's
configuration and its cache. Nothing is built: that would run the package's code.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO

from safepip.acting import files, pip
from safepip.errors import SafepipError
from safepip.model.environment import Distribution, Target
from safepip.model.paths import TargetPath
from safepip.model.sparing import Restored

_CHUNK = 1 << 20
_MOST_OF_ORIGIN = 1 << 20  # bytes of direct_url.json
_MOST_OF_SCRIPT = 1 << 20  # bytes
_LAUNCHERS = (  # operations/install/wheel.py:PipScriptMaker of pip 25.1, and of those before it
    (
        "import sys\nfrom {module} import {name}\nif __name__ == '__main__':\n"
        "    sys.argv[0] = sys.argv[0].removesuffix('.exe')\n    sys.exit({function}())\n"
    ),
    (
        "# -*- coding: utf-8 -*-\nimport re\nimport sys\nfrom {module} import {name}\nif __name__ == '__main__':\n"
        "    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])\n    sys.exit({function}())\n"
    ),
)
_ADDED_BY_PIP = ("PIP_REQUIREMENT", "PIP_DRY_RUN")  # would change what `pip download` gets


class FetchError(SafepipError):
    """Some bytes cannot be had; nothing has been touched."""


def fetch(
    wanted: Sequence[Restored], target: Target, environ: Mapping[str, str], stage: str
) -> dict[TargetPath, str]:
    """For each path a file in `stage`, a folder that is there, with the digest that the survivor recorded."""
    found: dict[TargetPath, str] = {}
    for survivor in dict.fromkeys(item.survivor for item in wanted):
        mine = [item for item in wanted if item.survivor == survivor]
        staged = {item.path: f"{stage}/{len(found) + place}" for place, item in enumerate(mine)}
        missing = _of_empty_and_cached(mine, staged, environ)
        if missing:
            wheel = _download(survivor, target, environ, stage)
            missing = _of_wheel(wheel, missing, staged, target)
            files.unlink(wheel)
        if missing:
            raise _missing(survivor, missing, "its wheel does not have them as its RECORD lists them")
        found.update(staged)
    return found


def _of_empty_and_cached(
    wanted: Iterable[Restored], staged: Mapping[TargetPath, str], environ: Mapping[str, str]
) -> list[Restored]:
    """Those that are still missing when no wheel has been asked for."""
    missing = []
    for item in wanted:
        candidates = (f"{folder}/{_inside(item)}" for folder in _unpacked(item.survivor, environ))
        if item.claim.size == 0:
            files.write(staged[item.path], b"")
        elif not any(_copied(candidate, item, staged[item.path]) for candidate in candidates):
            missing.append(item)
    return missing


def _unpacked(survivor: Distribution, environ: Mapping[str, str]) -> Iterator[str]:
    """uv keeps wheels unpacked, each under a name that says nothing."""
    cache = environ.get("UV_CACHE_DIR") or os.path.join(
        environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "uv"
    )
    info = os.path.basename(survivor.info)
    try:
        with os.scandir(f"{cache}/archive-v0") as entries:
            folders = [entry.path for entry in entries]
    except OSError:
        return
    yield from (folder for folder in folders if os.path.isdir(f"{folder}/{info}"))


def _copied(source: str, item: Restored, path: str) -> bool:
    try:
        with open(source, "rb") as stream:
            return _written(stream, item, path)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _download(survivor: Distribution, target: Target, environ: Mapping[str, str], stage: str) -> str:
    """The wheel's path. What pip says stays unsaid unless it fails."""
    words = [*pip.command(target), "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-input"]
    asked = {name: value for name, value in environ.items() if name not in _ADDED_BY_PIP}
    done = subprocess.run(
        [*words, "--disable-pip-version-check", "--dest", stage, "--", _requirement(survivor)],
        env=asked,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = [name for name in os.listdir(stage) if name.endswith(".whl")]
    if done.returncode or len(wheels) != 1:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise _missing(survivor, (), said[-1] if said else f"pip download ended with {done.returncode}")
    return f"{stage}/{wheels[0]}"


def _requirement(survivor: Distribution) -> str:
    """Where it was installed from, if that was an archive; else its name and version."""
    path = f"{survivor.info}/direct_url.json"
    if not os.path.isfile(path):  # a fifo in its place would make everybody wait
        return f"{survivor.key}=={survivor.version}"
    try:
        with open(path, "rb") as stream:
            origin = json.loads(stream.read(_MOST_OF_ORIGIN))
        if "archive_info" in origin:
            return str(origin["url"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return f"{survivor.key}=={survivor.version}"


def _of_wheel(
    wheel: str, wanted: Iterable[Restored], staged: Mapping[TargetPath, str], target: Target
) -> list[Restored]:
    """Those of `wanted` that the wheel does not have."""
    missing = []
    try:
        with zipfile.ZipFile(wheel) as bundle:
            names = frozenset(bundle.namelist())
            for item in wanted:
                members = [name for name in _members(item, target) if name in names]
                had = any(_extracted(bundle, name, item, staged[item.path]) for name in members)
                if not had and not _as_script(bundle, item, staged[item.path], target):
                    missing.append(item)
    except zipfile.BadZipFile as error:
        raise FetchError("broken-wheel", f"{wheel} is no wheel: {error}") from error
    return missing


def _members(item: Restored, target: Target) -> Iterator[str]:
    """Where a wheel may hold what is installed at a path."""
    data = _data(item)
    inside = _inside(item)
    yield inside
    yield from (f"{data}/{scheme}/{inside}" for scheme in ("purelib", "platlib"))
    prefix = os.path.realpath(target.prefix)
    if item.path.startswith(f"{prefix}/"):
        yield f"{data}/data/{item.path[len(prefix) + 1 :]}"


def _as_script(bundle: zipfile.ZipFile, item: Restored, path: str, target: Target) -> bool:
    """With the first line that pip wrote (operations/install/wheel.py:fix_script): the python that it ran under."""
    folder, name = os.path.split(item.path)
    if os.path.realpath(folder) != os.path.realpath(target.scripts):
        return False
    bodies = list(_launchers(item.survivor, name))
    member = bundle.NameToInfo.get(f"{_data(item)}/scripts/{name}")
    if member is not None and member.file_size <= _MOST_OF_SCRIPT:
        first, _, rest = bundle.read(member).partition(b"\n")
        bodies += [rest] if first.startswith(b"#!python") else []
    major, minor = target.python[:2]
    return any(
        _written(io.BytesIO(b"#!" + os.fsencode(f"{folder}/{python}") + b"\n" + body), item, path)
        for body in bodies
        for python in ("python", "python3", f"python{major}.{minor}")
    )


def _launchers(survivor: Distribution, name: str) -> Iterator[bytes]:
    """What each pip writes for a command that an entry point declares; the digest tells which it was."""
    for entry in survivor.entry_points:
        module, _, attribute = entry.value.partition("[")[0].strip().partition(":")
        if entry.group in {"console_scripts", "gui_scripts"} and entry.name == name and attribute:
            for template in _LAUNCHERS:
                text = template.format(module=module, name=attribute.partition(".")[0], function=attribute)
                yield text.encode()


def _data(item: Restored) -> str:
    return os.path.basename(item.survivor.info).removesuffix(".dist-info") + ".data"


def _inside(item: Restored) -> str:
    return item.path.removeprefix(f"{item.survivor.location}/")


def _extracted(bundle: zipfile.ZipFile, name: str, item: Restored, path: str) -> bool:
    with bundle.open(name) as stream:
        return _written(stream, item, path)


def _written(stream: IO[bytes], item: Restored, path: str) -> bool:
    """Whether the bytes are those that the survivor recorded; they are on the disk then, and nothing is if not."""
    algorithm, _, wanted = item.claim.digest.partition("=")
    state = hashlib.new(algorithm)
    handle = files.create(path)
    try:
        for chunk in _chunks(stream):
            state.update(chunk)
            files.append(handle, chunk)
        files.sync(handle)
    finally:
        os.close(handle)
    if base64.urlsafe_b64encode(state.digest()).decode().rstrip("=") == wanted.rstrip("="):
        return True
    files.unlink(path)
    return False


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    read: Callable[[int], bytes] = stream.read
    while chunk := read(_CHUNK):
        yield chunk


def _missing(survivor: Distribution, paths: Sequence[Restored], reason: str) -> FetchError:
    what = f"{len(paths)} files of " if paths else ""
    named = f" ({paths[0].path})" if paths else ""
    return FetchError(
        "not-fetched",
        f"nothing was removed: {what}{survivor.name} {survivor.version} cannot be had{named}: {reason}",
        "--safe=keep leaves the bytes that are there.",
    )
