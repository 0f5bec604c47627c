"""`safepip uninstall`, after the verdict: keep what goes, let pip do it, and see what became of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from safepip.commands import keeping, safely
from safepip.commands.afterwards import look_again
from safepip.commands.libraries import unmet
from safepip.commands.uninstall import Assessment
from safepip.model.change import Removal
from safepip.model.paths import TargetPath
from safepip.model.receipt import Kept
from safepip.model.report import Decision, Summary, Verdict
from safepip.reading.pythons import interpreter
from safepip.reasoning.verdict import remedy
from safepip.reasoning.verdict.judge import judge

BROKE = 13


@dataclass(frozen=True, slots=True)
class Outcome:
    """What really happened."""

    exit_code: int
    summary: Summary
    kept: Kept
    verdict: Verdict | None = None  # of the world as it is now, where something broke


def carry_out(assessment: Assessment, run_pip: keeping.Act, staged: safely.Staged) -> Outcome:
    """Keep what goes and let pip do it, then compare what vanished with the plan, and judge the world as it is now."""
    removal, target = assessment.case.removal, assessment.found.target
    interpreter.refuse_foreign_target(target)
    beside = _names_beside(removal)
    kept = _remove(assessment, run_pip, staged)
    exit_code = kept.exit_code
    vanished = {path for folder, names in beside.items() for path in _missing(folder, names)}
    unplanned = tuple(sorted(path for path in vanished if path not in removal.gone))
    remaining = tuple(path for path in removal.files if os.path.lexists(path))
    summary = Summary(exit_code, len(removal.files) - len(remaining), remaining, unplanned)
    now = judge(look_again(assessment.case).evidence, assessment.found.policy)
    if now.decision is not Decision.REFUSE:
        return Outcome(exit_code, summary, kept)
    return Outcome(BROKE, summary, kept, replace(now, remedies=remedy.mend(now, assessment.case.inventory)))


def _remove(assessment: Assessment, run_pip: keeping.Act, staged: safely.Staged) -> Kept:
    request, target = assessment.request, assessment.found.target
    case, sparing = assessment.case, assessment.sparing

    def still() -> bool:
        return safely.is_still_so(case.removal, case.scene, sparing)

    lacking = unmet(case.scene, case.removal.files)
    keeps = assessment.found.policy.keeps if request.keep else None
    order = keeping.Order(case.removal, target, request.pip_arguments, still, keeps, lacking)
    if sparing is None or not case.removal.leaving:
        return keeping.with_way_back(order, run_pip)
    return safely.remove(order, staged)


def _names_beside(removal: Removal) -> dict[str, list[str]]:
    """What lies in the folders that lose something and stay, the removal's own files included."""
    inside = tuple(f"{folder}/" for folder in removal.folders)
    parents = {path.rpartition("/")[0] for path in removal.files if not path.startswith(inside)}
    parents |= {folder.rpartition("/")[0] for folder in removal.folders}
    return {folder: os.listdir(folder) for folder in parents if os.path.isdir(folder)}


def _missing(folder: str, names: list[str]) -> Iterator[TargetPath]:
    for name in names:
        path = TargetPath(f"{folder}/{name}")
        if not os.path.lexists(path):
            yield path
