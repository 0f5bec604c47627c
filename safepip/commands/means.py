"""What there is to mend an environment with: kept changes, intruders that may go, and where things came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from safepip.commands import safely, undo
from safepip.commands.examine import examine
from safepip.commands.patient import Patient
from safepip.commands.scene import Scene
from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.paths import DistKey
from safepip.model.receipt import Receipt
from safepip.model.report import Decision
from safepip.model.request import Safe
from safepip.reading import plain_file, tree
from safepip.reading.sites import earlier, receipts
from safepip.reading.sites.homes import homes_of
from safepip.reading.sites.metadata import canonical
from safepip.reasoning.health import audit as auditing
from safepip.reasoning.health import progress, repair, undoing
from safepip.reasoning.verdict.judge import judge

Look = Callable[[Scene], Iterable[Ailment]]


def of(patient: Patient, ailments: Sequence[Ailment], look: Look) -> repair.Means:
    """`look`: what ailed another environment."""
    scene = patient.scene
    kept = tuple(_kept(scene, ailments, look)) if any(item.level > Level.NOTE for item in ailments) else ()
    wanted = {key for item in ailments for key in item.mended_by}
    urls = {key: url for key in wanted if (url := _url(key, scene))}
    packages = {
        dist.key: patient.packages[dist.info]
        for dist in scene.inventory.distributions
        if dist.info in patient.packages
    }
    removable = dict(_removable(patient, ailments))
    return repair.Means(kept, removable, urls, packages, patient.stale)


def _kept(scene: Scene, ailments: Sequence[Ailment], look: Look) -> Iterator[undoing.Kept]:
    """What can be undone as things stand, and would mend something and break nothing: the world of before the change
    is looked at as this one is.
    """
    for home in homes_of(scene.target):
        for receipt in (held.receipt for held in receipts.held(home)):
            if not undoing.may_mend(_touched(receipt), ailments, scene.inventory):
                continue
            if tree.root() is None and undo.hindrances(receipt, scene.inventory):
                continue
            with tree.under(earlier.layers(receipt)):
                after = tuple(look(Scene(scene.target, scene.environ)))
            mends = progress.mended(ailments, after)
            if mends and not progress.worse(ailments, after):
                names = ", ".join(name for name, _ in receipt.leaving or receipt.arriving)
                did = "removed" if not receipt.is_install else "replaced" if receipt.leaving else "installed"
                yield undoing.Kept(receipt.id, f"{did} {names}", mends)


def _touched(receipt: Receipt) -> undoing.Touched:
    names = (name for name, _ in (*receipt.leaving, *receipt.arriving))
    return undoing.Touched(frozenset(map(canonical, names)), frozenset(map(receipt.place, receipt.items)))


def _url(key: DistKey, scene: Scene) -> str:
    """Where it was installed from, if that was an archive or a repository (direct_url.json)."""
    dist = scene.inventory.find(key)
    try:
        origin = json.loads(plain_file.content(f"{dist.info if dist else ''}/direct_url.json"))
        if "vcs_info" in origin:
            at = origin["vcs_info"]
            return f"{key} @ {at['vcs']}+{origin['url']}@{at['commit_id']}"
        return f"{key} @ {origin['url']}" if "archive_info" in origin else ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _removable(
    patient: Patient, ailments: Iterable[Ailment]
) -> Iterator[tuple[tuple[str, ...], frozenset[DistKey]]]:
    """Whose bytes lie in another's place, and who could go safely, together if that is safe too: nobody else needs
    it, says the judge.
    """
    if not any(item.check is Check.OVERWRITTEN for item in ailments):
        return
    owners: dict[str, set[DistKey]] = {}
    for owner, item in patient.overwritten:
        owners.setdefault(item.bytes_of, set()).add(owner.key)
    keys = {dist.name: dist.key for dist in patient.scene.inventory.distributions}
    names = [name for name in owners if name in keys and _may_go([keys[name]], patient)]
    if len(names) > 1 and _may_go([keys[name] for name in names], patient):
        yield tuple(names), frozenset().union(*(owners[name] for name in names))
    else:
        for name in names:
            yield (name,), frozenset(owners[name])


def _may_go(keys: Sequence[DistKey], patient: Patient) -> bool:
    plain = judge(examine(keys, patient.scene).evidence, patient.policy)
    if not auditing.safe_would_do(plain):
        return False
    sparing = safely.spare(keys, patient.scene, Safe.RESTORE)
    spared = judge(examine(keys, patient.scene, sparing.removal).evidence, patient.policy)
    return spared.decision is not Decision.REFUSE
