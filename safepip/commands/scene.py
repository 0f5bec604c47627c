"""One environment as it is, looked at once, however many removals are judged against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from safepip.model.environment import Inventory, Target, Unjudged
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.disk import Disk
from safepip.reading.links import Links
from safepip.reading.sites import site, unrecorded
from safepip.reading.sources.modules import Modules
from safepip.reasoning import requirements
from safepip.reasoning.libraries import objects
from safepip.world import World

if TYPE_CHECKING:  # what only some removals ask for is loaded when they do
    from safepip.model.elf import LoaderConfig
    from safepip.model.known_loads import KnownLoad, Loads
    from safepip.model.survey import Objects
    from safepip.reading.sources.mentions import Mentions
    from safepip.reasoning.libraries.survey import Surveyor


class Scene:
    """Inventory and disk at once; ELF objects and the loader's configuration when first asked for."""

    def __init__(self, target: Target, environ: Mapping[str, str], code: Sequence[str] = ()) -> None:
        self.environ = environ
        self.code = tuple(code)  # folders of one's own sources
        self.disk = Disk()
        self.links = Links()
        self.inventory: Inventory = unrecorded.completed(site.take_inventory(target))
        self.target = self.inventory.target

    @cached_property
    def objects(self) -> Objects:
        """Those of which a loader is known."""
        config = self.loader
        return self._gathered if config is None else self._gathered.only_of({config.abi, *config.others})

    @cached_property
    def _gathered(self) -> Objects:
        return objects.gather(self.inventory.everybody, self.target.scripts, self.disk)

    @property
    def unjudged(self) -> tuple[Unjudged, ...]:
        """What could not be read, and the objects of other machines, one for each."""
        foreign = objects.foreign(self._gathered, self.objects)
        return (*self.inventory.unjudged, *foreign)

    @cached_property
    def needing(self) -> Mapping[str, Sequence[TargetPath]]:
        return objects.needing(self.objects) if self.surveyor is None else self.surveyor.needing

    @cached_property
    def loader(self) -> LoaderConfig | None:
        """None where the interpreter is no readable ELF program: its libraries are unjudged."""
        from safepip.reading.elf_files import ldconfig

        environ = self.environ if self.target.root is None else tree.environ()
        config = ldconfig.load(self.target, environ)
        elves = self._gathered.elves.values()
        foreign = {elf.abi for elf in elves} - {config.abi} if config else ()
        return (
            replace(config, others=ldconfig.others(foreign, elves, environ)) if config and foreign else config
        )

    @cached_property
    def surveyor(self) -> Surveyor | None:
        """Answers of the world as it is."""
        if self.loader is None:
            return None
        from safepip.reasoning.libraries.survey import Surveyor

        return Surveyor(self.disk, self.objects, self.inventory, self.loader, self.loads)

    @cached_property
    def wishes(self) -> requirements.Wishes:
        return requirements.wishes(self.inventory)

    @cached_property
    def modules(self) -> Modules:
        """The Python sources, and what earlier runs have found in them."""
        return Modules(self.inventory, self.environ)

    @cached_property
    def mentions(self) -> Mentions:
        """Which libraries are named to be opened, and what earlier runs have found of that."""
        from safepip.reading.sources.mentions import Mentions

        return Mentions(self.target, self.environ, self.modules)

    @contextmanager
    def many(self, ahead: Callable[[], Iterable[str]]) -> Iterator[None]:
        """Within, many removals are asked about: what is found out of sources is written once, at the end."""
        with self.modules.many(ahead):
            yield
        self.mentions.keep()

    def found(self) -> Any:
        """What a copy of this process has found out that is worth handing over."""
        return self.modules.added(), self.mentions.added(), self.links.known()

    def take(self, found: Any) -> None:
        """What a copy has found out."""
        modules, mentions, links = found
        self.modules.take(modules)
        self.mentions.take(mentions)
        self.links.take(links)

    @cached_property
    def loads(self) -> Loads:
        """How libraries come to be opened that no object shows."""
        from safepip.model.known_loads import Loads

        return Loads(self.known_loads, self.modules.quoting)

    @cached_property
    def known_loads(self) -> tuple[KnownLoad, ...]:
        from safepip.reading.elf_files import known_loads

        return known_loads.read()

    def surveyor_of(self, world: World, gone: frozenset[TargetPath]) -> Surveyor | None:
        """Answers of `world`, which is this one without `gone`; what that does not touch is not asked anew."""
        before = self.surveyor
        return None if before is None else before.without(world, gone)
