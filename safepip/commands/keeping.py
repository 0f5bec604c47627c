"""A change with a way back: kept before it happens, journalled while it does, ended by the next run if cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from safepip.acting import journal, lock, turning, vault
from safepip.errors import SafepipError
from safepip.model.change import Removal
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.model.policy import Bounds
from safepip.model.receipt import Action, Entry, Kept, Receipt
from safepip.reading.sites import receipts, standing
from safepip.reading.sites.homes import homes_of

Act = Callable[[Sequence[int]], int]
"""Does the change; is given the descriptors that must outlive safepip, and gives an exit code."""


class Order(NamedTuple):
    """A change that has been judged and is to be made."""

    removal: Removal
    target: Target
    command: tuple[str, ...]  # the user's words
    still: Callable[[], bool]  # what was judged is there; asked when no other safepip can change it
    keeps: Bounds | None = Bounds()  # None: nothing
    unmet: tuple[str, ...] = ()  # see `Receipt`


class OvertakenError(SafepipError):
    """What was judged is not what is there any more; nothing has been touched."""


def unfinished(target: Target) -> tuple[Entry, ...]:
    """Changes that an earlier run could not end, or that another is at."""
    entries = [receipts.journal(home) for home in homes_of(target) if not receipts.distrusted(home)]
    return tuple(entry for entry in entries if entry is not None)


def mend(target: Target) -> tuple[str, ...]:
    """End what an earlier run could not, before anything is judged; a sentence about each."""
    notes = []
    for home in homes_of(target):
        if not receipts.distrusted(home) and receipts.journal(home) is not None:
            with held(home) as (_, note):
                notes.append(note)
    return tuple(filter(None, notes))


def with_way_back(order: Order, act: Act) -> Kept:
    """Let `act` do what is ordered. Where it fails halfway, all is put back."""
    removal, target = order.removal, order.target
    if not removal.files:
        return Kept(act(()))
    refuse_read_only(removal)
    home = receipts.home_of(removal, target)
    reason = "it lies outside the environment" if home is None else receipts.distrusted(home)
    if home is None or reason:
        return Kept(act(()), unkept=reason)
    try:
        handle = lock.open_in(vault.make_room(home))
    except OSError as error:
        return Kept(act(()), unkept=f"{home}/.safepip cannot be made: {error.strerror}")
    with lock.held(handle), mended(home):
        expect(order, settle(home))
        return _kept(plan(order, home, {}), home, lambda: act((handle,)), order.keeps)


@contextmanager
def held(home: TargetPath) -> Iterator[tuple[int, str]]:
    """The lock, and what an earlier run had left open, which is ended now."""
    try:
        handle = lock.open_in(vault.make_room(home))
    except OSError as error:
        raise SafepipError("disk", f"{home}/.safepip cannot be written: {error.strerror}") from error
    with lock.held(handle), mended(home):
        yield handle, settle(home)


def expect(order: Order, note: str) -> None:
    """Nothing of what was judged has changed, a mended change included."""
    if note or not order.still():
        raise OvertakenError("overtaken", note or "the environment has changed since it was judged")


def refuse_read_only(removal: Removal) -> None:
    folder = standing.unwritable(removal)
    if folder is not None:
        raise SafepipError("read-only", f"{folder} cannot be written; nothing was touched")


def plan(order: Order, home: TargetPath, replaced: Mapping[TargetPath, str]) -> vault.Plan:
    """What to keep, under the next number."""
    leftovers = _leftovers(home, order.removal)
    number = receipts.following(order.target)
    return vault.Plan(order.removal, number, order.command, leftovers, replaced, order.unmet)


def settle(home: TargetPath) -> str:
    """End what an earlier run could not, under the lock: a sentence about it, or "" where there was nothing."""
    vault.clear_stage(home)
    entry = receipts.journal(home)
    if entry is not None and entry.action is Action.INSTALLING:
        return _settle_install(home, entry)
    _drop_halves(home)
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


def _drop_halves(home: TargetPath) -> None:
    """What had not been kept whole, or not been let go whole."""
    for number in receipts.numbers(home):
        if not receipts.is_whole(home, number):
            vault.drop(home, number)


def _settle_install(home: TargetPath, entry: Entry) -> str:
    """Whatever pip had done by then stays, with the way back."""
    from safepip.acting import difference
    from safepip.reading.sites import snapshots

    if entry.id in receipts.numbers(home) and not receipts.is_whole(home, entry.id):
        try:
            kept = snapshots.load(home, entry.id)
        except receipts.DistrustedError as error:
            journal.end(home)
            _drop_halves(home)
            return f"`{entry.what}` had been cut off, and cannot be taken back: {error.message}"
        changed = difference.compare(kept)
        if changed:
            difference.seal(kept, changed, complete=False)
    whole = receipts.is_whole(home, entry.id)
    journal.end(home)
    _drop_halves(home)
    return f"`{entry.what}` had been cut off; to take it back: safepip undo {entry.id}" if whole else ""


def _back(receipt: Receipt, entry: Entry) -> str:
    doing = "removal" if entry.action is Action.REMOVING else "undoing the removal"
    if receipt.is_install:
        doing = "undoing the install"
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


def _kept(planned: vault.Plan, home: TargetPath, act: Callable[[], int], keeps: Bounds | None) -> Kept:
    what = ", ".join(f"{dist.name} {dist.version}" for dist in planned.removal.leaving)
    try:
        journal.begin(home, Entry(Action.REMOVING, planned.number, what))
        receipt = vault.keep(planned, home)
    except OSError as error:
        return Kept(act(), unkept=f"{error.filename or home}: {error.strerror}")
    except vault.NotKeptError as error:
        journal.end(home)
        return Kept(act(), unkept=error.message)
    return sealed(receipt, act(), keeps)


def sealed(receipt: Receipt, exit_code: int, keeps: Bounds | None) -> Kept:
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
    reason = "--no-keep" if keeps is None else ""
    if keeps is not None and (size > keeps.bytes or not keeps.changes):
        reason = f"it takes {size / 1e9:.1f} GB, more than is kept"
    if keeps is None or reason:
        vault.drop(receipt.home, receipt.id)
        return Kept(exit_code, unkept=reason)
    vault.bound(receipt.home, receipts.held(receipt.home), keeps)
    return Kept(exit_code, receipt, size)


def _leftovers(home: TargetPath, removal: Removal) -> tuple[str, ...]:
    paths = (*removal.files, *removal.folders)
    inside = {path.rpartition("/")[0][len(home) + 1 :] for path in paths if path.startswith(f"{home}/")}
    return standing.tildes(home, inside)
