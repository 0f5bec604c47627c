"""Whom the arguments of `pip uninstall` name, read as pip reads them (pip's req/constructors.py).

Specifiers, extras, markers and URLs are parsed and then do not matter: the name does. One argument that pip
cannot parse ends the whole command before anything is touched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from safepip.errors import SafepipError
from safepip.model.paths import DistKey
from safepip.model.request import Refused, Requested
from safepip.reading import tree
from safepip.reading.settings import requirement_files
from safepip.reading.settings.requirement_files import RefusedError

_LONGEST = 8192  # characters; packaging takes a time that grows with the square of it
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_PLAIN = re.compile(rf"({_NAME})(?:\s*(?:==|>=|<=|!=|<|>)\s*\d+(?:\.\d+)*)?", re.ASCII)
_LEGACY = re.compile(rf"({_NAME})\s*(?:\[[^\]]*\])?\s*\(?\s*(?:(?:[=!<>]=|~=|===|<|>)[^;]*)?\)?", re.ASCII)
_EXTRAS = re.compile(r"^(.+?)\s*(\[[^\]]+\])$")
_EGG = re.compile(r"[#&]egg=([^&]*)")
_EGG_NAME = re.compile(rf"({_NAME})(?:\[[^\]]*\])?", re.ASCII)
_WHEEL = re.compile(r"([^\s-]+?)-([^\s-]*?)(-\d[^-]*?)?-[^\s-]+?-[^\s-]+?-[^\s-]+?\.whl", re.ASCII)
_ARCHIVES = {
    ".whl", ".zip", ".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tbz", ".tar.xz", ".txz", ".tlz", ".tar.lz", ".tar.lzma",
}  # fmt: skip
_VCS = ("ssh", "git", "hg", "bzr", "sftp", "svn")
_VCS_OVER = {
    "git": ("http", "https", "ssh", "git", "file"),
    "hg": ("file", "http", "https", "ssh", "static-http"),
    "bzr": ("http", "https", "ssh", "sftp", "ftp", "lp", "file"),
    "svn": ("ssh", "http", "https", "svn", "file"),
}


class _Reader(NamedTuple):
    """What the meaning of an argument hangs on."""

    release: tuple[int, ...]  # of the pip that will read it
    cwd: str
    warnings: list[str]


def requested(names: Sequence[str], files: Sequence[str], pip_version: str, cwd: str) -> Requested:
    """The names in pip's order: arguments, then files line by line, each where it is first mentioned."""
    keys: dict[DistKey, None] = {}
    reader = _Reader(tuple(int(part) for part in re.findall(r"\d+", pip_version)[:2]), cwd, [])
    refused = None
    try:
        for found in (*_of_arguments(names, reader), *_of_files(files, reader)):
            keys.setdefault(found)
        if not keys:
            refused = Refused("You must give at least one requirement to uninstall", 1)
    except RefusedError as error:
        refused = Refused(error.message, error.exit_code)
    except RecursionError:
        refused = Refused("requirement files are nested too deep", 2)
    except UnicodeEncodeError as error:  # bytes that are no text, where pip makes a URL of them
        refused = Refused(f"{error.object!r} is no text", 2)
    return Requested(() if refused else tuple(keys), tuple(reader.warnings), refused)


def _of_arguments(names: Sequence[str], reader: _Reader) -> Iterator[DistKey]:
    for name in names:
        key = _of_line(name, reader)
        if key is not None:
            yield key
        else:
            reader.warnings.append(
                f"Invalid requirement: {name!r} ignored - the uninstall command expects named requirements."
            )


def _of_files(files: Sequence[str], reader: _Reader) -> Iterator[DistKey]:
    for file in files:
        for line in requirement_files.read(file, reader.cwd, tree.environ(), reader.release):
            if line.editable and line.constraint and reader.release >= (26, 0):
                raise RefusedError("Editable requirements are not allowed as constraints")
            key = (
                _of_editable(line.requirement, reader)
                if line.editable
                else _of_line(line.requirement, reader)
            )
            if key is not None:
                yield key


def _of_line(text: str, reader: _Reader) -> DistKey | None:
    """constructors.py:parse_req_from_line. None: something without a name, which pip leaves out."""
    _refuse_endless(text)
    plain = _PLAIN.fullmatch(text)
    if plain and _extension(text) not in _ARCHIVES:
        return _canonical(plain[1])
    is_url = _is_url(text)
    name, marker = _without_marker(text, "; " if is_url else ";")
    if marker:
        _check_marker(name, marker, reader)
    if is_url:
        return _of_url(name, reader)
    path = os.path.normpath(os.path.join(reader.cwd, name))
    extras = _EXTRAS.match(path)
    if _is_file(extras[1] if extras else path, name, reader.warnings):
        from urllib.request import pathname2url

        return _of_url(f"file://{pathname2url(extras[1] if extras else path)}", reader)
    return _of_specifier(name, reader)


