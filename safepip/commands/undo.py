"""`safepip undo` and `safepip history`: what is kept, put back or let go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from safepip.acting import journal, turning, vault
from safepip.commands import keeping, libraries
from safepip.commands.scene import Scene
from safepip.errors import NotThereError, SafepipError
from safepip.model.environment import Inventory, Target
from safepip.model.paths import TargetPath
from safepip.model.receipt import Action, Entry, ItemKind, Ledger, Receipt, Undone
from safepip.reading.sites import receipts, site, standing
from safepip.reading.sites.homes import homes_of
from safepip.reading.sites.metadata import canonical

REFUSED, BROKE = 10, 13


def undo(target: Target, number: int | None) -> Undone:
    """Put back what change `number` took, or the last one; nothing of it where something has taken its place."""
    home = _home_with(target, number)
    with held(home) as note:
        chosen = number or max(
            filter(lambda n: receipts.is_whole(home, n), receipts.numbers(home)), default=0
        )
        receipt = receipts.load(home, chosen)
        notes = (note,) if note else ()
        edited = standing.edited(receipt)
        if edited:
            raise receipts.DistrustedError(
                "edited-vault", f"nothing is put back: {edited[0]} is not what was kept"
            )
        taken = hindrances(receipt, site.take_inventory(target))
        if taken:
            return Undone(receipt, taken, notes=notes)
        _put_back(receipt)
        return Undone(receipt, notes=notes)


def hindrances(receipt: Receipt, inventory: Inventory) -> tuple[TargetPath, ...]:
    """What stands in the way of undoing it."""
    return (*_installed_since(receipt, inventory), *standing.in_the_way(receipt))


def look_again(undone: Undone, scene: Scene) -> Undone:
    """Whether the modules that are back still find the libraries that they found before they went."""
    receipt = undone.receipt
    paths = [receipt.place(item) for item in receipt.of(ItemKind.FILE, ItemKind.CHANGED)]
    whole = undone.in_the_way or receipt.is_install  # an install keeps the whole environment
    lost = () if whole else libraries.unmet(scene, paths)
    return replace(undone, unmet=tuple(name for name in lost if name not in receipt.unmet))


def history(target: Target) -> Ledger:
    """Looks only: an unfinished change is named and not ended."""
    homes = homes_of(target)
    kept = [held for home in homes for held in receipts.held(home)]
    kept.sort(key=lambda held: held.receipt.time, reverse=True)
    under_way = [receipts.journal(home) for home in homes]
    return Ledger(tuple(kept), tuple(entry for entry in under_way if entry is not None))


def drop(target: Target) -> Ledger:
    """Let go of everything that is kept; what it was is answered."""
    gone = history(target)
    for home in homes_of(target):
        if receipts.numbers(home) or receipts.journal(home) is not None:
            with held(home):
                for number in receipts.numbers(home):
                    vault.drop(home, number)
    return gone


def _installed_since(receipt: Receipt, inventory: Inventory) -> list[TargetPath]:
    """Metadata of the same distributions that came later: two at once would be what no installer makes."""
    gone = {canonical(name) for name, _ in (*receipt.leaving, *receipt.arriving)}
    own = {
        receipt.place(item).rpartition("/")[0]
        for item in receipt.of(ItemKind.FILE, ItemKind.CHANGED, ItemKind.ARRIVED)
    }
    return [
        dist.info
        for dist in inventory.distributions
        if dist.key in gone and dist.info not in own and standing.is_newer(dist.info, receipt.time)
    ]


def _home_with(target: Target, number: int | None) -> TargetPath:
    """The home that has the change, or the newest; a vault that cannot be believed ends the command."""
    homes = homes_of(target)
    found = []
    for home in homes:
        there = [kept for kept in receipts.numbers(home) if receipts.is_whole(home, kept)]
        wanted = there[-1:] if number is None else [kept for kept in there if kept == number]
        found += [(receipts.load(home, kept).time, home) for kept in wanted]
    if number is None:
        found += [(0.0, home) for home in homes if receipts.journal(home) is not None]
    if not found:
        which = "" if number is None else f" {number}"
        raise NotThereError(
            "nothing-to-undo",
            f"there is no change{which} to undo in {target.prefix}",
            "See `safepip history`.",
        )
    return max(found)[1]


@contextmanager
def held(home: TargetPath) -> Iterator[str]:
    """The lock, with whatever an earlier run left open ended first."""
    reason = receipts.distrusted(home)
    if reason:
        raise receipts.DistrustedError("distrusted-vault", f"nothing is changed in {home}: {reason}")
    with keeping.held(home) as (_, note):
        yield note


def _put_back(receipt: Receipt) -> None:
    what = ", ".join(f"{name} {version}" for name, version in receipt.leaving)
    missing = standing.missing(receipt)
    journal.begin(receipt.home, Entry(Action.UNDOING, receipt.id, what))
    try:
        keeping.put_back(receipt)
    except SafepipError:
        turning.clear_litter(standing.litter(receipt))
        turning.take_out(missing)
        turning.mend_folders(missing)
        journal.end(receipt.home)
        raise
    journal.end(receipt.home)
    vault.drop(receipt.home, receipt.id)
