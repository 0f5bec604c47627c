"""The same look once more when a removal is done: whether what was foreseen has come, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from safepip.commands.examine import Case
from safepip.model.change import Removal
from safepip.reading.disk import Disk
from safepip.reasoning import requirements
from safepip.reasoning.libraries.losses import Grouped


def look_again(case: Case) -> Case:
    """The same questions after the act: only what really went counts, and the new world answers."""
    disk = Disk()
    happened = _happened(case.removal, disk)
    hollow = frozenset(dist.info for dist in case.evidence.hollow)
    evidence = replace(
        case.evidence,
        removal=happened,
        after=disk,
        shares=tuple(item for item in case.evidence.shares if disk.kind(item.path) is None),
        requirements=requirements.lost(happened.leaving, case.inventory, hollow, case.scene.wishes),
        imports=tuple(loss for loss in case.evidence.imports if loss.lost in happened.leaving),
        libraries=_libraries_again(case, disk),
        splits=(),
        hints=tuple(hint for hint in case.evidence.hints if disk.kind(hint.path) is None),
        hidden=(),
        unreadable_going=(),
        unreadable_consumers=(),
    )
    return replace(case, evidence=evidence)


def _libraries_again(case: Case, disk: Disk) -> tuple[Grouped, ...]:
    if case.restored:
        from safepip.commands import restoring

        return restoring.look_again(case, disk)
    from safepip.commands import libraries

    return libraries.look_again(case.evidence, case.before, case.scene, disk)


def _happened(planned: Removal, disk: Disk) -> Removal:
    return replace(
        planned,
        files=tuple(path for path in planned.files if disk.kind(path) is None),
        folders=tuple(path for path in planned.folders if disk.kind(path) is None),
        leaving=tuple(dist for dist in planned.leaving if disk.kind(dist.info) is None),
        shared=tuple(path for path in planned.shared if disk.kind(path) is None),
        reaches=(),
        halt=None,
    )
