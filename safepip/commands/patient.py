"""What the doctor's checks ask of an environment, each looked up when the first of them wants it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from safepip.commands import damage, libraries, nowhere, refusals
from safepip.commands.scene import Scene
from safepip.commands.spread import NOTHING_KEPT, spread
from safepip.model.change import Package, Reach, Removal
from safepip.model.diagnosis import Ailment, Hollow, Overwritten, Stash
from safepip.model.elf import LoaderConfig
from safepip.model.environment import Distribution, Inventory, Target
from safepip.model.imports import ImportLoss
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.survey import Answer, Need, SharedFile, Standing, Survey
from safepip.reading.sites import altered, packaged, shares, stashes
from safepip.reasoning.changes import removal
from safepip.reasoning.changes.restored import Restored
from safepip.reasoning.code import imports
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.surface import top_modules
from safepip.reasoning.health import diagnosis, foreign, holdings
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.libraries import symbols
from safepip.reasoning.libraries.survey import Surveyor
from safepip.reasoning.requirements import requirement_key
from safepip.world import Changed

NOTHING = Survey({}, {})


class Patient:
    """One environment as it is. Everything that decides is asked elsewhere: the survey, the closure of imports."""

    def __init__(self, scene: Scene, policy: Policy) -> None:
        self.scene = scene
        self.policy = policy

    @cached_property
    def survey(self) -> Survey:
        surveyor = self.scene.surveyor
        return NOTHING if surveyor is None else surveyor.survey(self.scene.objects.elves)

    @cached_property
    def packages(self) -> Mapping[TargetPath, Package]:
        """By info: of what a package manager keeps, its name there."""
        return packaged.kept(self.scene.inventory)

    @cached_property
    def recorded(self) -> Inventory:
        """Those of whom RECORD tells what was laid down; of what a package manager keeps, that one does."""
        kept = self.packages
        rest = tuple(dist for dist in self.scene.inventory.distributions if dist.info not in kept)
        return replace(self.scene.inventory, distributions=rest) if kept else self.scene.inventory

    @cached_property
    def missing(self) -> Mapping[TargetPath, tuple[TargetPath, ...]]:
        everybody = self.scene.inventory.distributions
        found = {dist.info: holdings.missing_files(dist, self.scene.disk) for dist in everybody}
        for info in found.keys() - {dist.info for dist in self.recorded.distributions}:
            listed = packaged.listed(frozenset(found[info]), self.scene.target) if found[info] else ()
            found[info] = tuple(path for path in found[info] if path in listed)
        return found

    @cached_property
    def hollows(self) -> tuple[Hollow, ...]:
        return tuple(holdings.hollows(self.missing, self.scene.inventory))

    @property
    def hollow_infos(self) -> frozenset[TargetPath]:
        return frozenset(item.dist.info for item in self.hollows if item.whole)

    @cached_property
    def shared(self) -> tuple[SharedFile, ...]:
        """Every file that is there and that distributions of several names own."""
        by_name: dict[DistKey, set[TargetPath]] = {}
        for dist in self.scene.inventory.distributions:
            by_name.setdefault(dist.key, set()).update(dist.files or ())
        seen: set[TargetPath] = set()
        twice: set[TargetPath] = set()
        for files in by_name.values():
            twice |= seen & files
            seen |= files
        gone = {path for paths in self.missing.values() for path in paths}
        return shares.read(Removal(shared=tuple(sorted(twice - gone))), self.scene.inventory)

    @cached_property
    def overwritten(self) -> tuple[tuple[Distribution, Overwritten], ...]:
        return tuple(holdings.overwritten(self.shared, self.scene.inventory, self.scene.disk))

    @cached_property
    def altered(self) -> Mapping[TargetPath, tuple[TargetPath, ...]]:
        """Of one name's two metadata folders either may be an earlier one: what those say is nobody's change."""
        return {info: paths for info, paths in self._altered.items() if info not in self.doubled}

    @property
    def stale(self) -> frozenset[TargetPath]:
        """Metadata that one name has twice, by info, of which some file is gone, or another, or for another Python."""
        lacking = {item.dist.info for item in self.hollows} | {item.dist.info for item in self.foreign}
        lacking |= {info for info, paths in self._altered.items() if paths}
        return frozenset(lacking & self.doubled)

    @cached_property
    def doubled(self) -> frozenset[TargetPath]:
        return frozenset(info for item in holdings.duplicates(self.recorded) for info in item.paths)

    @cached_property
    def _altered(self) -> Mapping[TargetPath, tuple[TargetPath, ...]]:
        shared = frozenset(item.path for item in self.shared)
        dists, target = self.recorded.distributions, self.scene.target
        found = spread(
            lambda dist: tuple(altered.find(dist, shared | _launchers(dist, target))),
            dists,
            NOTHING_KEPT,
            dists,
        )
        return {dist.info: paths for dist, paths in zip(dists, found, strict=True)}

    @cached_property
    def damaged(self) -> Mapping[TargetPath, str]:
        """Of what is altered, what cannot be used, and why."""
        return damage.of(
            (
                (dist, path)
                for dist in self.scene.inventory.distributions
                for path in self.altered.get(dist.info, ())
            ),
            self.scene,
        )

    @cached_property
    def stashes(self) -> tuple[Stash, ...]:
        return stashes.find(self.scene.inventory, self.missing)

    @cached_property
    def import_losses(self) -> tuple[ImportLoss, ...]:
        """What is missing or does not load, put to the judge of imports as if it had just been removed."""
        inventory = self.scene.inventory
        keys = dict.fromkeys(key for item in self.unmet if (key := requirement_key(item.wants)))
        absent = [key for key in keys if inventory.find(key) is None]
        listed = [
            *(diagnosis.phantom(item.dist, "missing", item.missing) for item in self.hollows),
            *(diagnosis.phantom(item.dist, foreign.FOREIGN, item.sought.values()) for item in self.foreign),
        ]
        whole = Restored(self.scene.disk, dict.fromkeys(path for dist in listed for path in dist.files or ()))
        asked = nowhere.look(self.scene, Finder(whole, self.scene.target))
        phantoms = [
            *(diagnosis.absent(key, inventory.target.sites[0]) for key in absent),
            *(diagnosis.nowhere(name, inventory.target.sites[0]) for name in asked.modules),
            *listed,
            *self.broken,
        ]
        refused = refusals.look(self.unmet, self.scene)
        if not phantoms and not asked.names and not refused:
            return ()
        lost = [path for dist in phantoms if not dist.info.endswith("#broken") for path in dist.files or ()]
        before = Restored(self.scene.disk, dict.fromkeys(lost))
        gone = frozenset(path for dist in phantoms for path in dist.files or ())
        put = Removal(leaving=tuple(phantoms), files=tuple(sorted(gone)))
        modules = self.scene.modules
        naming = asked.naming(modules.naming)
        code = imports.Code(naming, modules.read, modules.compiled_naming, modules.imported)
        worlds, also = (before, Changed(before, gone)), imports.Dropped(names=asked.names, modules=refused)
        losses = imports.examine(put, inventory, worlds, code, also).losses
        modules.keep()
        return losses

    @cached_property
    def foreign(self) -> tuple[foreign.Foreign, ...]:
        return tuple(foreign.find(self.scene.inventory, Finder(self.scene.disk, self.scene.target)))

    @cached_property
    def broken(self) -> tuple[Distribution, ...]:
        """Extension modules that do not load, by owner."""
        by_owner: dict[TargetPath, list[TargetPath]] = {}
        for need, answer in self.survey.answers.items():
            owner = self.scene.objects.owner.get(need.root)
            module = elf_objects.module_name(need.root, self.scene.target)
            if answer.standing < Standing.PRELOADED and owner is not None and module:
                by_owner.setdefault(owner.info, []).append(need.root)
        return tuple(
            diagnosis.phantom(dist, "broken", sorted(set(by_owner[dist.info])))
            for dist in self.scene.inventory.distributions
            if dist.info in by_owner
        )

    @cached_property
    def unmet(self) -> tuple[Ailment, ...]:
        return tuple(diagnosis.unmet_requirements(self.scene.inventory, self.hollow_infos))

    @cached_property
    def broken_tops(self) -> frozenset[TargetPath]:
        """Broken modules that are themselves what one imports, or that have the name of their package: its core,
        which `__init__` may load by name (cv2.cv2).
        """
        target, finder = self.scene.target, Finder(self.scene.disk, self.scene.target)
        found = set()
        for dist in self.broken:
            whole = self.scene.inventory.find(dist.key) or dist  # its broken modules alone tell no package
            tops = top_modules(whole, self.scene.inventory, finder)
            for path in dist.files or ():
                name = elf_objects.module_name(path, target)
                head, _, tail = name.rpartition(".")
                if name in tops or tail == head.rpartition(".")[2]:
                    found.add(path)
        return frozenset(found)

    @property
    def missing_names(self) -> Mapping[str, Distribution]:
        return {
            path.rpartition("/")[2]: item.dist
            for item in reversed(self.hollows)
            for path in item.missing
            if elf_objects.is_object_name(path)
        }

    def lacking(self) -> Iterator[tuple[Need, Answer, tuple[str, ...]]]:
        """Symbols are read only where there is a reason for doubt: a provider whose bytes are another's, or one
        that its consumer's distribution does not require in this version.
        """
        scene = self.scene
        holder = {item.path: item.bytes_of for _, item in self.overwritten}
        doubtful = {*holder, *(path for paths in self.altered.values() for path in paths)}
        misfits = {(item.distribution, requirement_key(item.wants)) for item in self.unmet}
        asked = set()
        for need, answer in self.survey.answers.items():
            provider, owner = answer.provider, scene.objects.owner.get(need.consumer)
            if provider is None or owner is None or (need.consumer, provider) in asked:
                continue
            if provider in holder and holder.get(need.consumer) == holder[provider]:
                continue  # both came from one wheel
            other = scene.objects.owner.get(provider)
            if provider in doubtful or (other is not None and (owner.name, other.key) in misfits):
                asked.add((need.consumer, provider))
                found = self._lacks(need, provider)
                if found:
                    yield need, answer, found

    def _lacks(self, need: Need, provider: TargetPath) -> tuple[str, ...]:
        scene, loading = self.scene, self.survey.loadings[need.root]
        if scene.surveyor is None or scene.loader is None or not loading.loadable:
            return ()
        found = symbols.lacking(
            loading,
            need.consumer,
            provider,
            scene.disk,
            main=scene.surveyor.main,
            libc=scene.loader.libc,
        )
        return tuple(map(libraries.spelled, found))

    def bare(self) -> Survey:
        """The survey without LD_LIBRARY_PATH."""
        config = self.scene.loader
        if config is None or not config.library_path:
            return self.survey
        touched = {
            root
            for root, loading in self.survey.loadings.items()
            if any(b.how is not None and b.how.rule.value == "LD_LIBRARY_PATH" for b in loading.bindings)
        }
        return self._surveyor(replace(config, library_path="")).survey(touched)

    def _surveyor(self, config: LoaderConfig) -> Surveyor:
        scene = self.scene
        return Surveyor(scene.disk, scene.objects, scene.inventory, config, scene.loads)

    def reaches(self) -> Iterator[Reach]:
        """Only who lists something outside its own folder can reach beyond."""
        inventory = self.scene.inventory
        for dist in inventory.distributions:
            home = f"{dist.location}/"
            if any(not path.startswith(home) for path in dist.files or ()):
                yield from removal.plan([dist.key], inventory, self.scene.disk).reaches


def _launchers(dist: Distribution, target: Target) -> frozenset[TargetPath]:
    """What installers write themselves, and who moves an environment rewrites."""
    names = [point.name for point in dist.entry_points if point.group in {"console_scripts", "gui_scripts"}]
    return frozenset(TargetPath(f"{target.scripts}/{name}") for name in names)
