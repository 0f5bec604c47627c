"""Look at what a removal takes, and at what those who stay need of it: the evidence that the judge weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from safepip.commands import code
from safepip.commands.scene import Scene
from safepip.model.change import Removal
from safepip.model.environment import Distribution, Inventory, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Objects, Survey
from safepip.reading.disk import Disk
from safepip.reading.sites import packaged, shares
from safepip.reasoning import requirements
from safepip.reasoning.changes import removal
from safepip.reasoning.libraries import objects
from safepip.reasoning.verdict.evidence import Evidence
from safepip.world import Changed


@dataclass(frozen=True, slots=True)
class Case:
    """One removal under examination: what was found, and what is needed to look again afterwards."""

    evidence: Evidence
    scene: Scene
    before: Survey  # of the roots that the removal can touch
    restored: frozenset[TargetPath] = frozenset()  # files that stay, with other bytes

    @property
    def removal(self) -> Removal:
        return self.evidence.removal

    @property
    def inventory(self) -> Inventory:
        return self.evidence.inventory


def examine(keys: Sequence[DistKey], scene: Scene, planned: Removal | None = None) -> Case:
    """What removing `keys` would do, without doing it; `planned`: where that is not pip's way."""
    if planned is None:
        planned = removal.plan(keys, scene.inventory, scene.disk)
    planned = packaged.told(planned, scene.inventory)
    planned = replace(planned, reaches=(*planned.reaches, *packaged.reaches(planned, scene.target)))
    going = frozenset(planned.files)
    hollow = tuple(dist for dist in planned.leaving if _is_hollow(dist, going, scene.disk))
    evidence = Evidence(
        removal=planned,
        inventory=scene.inventory,
        after=Changed(scene.disk, planned.gone),
        objects=Objects({}, {}),
        shares=shares.read(planned, scene.inventory),
        hidden=shares.hidden(planned, scene.inventory),
        requirements=requirements.lost(
            planned.leaving, scene.inventory, frozenset(dist.info for dist in hollow), scene.wishes
        ),
        hollow=hollow,
        unjudged=packaged.noted(planned),
    )
    evidence = code.look(evidence, scene)
    if scene.target.libc is None and planned.leaving:  # Mach-O, PE: whatever is no ELF
        reason = "the interpreter is no ELF program, so metadata, RECORD and imports alone are judged"
        unjudged = (*evidence.unjudged, Unjudged("shared libraries", reason))
        return Case(replace(evidence, unjudged=unjudged), scene, Survey({}, {}))
    if not objects.taken_names(planned.files, scene.target.scripts, scene.disk):
        return Case(evidence, scene, Survey({}, {}))  # no name goes that the loader could look for
    from safepip.commands import libraries

    evidence, before = libraries.look(evidence, scene)
    return Case(evidence, scene, before)


def _is_hollow(dist: Distribution, going: frozenset[TargetPath], disk: Disk) -> bool:
    """Metadata without files: RECORD lists some beside the metadata, and none is there."""
    own = [path for path in dist.files or () if not path.startswith(f"{dist.info}/")]
    if not own or not going.isdisjoint(own):
        return False
    return not any(disk.kind(path) for path in own)  # a safe removal may take none of those that are there
