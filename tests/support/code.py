"""An environment of Python sources written down in a dict: no disk, the same parser."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from safepip.model.change import Removal
from safepip.model.environment import Distribution, EntryPoint, Inventory
from safepip.model.imports import Gone, Source, Unread
from safepip.model.paths import TargetPath
from safepip.reading.sources.source import read_module
from safepip.reasoning.code.imports import NOTHING_DROPPED, Code, Dropped, Imports, examine
from safepip.world import Changed
from support.environments import at, dist, files, inventory
from support.fake_world import Content, FakeWorld

Sources = Mapping[str, str]


class Coded(NamedTuple):
    """Distributions with their sources; `text` is by absolute path."""

    inventory: Inventory
    world: FakeWorld
    text: Mapping[TargetPath, str]

    def without(self, *names: str, quick: bool = True, dropped: Dropped = NOTHING_DROPPED) -> Imports:
        """The imports of what stays when `names` go. `quick`: what each imports at all is known beforehand."""
        leaving = tuple(one for one in self.inventory.distributions if one.name in names)
        gone = tuple(path for one in leaving for path in one.files or ())
        removal = Removal(leaving, tuple(sorted(gone)), tuple(one.info for one in leaving))
        worlds = (self.world, Changed(self.world, removal.gone))
        return examine(removal, self.inventory, worlds, self._code(quick=quick), dropped)

    def lacking(self, names: Mapping[str, Gone]) -> Imports:
        """The imports when modules that stay bind `names` no longer."""
        worlds = (self.world, self.world)
        return examine(Removal(), self.inventory, worlds, self._code(quick=True), Dropped(names=names))

    def chains(self, *names: str) -> dict[str, str]:
        """Survivor to chain of what it loses when `names` go."""
        return {loss.survivor.name: " → ".join(loss.chain) for loss in self.without(*names).losses}

    def _code(self, *, quick: bool) -> Code:
        return Code(self._naming, self._read, self._compiled, self._imported if quick else None)

    def _naming(self, owner: Distribution, names: Collection[str]) -> Mapping[str, tuple[TargetPath, ...]]:
        mine = [path for path in owner.files or () if path.endswith(".py")]
        found = {
            name: tuple(path for path in mine if name.rpartition(".")[2] in self.text[path]) for name in names
        }
        return {name: paths for name, paths in found.items() if paths}

    def _read(
        self,
        owner: Distribution | None,
        path: TargetPath,
        name: str,
        *,
        is_package: bool,
        whole: bool = False,
    ) -> Source | Unread:
        assert owner is None or path in (owner.files or ())
        return read_module(self.text[path].encode(), name, is_package=is_package, whole=whole)

    def _imported(self, owner: Distribution) -> frozenset[str]:
        mine = [path for path in owner.files or () if path.endswith(".py")]
        read = [read_module(self.text[path].encode(), "", is_package=False, whole=True) for path in mine]
        sources = [one for one in read if isinstance(one, Source)]
        return frozenset(item.module.partition(".")[0] for one in sources for item in one.imports)

    def _compiled(self, owner: Distribution, names: Collection[str]) -> tuple[tuple[TargetPath, str], ...]:
        return tuple(
            (path, name)
            for path in owner.files or ()
            for name in names
            if path.endswith(".so") and name in self.text.get(path, "")
        )


def package(
    name: str,
    sources: Sources,
    *,
    requires: Sequence[str] = (),
    extras: Sequence[str] = (),
    entry_points: Sequence[EntryPoint] = (),
) -> tuple[Distribution, Sources]:
    made = dist(name, tuple(sources), requires=requires, extras=extras, entry_points=entry_points)
    return made, sources


def environment(*packages: tuple[Distribution, Sources], stdlib: Sequence[str] = ()) -> Coded:
    text = {at(path): content for _, sources in packages for path, content in sources.items()}
    listed: dict[str, Content] = {path: content.encode() for path, content in text.items()}
    listed |= {path: b"" for one, _ in packages for path in one.files or () if path not in listed}
    listed |= {f"/usr/lib/python3.12/{name}": b"" for name in ("os.py", *stdlib)}
    world = FakeWorld({**files({}), **listed})
    return Coded(inventory(*(one for one, _ in packages)), world, text)
