"""What an earlier run made of a removal is taken again only where nothing that it rests on has changed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.model.environment import Unjudged
from safepip.model.imports import Basis, Grade, ImportLoss, Weighed
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import Severity
from safepip.reading.sources import weighed
from safepip.reading.sources.import_cache import open_cache
from safepip.reading.sources.own_code import projects
from safepip.reading.sources.weighed import Answers
from support.small import Small, small


def answers(there: Small) -> Answers:
    environ = {"XDG_CACHE_HOME": str(there.prefix.parent / "cache")}
    inventory = there.inventory()
    return Answers(open_cache(environ, inventory.target), inventory)


def two(folder: Path) -> Small:
    there = small(folder)
    there.add("leaf", {"leaf.py": "", "more/leaf.py": ""})
    there.add("user", {"user.py": "import leaf\n"})
    return there


def found(there: Small) -> Weighed:
    user, leaf = (there.inventory().find(DistKey(key)) for key in ("user", "leaf"))
    assert user is not None
    assert leaf is not None
    source = TargetPath(f"{there.site}/user.py")
    path, other = TargetPath(f"{there.site}/leaf.py"), TargetPath("/below/leaf.py")
    chain = ("import user", "x")
    loss = ImportLoss(user, leaf, "leaf", path, chain, source, 1, host=True, instead=other, made_up=True)
    grades = {
        (user.info, leaf.key): Grade(Severity.REFUSE, Basis.REACHED, source, 1, "leaf"),
        (leaf.info, user.key): Grade(Severity.WARN, Basis.NOWHERE),
    }
    return Weighed((loss,), grades, frozenset({"tests"}), (Unjudged("a", "b"),))


def test_an_answer_comes_back_whole(tmp_path: Path) -> None:
    there = two(tmp_path)
    removal = there.plan("leaf")
    assert answers(there).about(removal) is None
    answers(there).keep(removal, found(there))
    assert answers(there).about(removal) == found(there)


def test_an_answer_of_very_many_steps_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = two(tmp_path)
    for most, kept in ((2, True), (1, False)):
        monkeypatch.setattr(weighed, "MOST_STEPS", most)
        removal = there.plan("leaf" if kept else "user")
        answers(there).keep(removal, found(there))
        assert (answers(there).about(removal) is not None) is kept


def touch_record(there: Small) -> None:
    os.utime(there.site / "user-1.0.dist-info/RECORD", ns=(1, 1))


def add_unowned(there: Small) -> None:
    (there.site / "leaf").mkdir()


def take_a_file(there: Small) -> None:
    (there.site / "more/leaf.py").unlink()


def declare_more(there: Small) -> None:
    with (there.site / "user-1.0.dist-info/METADATA").open("a") as file:
        file.write("Requires-Dist: leaf\n")


@pytest.mark.parametrize("change", [touch_record, add_unowned, take_a_file, declare_more])
def test_an_answer_ends_with_what_it_rests_on(tmp_path: Path, change: object) -> None:
    there = two(tmp_path)
    answers(there).keep(there.plan("leaf"), found(there))
    assert callable(change)
    change(there)
    assert answers(there).about(there.plan("leaf")) is None


def test_an_answer_about_own_sources_ends_with_their_change(tmp_path: Path) -> None:
    there = two(tmp_path)
    (tmp_path / "app").mkdir()
    source = tmp_path / "app/main.py"
    source.write_text("import leaf\n")
    own = projects([str(tmp_path / "app")])
    removal, answer = there.plan("leaf"), found(there)
    mine = replace(answer, losses=(replace(answer.losses[0], survivor=own[0]),))
    answers(there).keep(removal, mine, own)
    assert (answers(there).about(removal, own), answers(there).about(removal)) == (mine, None)
    os.utime(source, ns=(1, 1))
    assert answers(there).about(removal, own) is None


@pytest.mark.parametrize("damage", [b"", b"[1", b'{"same":', b"\xff"])
def test_a_damaged_answer_is_none(tmp_path: Path, damage: bytes) -> None:
    there = two(tmp_path)
    answers(there).keep(there.plan("leaf"), found(there))
    for file in (tmp_path / "cache/safepip/imports").iterdir():
        file.write_bytes(damage)
    assert answers(there).about(there.plan("leaf")) is None


@pytest.mark.parametrize(
    ("kept", "other"), [(b'"REACHED"', b'"SOMEHOW"'), (b'["import user","x"]', b'["import user"]')]
)
def test_an_answer_with_rows_of_another_form_is_none(tmp_path: Path, kept: bytes, other: bytes) -> None:
    there = two(tmp_path)
    answers(there).keep(there.plan("leaf"), found(there))
    for file in (tmp_path / "cache/safepip/imports").iterdir():
        file.write_bytes(file.read_bytes().replace(kept, other))
    assert answers(there).about(there.plan("leaf")) is None
