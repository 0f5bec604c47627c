"""`safepip install`: pip does it on an environment that is kept meanwhile; then both worlds are judged."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from safepip.acting import difference, journal, lock, snapshot, vault
from safepip.commands import before_install, install, keeping
from safepip.commands.target import Found
from safepip.errors import SafepipError
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.model.receipt import Action, Entry, Receipt
from safepip.model.report import Decision, Remedy, Verdict
from safepip.model.snapshot import Difference, Snapshot
from safepip.reading.pythons import interpreter
from safepip.reading.sites import receipts, snapshots
from safepip.reading.sites.homes import homes_of

BROKE = 13
Bounded = Callable[[], AbstractContextManager[None]]
"""Ends what takes too long."""

_SECRET = re.compile(r"://[^/@\s]*@")  # a user and a password in an address


@dataclass(frozen=True, slots=True)
class Order:
    """An install that is to be made, and who makes it."""

    words: tuple[str, ...]
    found: Found
    environ: Mapping[str, str]
    start: tuple[str, ...]  # the words that start the installer
    act: Callable[
        [Sequence[str], Sequence[int]], int
    ]  # with those, and descriptors that must outlive safepip
    bounded: Bounded


@dataclass(frozen=True, slots=True)
class Done:
    """What became of an install. Without a receipt nothing is kept: nothing got worse, or it cannot be."""

    exit_code: int
    pip_exit_code: int
    receipt: Receipt | None = None
    verdict: Verdict | None = None  # where it was judged
    unjudged: str = ""
    notes: tuple[str, ...] = ()

    @property
    def broke(self) -> bool:
        return self.verdict is not None and self.verdict.decision is Decision.REFUSE

    @property
    def stopped(self) -> bool:
        """Pip ended with an error and has changed something by then."""
        return bool(self.pip_exit_code) and self.receipt is not None


def home_of(found: Found) -> TargetPath | None:
    """Where pip will install, and so where what it changes is kept; None where it cannot write, as it will say itself."""
    target = found.target
    prefix = TargetPath(os.path.realpath(target.prefix))
    sites = [os.path.realpath(site) for site in target.sites]
    if any(os.access(site, os.W_OK) for site in sites if site.startswith(f"{prefix}/")):
        return prefix
    return next((home for home in homes_of(target) if home != prefix and os.access(home, os.W_OK)), None)


def run(order: Order, home: TargetPath) -> Done:
    """Let pip do it, and judge. Where nothing got worse, nothing is kept."""
    target = order.found.target
    interpreter.refuse_foreign_target(target)
    reason = receipts.distrusted(home)
    if reason:
        return _unkept(order, (), reason)
    try:
        handle = lock.open_in(vault.make_room(home))
    except OSError as error:
        return _unkept(order, (), f"{home}/.safepip cannot be made: {error.strerror}")
    with lock.held(handle), keeping.mended(home):
        notes = tuple(filter(None, [keeping.settle(home)]))
        earlier = before_install.look(order.found, order.environ)
        number = receipts.following(target)
        words = tuple(_SECRET.sub("://", word) for word in order.words)
        program = os.path.basename(order.start[0]) if len(order.start) == 1 else "pip"
        journal.begin(home, Entry(Action.INSTALLING, number, " ".join((program, *words))))
        try:
            start = _kept(order, home, number, words)
        except (OSError, vault.NotKeptError) as error:
            journal.end(home)
            said = error.message if isinstance(error, SafepipError) else str(error)
            return _unkept(order, (handle,), said)
        code = order.act(start, (handle,))
        return replace(_weighed(code, snapshots.load(home, number), earlier, order), notes=notes)


def take_back(done: Done) -> None:
    """To before the install."""
    if done.receipt is None:
        return
    home = done.receipt.home
    with keeping.held(home):
        journal.begin(home, Entry(Action.UNDOING, done.receipt.id, " ".join(done.receipt.command)))
        keeping.put_back(done.receipt)
        journal.end(home)
        vault.drop(home, done.receipt.id)


def _kept(order: Order, home: TargetPath, number: int, words: Sequence[str]) -> Sequence[str]:
    """The words to start the installer with, so that what it changes is kept as it goes; or all is kept now."""
    target = order.found.target
    folder = snapshot.begin(home, number, words)
    start = snapshot.watched(order.start, target, home, folder, _tops(target, home))
    if start is not None:
        return start
    snapshot.keep_all(home, folder, _tops(target, home))
    return order.start


def _tops(target: Target, home: TargetPath) -> list[str]:
    """What an installer may change, where it does not tell: all of a virtual environment."""
    if target.is_venv:
        return [""]
    folders = [os.path.realpath(folder) for folder in (*target.sites, target.scripts)]
    return sorted({folder[len(home) + 1 :] for folder in folders if folder.startswith(f"{home}/")})


def _unkept(order: Order, handles: Sequence[int], reason: str) -> Done:
    code = order.act(order.start, handles)
    return Done(
        code or SafepipError.exit_code,
        code,
        unjudged=f"the environment was not kept, so this install cannot be taken back: {reason}",
    )


def _weighed(code: int, kept: Snapshot, earlier: before_install.Earlier, order: Order) -> Done:
    changed = difference.compare(kept)
    if not changed:
        _let_go(kept)
        return Done(code, code)
    verdict, unjudged = None, ""
    try:
        with order.bounded():
            verdict = _judged(kept, changed, earlier, order)
    except Exception as error:  # noqa: BLE001  the install is done: what it did must be told, and can be undone
        said = error.message if isinstance(error, SafepipError) else f"{type(error).__name__}: {error}"
        unjudged = f"this install is not judged: {said}"
    if not code and verdict is not None and verdict.decision is Decision.ALLOW:
        _let_go(kept)
        return Done(code, code, verdict=verdict)
    receipt = difference.seal(kept, changed, complete=not code)
    journal.end(kept.home)
    vault.bound(kept.home, receipts.held(kept.home), order.found.policy.keeps, spared=receipt.id)
    if verdict is None:
        return Done(code or SafepipError.exit_code, code, receipt, verdict, unjudged)
    if verdict.decision is Decision.ALLOW:
        return Done(code, code, receipt, verdict, unjudged)
    broke = BROKE if verdict.decision is Decision.REFUSE else 0
    return Done(code or broke, code, receipt, _with_way_back(verdict, receipt), _incomplete(receipt))


def _incomplete(receipt: Receipt) -> str:
    """Where the bytes of before are not known, neither is what their loss means."""
    if not receipt.unkept:
        return ""
    return (
        f"{len(receipt.unkept)} of the files that were changed could not be kept, {receipt.unkept[0]} first: "
        f"what follows may lack something, and undo cannot bring these back"
    )


def _judged(kept: Snapshot, changed: Difference, earlier: before_install.Earlier, order: Order) -> Verdict:
    both = before_install.both(kept, changed, earlier)
    return install.verdict_of(both, order.found.policy, ())


def _let_go(kept: Snapshot) -> None:
    journal.end(kept.home)
    vault.drop(kept.home, kept.number)


def _with_way_back(verdict: Verdict, receipt: Receipt) -> Verdict:
    undo = ("safepip", "--python", verdict.target.executable, "undo", str(receipt.id))
    way_back = Remedy("Take the install back: everything as it was before", (undo,))
    others = tuple(item for item in verdict.remedies if item.commands)
    return replace(verdict, remedies=(way_back, *others))
