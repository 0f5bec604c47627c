"""The tree as an undo of a kept change would leave it."""

from __future__ import annotations

from collections.abc import Iterable

from safepip.model.receipt import ItemKind, Receipt
from safepip.reading import tree
from safepip.reading.layer import Layers
from safepip.reading.sites import standing


def layers(receipt: Receipt) -> Layers:
    """What the change brought goes as far as it is still that; folders that nothing else lies in go with it."""
    came = {
        receipt.place(item)
        for item in receipt.of(ItemKind.ARRIVED)
        if tree.root() is not None or standing.is_what_came(receipt, item)
    }
    folders = map(receipt.place, receipt.of(ItemKind.ARRIVED_FOLDER))
    return Layers(
        files={
            receipt.place(item): receipt.content(item.content)
            for item in receipt.of(ItemKind.FILE, ItemKind.CHANGED)
        },
        links={receipt.place(item): item.goal for item in receipt.of(ItemKind.LINK)},
        folders=tuple(map(receipt.place, receipt.of(ItemKind.FOLDER))),
        gone=frozenset(_with_emptied(came, folders)),
    )


def _with_emptied(gone: Iterable[str], folders: Iterable[str]) -> set[str]:
    """Byte code keeps no folder."""
    going = set(gone)
    for folder in sorted(folders, key=lambda path: -path.count("/")):
        try:
            names = tree.listdir(folder)
        except OSError:
            continue
        if all(name == "__pycache__" or f"{folder}/{name}" in going for name in names):
            going.add(folder)
    return going
