"""A tree looked at as it would be with some files in it and others gone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from safepip.reading import plain_file, tree
from safepip.reading.layer import Layers


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/stays.py").write_text("stays")
    (tmp_path / "lib/changes.py").write_text("new")
    (tmp_path / "lib/came.py").write_text("came")
    (tmp_path / "came").mkdir()
    (tmp_path / "came/inside.py").write_text("inside")
    (tmp_path / "turned").write_text("a file where a folder was")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/0").write_text("old")
    (tmp_path / "kept/1").write_text("was here")
    (tmp_path / "lib64").symlink_to("lib")
    return tmp_path.resolve()


def layers(home: Path) -> Layers:
    return Layers(
        files={
            f"{home}/lib/changes.py": f"{home}/kept/0",
            f"{home}/went/deep/was.py": f"{home}/kept/1",
            f"{home}/turned/in.py": f"{home}/kept/1",
        },
        links={f"{home}/lib/link.py": "changes.py"},
        folders=[f"{home}/empty"],
        gone=frozenset([f"{home}/lib/came.py", f"{home}/came", f"{home}/turned"]),
    )


def names(folder: Path | str) -> list[str]:
    return sorted(tree.listdir(str(folder)))


def test_files_come_go_and_change_under_a_layer_and_are_as_before_without_it(home: Path) -> None:
    before = names(home)
    with tree.under(layers(home)):
        assert tree.is_imagined()
        assert names(home) == ["empty", "kept", "lib", "lib64", "turned", "went"]
        assert names(home / "lib") == names(home / "lib64") == ["changes.py", "link.py", "stays.py"]
        assert names(home / "went/deep") == ["was.py"]
        assert names(home / "empty") == []
        assert [
            plain_file.content(f"{home}/{path}")
            for path in (
                "lib/changes.py",
                "lib64/link.py",
                "went/deep/was.py",
                "turned/in.py",
                "lib/stays.py",
            )
        ] == [b"old", b"old", b"was here", b"was here", b"stays"]
        assert tree.stat(f"{home}/lib64/changes.py").st_size == 3
        assert [tree.isdir(f"{home}/{path}") for path in ("went", "empty", "turned", "lib64")] == [True] * 4
        assert [tree.lexists(f"{home}/{path}") for path in ("lib/came.py", "came", "came/inside.py")] == [
            False
        ] * 3
        with pytest.raises(FileNotFoundError):
            tree.listdir(f"{home}/came")
        with pytest.raises(FileNotFoundError):
            tree.handle(f"{home}/lib/came.py")
        with pytest.raises(FileNotFoundError):
            tree.readlink(f"{home}/lib/came.py")
        with pytest.raises(FileNotFoundError):
            tree.listdir(f"{home}/never")
    assert names(home) == before
    assert not tree.is_imagined()


def test_links_are_followed_as_they_would_lie(home: Path) -> None:
    with tree.under(layers(home)):
        assert tree.readlink(f"{home}/lib/link.py") == "changes.py"
        assert tree.readlink(f"{home}/lib64") == "lib"
        assert stat.S_ISLNK(tree.lstat(f"{home}/lib/link.py").st_mode)
        assert tree.realpath(f"{home}/lib64/link.py") == f"{home}/lib/changes.py"
        assert tree.realpath(f"{home}/went/deep/../deep") == f"{home}/went/deep"
        with tree.scandir(f"{home}/lib") as found:
            assert {one.name: (one.is_symlink(), one.is_file()) for one in found} == {
                "stays.py": (False, True),
                "changes.py": (False, True),
                "link.py": (True, True),
            }
        assert tree.access(f"{home}/lib", os.R_OK)
        assert tree.environ() is os.environ


def test_an_image_is_looked_at_under_a_layer_too(home: Path) -> None:
    with tree.entered(str(home)):
        (home / "kept/0").write_text("old")
        with tree.under(Layers({"/lib/changes.py": "/kept/0"}, {}, (), frozenset(["/came"]))):
            assert plain_file.content("/lib64/changes.py") == b"old"
            assert names("/") == ["kept", "lib", "lib64", "turned"]
            assert tree.root() == str(home)
