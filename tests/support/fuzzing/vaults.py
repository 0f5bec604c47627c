"""The vault of an environment: its journal, the manifest of a removal and the index of an install, each spoilt.

The next run ends what was under way, and undoes what it can: nothing outside the environment may be written,
linked or deleted for it, whatever they say.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from safepip.acting import journal, snapshot, turning, vault
from safepip.commands import keeping, undo
from safepip.errors import SafepipError
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.model.receipt import LAST, Action, Entry
from support.fuzzing.place import Place, place
from support.fuzzing.readers import Subject
from support.small import Small

_AT = "a/b/c"
_FILES = {"going/__init__.py": "x = 1\n", "going/data/table.txt": "1 2\n", "going.pth": "lib\n"}


def _removed(small: Small) -> None:
    """A removal, done and kept."""
    home = TargetPath(str(small.prefix))
    vault.make_room(home)
    planned = small.plan("going")
    receipt = vault.keep(vault.Plan(planned, 1, ("uninstall", "going")), home)
    turning.take_out(receipt)


def _cut_off(small: Small) -> None:
    """The same, ended in the midst of it."""
    home = TargetPath(str(small.prefix))
    vault.make_room(home)
    journal.begin(home, Entry(Action.REMOVING, 1, "going 1.0"))
    vault.keep(vault.Plan(small.plan("going"), 1, ("uninstall", "going")), home)
    (small.site / "going/__init__.py").unlink()


def _install_cut_off(small: Small) -> None:
    home = TargetPath(str(small.prefix))
    vault.make_room(home)
    journal.begin(home, Entry(Action.INSTALLING, 1, "pip install coming"))
    snapshot.keep_all(home, snapshot.begin(home, 1, ("install", "coming")), [""])
    (small.site / "going/__init__.py").unlink()
    (small.site / "going/__init__.py").write_text("x = 2\n")
    (small.site / "going/data/table.txt").unlink()
    (small.site / "coming").mkdir()
    (small.site / "coming/__init__.py").write_text("")
    os.symlink("coming", small.site / "also")


def _lay(state: Callable[[Small], None], name: str, there: Place) -> None:
    """A copy of one that was made once."""
    kept = there.root / f"whole-{name}"
    small = Small(there.root / _AT / name)
    if not kept.exists():
        shutil.rmtree(small.prefix, ignore_errors=True)
        (small.prefix / "bin").mkdir(parents=True)
        small.add("going", _FILES)
        small.add("staying", {"staying.py": ""})
        state(small)
        os.rename(small.prefix, kept)
    shutil.rmtree(small.prefix, ignore_errors=True)
    shutil.copytree(kept, small.prefix, symlinks=True)


def _target(there: Place, name: str) -> Target:
    return Small(there.root / _AT / name).target


def _act(name: str, there: Place, _: bytes) -> None:
    """What the next command does before anything else; then everything that is kept is taken back."""
    target = _target(there, name)
    with suppress(SafepipError):
        keeping.mend(target)
    with suppress(SafepipError):
        undo.history(target)
    with suppress(SafepipError):
        undo.undo(target, None)


def _of(title: str, name: str, state: Callable[[Small], None], file: str, share: int) -> Subject:
    def seeds() -> list[bytes]:
        made = place("seed")
        _lay(state, name, made)
        data = Path(f"{made.root}/{_AT}/{name}/.safepip/{file}").read_bytes()
        made.remove()
        return [data]

    return Subject(
        title,
        f"{_AT}/{name}/.safepip/{file}",
        seeds,
        partial(_act, name),
        share,
        partial(_lay, state, name),
        may_change=(f"{_AT}/{name}",),
    )


VAULTS: tuple[Subject, ...] = (
    _of("journal of a removal", "removing", _cut_off, "journal", 2),
    _of("journal of an install", "installing", _install_cut_off, "journal", 1),
    _of("manifest", "removed", _removed, "vault/1/manifest", 5),
    _of("manifest of what was cut off", "halfway", _cut_off, "vault/1/manifest", 3),
    _of("number of the last change", "removed", _removed, LAST, 1),
    _of("index of an install", "indexed", _install_cut_off, "vault/1/index", 4),
)
