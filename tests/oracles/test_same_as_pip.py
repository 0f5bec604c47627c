"""The plan against the deed: each case is planned, then done by a real pip, and compared path for path.

`SAFEPIP_ALL_PIPS=1` runs every case with every pip, which takes half an hour.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from safepip.model.change import Removal
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.sites.metadata import canonical
from safepip.reading.sites.site import take_inventory
from safepip.reasoning.changes.removal import plan
from support.boxes import Box
from support.pips import NEWEST, RUNNING, Pip
from support.removal_cases import CASES, Case

CURRENT = Pip(NEWEST, RUNNING)
OLDER = (Pip("22.3", "3.11"), Pip("24.0", RUNNING), Pip("26.1", RUNNING))
OTHERS = (
    *(
        Pip(version, RUNNING)
        for version in ("23.2.1", "24.1", "24.2", "24.3.1", "25.3", "26.1.2", "26.2", "26.3")
    ),
    *(Pip(version, "3.10") for version in ("22.3", "23.2.1", "26.3")),
)


def runs() -> Iterator[object]:
    everything = bool(os.environ.get("SAFEPIP_ALL_PIPS"))
    for pip in dict.fromkeys((CURRENT, *OLDER, *(OTHERS if everything else ()))):
        for case in CASES:
            if pip.backend in case.backends and (everything or pip == CURRENT or case.versions):
                yield pytest.param(case, pip, id=f"{case.name} - pip {pip.version} on {pip.python}")


@pytest.mark.parametrize(("case", "pip"), [*runs()])
def test_the_plan_is_what_pip_does(case: Case, pip: Pip, tmp_path: Path) -> None:
    box = Box(tmp_path, pip, system=case.system, site=case.site)
    names = case.build(box)
    target = box.target()
    keys = [canonical(name) for name in names]
    removal = box.asked(lambda: plan(keys, take_inventory(target), Disk()))
    before, planned_edits = box.snapshot(), edited(removal)
    deed = box.uninstall(*names, own_pip=case.own_pip)
    code = removal.halt.exit_code if removal.halt else 0
    assert (vanishing(removal, before), planned_edits, code) == (deed.gone, deed.changed, deed.code), (
        deed.said
    )


def vanishing(removal: Removal, before: Iterable[str]) -> frozenset[str]:
    """Every path of `before` that the plan takes: what lies in a folder goes with it."""
    below = tuple(f"{folder}/" for folder in removal.folders)
    planned = {path for path in before if path.startswith(below)} if below else set()
    listed = {path for path in before if TargetPath(path) in set(removal.files)}
    assert planned.union(removal.folders) >= {path for path in removal.files if path.startswith(below)}
    return frozenset(planned | listed | set(removal.folders))


def edited(removal: Removal) -> frozenset[str]:
    """The files that change: pip takes out a line only if it is there, word for word."""
    return frozenset(
        edit.file for edit in removal.edits if edit.line in Path(edit.file).read_text().splitlines()
    )
