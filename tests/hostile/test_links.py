"""Links that come in between: a folder of the environment is exchanged after it was looked at and before it is used."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from safepip.acting import journal, snapshot, turning, vault
from safepip.commands import keeping
from safepip.errors import SafepipError
from safepip.model.paths import TargetPath
from safepip.model.receipt import Action, Entry, Receipt
from safepip.reading.sites import receipts, snapshots
from support.small import Small, small
from support.trees import snapshot as tree_of


@pytest.fixture
def env(tmp_path: Path) -> Small:
    made = small(tmp_path.resolve())
    made.add("going", {"going/__init__.py": "x = 1\n", "going/data/table.txt": "1 2\n"})
    vault.make_room(TargetPath(str(made.prefix)))
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "outside"
    folder.mkdir()
    (folder / "table.txt").write_text("precious")
    (folder / "table.txt").chmod(0o600)
    return folder


def kept(env: Small) -> Receipt:
    home = TargetPath(str(env.prefix))
    return vault.keep(vault.Plan(env.plan("going"), 1, ("uninstall", "going")), home)


def exchange(env: Small, outside: Path) -> None:
    os.rename(env.site / "going/data", env.site / "going/aside")
    (env.site / "going/data").symlink_to(outside)


def test_a_folder_that_becomes_a_link_before_a_removal_is_completed_loses_nothing(
    env: Small, outside: Path
) -> None:
    receipt = kept(env)
    (outside / "table.txt").unlink()
    os.link(receipt.content(receipt.items[0].content), outside / "table.txt")  # even what is kept
    exchange(env, outside)
    before = tree_of(outside)
    with pytest.raises(turning.TurnError, match="leads through a link"):
        turning.take_out(receipt)
    assert tree_of(outside) == before


def test_a_folder_that_becomes_a_link_before_an_undo_receives_nothing(env: Small, outside: Path) -> None:
    receipt = kept(env)
    turning.take_out(receipt)
    (env.site / "going").mkdir(exist_ok=True)
    (env.site / "going/data").symlink_to(outside)
    before = tree_of(outside)
    with pytest.raises(turning.TurnError, match="leads through a link"):
        turning.put_back(receipt)
    assert tree_of(outside) == before


def test_no_mode_is_set_through_a_link_in_a_files_place(env: Small, outside: Path) -> None:
    receipt = kept(env)
    (env.site / "going/data/table.txt").unlink()
    (env.site / "going/data/table.txt").symlink_to(outside / "table.txt")
    with pytest.raises(SafepipError):
        keeping.put_back(receipt)
    assert stat.S_IMODE((outside / "table.txt").stat().st_mode) == 0o600


def test_keeping_takes_no_bytes_from_outside_for_its_own(env: Small, outside: Path) -> None:
    """A second name for what lies behind the link may come to be; put back it is not."""
    planned = env.plan("going")
    exchange(env, outside)
    home = TargetPath(str(env.prefix))
    receipt = vault.keep(vault.Plan(planned, 1, ("uninstall", "going")), home)
    with pytest.raises(receipts.DistrustedError, match="leads through a link"):
        receipts.load(home, receipt.id)


@pytest.mark.parametrize(
    "line",
    [
        {"folder": "../outside", "seen": {"../outside": ["d", 448, 1, 0, 1, ""]}, "kept": {}},
        {
            "folder": "",
            "seen": {"../outside/table.txt": ["f", 420, 1, 8, 1, ""]},
            "kept": {"../outside/table.txt": 0},
        },
        {"folder": "lib", "seen": {"/etc/passwd": ["f", 420, 1, 8, 1, ""]}, "kept": {}},
        {
            "folder": "lib",
            "seen": {"lib/a": ["f", 420, 1, 8, 1, ""]},
            "kept": {"lib/a": "../../../../outside/table.txt"},
        },
        {"folder": ".safepip", "seen": {".safepip/journal": ["f", 420, 1, 8, 1, ""]}, "kept": {}},
    ],
)
def test_an_index_that_leads_outside_is_believed_in_nothing_and_ends_the_change(
    env: Small, outside: Path, line: dict[str, object]
) -> None:
    home = TargetPath(str(env.prefix))
    folder = snapshot.begin(home, 1, ("install", "coming"))
    journal.begin(home, Entry(Action.INSTALLING, 1, "pip install coming"))
    with open(f"{folder}/index", "a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    before, site = tree_of(outside), tree_of(env.site)
    with pytest.raises(receipts.DistrustedError):
        snapshots.load(home, 1)
    (note,) = keeping.mend(env.target)
    assert "cannot be taken back" in note
    assert (tree_of(outside), tree_of(env.site), receipts.numbers(home)) == (before, site, [])


def test_an_index_behind_a_folder_that_is_a_link_now_is_not_followed(env: Small, outside: Path) -> None:
    home = TargetPath(str(env.prefix))
    snapshot.keep_all(home, snapshot.begin(home, 1, ("install", "coming")), [""])
    exchange(env, outside)
    with pytest.raises(receipts.DistrustedError, match="is a link now"):
        snapshots.load(home, 1)


def test_a_journal_that_is_no_text_or_has_an_odd_number_is_said(env: Small) -> None:
    home = TargetPath(str(env.prefix))
    for text in (
        b"\xff",
        b'{"action": "removing", "id": 1e999, "what": ""}',
        b'{"action": "removing", "id": -1, "what": ""}',
    ):
        (env.prefix / ".safepip/journal").write_bytes(text)
        with pytest.raises(SafepipError, match="cannot be understood"):
            receipts.journal(home)
