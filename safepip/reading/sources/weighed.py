"""What an earlier run made of the same removal from the same environment: then no source is asked again.

The same means: every distribution's RECORD and every source of one's own is the file that it was, the folders of sys.path hold what they held,
the plan has the same paths, and safepip is what it was.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from safepip.model.change import Removal
from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.imports import Basis, Grade, ImportLoss, Weighed
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import Severity
from safepip.reading import tree
from safepip.reading.sources.import_cache import Cache, identity_of

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
MOST_STEPS = 100_000  # in the chains of one answer that is kept; hundreds of times what a real one has
DECIDE = ("model", "reading", "reasoning")  # the parts of safepip that an answer depends on


class Answers:
    """Earlier answers about one environment."""

    def __init__(self, cache: Cache, inventory: Inventory) -> None:
        self._cache = cache
        self._inventory = inventory
        self._environment = _sum(_environment(inventory))

    def about(self, removal: Removal, own: Sequence[Distribution] = ()) -> Weighed | None:
        """The answer about `removal` where `own` sources count as well."""
        entry = self._cache.kept("weighed", _subject(removal))
        if entry.get("same") != self._same(removal, own):
            return None
        try:
            return _weighed(entry, {dist.info: dist for dist in (*self._inventory.everybody, *own)})
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    def keep(self, removal: Removal, found: Weighed, own: Sequence[Distribution] = ()) -> None:
        if sum(len(loss.chain) for loss in found.losses) <= MOST_STEPS:
            content = {"same": self._same(removal, own), **_rows(found)}
            self._cache.keep("weighed", content, _subject(removal))

    def _same(self, removal: Removal, own: Sequence[Distribution]) -> list[int]:
        sources = [f"{path} {_changed(path)}" for project in own for path in project.files or ()]
        leaving = [dist.info for dist in removal.leaving]
        return [*self._environment, *_sum([*leaving, "", *removal.files, "", *sources])]


def _environment(inventory: Inventory) -> Iterator[str]:
    for part in DECIDE:
        for folder, folders, names in os.walk(f"{PACKAGE}/{part}"):
            folders.sort()
            yield from (
                f"{folder}/{name} {_changed(TargetPath(f'{folder}/{name}'), os.stat)}"
                for name in sorted(names)
                if name.endswith((".py", ".toml"))
            )
    for folder in inventory.target.path:
        yield f"{folder} {_changed(folder)}"
    for dist in inventory.everybody:
        identity = identity_of(dist) or _changed(dist.info)
        yield f"{dist.info} {identity} {dist.requires} {dist.entry_points}"
        yield from (f"{path} {_changed(path)}" for path in dist.sources)


def _changed(path: TargetPath, ask: Callable[[str], os.stat_result] = tree.stat) -> int:
    try:
        return ask(path).st_mtime_ns
    except OSError:
        return 0


def _sum(lines: Iterable[str]) -> list[int]:
    """Two checksums: together no accident makes them equal, and hashlib costs more to import than all of this."""
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    return [zlib.crc32(data), zlib.adler32(data), len(data)]


def _subject(removal: Removal) -> str:
    return "+".join(dist.info.rpartition("/")[2] for dist in removal.leaving)


def _rows(found: Weighed) -> Mapping[str, Any]:
    return {
        "losses": [
            [
                loss.survivor.info,
                loss.lost.info,
                loss.module,
                loss.path,
                loss.chain,
                loss.importer,
                loss.line,
                loss.host,
                loss.instead,
                loss.made_up,
            ]
            for loss in found.losses
        ],
        "grades": [
            [info, key, grade.severity, grade.basis.name, grade.path, grade.line, grade.module]
            for (info, key), grade in found.grades.items()
        ],
        "sides": sorted(found.sides),
        "unjudged": [[item.subject, item.reason] for item in found.unjudged],
    }


def _weighed(entry: Mapping[str, Any], dists: Mapping[TargetPath, Distribution]) -> Weighed:
    return Weighed(
        tuple([_loss(row, dists) for row in entry["losses"]]),
        {
            (TargetPath(info), DistKey(key)): Grade(
                Severity(severity),
                Basis[basis],
                None if path is None else TargetPath(path),
                int(line),
                str(module),
            )
            for info, key, severity, basis, path, line, module in entry["grades"]
        },
        frozenset(map(str, entry["sides"])),
        tuple([Unjudged(str(subject), str(reason)) for subject, reason in entry["unjudged"]]),
    )


def _loss(row: list[Any], dists: Mapping[TargetPath, Distribution]) -> ImportLoss:
    survivor, lost, module, path, chain, importer, line, host, instead, made_up = row
    if len(chain) < 2:
        raise ValueError("a chain leads from a beginning to an import")
    return ImportLoss(
        survivor=dists[survivor],
        lost=dists[lost],
        module=str(module),
        path=TargetPath(path),
        chain=tuple(map(str, chain)),
        importer=TargetPath(importer),
        line=int(line),
        host=bool(host),
        instead=None if instead is None else TargetPath(instead),
        made_up=bool(made_up),
    )
