"""`uninstall --safe`: what a survivor owns stays, with the survivor's own bytes; safepip deletes the rest itself.

pip could be made to, with the shared rows taken out of the RECORD that it reads. Then a kill would leave a
changed RECORD, and pip's own wreckage, to be mended; and the survivor's files would hang on pip's reading of
that RECORD. Here each step is one of ours, kept and journalled, and what stays is never touched at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from safepip.acting import arriving, fetching, journal, turning, vault
from safepip.commands import keeping
from safepip.commands.scene import Scene
from safepip.errors import SafepipError
from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Bounds
from safepip.model.receipt import Action, Entry, Kept
from safepip.model.request import Safe
from safepip.model.sparing import Sparing
from safepip.model.survey import SharedFile
from safepip.reading.pythons import interpreter
from safepip.reading.sites import receipts, record, shares
from safepip.reasoning.changes import removal, safe

Staged = Mapping[TargetPath, str]
"""For each path that is to get other bytes, where they lie meanwhile."""


def spare(keys: Sequence[DistKey], scene: Scene, mode: Safe) -> Sparing:
    """What a safe removal of `keys` would leave and take. Every shared file is read: its digest decides."""
    planned = removal.plan(keys, scene.inventory, scene.disk)
    looked = [_digested(item, planned.leaving) for item in shares.read(planned, scene.inventory)]
    return safe.spare(planned, looked, scene.disk, keep_foreign=mode is Safe.KEEP)


@contextmanager
def own_bytes(sparing: Sparing | None, target: Target, environ: Mapping[str, str]) -> Iterator[Staged]:
    """The bytes that survivors are to get, outside the environment: it is not touched before they are judged."""
    if sparing is None or not sparing.restored:
        yield {}
        return
    keeping.refuse_read_only(sparing.removal)
    interpreter.refuse_foreign_target(target)
    with arriving.workshop() as folder:
        try:
            staged = fetching.fetch(sparing.restored, target, environ, folder)
        except OSError as error:
            raise SafepipError("disk", f"{error.filename or folder}: {error.strerror}") from error
        yield staged


def remove(order: keeping.Order, staged: Staged) -> Kept:
    """Take out what goes and put `staged` in place: all of it, or nothing."""
    planned, target = order.removal, order.target
    keeping.refuse_read_only(planned)
    home = receipts.home_of(planned, target)
    reason = "it lies outside the environment" if home is None else receipts.distrusted(home)
    if home is None or reason:
        raise SafepipError("not-safe", f"--safe must keep what it removes, and cannot: {reason}")
    with keeping.held(home) as (_, note):
        keeping.expect(order, note)
        near = vault.bring(staged, home)
        kept = _take_out(keeping.plan(order, home, near), home, order.keeps)
        vault.clear_stage(home)
    return kept


def is_still_so(judged: Removal, scene: Scene, sparing: Sparing | None) -> bool:
    """Whether the environment is the one that was judged, with the same distributions and the same to go."""
    now = Scene(scene.target, scene.environ)
    planned = removal.plan([dist.key for dist in judged.leaving], now.inventory, now.disk)
    kept = sparing.kept if sparing else ()
    return now.inventory == scene.inventory and set(planned.files) == {*judged.files, *kept}


def _digested(item: SharedFile, leaving: Sequence[object]) -> SharedFile:
    claims = [
        item.claims[dist.key].digest
        for dist in item.owners
        if dist.key in item.claims and dist not in leaving
    ]
    like = next(filter(None, claims), "")
    if not like or item.digest.partition("=")[0] == like.partition("=")[0]:
        return item
    return replace(item, digest=record.digest(item.path, like))


def _take_out(plan: vault.Plan, home: TargetPath, keeps: Bounds | None) -> Kept:
    what = ", ".join(f"{dist.name} {dist.version}" for dist in plan.removal.leaving)
    journal.begin(home, Entry(Action.REMOVING, plan.number, what))
    receipt = vault.keep(plan, home)
    turning.take_out(receipt)
    return keeping.sealed(receipt, 0, keeps)
