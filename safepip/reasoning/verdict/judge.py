"""From evidence to a verdict: one function for uninstall and for whatever else changes an environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from safepip.model.policy import Policy
from safepip.model.report import Finding, Remarks, Severity, Shared, Verdict
from safepip.reasoning.changes import shares as co_owned
from safepip.reasoning.verdict import findings, remedy
from safepip.reasoning.verdict.evidence import Evidence

_WORD = {Severity.NOTE: "note", Severity.WARN: "warning", Severity.REFUSE: "refusal"}


def judge(evidence: Evidence, policy: Policy) -> Verdict:
    """The worst finding decides; each carries what a person needs to check it by hand."""
    verdict = weigh(evidence, findings.of(evidence, policy), policy)
    return replace(verdict, remedies=remedy.propose(verdict, evidence.inventory))


def weigh(evidence: Evidence, found: Iterable[Finding], policy: Policy) -> Verdict:
    """What is `found` as a verdict, without ways out."""
    ungraded = list(found)
    graded = [replace(finding, severity=_severity(finding, policy)) for finding in ungraded]
    lowered = {
        new.kind: new.severity
        for old, new in zip(ungraded, graded, strict=True)
        if new.severity < old.severity
    }
    target = evidence.inventory.target
    if target.root is not None:
        graded = [replace(finding, proof=target.outside(finding.proof)) for finding in graded]
    graded.sort(key=lambda finding: -finding.severity)
    shared = [
        Shared(
            item.path,
            tuple(dist.name for dist in item.owners),
            co_owned.bytes_of(item, evidence.removal.leaving),
        )
        for item in evidence.shares
    ]
    return Verdict(
        target=target,
        removal=evidence.removal,
        findings=tuple(graded),
        shared=tuple(shared),
        hollow=evidence.hollow,
        remarks=Remarks(
            tuple(
                f"{kind.value} counts as a {_WORD[severity]}, by {policy.stated.get(kind, 'configuration')}"
                for kind, severity in lowered.items()
            )
        ),
        unjudged=(*evidence.inventory.unjudged, *evidence.requirements.unjudged, *evidence.unjudged),
    )


def _severity(finding: Finding, policy: Policy) -> Severity:
    """The configuration may lower a refusal to a warning, a warning to a note, and raise what is less."""
    configured = policy.severity.get(finding.kind)
    if configured is None or finding.severity is Severity.NOTE:
        return finding.severity
    return max(configured, Severity.WARN) if finding.severity is Severity.REFUSE else configured