def _is_url(text: str) -> bool:
    """vcs/versioncontrol.py:is_url, by way of urllib, which passes over blanks before a scheme."""
    scheme, colon, _ = re.sub(r"^[\0- ]+", "", text).partition(":")
    vcs, plus, over = scheme.lower().partition("+")
    if plus:
        return bool(colon) and over in _VCS_OVER.get(vcs, ())
    return bool(colon) and vcs in {"http", "https", "file", "ftp", *_VCS}


def _without_marker(text: str, separator: str) -> tuple[str, str]:
    name, _, marker = text.partition(separator)
    return name.strip(), marker.strip()


def _check_marker(name: str, marker: str, reader: _Reader) -> None:
    from packaging.markers import InvalidMarker, Marker

    try:
        Marker(marker)
    except InvalidMarker as error:
        code = 1 if reader.release >= (26, 2) else 2
        raise RefusedError(f"Invalid requirement: {name!r}: {error}", code) from error


def _is_file(path: str, name: str, warnings: list[str]) -> bool:
    """constructors.py:_get_url_from_path."""
    like_path = "/" in name or name.startswith(".")
    if like_path and tree.isdir(path):
        if any(tree.isfile(f"{path}/{project}") for project in ("setup.py", "pyproject.toml")):
            return True
        raise RefusedError(
            f"Directory {name!r} is not installable. Neither 'setup.py' nor 'pyproject.toml' found."
        )
    if _extension(path) not in _ARCHIVES:
        return False
    before, at, _ = name.partition("@")
    if not tree.isfile(path):
        if at and "/" not in before and not before.startswith("."):
            return False
        warnings.append(f"Requirement {name!r} looks like a filename, but the file does not exist")
    return True


def _extension(path: str) -> str:
    """utils/misc.py:splitext. The name `.whl` has none."""
    base, extension = os.path.splitext(path)
    return (base[-4:] + extension if base.lower().endswith(".tar") else extension).lower()


def _of_url(url: str, reader: _Reader) -> DistKey | None:
    """A wheel by its file's name, anything else by `#egg=`."""
    from urllib.parse import unquote

    file = unquote(url.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2])
    if file.lower().endswith(".whl"):
        wheel = _WHEEL.fullmatch(file)
        if wheel is None:
            raise RefusedError(f"{file} is not a valid wheel filename.")
        return _of_specifier(f"{wheel[1].replace('_', '-')}=={wheel[2].replace('_', '-')}", reader)
    return _of_egg(url)


def _of_egg(url: str) -> DistKey | None:
    egg = _EGG.search(url)
    if egg is None:
        return None
    name = _EGG_NAME.fullmatch(egg[1])
    if name is None:
        raise RefusedError(f"The {egg[1]!r} egg fragment is invalid: from {url!r}")
    return _canonical(name[1])


def _of_specifier(text: str, reader: _Reader) -> DistKey:
    """What is left must be a requirement. pip before 24.1 let versions pass that are none."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return _canonical(Requirement(text).name)
    except InvalidRequirement as error:
        legacy = _LEGACY.fullmatch(text.strip()) if reader.release < (24, 1) else None
        if legacy:
            return _canonical(legacy[1])
        raise RefusedError(f"Invalid requirement: {text!r}: {error}".splitlines()[0]) from error


def _of_editable(text: str, reader: _Reader) -> DistKey | None:
    """constructors.py:parse_editable."""
    from packaging.requirements import InvalidRequirement, Requirement

    _refuse_endless(text)
    try:
        direct = Requirement(text)
    except InvalidRequirement:
        direct = None
    if direct and direct.url:
        return _canonical(direct.name)
    extras = _EXTRAS.match(text)
    path = extras[1] if extras else text
    if tree.isdir(os.path.join(reader.cwd, path)):
        return _of_egg(path)
    if path.lower().startswith("file:"):
        return _of_egg(path)
    if not _is_url(text) or text.partition(":")[0].lower() in {"http", "https", "ftp"}:
        raise RefusedError(f"{text} is not a valid editable requirement.")
    key = _of_egg(text)
    if key is None:
        raise RefusedError(f"Could not detect requirement name for {text!r}")
    return key


def _refuse_endless(text: str) -> None:
    if len(text) > _LONGEST:
        raise SafepipError(
            "requirement-too-long", f"a requirement of more than {_LONGEST} characters: {text[:40]!r} …"
        )


def _canonical(name: str) -> DistKey:
    return DistKey(re.sub(r"[-_.]+", "-", name).lower())
