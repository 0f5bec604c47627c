"""The files of a dist-info or egg-info folder, read as far as anything is decided by them.

Why not email.parser or importlib.metadata: their imports alone cost a tenth of a guard's run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from safepip.model.environment import EntryPoint
from safepip.model.paths import DistKey

_HEADER = re.compile(r"[!-9;-~]*:")  # email.feedparser.headerRE


class BrokenEntryPointsError(ValueError):
    """A line without `=` inside a section: importlib.metadata ends with a TypeError."""


class Head(NamedTuple):
    """The header fields of METADATA or PKG-INFO that count."""

    name: str | None = None
    version: str | None = None
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


def canonical(name: str) -> DistKey:
    """PEP 503."""
    return DistKey(re.sub(r"[-_.]+", "-", name).lower())


def head(text: str) -> Head:
    names: list[str] = []
    versions: list[str] = []
    requires: list[str] = []
    extras: list[str] = []
    wanted = {"name": names, "version": versions, "requires-dist": requires, "provides-extra": extras}
    for key, value in _fields(text):
        kept = wanted.get(key.lower())
        if kept is not None:
            kept.append(value)
    return Head(
        names[0] if names else None, versions[0] if versions else None, tuple(requires), tuple(extras)
    )


def entry_points(text: str) -> tuple[EntryPoint, ...]:
    """As importlib.metadata reads entry_points.txt (`Sectioned`): object references are not checked."""
    found = []
    group = None
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            group = line.strip("[]")
        elif group is not None:
            name, equals, value = line.partition("=")
            if not equals:
                raise BrokenEntryPointsError(line)
            found.append(EntryPoint(group, name.strip(), value.strip()))
    return tuple(found)


def egg_requirements(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The requirements of a requires.txt in PEP 508 form, and its extras (pip: `_iter_egg_info_dependencies`)."""
    requires = []
    extras: dict[str, None] = {}
    extra = marker = ""
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section, _, marker = line.strip("[]").partition(":")
            extra = canonical(section)
            continue
        if extra:
            extras[extra] = None
        conditions = [f"({marker})" if extra else marker] if marker else []
        if extra:
            conditions.append(f'extra == "{extra}"')
        requires.append(f"{line} ; {' and '.join(conditions)}" if conditions else line)
    return tuple(requires), tuple(extras)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Header fields up to the first line that is none; a wrapped value is joined by blanks."""
    key, value = "", ""
    for line in _lines(text):
        if line[:1] in {" ", "\t"}:
            value = f"{value} {line.strip()}"
            continue
        if key:
            yield key, value
        key = ""
        if not _HEADER.match(line):
            break
        key, _, value = line.partition(":")
        value = value.strip(" \t")
    if key:
        yield key, value


def _lines(text: str) -> Iterator[str]:
    """The lines of the head, without cutting the long description into lines as well."""
    start = 0
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
