"""A removal together with all who need it, and what of it nobody needs: proposed only as sets that the judge lets go.

Who needs it is known of what was judged. Whoever needs one of those in turn, and says so nowhere, shows when the
larger set is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey
from safepip.model.report import Decision, FindingKind, Remedy, Verdict
from safepip.reasoning.verdict.remedy import NEEDED, consumers, missed, only, together

MOST_TRIED = 4  # sets
MOST_TOGETHER = (
    12  # distributions: nobody gives up more for one, and judging them takes longer than the first verdict
)
JOINABLE = NEEDED | {FindingKind.FILE_LOST}  # who loses a file with one of the set can go with it, too

Judged = Callable[[Sequence[DistKey]], Verdict]


def proven(verdict: Verdict, inventory: Inventory, judged: Judged) -> Verdict:
    """`verdict` with the sets among its ways out grown until `judged` refuses them no more, or left out.

    What may go of several is told before the advice to keep the rest.
    """
    remedies = list(_remedies(verdict, inventory, judged))
    alone = _alone(verdict, judged)
    if alone:
        place = next((number for number, item in enumerate(remedies) if not item.commands), 0)
        remedies.insert(place, only(verdict, alone))
    return replace(verdict, remedies=tuple(remedies))


def is_wanted(verdict: Verdict) -> bool:
    """Whether there are sets to be judged: each takes about as long as the first verdict."""
    return any(item.along for item in verdict.remedies) or bool(_rest(verdict))


def without(verdict: Verdict) -> Verdict:
    """`verdict` without ways out that nobody has judged."""
    return replace(verdict, remedies=tuple(item for item in verdict.remedies if not item.along))


def _remedies(verdict: Verdict, inventory: Inventory, judged: Judged) -> Iterator[Remedy]:
    for item in verdict.remedies:
        if not item.along:
            yield item
        elif more := _settled(item.along, verdict, inventory, judged):
            yield together(verdict, more)


def _settled(
    more: tuple[Distribution, ...], verdict: Verdict, inventory: Inventory, judged: Judged
) -> tuple[Distribution, ...]:
    for _ in range(MOST_TRIED):
        if len(more) > MOST_TOGETHER:
            return ()
        joint = judged([dist.key for dist in (*verdict.removal.leaving, *more)])
        if joint.decision is not Decision.REFUSE:
            return more
        wider = consumers(joint, inventory, JOINABLE)
        if not wider:
            return ()
        more = tuple(sorted((*more, *wider), key=lambda dist: dist.key))
    return ()


def _alone(verdict: Verdict, judged: Judged) -> tuple[Distribution, ...]:
    """What is left of the set when all goes out of it that is missed."""
    rest = _rest(verdict)
    for _ in range(MOST_TRIED):
        if not rest:
            break
        smaller = judged([dist.key for dist in rest])
        if smaller.decision is not Decision.REFUSE:
            return rest
        rest = _rest(smaller)
    return ()


def _rest(refused: Verdict) -> tuple[Distribution, ...]:
    """Nothing where the findings name nobody, or it is no refusal."""
    needed = missed(refused)
    return tuple(dist for dist in refused.removal.leaving if needed and dist not in needed)
