"""What is kept of a change so that it can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from safepip.model.paths import TargetPath

BESIDE = ".safepip"
"""Ends the name of what is about to take a file's place: `.name.safepip` in the same folder."""

LAST = "last"
"""The file in `.safepip` that has the highest number of a change so far."""

DIGESTED = 1 << 20
"""Larger files are told by size and time alone: reading them would cost more than the removal."""


class ItemKind(Enum):
    FILE = "file"  # goes; its content is kept
    LINK = "link"  # goes; where it leads is kept
    FOLDER = "folder"  # goes, with all in it
    PARENT = "parent"  # stays, and loses something: its times change
    CHANGED = "changed"  # stays, with other bytes
    ARRIVED = "arrived"  # a file or link that was not there; `content` is a second name for what came
    ARRIVED_FOLDER = "arrived folder"


class Item(NamedTuple):
    """One path below a receipt's home, as it was before the change."""

    kind: ItemKind
    path: str  # relative to the home, without links on the way
    mode: int
    mtime: int  # nanoseconds
    size: int = 0
    content: int = -1  # the number under which its bytes lie in the vault
    successor: int = -1  # of CHANGED: the number of the bytes that take their place
    goal: str = ""  # of a link
    digest: str = ""  # sha256 of what is kept, where that is at most `DIGESTED` bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """One change, with all that is needed to go from before to after and back."""

    home: TargetPath  # the prefix that it lies in; it speaks of nothing outside
    id: int
    time: float
    command: tuple[str, ...]
    leaving: tuple[tuple[str, str], ...]  # names and versions
    items: tuple[Item, ...]
    leftovers: tuple[str, ...] = ()  # pip's `~name` folders beside the items that were there before
    unkept: tuple[TargetPath, ...] = ()  # go as well, and lie outside the home or could not be kept
    unmet: tuple[str, ...] = ()  # libraries that modules of it needed and did not find before it went
    arriving: tuple[tuple[str, str], ...] = ()  # of an install: names and versions
    complete: bool = True  # not an install that was cut off, or that its installer gave up

    @property
    def folder(self) -> str:
        return f"{self.home}/.safepip/vault/{self.id}"

    @property
    def is_install(self) -> bool:
        return any(item.kind in {ItemKind.ARRIVED, ItemKind.ARRIVED_FOLDER} for item in self.items) or bool(
            self.arriving
        )

    @property
    def lost(self) -> frozenset[TargetPath]:
        """Files and links that an undo brings back."""
        return frozenset(map(self.place, self.of(ItemKind.FILE, ItemKind.LINK, ItemKind.CHANGED)))

    def place(self, item: Item) -> TargetPath:
        return TargetPath(f"{self.home}/{item.path}")

    def content(self, number: int) -> str:
        return f"{self.folder}/{number}"

    def of(self, *kinds: ItemKind) -> list[Item]:
        return [item for item in self.items if item.kind in kinds]


class Action(Enum):
    REMOVING = "removing"
    UNDOING = "undoing"
    INSTALLING = "installing"


class Entry(NamedTuple):
    """The journal: which change is under way."""

    action: Action
    id: int
    what: str  # the distributions, for people


@dataclass(frozen=True, slots=True)
class Kept:
    """How a change ended: with what to undo it by, or the reason why there is nothing."""

    exit_code: int
    receipt: Receipt | None = None
    bytes: int = 0  # that nothing else links
    unkept: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Undone:
    """A change taken back, or what stands in the way of that."""

    receipt: Receipt
    in_the_way: tuple[TargetPath, ...] = ()
    unmet: tuple[str, ...] = ()  # libraries that it found before it went, and does not find now
    notes: tuple[str, ...] = ()


class Held(NamedTuple):
    """A receipt as `safepip history` lists it."""

    receipt: Receipt
    bytes: int  # that nothing else links: what letting it go would free


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is kept, the newest first, and the change that a run could not end."""

    held: tuple[Held, ...]
    unfinished: tuple[Entry, ...] = ()
