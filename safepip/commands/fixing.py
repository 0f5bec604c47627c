"""`safepip doctor --fix`: one step after the other, judged anew after each, and no further where it got worse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from safepip.acting import steps
from safepip.commands import doctor
from safepip.commands.scene import Scene
from safepip.model.diagnosis import Ailment, Check, Cure, Diagnosis
from safepip.model.environment import Target
from safepip.model.policy import Policy
from safepip.reasoning.health import progress

Tell = Callable[[Cure], None]
PUT_BACK = ("doctor", "--fix", "--only", Check.LEFTOVERS.value)


@dataclass(frozen=True, slots=True)
class Fixed:
    """How far it came."""

    now: Diagnosis
    done: tuple[Cure, ...]
    failed: Cure | None = None  # ended with an error, or made things worse
    exit_code: int = 0  # of the step that failed
    worse: tuple[Ailment, ...] = ()  # broken now and not before that step


def fix(
    cures: Sequence[Cure], found: Diagnosis, policy: Policy, environ: Mapping[str, str], tell: Tell
) -> Fixed:
    """Carry out `cures` of `found`. A step whose ailments are gone already is passed over."""
    now, done, carried = found, list[Cure](), False
    for cure in cures:
        carried = carried if cure.follows else _is_due(cure, now)
        if not carried:
            continue
        tell(cure)
        code = _carry_out(cure, found.target, policy, environ)
        before, now = now, doctor.diagnose(Scene(found.target, environ), policy, frozenset(Check))
        worse = progress.worse(before.ailments, now.ailments)
        if worse or code:
            return Fixed(now, tuple(done), cure, code, worse)
        done.append(cure)
    return Fixed(now, tuple(done))


def _is_due(cure: Cure, now: Diagnosis) -> bool:
    return not {progress.mark(item) for item in cure.cures}.isdisjoint(map(progress.mark, now.ailments))


def _carry_out(cure: Cure, target: Target, policy: Policy, environ: Mapping[str, str]) -> int:
    if cure.command[3:] == PUT_BACK:
        doctor.put_back_stashes(Scene(target, environ), policy)
        return 0
    return steps.run(cure.command, environ)
