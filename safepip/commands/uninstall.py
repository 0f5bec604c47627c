"""`safepip uninstall`, up to the verdict: simulate and judge. What acts is in `carrying_out`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from safepip.commands.examine import Case, examine
from safepip.commands.scene import Scene
from safepip.commands.target import Found
from safepip.errors import ForbiddenError, RefusedByPipError, SafepipError
from safepip.model.change import Removal, Skip
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import Decision, Remedy, Severity, Verdict
from safepip.model.request import Safe, Uninstall
from safepip.model.survey import InUse
from safepip.reading import processes, tree
from safepip.reading.sites.metadata import canonical
from safepip.reading.sites.requested import requested
from safepip.reasoning.changes import admission
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.libraries.objects import is_object_name
from safepip.reasoning.verdict.judge import judge

if TYPE_CHECKING:
    from safepip.model.environment import Distribution
    from safepip.model.sparing import Sparing

REFUSED, WARNED = 10, 11
MOST_SLIPS = 8  # names that are not installed for which others are looked up: each is held against every key


@dataclass(frozen=True, slots=True)
class Assessment:
    """A judged request, and what is needed to carry it out."""

    request: Uninstall
    found: Found
    case: Case
    verdict: Verdict
    sparing: Sparing | None = None  # with --safe: what stays
    bare: Case | None = None  # with --safe: `case` without a word about bytes that are to be fetched

    @property
    def stops(self) -> int | None:
        """The exit code where the guard ends here; None where pip is to go on."""
        decision = self.verdict.decision
        if decision is Decision.REFUSE and not self.request.force:
            return REFUSED
        if decision is Decision.WARN and self.request.fail_on_warn and not self.request.force:
            return WARNED
        return 0 if self.request.dry_run else None


def assess(request: Uninstall, found: Found, environ: Mapping[str, str]) -> Assessment:
    """Look and judge; nothing is changed."""
    if request.force and found.policy.forbids_force:
        raise ForbiddenError(
            "force-forbidden",
            f"--force is forbidden for {found.target.prefix} by {found.policy.forbids_force}; nothing was touched",
            "Without --force the report names safe ways.",
        )
    settings = () if request.of_uv else found.settings.requirement_files
    files = (*settings, *request.requirement_files)  # pip's order: settings first
    wanted = requested(request.names, files, found.target.pip.version, tree.getcwd())
    barred = None if request.of_uv else admission.refused(request, found.settings, found.target)
    refused = barred or wanted.refused
    if refused is not None:
        raise RefusedByPipError(refused.message, refused.exit_code)
    scene = Scene(found.target, environ, (*found.policy.code, *request.code))
    sparing = None
    if request.safe is not Safe.OFF:
        from safepip.commands import safely

        sparing = safely.spare(wanted.keys, scene, request.safe)
    planned = sparing.removal if sparing else _planned(wanted.keys, request, scene)
    bare = case = _with_likes(_with_processes(examine(wanted.keys, scene, planned)))
    if sparing is not None and sparing.restored:
        from safepip.commands import restoring

        case = restoring.unknown(bare, sparing.restored)
    verdict = _proven(_measured(_judged(case, found), request, scene), request, found, scene)
    verdict = _said_of_safe(_with_children(verdict, found, environ), sparing)
    verdict = _said(verdict, *_other_versions(request.names, case.removal.leaving))
    return Assessment(request, found, case, _said_of_force(verdict, request), sparing, bare)


def assess_fetched(assessment: Assessment, staged: Mapping[TargetPath, str]) -> Assessment:
    """The same when the survivors' own bytes are there, at `staged`."""
    from safepip.commands import restoring

    sparing, bare = assessment.sparing, assessment.bare
    if sparing is None or bare is None or not staged:
        return assessment
    case = restoring.known(bare, sparing.restored, staged)
    verdict = _measured(_judged(case, assessment.found), assessment.request, case.scene)
    verdict = _said_of_force(verdict, assessment.request)
    return replace(assessment, case=case, verdict=verdict)


def _planned(keys: Sequence[DistKey], request: Uninstall, scene: Scene) -> Removal | None:
    """None: as pip does it."""
    if not request.of_uv:
        return None
    from safepip.reasoning.changes import uv_removal

    return uv_removal.plan(keys, scene.inventory, scene.disk)


