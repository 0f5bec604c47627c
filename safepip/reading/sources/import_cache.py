"""What earlier runs found out about sources, kept under the user's cache folder: never in the target.

A distribution's entry holds as long as its RECORD is the same file with the same size and time: its sources do
not change without it. JSON, since a damaged marshal file can end the process. Unreadable, damaged or unwritable
means that everything is found out anew.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from safepip.model.environment import Distribution, Target
from safepip.model.imports import Choice, Condition, Import, Reference, Source
from safepip.model.paths import TargetPath
from safepip.reading import tree, users

SCHEMA = 7
_UNENCODABLE = re.compile(
    rb"\\u[dD](?:[89aAbB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89aAbB]..\\u[dD])(?:[d-fD-F]|[cC][0-7]))|[^\x00-\x7f]"
)  # half of a pair; no file name has one
MOST_FILES = 10_000  # of all environments: two for each distribution
MOST_NAMES = 300  # that one distribution was searched for

Names = dict[str, tuple[TargetPath, ...]]
Sources = dict[TargetPath, Source]


class Cache:
    """One environment's entries. Searches for names lie in one file, sources in one for each distribution."""

    def __init__(self, folder: str, python: str, prefix: str) -> None:
        self._folder = folder
        self._python = python
        self._prefix = prefix
        self._names: dict[str, Names] = {}
        self._kept_names: dict[str, Any] | None = None
        self._sources: dict[str, Sources] = {}
        self._dists: dict[str, Distribution] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        self._changed: set[str] = set()
        self._identities: dict[str, list[int]] = {}

    def naming(self, dist: Distribution) -> Names:
        """Name to sources that could import it, to be added to."""
        if dist.info not in self._names:
            if self._kept_names is None:
                self._kept_names = self._load(self._names_file())
            entry = self._kept_names.get(dist.info)
            self._names[dist.info] = _names(entry, self._identity(dist), dist)
        return self._names[dist.info]

    def sources(self, dist: Distribution) -> Sources:
        """Path to what the module there imports, to be added to."""
        if dist.info not in self._sources:
            self._dists[dist.info] = dist
            entry = self._load(self._sources_file(dist.info))
            self._sources[dist.info] = _sources(entry, self._identity(dist), dist)
        return self._sources[dist.info]

    def changed(self, dist: Distribution) -> None:
        self._dists[dist.info] = dist
        self._changed.add(dist.info)

    def added(self) -> list[tuple[Distribution, Names, Sources]]:
        """What was added since anything was written, for another process that has this environment open."""
        dists = [self._dists[info] for info in sorted(self._changed)]
        return [(dist, self._names.get(dist.info, {}), self._sources.get(dist.info, {})) for dist in dists]

    def take(self, added: Iterable[tuple[Distribution, Names, Sources]]) -> None:
        """What another process has added."""
        for dist, names, sources in added:
            self.naming(dist).update(names)
            if sources:
                self.sources(dist).update(sources)
            self.changed(dist)

    def kept(self, kind: str, subject: str = "") -> dict[str, Any]:
        """What `keep` was given last."""
        return self._load(self._file(kind, f"{self._prefix}/{subject}" if subject else self._prefix))

    def keep(self, kind: str, content: Mapping[str, Any], subject: str = "") -> None:
        """Write a file of another kind, for this environment."""
        if self._folder and not tree.is_imagined():
            try:
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                self._write(
                    self._file(kind, f"{self._prefix}/{subject}" if subject else self._prefix), content
                )
            except OSError:
                return

    def save(self) -> None:
        """Write what was added; older entries go where there are too many."""
        if not self._changed or not self._folder or tree.is_imagined():
            return
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            for info in sorted(self._changed & self._sources.keys())[: MOST_FILES // 2]:
                self._save_sources(info)  # more would drive out what other environments keep
            self._save_names()
            _bound(self._folder)
            self._changed.clear()  # or an audit would write everything again for each removal
        except OSError:
            return

    def _save_names(self) -> None:
        kept = dict(self._kept_names or {})
        for info in self._changed & self._names.keys():
            identity = self._identity(self._dists[info])
            if identity:
                length = len(self._dists[info].location) + 1
                last = list(self._names[info].items())[-MOST_NAMES:]
                kept[info] = [identity, {name: [path[length:] for path in paths] for name, paths in last}]
        self._write(self._names_file(), kept)
        self._kept_names = kept

    def _save_sources(self, info: str) -> None:
        identity = self._identity(self._dists[info])
        if identity:
            length = len(self._dists[info].location) + 1
            rows = {
                path[length:]: [source.imports, source.on_demand, source.choices]
                for path, source in self._sources[info].items()
            }
            self._write(self._sources_file(info), {"identity": identity, "sources": rows})

    def _identity(self, dist: Distribution) -> list[int]:
        if dist.info not in self._identities:
            self._identities[dist.info] = identity_of(dist)
        return self._identities[dist.info]

    def _names_file(self) -> str:
        return self._file("names", self._prefix)

    def _sources_file(self, info: str) -> str:
        return self._file("sources", info)

    def _file(self, kind: str, subject: str) -> str:
        code = zlib.crc32(subject.encode("utf-8", "surrogateescape"))
        return f"{self._folder}/{kind}-{subject.rpartition('/')[2][:80]}-{code:08x}.json"

    def _load(self, path: str) -> dict[str, Any]:
        try:
            with open(path, "rb") as file:
                text = file.read()
            if _UNENCODABLE.search(text):
                return {}
            schema, python, prefix, content = json.loads(text, parse_float=_refuse, parse_constant=_refuse)
        except (OSError, ValueError, TypeError, RecursionError):
            return {}
        same = (schema, python, prefix) == (SCHEMA, self._python, self._prefix)
        return content if same and isinstance(content, dict) else {}

    def _write(self, path: str, content: Mapping[str, Any]) -> None:
        own = f"{path}.{os.getpid()}"
        with suppress(FileNotFoundError):
            os.unlink(own)  # of a run with the same number that was cut off
        with open(own, "x", encoding="ascii") as file:
            # not dump, which takes ten times as long
            file.write(json.dumps([SCHEMA, self._python, self._prefix, content], separators=(",", ":")))
        os.replace(own, path)


def open_cache(environ: Mapping[str, str], target: Target) -> Cache:
    """The cache of one environment. Without a home nothing is kept."""
    home = environ.get("XDG_CACHE_HOME") or (f"{environ['HOME']}/.cache" if environ.get("HOME") else "")
    folder = f"{home}/safepip/imports" if home.startswith("/") else ""
    if (tree.root() is None and folder.startswith(f"{target.prefix}/")) or not _is_own(folder):
        folder = ""
    return Cache(folder, target.version, f"{tree.root() or ''}{target.prefix}")


def _is_own(folder: str) -> bool:
    """Whether nobody but this user and root can write there, or exchange a folder on the way: sudo may keep HOME."""
    trusted = {0, users.effective()}
    path = folder
    while path not in {"", "/"}:
        try:
            found = os.stat(path)
        except (OSError, ValueError):  # not made yet
            pass
        else:
            others = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
            if found.st_uid not in trusted or others or (path == folder and found.st_mode & 0o022):
                return False
        path = path.rpartition("/")[0]
    return True


def identity_of(dist: Distribution) -> list[int]:
    """What changes when `dist` does; empty where no RECORD tells of all its sources: then nothing is kept."""
    if dist.sources:
        return []
    try:
        found = tree.stat(f"{dist.info}/RECORD")
    except OSError:
        return []
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def _refuse(number: str) -> None:
    raise ValueError(f"{number} is none that is kept here")  # `inf` and `nan` are JSON for Python


def _names(entry: Any, identity: list[int], dist: Distribution) -> Names:
    try:
        kept, names = entry
        if not identity or kept != identity:
            return {}
        return {str(name): tuple(_inside(dist, path) for path in paths) for name, paths in names.items()}
    except (TypeError, ValueError, AttributeError):
        return {}


def _sources(entry: Any, identity: list[int], dist: Distribution) -> Sources:
    try:
        if not identity or entry.get("identity") != identity:
            return {}
        return {
            _inside(dist, path): Source(
                tuple(map(_import, rows)),
                on_demand=tuple(map(_import, on_demand)),
                choices=tuple(Choice(int(line), tuple(map(_references, ways))) for line, ways in choices),
            )
            for path, (rows, on_demand, choices) in entry["sources"].items()
        }
    except (TypeError, ValueError, AttributeError, KeyError):
        return {}


def _inside(dist: Distribution, path: Any) -> TargetPath:
    return TargetPath(f"{dist.location}/{path}")


def _import(row: list[Any]) -> Import:
    module, names, line, condition, otherwise, instead_of, after, given = row
    return Import(
        str(module),
        tuple(names),
        int(line),
        Condition(condition),
        _references(otherwise),
        _references(instead_of),
        _references(after),
        str(given),
    )


def _references(rows: Any) -> tuple[Reference, ...]:
    return tuple(Reference(str(module), tuple(names)) for module, names in rows)


def _bound(folder: str) -> None:
    with os.scandir(folder) as entries:
        files = sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)
    for _, path in files[:-MOST_FILES]:
        os.unlink(path)
