"""The real file system as a World."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from safepip.model.elf import Flaw
from safepip.model.paths import TargetPath
from safepip.reading import disk
from safepip.reading.disk import Disk
from safepip.world import Entry, Kind, Place
from support.boxes import without_roots_rights


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder whose own path crosses no link."""
    root = tmp_path.resolve()
    (root / "real/deep").mkdir(parents=True)
    (root / "real/deep/file").write_text("four")
    (root / "link").symlink_to("real")
    (root / "real/up").symlink_to("../link/deep")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "broken").symlink_to("nowhere")
    (root / "to-file").symlink_to(root / "real/deep/file")
    return root


def at(tree: Path, path: str) -> TargetPath:
    return TargetPath(f"{tree}/{path}")


def test_a_place_has_its_real_path_and_every_link_on_the_way(tree: Path) -> None:
    status = (tree / "real/deep/file").stat()
    assert Disk().find(at(tree, "link/up/file")) == Place(
        at(tree, "real/deep/file"),
        (at(tree, "link"), at(tree, "real/up"), at(tree, "link")),
        (status.st_dev, status.st_ino),
        Kind.FILE,
    )


def test_the_last_link_is_crossed_too(tree: Path) -> None:
    place = Disk().find(at(tree, "to-file"))
    assert isinstance(place, Place)
    assert (place.real, place.crossed) == (at(tree, "real/deep/file"), (at(tree, "to-file"),))


def test_hard_links_are_one_file(tree: Path) -> None:
    os.link(tree / "real/deep/file", tree / "other")
    disk = Disk()
    first, second = disk.find(at(tree, "other")), disk.find(at(tree, "real/deep/file"))
    assert isinstance(first, Place)
    assert isinstance(second, Place)
    assert first.identity == second.identity
    assert first.real != second.real


@pytest.mark.parametrize(
    ("path", "flaw"),
    [
        ("nosuch", Flaw.MISSING),
        ("broken", Flaw.MISSING),
        ("one", Flaw.LOOP),
        ("one/below", Flaw.LOOP),
        ("real/deep/file/below", Flaw.NOT_A_FOLDER),
        ("n" * 300, Flaw.NAME_TOO_LONG),
        ("real/" + "x/" * 3000, Flaw.NAME_TOO_LONG),
        ("nul\0", Flaw.MISSING),
    ],
)
def test_what_leads_nowhere_says_why(tree: Path, path: str, flaw: Flaw) -> None:
    assert Disk().find(at(tree, path)) is flaw


def test_a_folder_that_may_not_be_entered(tree: Path) -> None:
    (tree / "real").chmod(0)
    try:
        with without_roots_rights():
            disk = Disk()
            answers = (
                disk.find(at(tree, "real/deep")),
                disk.entries(at(tree, "real")),
                disk.kind(at(tree, "real")),
            )
    finally:
        (tree / "real").chmod(0o755)
    assert answers == (Flaw.NO_ACCESS, (), Kind.FOLDER)


def test_a_name_in_no_encoding_is_found(tree: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tree / "real" / name).write_text("")
    place = Disk().find(at(tree, f"link/{name}"))
    assert isinstance(place, Place)
    assert place.real == at(tree, f"real/{name}")


@pytest.mark.parametrize(
    "path",
    [
        "link/up/file",
        "link/../real",
        "link/up/../deep",
        "nosuch/../real",
        "nosuch/x/./y//",
        "real/deep/file/below",
        "broken/x",
        "one/x",
        "one",
        "one/../real",
        "../../..",
        "",
        ".",
        "real/up/../../link/",
    ],
)
def test_real_is_what_realpath_makes_of_it(tree: Path, path: str) -> None:
    disk = Disk()
    assert disk.real(at(tree, path)) == os.path.realpath(f"{tree}/{path}")
    assert disk.real(at(tree, f"./{path}")) == os.path.realpath(f"{tree}/{path}")


def test_entries_tell_what_os_walk_would_call_a_folder(tree: Path) -> None:
    os.mkfifo(tree / "fifo")
    assert set(Disk().entries(TargetPath(str(tree)))) == {
        Entry("real", Kind.FOLDER, folder=True),
        Entry("link", Kind.LINK, folder=True),
        Entry("one", Kind.LINK, folder=False),
        Entry("two", Kind.LINK, folder=False),
        Entry("broken", Kind.LINK, folder=False),
        Entry("to-file", Kind.LINK, folder=False),
        Entry("fifo", Kind.OTHER, folder=False),
    }


def test_kind_does_not_follow_the_last_link(tree: Path) -> None:
    disk = Disk()
    kinds = [
        disk.kind(at(tree, name))
        for name in ("to-file", "link", "link/deep", "link/deep/file", "nosuch", "\0")
    ]
    assert kinds == [Kind.LINK, Kind.LINK, Kind.FOLDER, Kind.FILE, None, None]


def test_size_follows_links(tree: Path) -> None:
    disk = Disk()
    assert [disk.size(at(tree, name)) for name in ("to-file", "real/deep/file", "nosuch", "\0")] == [
        4,
        4,
        0,
        0,
    ]


def test_an_answer_does_not_change_while_one_verdict_is_made(tree: Path) -> None:
    disk = Disk()
    before = disk.find(at(tree, "to-file")), disk.entries(at(tree, "real/deep"))
    (tree / "real/deep/file").unlink()
    assert (disk.find(at(tree, "to-file")), disk.entries(at(tree, "real/deep"))) == before


def test_a_path_of_very_many_parts_is_followed(tree: Path) -> None:
    assert Disk().real(at(tree, f"{'./' * 1500}link/deep")) == at(tree, "real/deep")


def test_of_very_many_names_the_earlier_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_MOST_NAMES", 2)
    for name in ("a/one", "a/two", "b/one"):
        (tmp_path / name).mkdir(parents=True)
    folders = [TargetPath(f"{tmp_path}/{name}") for name in ("a", "b", "a")]
    world = Disk()
    found = [sorted(entry.name for entry in world.entries(folder)) for folder in folders]
    assert found == [["one", "two"], ["one"], ["one", "two"]]
