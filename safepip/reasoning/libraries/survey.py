"""The library needs of those who stay, answered by one world: searched, preloaded, elsewhere or missing.

One machinery for both worlds, and for uninstall, audit and doctor alike; what is lost is the judge's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from safepip.model.elf import Abi, Binding, Elf, LoaderConfig, Loading, Rule
from safepip.model.environment import Distribution, Inventory
from safepip.model.known_loads import KnownLoad, Loads, When
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Answer, Need, Objects, Standing, Survey
from safepip.reasoning.libraries import known_loads, linking, searches
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.requirements import requires_closure
from safepip.world import World

PATHFINDER = DistKey("cuda-pathfinder")


class _Brought(NamedTuple):
    """What an earlier import has in the process."""

    path: TargetPath | None = None
    by: TargetPath | None = None  # the root


class Surveyor:
    """Answers of one world, each worked out once. Roots share what they have in common."""

    def __init__(  # noqa: PLR0913, PLR0917  the last two are for `without` alone
        self,
        world: World,
        objects: Objects,
        inventory: Inventory,
        config: LoaderConfig,
        loads: Loads,
        base: Surveyor | None = None,
        gone: frozenset[TargetPath] = frozenset(),
    ) -> None:
        self._world = world
        self._objects = objects
        self._inventory = inventory
        self._config = config
        self._loads = loads
        self._base = base
        self._gone = gone
        self._holders: Mapping[str, list[TargetPath]] = (
            base._holders if base else _holders(objects, config.abi)  # noqa: SLF001
        )  # those gone as well
        self._memo = base.searches_without(gone) if base else searches.Memo()
        self._answers: dict[TargetPath, dict[Need, Answer]] = {}
        self._required: dict[TargetPath, frozenset[TargetPath]] = {}
        self._loadings: dict[TargetPath, Loading] = {}
        self._brought: dict[tuple[TargetPath, str], _Brought] = {}  # by info and name
        self._unloadable: set[TargetPath] = set()
        self._preloader: dict[tuple[TargetPath, str], TargetPath] = {}
        self._opening: list[TargetPath] = []  # roots under way: an import cannot preload for itself

    @cached_property
    def main(self) -> Loading:
        """The interpreter as it starts."""
        if self._base is not None and self._base.main.crossed.isdisjoint(self._gone):
            return self._base.main
        return linking.main_program(self._world, self._config)

    @cached_property
    def needing(self) -> Mapping[str, Sequence[TargetPath]]:
        """For each name, the objects that need it; in a world after a removal, those gone as well."""
        return self._base.needing if self._base is not None else elf_objects.needing(self._objects)

    def without(self, world: World, gone: frozenset[TargetPath]) -> Surveyor:
        """The surveyor of `world`, which is this one's without `gone`."""
        return Surveyor(
            world, self._objects.without(gone), self._inventory, self._config, self._loads, self, gone
        )

    def searches_without(self, gone: frozenset[TargetPath]) -> searches.Memo:
        """The searches made so far that end as they did once `gone` has gone."""
        return self._memo.without(gone)

    def survey(self, roots: Iterable[TargetPath]) -> Survey:
        """The answers to every need in the load closures of `roots`."""
        answers: dict[Need, Answer] = {}
        for root in sorted(roots):
            if root not in self._answers:
                self._answers[root] = self._answered(root)
            answers |= self._answers[root]
        return Survey(answers, dict(self._loadings))

    def loading(self, root: TargetPath) -> Loading:
        """What happens when `root` is opened, after the imports that the environment shows to come first."""
        if root not in self._loadings:
            self._opening.append(root)
            self._loadings[root] = self._load(root)
            self._opening.pop()
            if not self._loadings[root].loadable:
                self._unloadable.add(root)
        return self._loadings[root]

    def holds(self, name: str) -> bool:
        """Whether some object of the environment has this SONAME."""
        return bool(self._holding(name))

    def _holding(self, name: str) -> list[TargetPath]:
        return [path for path in self._holders.get(name, ()) if path in self._objects.elves]

    def _answered(self, root: TargetPath) -> dict[Need, Answer]:
        loading = self.loading(root)
        base = self._base
        if base is not None and root in base._answers and loading.loadable and loading is base.loading(root):  # noqa: SLF001
            return base._answers[root]  # noqa: SLF001
        known = {item.path: self._known_as(item.path, item.real) for item in loading.objects}
        return {
            Need(root, known.get(binding.consumer, binding.consumer), binding.wants): self._answer(
                root, binding, known
            )
            for binding in loading.bindings
            if not binding.optional
        }

    def _known_as(self, opened: TargetPath, real: TargetPath) -> TargetPath:
        """`real`, or the link to it that is recorded: uv can make an environment of links into its cache."""
        folder, _, name = opened.rpartition("/")
        if real in self._objects.owner:
            return real
        link = TargetPath(f"{self._world.real(TargetPath(folder or '/'))}/{name}")
        return link if link in self._objects.owner else real

    def _load(self, root: TargetPath) -> Loading:
        if self._base is not None and self._is_untouched(self._base.loading(root)):
            return self._base.loading(root)
        alone = self._link(root, {})
        dist = self._objects.owner.get(root)
        if alone.loadable or dist is None:
            return alone
        before_it = {}
        for name in {binding.wants for binding in alone.missing}:
            path = (
                self._known_load(dist, name)
                or self._preloaded(root, dist, name)
                or self._opened_through_pathfinder(dist, name)
            )
            if path is not None:
                before_it[name] = path
        return self._link(root, before_it) if before_it else alone

    def _link(self, root: TargetPath, fallback: Mapping[str, TargetPath]) -> Loading:
        elf = self._objects.elves.get(root)
        config = self._config.others.get(elf.abi) if elf is not None else None
        if elf is not None and elf.abi == self._config.abi and _is_program(elf):
            config = self._config
        if config is not None:
            return linking.main_program(self._world, replace(config, main=root))  # in a process of its own
        return linking.link(
            root, self._world, self._config, main=self.main, fallback=fallback, memo=self._memo
        )

    def _is_untouched(self, was: Loading) -> bool:
        """A removal only takes away: where nothing went that an answer rests on, it stands. An earlier import may."""
        return (
            self._base is not None
            and self.main is self._base.main
            and was.crossed.isdisjoint(self._gone)
            and all(binding.how is None or binding.how.rule is not Rule.PRELOADED for binding in was.bindings)
        )

    def _preloaded(self, root: TargetPath, dist: Distribution, name: str) -> TargetPath | None:
        """The object of that name in the closure of an extension module that is imported earlier, or else of a
        library that its own package opens when it is imported.
        """
        known = self._brought.get((dist.info, name))
        if known is None or known.by in self._opening:
            known = self._bring(dist, name)
            if known.by is not None or self._opening == [root]:  # or another's way may be what is under way
                self._brought[dist.info, name] = known
        if known.by is not None:
            self._preloader[root, name] = known.by
        return known.path

    def _bring(self, dist: Distribution, name: str) -> _Brought:
        earlier, objects = self._imported_before(dist), self._objects
        holding = self._holding(name)
        same = (also for path in holding for also in elf_objects.names(path, objects.elves[path]))
        reaching = elf_objects.reaching({name, *same}, objects, self.needing).union(holding)
        candidates = [
            path
            for path in sorted(reaching, key=lambda path: (objects.owner[path] == dist, len(path), path))
            if objects.owner[path].info in earlier and objects.elves[path].abi == self._config.abi
        ]
        for is_loaded in (self._is_module, self._is_opened):
            for path in candidates:
                if path in self._opening or path in self._unloadable or not is_loaded(path):
                    continue
                loading = self.loading(path)
                found = _loaded_as(name, loading) if loading.loadable else None
                if found is not None:
                    return _Brought(found, path)
        return _Brought()

    def _is_module(self, path: TargetPath) -> bool:
        return bool(elf_objects.module_name(path, self._inventory.target))

    def _is_opened(self, path: TargetPath) -> bool:
        """Whether the package of this library gives it to ctypes, as librmm's load.py does, and all of RAPIDS so."""
        return self._quotes(self._objects.owner[path], "ctypes", path.rpartition("/")[2])

    def _known_load(self, dist: Distribution, name: str) -> TargetPath | None:
        """What `dist` opens by itself before its own modules need it."""
        loads = known_loads.naming(name, dist.key, self._loads.known)
        return self._in_folders(name, (load for load in loads if load.when is When.IMPORT))

    def _in_folders(self, name: str, loads: Iterable[KnownLoad]) -> TargetPath | None:
        """The first object of that name in a folder of one of `loads`."""
        for load in loads:
            for path in self._holding(name):
                if any(
                    fnmatchcase(path, f"{folder}/{load.folder}/*") for folder in self._inventory.target.path
                ):
                    return path
        return None

    def _opened_through_pathfinder(self, dist: Distribution, name: str) -> TargetPath | None:
        """What a package imported earlier asks cuda-pathfinder for, by the library's name without `lib` and version."""
        stem = name.removeprefix("lib").partition(".so")[0]
        found = self._in_folders(name, known_loads.naming(name, PATHFINDER, self._loads.known))
        if found is not None:
            for earlier in self._inventory.everybody:
                if earlier.info in self._imported_before(dist) and self._quotes(
                    earlier, "load_nvidia_dynamic_lib", stem
                ):
                    return found
        return None

    def _quotes(self, dist: Distribution, module: str, text: str) -> bool:
        return any(path not in self._gone for path in self._loads.quoting(dist, module, text))

    def _answer(self, root: TargetPath, binding: Binding, known: Mapping[TargetPath, TargetPath]) -> Answer:
        if binding.provider is None or binding.how is None:
            return Answer(Standing.ELSEWHERE if self.holds(binding.wants) else Standing.MISSING, binding)
        provider = known.get(binding.provider) or self._world.real(binding.provider)
        if binding.how.rule is Rule.PRELOADED:
            return Answer(Standing.PRELOADED, binding, provider, self._preloader.get((root, binding.wants)))
        return Answer(Standing.SEARCHED, binding, provider)

    def _imported_before(self, dist: Distribution) -> frozenset[TargetPath]:
        """The distributions, by their metadata, whose modules an import of `dist` may have executed."""
        if dist.info not in self._required:
            required = requires_closure(dist, self._inventory)
            self._required[dist.info] = frozenset([dist.info, *(item.info for item in required)])
        return self._required[dist.info]


def _loaded_as(name: str, loading: Loading) -> TargetPath | None:
    """The object that answers to `name` once `loading` is done: it loaded it, or found it loaded by a known load."""
    for item in loading.objects:
        if name in (item.soname, item.path.rpartition("/")[2]):
            return item.path
    for binding in loading.bindings:
        if binding.wants == name and binding.how is not None and binding.how.rule is Rule.PRELOADED:
            return binding.provider
    return None


def _is_program(elf: Elf) -> bool:
    """libc.so.6 names an interpreter too, and is a library."""
    return elf.interpreter is not None and (elf.type == 2 or elf.pie)


def _holders(objects: Objects, abi: Abi) -> Mapping[str, list[TargetPath]]:
    """What the target's process could load under each name."""
    holders: dict[str, list[TargetPath]] = {}
    for path, elf in objects.elves.items():
        if elf.abi == abi:
            holders.setdefault(elf.soname or path.rpartition("/")[2], []).append(path)
    return holders
