"""Ways out of a refusal, the best first, as commands that can be pasted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from safepip.model.change import Why
from safepip.model.environment import Distribution, Inventory
from safepip.model.report import Finding, FindingKind, Remedy, Severity, Verdict
from safepip.reasoning.dependents import leading_to

NEEDED = frozenset(
    {
        FindingKind.LIBRARY_LOST,
        FindingKind.SYMBOL_LOST,
        FindingKind.IMPORT_LOST,
        FindingKind.REQUIREMENT_LOST,
        FindingKind.LAST_COPY,
    }
)
PACKAGE_MANAGERS: Mapping[Why, tuple[str, tuple[str, ...]]] = {
    Why.DPKG: ("apt", ("apt", "remove")),
    Why.CONDA: ("conda", ("conda", "remove")),
}


def propose(verdict: Verdict, inventory: Inventory) -> tuple[Remedy, ...]:
    """What to do instead. Empty where nothing was refused."""
    refused = [finding for finding in verdict.findings if finding.severity is Severity.REFUSE]
    if not refused:
        return ()
    required = any(
        finding.kind in {FindingKind.REQUIREMENT_LOST, FindingKind.IMPORT_LOST} for finding in refused
    )
    packaged = _packaged(verdict)
    safe = packaged or list(_safely(verdict, refused))
    keep, restore = list(_keep(verdict, refused)), list(_restore(verdict, refused, inventory))
    if not required and not safe:
        keep, restore = restore, keep
    return (
        *safe,
        *keep,
        *restore,
        *([together(verdict, users)] if (users := consumers(verdict, inventory)) else []),
        *([] if packaged else _replace(verdict, refused)),
        *_special(verdict, refused),
    )


def together(verdict: Verdict, more: Sequence[Distribution]) -> Remedy:
    """What goes, and `more` with it."""
    keys = _keys([*verdict.removal.leaving, *more])
    return Remedy(
        f"Remove what needs it as well: {_names(more)}",
        (_command(verdict, "uninstall", *keys),),
        tuple(more),
    )


def only(verdict: Verdict, dists: Sequence[Distribution]) -> Remedy:
    """Those of what goes that may go alone."""
    return Remedy(f"Remove only {_names(dists)}", (_command(verdict, "uninstall", *_keys(dists)),))


def consumers(
    verdict: Verdict, inventory: Inventory, kinds: frozenset[FindingKind] = NEEDED
) -> tuple[Distribution, ...]:
    """Who would have to go as well, by name; nobody where something is refused that is not of `kinds`, or that
    one's own code would lose.
    """
    refused = [finding for finding in verdict.findings if finding.severity is Severity.REFUSE]
    users = {finding.distribution for finding in refused}
    if not users <= {dist.name for dist in inventory.distributions}:
        return ()
    if not all(finding.kind in kinds for finding in refused):
        return ()
    going = [*verdict.removal.leaving, *(dist for dist in inventory.distributions if dist.name in users)]
    more = leading_to(going, inventory.distributions)
    return tuple(
        sorted((dist for dist in more if dist not in verdict.removal.leaving), key=lambda dist: dist.key)
    )


def mend(verdict: Verdict, inventory: Inventory) -> tuple[Remedy, ...]:
    """What brings back what a removal that was done all the same has broken."""
    broken = [finding for finding in verdict.findings if finding.severity is Severity.REFUSE]
    hurt = {finding.distribution for finding in broken if finding.kind is FindingKind.FILE_LOST}
    emptied = [
        dist for dist in inventory.distributions if dist.name in hurt and dist not in verdict.removal.leaving
    ]
    missed = (
        list(verdict.removal.leaving)
        if any(finding.kind in NEEDED for finding in broken) and not emptied
        else []
    )
    if not emptied and not missed:
        return ()
    return (
        Remedy(
            f"Put back {_names([*emptied, *missed])}",
            (_command(verdict, "install", "--no-deps", "--force-reinstall", *_pinned([*emptied, *missed])),),
        ),
    )


def _packaged(verdict: Verdict) -> list[Remedy]:
    """Where another package manager keeps what would go, it is that one's to remove."""
    return [
        Remedy(
            f"Remove it with {tool}, which keeps it",
            (verdict.target.inside(*command, *_prefix_of(why, verdict), *map(_without_version, packages)),),
        )
        for why, (tool, command) in PACKAGE_MANAGERS.items()
        if (packages := sorted({reach.owner for reach in verdict.removal.reaches if reach.why is why}))
    ]


def _without_version(package: str) -> str:
    return package.partition("=")[0]


def _prefix_of(why: Why, verdict: Verdict) -> tuple[str, ...]:
    return ("--prefix", verdict.target.prefix) if why is Why.CONDA else ()


