"""What a removal from an interpreter breaks in the virtual environments on top of it that see its packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from safepip.commands.examine import examine
from safepip.commands.scene import Scene
from safepip.errors import SafepipError
from safepip.model.change import Removal
from safepip.model.environment import Unjudged
from safepip.model.paths import TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Finding, Remedy, Severity, Verdict
from safepip.reading import tree
from safepip.reading.pythons import children, targets
from safepip.reasoning.verdict.judge import judge


def also(verdict: Verdict, policy: Policy, environ: Mapping[str, str]) -> Verdict:
    """`verdict` with what would break in environments on top."""
    if verdict.target.is_venv or not verdict.removal.leaving:
        return verdict
    findings: list[Finding] = []
    unjudged = [
        Unjudged(
            f"environments on top of {verdict.target.prefix}",
            "those that see its packages were looked for in the usual places only",
        )
    ]
    for python in children.of(verdict.target, environ):
        try:
            findings += _broken(python, verdict.removal, policy, environ)
        except (SafepipError, OSError) as error:
            unjudged.append(Unjudged(python, str(error)))
    names = ", ".join(dist.name for dist in verdict.removal.leaving[:3])
    keep = Remedy(f"Keep {names}: an environment on top of this one needs it")
    refused = any(finding.severity is Severity.REFUSE for finding in findings)
    return replace(
        verdict,
        findings=tuple(sorted((*verdict.findings, *findings), key=lambda finding: -finding.severity)),
        unjudged=(*verdict.unjudged, *unjudged),
        remedies=(*verdict.remedies, *((keep,) if refused else ())),
    )


def _broken(
    python: TargetPath, removal: Removal, policy: Policy, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """The same removal as the environment of `python` sees it: what its own distributions lose."""
    target = targets.read_target(python, environ)
    scene = Scene(target, environ)
    seen = {dist.info: dist for dist in scene.inventory.distributions}
    leaving = tuple(seen.get(dist.info, dist) for dist in removal.leaving)
    if seen.keys().isdisjoint(dist.info for dist in leaving):
        return
    verdict = judge(examine([], scene, replace(removal, leaving=leaving)).evidence, policy)
    prefix = tree.realpath(target.prefix)
    own = {dist.name for dist in scene.inventory.everybody if dist.location.startswith(f"{prefix}/")}
    for finding in verdict.findings:
        if finding.severity is not Severity.NOTE and finding.distribution in own:
            yield replace(finding, message=f"in {target.prefix}: {finding.message}")
