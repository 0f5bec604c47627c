"""What the code of those who stay imports of what goes, and how much each lost requirement weighs by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from safepip.commands.scene import Scene
from safepip.model.environment import Distribution
from safepip.model.imports import Source, Weighed
from safepip.model.paths import TargetPath
from safepip.reasoning.changes import shares
from safepip.reasoning.verdict.evidence import Evidence


def look(evidence: Evidence, scene: Scene) -> Evidence:
    """Sources are read only as far as they name what goes; what was found out is kept for later runs."""
    if not evidence.removal.leaving:
        return evidence
    answers = scene.modules.answers
    wanted = {(loss.survivor.info, loss.lost.key) for loss in evidence.requirements.requirements}
    own = _own(scene)
    found = answers.about(evidence.removal, own)
    if found is None or found.grades.keys() != wanted:
        found = _weigh(evidence, scene, own)
        answers.keep(evidence.removal, found, own)
        scene.modules.keep()
    return replace(
        evidence,
        imports=found.losses,
        grades=found.grades,
        side_imports=found.sides,
        unjudged=(*evidence.unjudged, *found.unjudged),
    )


def _own(scene: Scene) -> tuple[Distribution, ...]:
    if not scene.code:
        return ()
    from safepip.reading.sources.own_code import projects

    return projects(scene.code)


def _weigh(evidence: Evidence, scene: Scene, own: Sequence[Distribution]) -> Weighed:
    from safepip.reading.sources.modules import import_hooks, pth_folders
    from safepip.reasoning.code import copies, imports, own_code
    from safepip.reasoning.verdict import grading

    modules = scene.modules
    found = imports.examine(
        evidence.removal,
        scene.inventory,
        (scene.disk, evidence.after),
        imports.Code(modules.naming, modules.read, modules.compiled_naming, modules.imported),
        imports.Dropped(pth_folders(evidence.removal.files)),
    )
    hooks = import_hooks(evidence.removal.gone)
    grades = {
        (loss.survivor.info, loss.lost.key): grading.grade(loss, found, scene.known_loads, hooks)
        for loss in evidence.requirements.requirements
    }
    lost, unread = own_code.losses(own, found)
    losses, unjudged = (*copies.weighed(found), *lost), (*found.unjudged, *unread)
    return Weighed(losses, grades, _side_imports(evidence, scene), unjudged)


def _side_imports(evidence: Evidence, scene: Scene) -> frozenset[str]:
    """The top-level tests, docs and examples folders that lose a co-owned file and that other code imports."""
    names = shares.side_folders(evidence.removal.shared, scene.inventory)
    return frozenset(
        name
        for name in names
        for dist in scene.inventory.everybody
        if dist not in evidence.removal.leaving
        for path in scene.modules.naming(dist, [name]).get(name, ())
        if not path.startswith(f"{dist.location}/{name}/") and _imports(name, path, dist, scene)
    )


def _imports(name: str, path: TargetPath, dist: Distribution, scene: Scene) -> bool:
    """Whether the source at `path` does import `name`; that it holds the word is not enough."""
    from safepip.reasoning.code.imports import module_of

    module, is_package = module_of(path, scene.inventory)
    source = scene.modules.read(dist, path, module, is_package=is_package, whole=True)
    if not isinstance(source, Source):
        return True  # nobody can tell
    return any(item.module.partition(".")[0] == name for item in source.imports)