def _safely(verdict: Verdict, refused: Sequence[Finding]) -> Iterator[Remedy]:
    """Where all that is lost lies at co-owned paths or beyond the distribution's own, leaving those alone loses nothing."""
    shared = {item.path for item in verdict.shared}
    helps = all(
        finding.kind in {FindingKind.FILE_LOST, FindingKind.REACH_BEYOND}
        or (finding.provider is not None and finding.provider.path in shared)
        for finding in refused
    )
    if helps and verdict.removal.leaving:
        yield Remedy(
            "Remove it safely: what others own as well stays, with their own bytes",
            (_command(verdict, "uninstall", "--safe", "-y", *_keys(verdict.removal.leaving)),),
        )


def _keep(verdict: Verdict, refused: Sequence[Finding]) -> Iterator[Remedy]:
    users = list(
        dict.fromkeys(
            finding.distribution
            for finding in refused
            if finding.kind in NEEDED or finding.kind is FindingKind.FILE_LOST
        )
    )
    if users:
        need = "needs" if len(users) == 1 else "need"
        shown = ", ".join(users[:3]) + (f" and {len(users) - 3} more" if len(users) > 3 else "")
        needed = missed(verdict) or verdict.removal.leaving
        yield Remedy(f"Keep {_names(needed)}: {shown} {need} {'it' if len(needed) == 1 else 'them'}")


def missed(verdict: Verdict) -> tuple[Distribution, ...]:
    """Of what goes, what somebody misses, as far as the findings that refuse name it."""
    refused = [finding for finding in verdict.findings if finding.severity is Severity.REFUSE]
    owners = {name for finding in refused if finding.provider for name in finding.provider.owners}
    paths = {path for finding in refused for path in finding.paths}
    return tuple(dist for dist in verdict.removal.leaving if dist.name in owners or dist.info in paths)


def _restore(verdict: Verdict, refused: Sequence[Finding], inventory: Inventory) -> Iterator[Remedy]:
    """Pip deletes what is co-owned whoever else owns it; the survivor's own wheel puts it back."""
    losing = {finding.distribution for finding in refused if finding.kind is FindingKind.FILE_LOST}
    losers = [dist for dist in inventory.distributions if dist.name in losing]
    if losers:
        yield Remedy(
            f"Remove it all the same, and at once put back the files of {_names(losers)}",
            (
                _command(verdict, "uninstall", "--force", "-y", *_keys(verdict.removal.leaving)),
                _command(verdict, "install", "--no-deps", "--force-reinstall", *_pinned(losers)),
            ),
        )


def _replace(verdict: Verdict, refused: Sequence[Finding]) -> Iterator[Remedy]:
    if any(finding.kind in NEEDED for finding in refused):
        yield Remedy(
            "If it was to be installed anew: do that in one step",
            (
                _command(
                    verdict, "install", "--no-deps", "--force-reinstall", *_pinned(verdict.removal.leaving)
                ),
            ),
        )


def _special(verdict: Verdict, refused: Sequence[Finding]) -> Iterator[Remedy]:
    kinds = {finding.kind for finding in refused}
    if FindingKind.SELF in kinds:
        names = [finding.distribution for finding in refused if finding.kind is FindingKind.SELF]
        yield Remedy(
            f"Keep {' and '.join(names)}; to renew it:", (_command(verdict, "install", "--upgrade", *names),)
        )
    if FindingKind.PROTECTED in kinds:
        yield Remedy(
            f"Take the name out of `protected` in {verdict.target.prefix}/.safepip/config.toml or your own configuration"
        )
    halt = verdict.removal.halt
    if halt is not None and halt.stuck:
        yield Remedy("Make that path writable for this user, then ask again")
    elif halt is not None:
        yield Remedy(
            f"Install {halt.name} over itself, which writes a RECORD, then remove it",
            (_command(verdict, "install", "--ignore-installed", "--no-deps", halt.name),),
        )
    if any(reach.why not in PACKAGE_MANAGERS for reach in verdict.removal.reaches):
        yield Remedy("Look at the RECORD of what is to go: these rows are not its own to delete")


def _command(verdict: Verdict, action: str, *words: str) -> tuple[str, ...]:
    return verdict.target.inside("safepip", "--python", verdict.target.executable, action, *words)


def _keys(dists: Sequence[Distribution]) -> list[str]:
    return [dist.key for dist in dists]


def _pinned(dists: Sequence[Distribution]) -> list[str]:
    return [f"{dist.key}=={dist.version}" if dist.version else dist.key for dist in dists]


def _names(dists: Sequence[Distribution]) -> str:
    names = [dist.name for dist in dists]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
