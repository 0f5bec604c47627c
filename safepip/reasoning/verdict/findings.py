"""Evidence into findings: one function a kind, each with the sentence that a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from safepip.model.change import Reach, Why
from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Finding, FindingKind
from safepip.reasoning.libraries.losses import relative
from safepip.reasoning.verdict import code_findings, file_findings, library_findings, remedy
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import finding


def of(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Every finding, with its severity by evidence alone."""
    yield from _guarded(evidence, policy)
    yield from _halted(evidence)
    yield from _beyond(evidence)
    yield from _unreadable(evidence)
    yield from _unlooked(evidence)
    yield from _hidden(evidence)
    yield from library_findings.of(evidence)
    yield from file_findings.of(evidence)
    yield from code_findings.of(evidence)
    yield from _in_use(evidence)


def _guarded(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    keys: dict[str, Distribution] = {dist.key: dist for dist in evidence.removal.leaving}
    if "pip" in keys and evidence.inventory.target.pip.location is not None:
        yield finding(
            FindingKind.SELF,
            "pip",
            "the environment would be left without pip",
            paths=(keys["pip"].info,),
            proof=("ls", "-d", keys["pip"].info),
        )
    if evidence.safepip_key in keys:
        yield finding(
            FindingKind.SELF,
            evidence.safepip_key,
            "safepip itself would go",
            paths=(keys[evidence.safepip_key].info,),
            proof=("ls", "-d", keys[evidence.safepip_key].info),
        )
    for key, dist in keys.items():
        if key in policy.protected:
            yield finding(FindingKind.PROTECTED, dist.name, f"the configuration protects {dist.name}")


def _halted(evidence: Evidence) -> Iterator[Finding]:
    halt = evidence.removal.halt
    if halt is None:
        return
    before = ", ".join(dist.name for dist in evidence.removal.leaving)
    ending = f" after it has removed {before}" if before else ""
    yield finding(FindingKind.CANNOT_TELL, halt.name, f"pip would stop at {halt.name}{ending}: {halt.reason}")


def _beyond(evidence: Evidence) -> Iterator[Finding]:
    groups: dict[tuple[str, Why, str], list[Reach]] = {}
    for reach in evidence.removal.reaches:
        groups.setdefault((reach.dist.name, reach.why, reach.owner), []).append(reach)
    for (name, why, owner), reaches in groups.items():
        first = relative(reaches[0].path, evidence.inventory)
        more = f" and {len(reaches) - 1} more" if len(reaches) > 1 else ""
        also = "" if why in remedy.PACKAGE_MANAGERS else " also"
        whose = f" ({owner})" if owner else ""
        yield finding(
            FindingKind.REACH_BEYOND,
            owner or name,
            f"pip would{also} delete {first}{more}, which {why.value}{whose}",
            paths=tuple(reach.path for reach in reaches),
            proof=_row(reaches[0]),
        )


def _row(reach: Reach) -> tuple[str, ...]:
    """What shows that pip comes to it: the row of the leaver's RECORD, where it is one."""
    match reach.why:
        case Why.DPKG:
            return ("dpkg", "-S", reach.path)
        case Why.CONDA | Why.UNRECORDED | Why.LAUNCHER:
            return ("ls", "-ld", reach.path)
        case _:
            return ("grep", "-nF", reach.path.rpartition("/")[2], f"{reach.dist.info}/RECORD")


def _unreadable(evidence: Evidence) -> Iterator[Finding]:
    for path, flaw in evidence.unreadable_going:
        name = relative(path, evidence.inventory)
        yield finding(
            FindingKind.CANNOT_TELL,
            "",
            f"{name} would go and cannot be read: {flaw.value}",
            paths=(path,),
            proof=("readelf", "-d", path),
        )
    for path, flaw in evidence.unreadable_consumers:
        owner = evidence.objects.owner[path].name
        name = relative(path, evidence.inventory)
        yield finding(
            FindingKind.CANNOT_TELL,
            owner,
            f"{name} may need a library that would go, and cannot be read: {flaw.value}",
            paths=(path,),
            proof=("readelf", "-d", path),
        )


def _unlooked(evidence: Evidence) -> Iterator[Finding]:
    """What goes and was not looked into: a zip file with modules, an import hook. Who needs those is not known."""
    unjudged = {item.subject: item.reason for item in evidence.inventory.unjudged}
    for path in evidence.removal.files if unjudged else ():
        if path in unjudged:
            name = relative(path, evidence.inventory)
            yield finding(
                FindingKind.CANNOT_TELL,
                "",
                f"{name} would go: {unjudged[path]}",
                paths=(path,),
                proof=("cat", path) if path.endswith(".py") else ("unzip", "-l", path),
            )


def _hidden(evidence: Evidence) -> Iterator[Finding]:
    for dist, top in evidence.hidden:
        yield finding(
            FindingKind.CANNOT_TELL,
            dist.name,
            f"{dist.name} may own some of what would go ({top}): {dist.damage}",
            paths=(TargetPath(f"{dist.info}/RECORD"),),
            proof=("tail", "-c", "200", f"{dist.info}/RECORD"),
        )


def _in_use(evidence: Evidence) -> Iterator[Finding]:
    """A process keeps what it has mapped, but whatever it starts or loads from now on will miss it."""
    for item in evidence.in_use:
        yield finding(
            FindingKind.IN_USE,
            "",
            f"process {item.pid} ({item.name}) has {relative(item.path, evidence.inventory)} in use",
            paths=(item.path,),
            proof=("grep", item.path.rpartition("/")[2], f"/proc/{item.pid}/maps"),
        )
