"""A world in which missing files are there again."""

from __future__ import annotations

from safepip.model.elf import Definitions, Flaw, Symbol, Undefined
from safepip.model.paths import TargetPath
from safepip.reasoning.changes.restored import Restored
from safepip.world import Entry, Kind, Place
from support.environments import SITE, at
from support.fake_world import FakeWorld, Link, Table, lib

GONE, DATA, THERE = at("nv/lib/libx.so.1"), at("nv/data.txt"), at("pkg/a.py")
LIBRARY = lib("libx.so.1")
TABLE = Table(Undefined(frozenset()), Definitions(frozenset({Symbol("f", "")})))
OTHER = at("pkg/b.so")
BASE = FakeWorld({THERE: b"text", OTHER: LIBRARY, "/link": Link(SITE)}, symbols={OTHER: TABLE})
WORLD = Restored(BASE, {GONE: LIBRARY, DATA: None, at("pkg/c.py"): None, THERE: None})


def found(path: str) -> tuple[TargetPath, Kind] | Flaw:
    place = WORLD.find(TargetPath(path))
    return (place.real, place.kind) if isinstance(place, Place) else place


def test_missing_files_are_found_and_so_are_the_folders_above_them() -> None:
    assert found(GONE) == (GONE, Kind.FILE)
    assert found(at("nv/lib")) == (at("nv/lib"), Kind.FOLDER)
    assert found("/link/nv/data.txt") == (DATA, Kind.FILE)
    assert found(at("nv/other")) is Flaw.MISSING


def test_two_of_them_are_two_files() -> None:
    places = [WORLD.find(path) for path in (GONE, DATA)]
    assert len({place.identity for place in places if isinstance(place, Place)}) == 2


def test_what_is_there_is_as_it_was() -> None:
    assert WORLD.find(THERE) == BASE.find(THERE)
    assert WORLD.kind(TargetPath("/link")) is Kind.LINK
    assert WORLD.elf(THERE) is Flaw.NOT_ELF
    assert (WORLD.size(THERE), WORLD.undefined(OTHER), WORLD.definitions(OTHER, ["f"])) == (4, *TABLE)
    assert (WORLD.writable(SITE), WORLD.writable(TargetPath("/none"))) == (True, False)
    assert WORLD.real(TargetPath("/link/x")) == at("x")


def test_a_name_has_the_kind_that_it_will_have() -> None:
    kinds = [WORLD.kind(path) for path in (GONE, at("nv"), THERE, at("nv/other"))]
    assert kinds == [Kind.FILE, Kind.FOLDER, Kind.FILE, None]


def test_each_is_listed_once_in_its_folder_and_its_folders_in_theirs() -> None:
    assert sorted(WORLD.entries(at("pkg"))) == sorted(
        [
            Entry("a.py", Kind.FILE, folder=False),
            Entry("b.so", Kind.FILE, folder=False),
            Entry("c.py", Kind.FILE, folder=False),
        ]
    )
    assert {entry.name for entry in WORLD.entries(SITE)} == {"nv", "pkg"}
    assert WORLD.entries(TargetPath("/link/nv")) == (
        Entry("data.txt", Kind.FILE, folder=False),
        Entry("lib", Kind.FOLDER, folder=True),
    )


def test_an_object_is_known_again_and_a_file_of_no_known_content_is_none() -> None:
    assert WORLD.elf(TargetPath("/link/nv/lib/libx.so.1")) == LIBRARY
    assert WORLD.elf(DATA) is Flaw.MISSING


def test_a_file_below_the_root_is_listed_there() -> None:
    world = Restored(FakeWorld({}), {TargetPath("/x"): None})
    assert world.find(TargetPath("/x")) == Place(TargetPath("/x"), (), (-1, 0), Kind.FILE)
    assert world.entries(TargetPath("/")) == (Entry("x", Kind.FILE, folder=False),)


def test_a_folder_below_the_root_is_one() -> None:
    world = Restored(FakeWorld({}), {TargetPath("/x/y"): None, TargetPath("/x/z"): None})
    assert world.entries(TargetPath("/")) == (Entry("x", Kind.FOLDER, folder=True),)
    assert [entry.name for entry in world.entries(TargetPath("/x"))] == ["y", "z"]


def test_each_folder_on_the_way_to_a_file_is_listed_in_the_one_above() -> None:
    world = Restored(FakeWorld({"/x/there": b""}), {TargetPath("/x/y/z/w"): None})
    assert world.entries(TargetPath("/x/y")) == (Entry("z", Kind.FOLDER, folder=True),)
    assert {entry.name for entry in world.entries(TargetPath("/x"))} == {"there", "y"}
