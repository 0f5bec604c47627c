"""What of a look counts for its exit code: all but what a baseline or the configuration knows, and that is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from safepip.model.report import Remarks, Severity

if TYPE_CHECKING:
    from safepip.model.policy import Known, Policy
    from safepip.render.notices import Notice

REFUSED, WARNED = 10, 11


def known(policy: Policy, baseline: str | None) -> Mapping[str, Known]:
    """By fingerprint, what does not count."""
    from safepip.reading.settings import baseline as earlier

    return {**(earlier.read(baseline) if baseline else {}), **policy.ignored}


def exit_code(notices: Sequence[Notice], listed: Mapping[str, Known], *, fail_on_warn: bool) -> int:
    """What the new ones among `notices` come to."""
    worst = max((item.severity for item in notices if not item.is_known(listed)), default=Severity.NOTE)
    if worst is Severity.REFUSE:
        return REFUSED
    return WARNED if fail_on_warn and worst is Severity.WARN else 0


def remarks(notices: Sequence[Notice], listed: Mapping[str, Known], policy: Policy) -> Remarks:
    counting = [item for item in notices if item.severity is not Severity.NOTE]
    entries = [listed[item.fingerprint] for item in counting if item.is_known(listed)]
    return Remarks(tuple(_weakened(entries)), tuple(_ended(notices, policy)))


def _weakened(entries: Sequence[Known]) -> Iterator[str]:
    """By source, and for each entry of the configuration with its reason."""
    for entry in dict.fromkeys(entry._replace(worst=Severity.NOTE) for entry in entries):
        count = sum(item._replace(worst=Severity.NOTE) == entry for item in entries)
        until = f" until {entry.until}" if entry.until else ""
        because = f": {entry.reason}" if entry.reason else ""
        yield f"{count} of these {'does' if count == 1 else 'do'} not count{until}, by {entry.source}{because}"


def _ended(notices: Sequence[Notice], policy: Policy) -> Iterator[str]:
    for item in notices:
        entry = policy.ended.get(item.fingerprint)
        if entry is not None and item.fingerprint not in policy.ignored:
            what = f"{item.rule} of {item.distribution}" if item.distribution else item.rule
            yield f"{what} counts again since {entry.until} is over: {entry.source} ignored it ({entry.reason})"
