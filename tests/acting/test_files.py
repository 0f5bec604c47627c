"""What the enumeration of crashes rests on: one module changes environments, and it alone."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

import safepip.acting
from safepip.acting import files

MODULES = sorted(Path(safepip.acting.__file__).parent.glob("*.py"))
IN_THE_TEMPORARY_FOLDER = {
    "pip.py",
    "arriving.py",
}  # copies of requirement streams; wheels that are looked into
CHANGES = {
    "link", "symlink", "rename", "renames", "replace", "unlink", "remove", "removedirs", "mkdir", "makedirs", "rmdir",
    "chmod", "chown", "lchown", "utime", "write", "writev", "pwrite", "truncate", "ftruncate", "fsync", "mkfifo",
    "mknod", "setxattr", "removexattr", "copy_file_range", "sendfile", "open", "fdopen", "sync",
}  # fmt: skip


def changes(module: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            if (owner == "os" and node.func.attr in CHANGES) or owner in {"shutil", "tempfile"}:
                found.add(ast.unparse(node.func))
            if node.func.attr in {"write_text", "write_bytes", "touch", "extractall", "extract"}:
                found.add(ast.unparse(node.func))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "open":
            modes = [*node.args[1:2], *(key.value for key in node.keywords if key.arg == "mode")]
            if any(ast.unparse(mode).strip("'") not in {"r", "rb"} for mode in modes):
                found.add("open")
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_the_disk_is_changed_in_one_module_only(module: Path) -> None:
    if module.name == "files.py":
        assert {"os.link", "os.rename", "os.unlink", "os.mkdir", "os.rmdir", "os.write"} <= changes(module)
    elif module.name not in IN_THE_TEMPORARY_FOLDER:
        assert changes(module) == set()


def test_what_is_written_over_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    (tmp_path / "file.new").write_bytes(b"of a run that was cut off")
    files.write_over(str(path), b"new")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new", ["file"])


def test_a_new_file_never_takes_the_place_of_another_or_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        files.write(str(tmp_path / "link"), b"x")
    assert not (tmp_path / "target").exists()


def test_a_copy_has_the_bytes_the_mode_and_the_time(tmp_path: Path) -> None:
    source, path = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(b"\2" * (3 << 20))
    source.chmod(0o751)
    os.utime(source, ns=(0, 123456789))
    files.copy(str(source), str(path))
    status = path.stat()
    assert (path.read_bytes(), status.st_mode & 0o7777, status.st_mtime_ns) == (
        source.read_bytes(),
        0o751,
        123456789,
    )
