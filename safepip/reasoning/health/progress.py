"""What a step of a repair plan has brought, or would bring: what ailed before it held against what ails after it."""

from __future__ import annotations

from collections.abc import Iterable

from safepip.model.diagnosis import Ailment, Check, Level

IMPORTS = frozenset({Check.MISSING_MODULE, Check.FAILING_IMPORT})


def mark(item: Ailment) -> tuple[str, str, str]:
    """What it is known by in two looks."""
    return item.check.value, item.distribution, item.soname or item.wants or (item.path or "")


def mended(before: Iterable[Ailment], after: Iterable[Ailment]) -> tuple[Ailment, ...]:
    """Those that are gone. An import that fails at another place now is none of them."""
    after = tuple(after)
    left, failing = set(map(mark, after)), set(map(_start, after)) - {None}
    return tuple(item for item in before if mark(item) not in left and _start(item) not in failing)


def worse(before: Iterable[Ailment], after: Iterable[Ailment]) -> tuple[Ailment, ...]:
    """What is broken after and was not before. Of an import that failed already one more reason may come to light."""
    broken = [item for item in before if item.level is Level.ERROR]
    known, failing = set(map(mark, broken)), set(map(_start, broken)) - {None}
    return tuple(
        item
        for item in after
        if item.level is Level.ERROR and mark(item) not in known and _start(item) not in failing
    )


def _start(item: Ailment) -> tuple[str, str] | None:
    """What is imported in vain: of each distribution the first failure is told."""
    return (item.distribution, item.chain[0]) if item.check in IMPORTS and item.chain else None
