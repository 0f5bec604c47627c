"""A change with a way back: kept before it happens, journalled while it does, ended by the next run if cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from safepip.acting import journal, lock, turning, vault
from safepip.errors import SafepipError
from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.model.receipt import Action, Entry, Kept, Receipt
from safepip.reading import receipts, standing

Act = Callable[[Sequence[int]], int]
"""Does the change; is given the descriptors that must outlive safepip, and gives an exit code."""


def with_way_back(
    removal: Removal, target: Target, command: Sequence[str], act: Act, *, keep: bool = True
) -> Kept:
    """Let `act` do what `removal` foresees. Where it fails halfway, all is put back."""
    refuse_read_only(removal)
    home = receipts.home_of(removal, target)
    reason = "it lies outside the environment" if home is None else receipts.distrusted(home)
    if home is None or reason or not removal.files:
        return Kept(act(()), unkept=reason)
    try:
        handle = lock.open_in(vault.make_room(home))
    except OSError as error:
        return Kept(act(()), unkept=f"{home}/.safepip cannot be made: {error.strerror}")
    with lock.held(handle), mended(home):
        note = settle(home)
        kept = _kept(plan(removal, home, command, {}), home, lambda: act((handle,)), keep=keep)
    return (
        kept if not note else Kept(kept.exit_code, kept.receipt, kept.bytes, kept.unkept, (note, *kept.notes))
    )


def refuse_read_only(removal: Removal) -> None:
    folder = standing.unwritable(removal)
    if folder is not None:
        raise SafepipError("read-only", f"{folder} cannot be written; nothing was touched")


def plan(
    removal: Removal, home: TargetPath, command: Sequence[str], replaced: Mapping[TargetPath, str]
) -> vault.Plan:
    """What to keep, under the next number."""
    number = max(receipts.numbers(home), default=0) + 1
    return vault.Plan(removal, number, tuple(command), _leftovers(home, removal), replaced)


def settle(home: TargetPath) -> str:
    """End what an earlier run could not, under the lock: a sentence about it, or "" where there was nothing."""
    vault.clear_stage(home)
    for number in receipts.numbers(home):
        if not receipts.is_whole(home, number):
            vault.drop(home, number)
    entry = receipts.journal(home)
    if entry is None:
        return ""
    if not receipts.is_whole(home, entry.id):
        journal.end(home)
        return ""
    receipt = receipts.load(home, entry.id)
    turning.clear_litter(standing.litter(receipt))
    if entry.action is Action.REMOVING and standing.is_done(receipt):
        turning.clear_wreckage(standing.wreckage(receipt))
        turning.take_out(receipt)
        journal.end(home)
        return f"the removal of {entry.what} had been cut off; it is complete now"
    return _back(receipt, entry)


def _back(receipt: Receipt, entry: Entry) -> str:
    doing = "removal" if entry.action is Action.REMOVING else "undoing the removal"
    taken = standing.in_the_way(receipt)
    if taken:
        journal.end(receipt.home)
        return (
            f"the {doing} of {entry.what} had been cut off, and {taken[0]} has taken its place since: "
            f"it is left as it is"
        )
    put_back(receipt)
    journal.end(receipt.home)
    vault.drop(receipt.home, receipt.id)
    ending = "everything is back" if entry.action is Action.REMOVING else "it is complete now"
    return f"the {doing} of {entry.what} had been cut off; {ending}"


def put_back(receipt: Receipt) -> None:
    """To before the change, whatever was done of it, and checked."""
    turning.clear_wreckage(standing.wreckage(receipt))
    turning.put_back(receipt)
    turning.verify(receipt)


@contextmanager
def mended(home: TargetPath) -> Iterator[None]:
    """Whatever ends this run early, an error or ctrl-C, is ended here as the next run would."""
    try:
        yield
    except OSError as error:
        settle(home)
        raise SafepipError("disk", f"{error.filename or home}: {error.strerror}") from error
    except BaseException:
        settle(home)
        raise


def _kept(planned: vault.Plan, home: TargetPath, act: Callable[[], int], *, keep: bool) -> Kept:
    what = ", ".join(f"{dist.name} {dist.version}" for dist in planned.removal.leaving)
    try:
        journal.begin(home, Entry(Action.REMOVING, planned.number, what))
        receipt = vault.keep(planned, home)
    except OSError as error:
        return Kept(act(), unkept=f"{error.filename or home}: {error.strerror}")
    except vault.NotKeptError as error:
        journal.end(home)
        return Kept(act(), unkept=error.message)
    return sealed(receipt, act(), keep=keep)


def sealed(receipt: Receipt, exit_code: int, *, keep: bool) -> Kept:
    """End the change by what is there now, and let go of what is too much to keep."""
    if standing.is_untouched(receipt):
        journal.end(receipt.home)
        vault.drop(receipt.home, receipt.id)
        return Kept(exit_code)
    if exit_code and not standing.is_done(receipt):
        put_back(receipt)
        journal.end(receipt.home)
        vault.drop(receipt.home, receipt.id)
        return Kept(exit_code, notes=("pip stopped halfway; everything was put back",))
    journal.end(receipt.home)
    size = receipts.own_bytes(receipt.folder)
    reason = "" if keep else "--no-keep"
    if size > vault.BYTES:
        reason = f"it takes {size / 1e9:.1f} GB, more than is kept"
    if reason:
        vault.drop(receipt.home, receipt.id)
        return Kept(exit_code, unkept=reason)
    for number in vault.excess([(item.receipt.id, item.bytes) for item in receipts.held(receipt.home)]):
        vault.drop(receipt.home, number)
    return Kept(exit_code, receipt, size)


def _leftovers(home: TargetPath, removal: Removal) -> tuple[str, ...]:
    paths = (*removal.files, *removal.folders)
    inside = {path.rpartition("/")[0][len(home) + 1 :] for path in paths if path.startswith(f"{home}/")}
    return standing.tildes(home, inside)
