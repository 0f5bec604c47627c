"""The files of a dist-info or egg-info folder, read as far as anything is decided by them.

Why not email.parser or importlib.metadata: their imports alone cost a tenth of a guard's run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from safepip.model.environment import EntryPoint
from safepip.model.paths import DistKey

# email.feedparser's headerRE, but for the envelope line of a mailbox. The first line that is no field, and
# does not go on with one, ends the head.
_HEAD = re.compile(r"(?:(?:[!-9;-~]*:|[ \t]).*\n?)*+")
_FIELD = re.compile(
    r"^(Name|Version|Requires-Dist|Provides-Extra):(.*(?:\n[ \t].*)*)", re.IGNORECASE | re.MULTILINE
)


_LONGEST_HEAD, _SHOWN = 1024, 40  # characters of a section's: each line of the section repeats it
_ONCE = frozenset({"name", "version"})  # of several the first counts
_REFERENCE = re.compile(r"[\w.]+\s*(:\s*[\w.]+)?\s*(\[.*\])?")  # pkg_resources.EntryPoint.pattern


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
    fields: dict[str, list[str]] = {}
    for key, value in _fields(text):
        if key not in _ONCE or key not in fields:
            fields.setdefault(key, []).append(value)
    return Head(
        next(iter(fields.get("name", ())), None),
        next(iter(fields.get("version", ())), None),
        tuple(fields.get("requires-dist", ())),
        tuple(fields.get("provides-extra", ())),
    )


def entry_points(text: str, *, strict: bool = False) -> tuple[EntryPoint, ...]:
    """As importlib.metadata reads entry_points.txt (`Sectioned`): object references are not checked.

    `strict` is pkg_resources' `EntryPoint.parse_map`, which takes nothing that it does not understand.
    """
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
            if strict and not (name.strip() and _REFERENCE.fullmatch(value.strip())):
                raise BrokenEntryPointsError(line)
        elif strict:
            raise BrokenEntryPointsError(line)
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
            head = line if len(line) <= _LONGEST_HEAD else f"{line[:_SHOWN]} …]"  # which is no requirement
            section, _, marker = head.strip("[]").partition(":")
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
    """The fields that count, in their order; a wrapped value is joined by blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = _HEAD.match(text)
    for field in _FIELD.finditer(text, 0, found.end() if found else 0):
        key, value = field.groups()
        yield (
            key.lower(),
            " ".join(map(str.strip, value.split("\n"))).strip() if "\n" in value else value.strip(),
        )
