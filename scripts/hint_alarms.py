"""How often a mere name of a library warns: every distribution of each environment removed alone, nothing touched.

Usage: hint_alarms.py ENV…

A removal counts as harmless where nothing but hints is found. Each hint is printed, so that a person can say
whether it is an alarm for nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from safepip.commands.examine import examine
from safepip.commands.scene import Scene
from safepip.model.policy import Policy
from safepip.model.report import FindingKind, Severity
from safepip.reading.pythons import targets
from safepip.reasoning.verdict.judge import judge


def main(environments: Sequence[str]) -> int:
    if not environments or "--help" in environments:
        print(__doc__)
        return 0 if environments else 2
    rows = [_measured(env) for env in environments]
    print(
        "\n| environment | removals | harmless | of these warned by a hint | share | hints in all | seconds |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    return 0


def _measured(env: str) -> tuple[object, ...]:
    scene = Scene(targets.read_target(f"{env}/bin/python", os.environ), os.environ)
    harmless = warned = hints = 0
    began = time.process_time()
    for dist in scene.inventory.distributions:
        verdict = judge(examine([dist.key], scene).evidence, Policy())
        weighty = [finding for finding in verdict.findings if finding.severity > Severity.NOTE]
        found = [finding for finding in weighty if finding.kind is FindingKind.DLOPEN_HINT]
        for finding in found:
            print(f"{dist.key}: {finding.message}")
        hints += len(found)
        if len(found) == len(weighty):
            harmless += 1
            warned += bool(found)
    spent = time.process_time() - began
    share = f"{100 * warned / max(harmless, 1):.1f} %"
    name = os.path.basename(env.rstrip("/"))
    return name, len(scene.inventory.distributions), harmless, warned, share, hints, f"{spent:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
