"""What pip moves for a list of paths, and where it is stopped."""

from __future__ import annotations

from safepip.model.paths import TargetPath
from safepip.reasoning.changes.folders import Moved, locked, move, topmost
from support.environments import SITE, at
from support.fake_world import FakeWorld, Link, empty

A, B, INNER = at("pkg/a.py"), at("pkg/b.py"), at("pkg/sub/c.py")
FILES = empty(A, B, INNER, at("other.py"))


def test_a_folder_goes_whole_where_all_in_it_is_on_the_list() -> None:
    assert move([A, B, INNER], FakeWorld(FILES)) == Moved(frozenset({A, B, INNER}), frozenset({at("pkg")}))


def test_a_folder_with_something_else_in_it_stays() -> None:
    assert move([A, INNER], FakeWorld(FILES)) == Moved(frozenset({A, INNER}), frozenset({at("pkg/sub")}))


def test_a_link_to_a_folder_goes_unasked_with_the_folder_that_it_lies_in() -> None:
    """os.walk lists it among the folders, and pip compares files."""
    world = FakeWorld({**FILES, at("pkg/sub/link"): Link(at("elsewhere")), at("elsewhere/x"): b""})
    moved = move([A, B, INNER], world)
    assert moved == Moved(frozenset({A, B, INNER, at("pkg/sub/link")}), frozenset({at("pkg")}))


def test_a_folder_on_the_list_takes_all_in_it_and_is_moved_once() -> None:
    moved = move([at("pkg"), A], FakeWorld(FILES))
    assert moved == Moved(frozenset({A, B, INNER}), frozenset({at("pkg")}))


def test_a_file_in_a_locked_folder_stops_pip_after_those_before_it() -> None:
    world = FakeWorld({**FILES, at("lone.py"): b""}, locked=[at("pkg")])
    moved = move([at("lone.py"), A, at("zzz.py")], world)
    assert moved == Moved(frozenset({at("lone.py")}), frozenset(), A)


def test_a_folder_that_cannot_be_renamed_is_copied_and_emptied() -> None:
    """shutil.move falls back to copytree and rmtree, which fails at the folder's own name only."""
    moved = move([A, B, INNER], FakeWorld(FILES, locked=[SITE]))
    assert moved.stuck == f"{at('pkg')}/"
    assert moved.emptied == frozenset({A, B, INNER, at("pkg/sub")})
    assert (moved.files, moved.folders) == (frozenset(), frozenset())


def test_a_folder_that_cannot_be_emptied_keeps_what_it_holds() -> None:
    for inside in (at("pkg"), at("pkg/sub")):
        assert move([A, B, INNER], FakeWorld(FILES, locked=[SITE, inside])).emptied == frozenset()


def test_no_folder_can_be_moved_by_the_name_of_its_parent() -> None:
    path = at("pkg/sub/..")
    assert move([path], FakeWorld(FILES)) == Moved(frozenset(), frozenset(), path)


def test_folders_that_cannot_be_emptied_are_told_at_any_depth() -> None:
    world = FakeWorld({at("pkg/one/two/x"): b"", at("pkg/y"): b""}, locked=[at("pkg/one"), at("pkg/one/two")])
    assert list(locked(at("pkg"), world)) == [at("pkg/one"), at("pkg/one/two")]


def test_the_topmost_of_folders_stand_for_those_in_them() -> None:
    paths = [TargetPath(path) for path in ("/b/c/d", "/b/c", "/bc", "/a", "/b/cd")]
    assert topmost(paths) == ["/a", "/b/c", "/b/cd", "/bc"]


def test_a_file_at_the_root_can_be_moved_and_only_the_folder_of_a_file_goes_with_it() -> None:
    world = FakeWorld(empty("/lone", "/other", at("x/y/z")))
    assert move([TargetPath("/lone")], world) == Moved(frozenset({TargetPath("/lone")}), frozenset())
    assert move([TargetPath("/lone")], FakeWorld(empty("/lone", "/other"), locked=["/"])).stuck == "/lone"
    below = move([at("x/y/z")], world)
    assert (below.files, below.folders) == (frozenset({at("x/y/z")}), frozenset({at("x/y")}))