def _proven(verdict: Verdict, request: Uninstall, found: Found, scene: Scene) -> Verdict:
    """A larger set is proposed only where it was judged as well; time that runs out over that takes no verdict back."""
    if verdict.decision is not Decision.REFUSE:
        return verdict
    from safepip.reasoning.verdict import joint

    if not joint.is_wanted(verdict):
        return verdict

    def judged(keys: Sequence[DistKey]) -> Verdict:
        return judge(examine(keys, scene, _planned(keys, request, scene)).evidence, found.policy)

    try:
        return joint.proven(verdict, scene.inventory, judged)
    except SafepipError:
        return joint.without(verdict)


def _measured(verdict: Verdict, request: Uninstall, scene: Scene) -> Verdict:
    """A size is told in JSON alone: it costs a look at each file."""
    return replace(verdict, bytes=scene.links.held(verdict.removal.files)) if request.json else verdict


def _judged(case: Case, found: Found) -> Verdict:
    verdict = judge(case.evidence, found.policy)
    if not found.policy.forbids_force:
        return verdict
    return replace(verdict, remedies=tuple(filter(_is_allowed, verdict.remedies)))


def _said_of_force(verdict: Verdict, request: Uninstall) -> Verdict:
    refused = [finding.kind.value for finding in verdict.findings if finding.severity is Severity.REFUSE]
    if not request.force or not refused:
        return verdict
    said = f"--force goes on in spite of {len(refused)} refused: {', '.join(dict.fromkeys(refused))}"
    despite = "WOULD GO ON (--force)" if request.dry_run else "GOING ON (--force)"
    remarks = verdict.remarks._replace(weakened=(*verdict.remarks.weakened, said), despite=despite)
    return replace(verdict, remarks=remarks)


def _said_of_safe(verdict: Verdict, sparing: Sparing | None) -> Verdict:
    """Whoever asked for it must learn that it cannot help here."""
    if sparing is None or sparing.kept or verdict.decision is not Decision.REFUSE:
        return verdict
    return _said(
        verdict,
        "--safe leaves what others own as well, and nobody else owns a file of this: the refusal stays",
    )


def _said(verdict: Verdict, *notes: str) -> Verdict:
    return replace(verdict, remarks=verdict.remarks._replace(notes=(*verdict.remarks.notes, *notes)))


def _other_versions(names: Sequence[str], leaving: Sequence[Distribution]) -> Iterator[str]:
    """pip's uninstall takes no heed of a version: it removes the one that is there."""
    pinned = [name for name in names if any(mark in name for mark in "=<>~!")]
    if not pinned:
        return
    from safepip.reasoning.requirements import asks_for_other

    for dist in leaving:
        for name in pinned:
            if asks_for_other(name, dist):
                yield f"pip takes no heed of the version in {name}: it is {dist.name} {dist.version} that goes"


def _with_children(verdict: Verdict, found: Found, environ: Mapping[str, str]) -> Verdict:
    if found.target.is_venv:
        return verdict
    from safepip.commands import children

    return children.also(verdict, found.policy, environ)


def _with_processes(case: Case) -> Case:
    objects = [path for path in case.removal.files if is_object_name(path)]
    in_use = (
        tuple(InUse(*item) for item in processes.mapping(objects)) if objects and tree.root() is None else ()
    )
    return replace(case, evidence=replace(case.evidence, in_use=in_use))


def _with_likes(case: Case) -> Case:
    """What is not installed may be a slip of the hand."""
    if not case.removal.skipped:
        return case
    from safepip.reasoning.likeness import near

    keys = [dist.key for dist in case.inventory.distributions]
    asked = case.removal.skipped[:MOST_SLIPS]
    likes = [
        skip if skip.name in keys else _of_module(skip, case) or skip._replace(like=near(skip.name, keys))
        for skip in asked
    ]
    skipped = (*likes, *case.removal.skipped[MOST_SLIPS:])
    return replace(case, evidence=replace(case.evidence, removal=replace(case.removal, skipped=skipped)))


def _of_module(skip: Skip, case: Case) -> Skip | None:
    """A module that has the name, whatever its distribution is called: PIL, cv2, yaml."""
    finder = Finder(case.scene.disk, case.scene.target)
    tops = {finder.stem(name) or name for site in case.scene.target.sites for name in finder.names(site)}
    for module in sorted(top for top in tops if top.isidentifier() and canonical(top) == skip.name):
        found = finder.find(module)
        owners = case.inventory.owners([found.path])[found.path] if found and found.path else ()
        if owners:
            return skip._replace(like=tuple(dist.name for dist in owners), module=module)
    return None


def _is_allowed(remedy: Remedy) -> bool:
    return not any("--force" in command for command in remedy.commands)
