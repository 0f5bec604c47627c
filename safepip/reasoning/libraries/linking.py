"""Everything the loader would load for a root, in its order, and how each need is met.

A root is opened as CPython opens an extension module: dlopen with an absolute path in a process of the
target's interpreter, whose own libraries and preloads are there before it. Nothing that an earlier import
left behind is, unless `fallback` says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from safepip.model.elf import Binding, Elf, Flaw, Loaded, LoaderConfig, Loading, Rule, Step
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reasoning.libraries import loader
from safepip.reasoning.libraries.loader import Fate, Mapped
from safepip.reasoning.libraries.searches import Found, Memo, restated, where
from safepip.world import Kind, Place, World

_Identity = tuple[int, int]


def main_program(world: World, config: LoaderConfig) -> Loading:
    """The interpreter as it starts: itself, its preloads and their libraries, before any import.

    Compute it once per world and hand it to every `link`. Where a removal touches what it `crossed`, every
    root has to be linked again.
    """
    place = world.find(config.main)
    if isinstance(place, Flaw):
        return Loading(config.main, (), (), flaw=place)
    elf = world.elf(config.main)
    if isinstance(elf, Flaw):
        return Loading(config.main, (), (), flaw=elf)
    main = Mapped(config.main, elf, None)
    alone = Mapped(config.main, replace(elf, rpath=None, runpath=None), None)
    process = _Process(world, config, main, Memo(), opened=False)
    process.admit(main, None, place)
    _load_interpreter(process, elf)
    if config.libc is Libc.MUSL:
        process.main = alone  # load_preload searches as nobody's need, do_preload as the program's
    for name in config.preload:  # a missing one is only a message, or not even that
        process.resolve(process.main, name, optional=True)
    process.main = main
    process.load_needs(main)
    return process.loading(config.main)


def link(  # noqa: PLR0913  two of them are what calls share
    root: TargetPath,
    world: World,
    config: LoaderConfig,
    *,
    main: Loading | None = None,
    fallback: Mapping[str, TargetPath] | None = None,
    memo: Memo | None = None,
) -> Loading:
    """What dlopen(root) would load beside what the interpreter has loaded already.

    Many roots share work: `main` is the value of `main_program` and `memo` what
    earlier calls left in it, both for this world and configuration only. `fallback` names objects that an earlier import has loaded. They meet a need that no search meets, and
    are not descended into.
    """
    main = main or main_program(world, config)
    program = world.elf(config.main)
    if isinstance(program, Flaw):
        return Loading(root, (), (), flaw=program)
    searches = memo if memo is not None else Memo()
    process = _Process(world, config, Mapped(config.main, program, None), searches, fallback or {})
    process.inherit(main)
    mapped = process.open(root)
    if isinstance(mapped, Flaw):
        return Loading(root, (), (), flaw=mapped, crossed=frozenset(process.crossed))
    if mapped is not None:
        process.load_needs(mapped)
    return process.loading(root)


def _load_interpreter(process: _Process, program: Elf) -> None:
    """ld.so itself is in every process and answers to its SONAME and to its full path."""
    path = TargetPath(program.interpreter or "")
    place, elf = (process.world.find(path), process.world.elf(path)) if path else (None, None)
    if isinstance(place, Place) and isinstance(elf, Elf):
        process.admit(Mapped(path, elf, process.main), None, place)


@dataclass(slots=True)
class _Process:
    """A process while it loads: the only value here that changes, and it never leaves this module."""

    world: World
    config: LoaderConfig
    main: Mapped
    memo: Memo
    fallback: Mapping[str, TargetPath] = field(default_factory=dict)
    opened: bool = True  # by dlopen, not at the program's start
    names: dict[str, TargetPath] = field(default_factory=dict)  # under which names an object is loaded
    identities: dict[_Identity, TargetPath] = field(default_factory=dict)
    objects: dict[TargetPath, Loaded] = field(default_factory=dict)
    queue: deque[Mapped] = field(default_factory=deque)
    bindings: list[Binding] = field(default_factory=list)
    crossed: set[TargetPath] = field(default_factory=set)

    def loading(self, root: TargetPath) -> Loading:
        return Loading(
            root, tuple(self.objects.values()), tuple(self.bindings), crossed=frozenset(self.crossed)
        )

    def inherit(self, main: Loading) -> None:
        """What the interpreter has loaded, by the names under which it knows it."""
        for loaded in main.objects:
            self._name(loaded.path, loaded.soname)
            place = self.world.find(loaded.path)
            if isinstance(place, Place) and loaded.path != self.config.main:  # the kernel mapped the program
                self.identities.setdefault(place.identity, loaded.path)
        for binding in main.bindings:
            if binding.provider:
                self.names.setdefault(binding.wants, binding.provider)

    def open(self, path: TargetPath) -> Mapped | Flaw | None:
        """Map what dlopen is given by path; None: the interpreter has it, so nothing is loaded."""
        place = self.world.find(path)
        if isinstance(place, Flaw):
            return place
        self._cross(place)
        if place.identity in self.identities:
            return None
        elf = self._usable(path, place)
        if isinstance(elf, Flaw):
            return elf
        mapped = Mapped(path, elf, None)
        self.admit(mapped, None, place)
        return mapped

    def admit(self, mapped: Mapped, searched: str | None, place: Place) -> None:
        self.identities.setdefault(place.identity, mapped.path)
        self._name(mapped.path, mapped.elf.soname)
        if searched is not None:
            self.names.setdefault(searched, mapped.path)
        who = mapped.loader.path if mapped.loader else None
        self.objects[mapped.path] = Loaded(mapped.path, place.real, mapped.elf.soname, who)

    def load_needs(self, first: Mapped) -> None:
        """Breadth-first, in the order of DT_NEEDED (_dl_map_object_deps; musl's load_deps)."""
        self.queue.appendleft(first)
        while self.queue:
            consumer = self.queue.popleft()
            for name in consumer.elf.needed:
                self.resolve(consumer, name)
            if self.config.libc is Libc.GLIBC:
                for name in consumer.elf.filters:
                    self.resolve(consumer, name)
                for name in consumer.elf.auxiliaries:
                    self.resolve(consumer, name, optional=True)

    def resolve(self, consumer: Mapped, wants: str, *, optional: bool = False) -> None:
        """One need: what is loaded under that name, else what the search finds first."""
        binding = self._loaded_already(consumer, wants) or self._searched(consumer, wants)
        self.bindings.append(binding._replace(optional=True) if optional else binding)

    def _loaded_already(self, consumer: Mapped, wants: str) -> Binding | None:
        if self.config.libc is Libc.GLIBC:
            wanted = loader.expand(wants, consumer.origin, self.config) if "$" in wants else wants
            known = self.names.get(wanted)
        elif loader.is_libc_itself(wants, self.config):
            known = TargetPath(self.main.elf.interpreter or self.main.path)
        else:
            known = self.names.get(wants)
        if known is None:
            return None
        return Binding(consumer.path, wants, known, Step(Rule.LOADED, known), ())

    def _searched(self, consumer: Mapped, wants: str) -> Binding:
        holders = loader.holders(consumer, self.main, self.config)
        key = (wants, consumer.elf.nodeflib, *(where(holder, wants) for holder in holders))
        found = self.memo.searches.get(key)
        if found is None:
            found = self.memo.searches[key] = self._search(holders, wants)
        else:
            found = restated(found, holders)
        self.crossed |= found.crossed
        if found.step is None or found.elf is None or found.place is None:
            return self._preloaded(consumer, wants, found.tried, found.flaw)
        provider = self._take(found.step.path, found.elf, consumer, wants, found.place)
        return Binding(consumer.path, wants, provider, found.step, found.tried)

    def _search(self, holders: tuple[Mapped, ...], wants: str) -> Found:
        tried: list[Step] = []
        crossed: set[TargetPath] = set()
        ended: tuple[Rule, TargetPath | None] | None = None  # a list that an error ended
        folders = self.memo.folders
        for step in loader.search(wants, holders[0], self.main, self.config, self.world, folders):
            if ended == (step.rule, step.stated_by):
                continue
            place = self.world.find(step.path)
            if isinstance(place, Flaw):
                flaw = place
            else:
                crossed.update((place.real, *place.crossed))
                elf = self._usable(step.path, place)
                if isinstance(elf, Elf):
                    return Found(holders, step, elf, place, tuple(tried), None, frozenset(crossed))
                flaw = elf
            tried.append(step)
            fate = loader.fate(flaw, step, self.config, self.world)
            if fate is Fate.END_SEARCH:
                return Found(holders, None, None, None, tuple(tried), flaw, frozenset(crossed))
            if fate is Fate.END_LIST:
                ended = (step.rule, step.stated_by)
        return Found(holders, None, None, None, tuple(tried), None, frozenset(crossed))

    def _preloaded(self, consumer: Mapped, wants: str, tried: tuple[Step, ...], flaw: Flaw | None) -> Binding:
        path = self.fallback.get(wants)
        if path is None:
            return Binding(consumer.path, wants, None, None, tried, flaw)
        self._cross(self.world.find(path))
        return Binding(consumer.path, wants, path, Step(Rule.PRELOADED, path), tried)

    def _take(self, path: TargetPath, elf: Elf, consumer: Mapped, wants: str, place: Place) -> TargetPath:
        """The found file is a loaded object under another name, or a new one."""
        known = self.identities.get(place.identity)
        if known is not None:
            self._known_by_another_name(known, wants)
            return known
        mapped = Mapped(path, elf, consumer)
        self.admit(mapped, wants, place)
        self.queue.append(mapped)
        return path

    def _known_by_another_name(self, known: TargetPath, wants: str) -> None:
        """In glibc the name is added to the object. musl gives it its own file's name."""
        if self.config.libc is Libc.GLIBC:
            self.names.setdefault(wants, known)
        else:
            self.names.setdefault(known.rpartition("/")[2], known)

    def _usable(self, path: TargetPath, place: Place) -> Elf | Flaw:
        elf = Flaw.FOLDER if place.kind is Kind.FOLDER else self.world.elf(path)
        if isinstance(elf, Flaw):
            return elf
        return loader.misfit(elf, self.config, opened=self.opened) or elf

    def _cross(self, place: Place | Flaw) -> None:
        if isinstance(place, Place):
            self.crossed.add(place.real)
            self.crossed.update(place.crossed)

    def _name(self, path: TargetPath, soname: str | None) -> None:
        """A path counts only as written; musl never looks at the SONAME."""
        self.names.setdefault(path, path)
        if self.config.libc is Libc.GLIBC and soname is not None:
            self.names.setdefault(soname, path)
