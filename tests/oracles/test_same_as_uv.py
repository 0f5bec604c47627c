"""The plan for `uv pip uninstall` equals what the real uv deletes, path for path."""

from __future__ import annotations

import os
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from safepip.model.change import Removal
from safepip.model.paths import DistKey
from safepip.reading.disk import Disk
from safepip.reading.pythons import targets
from safepip.reading.sites import site
from safepip.reasoning.changes import uv_removal
from support.sandbox import Environment
from support.uvs import uv


def package(environment: Environment) -> None:
    environment.add("pkg", {"pkg/__init__.py": "", "pkg/sub/mod.py": "x = 1\n", "top.py": ""})


def byte_code_and_strays(environment: Environment) -> None:
    package(environment)
    for name in (
        "pkg/__pycache__/__init__.cpython-312.pyc",
        "pkg/__pycache__/__init__.cpython-38.pyc",
        "pkg/__pycache__/stray.txt",
        "pkg/a.pyc",
        "__pycache__/top.cpython-312.pyc",
        "pkg/sub/__pycache__/mod.cpython-312.opt-1.pyc",
    ):
        (environment.site / name).parent.mkdir(exist_ok=True)
        (environment.site / name).write_text("")


def something_unrecorded(environment: Environment) -> None:
    package(environment)
    (environment.site / "pkg/own.cfg").write_text("")
    (environment.site / "pkg/sub/empty").mkdir()


def namespace(environment: Environment) -> None:
    environment.add("pkg", {"ns/inner/deep/a.py": ""})
    environment.add("other", {"ns/other/b.py": ""})


def a_namespace_of_its_own(environment: Environment) -> None:
    environment.add("pkg", {"ns/inner/deep/a.py": ""})


def co_owned(environment: Environment) -> None:
    environment.add("pkg", {"nv/lib.so": "one", "nv/own.so": ""})
    environment.add("other", {"nv/lib.so": "two"})


def scripts_and_data(environment: Environment) -> None:
    environment.add(
        "pkg",
        {"../../../bin/tool": "#!", "../../../share/pkg/data": "", "pkg.py": ""},
        entry_points="[console_scripts]\nunrecorded = pkg:main\n",
    )
    (environment.prefix / "bin/unrecorded").write_text("")


def rows_that_escape(environment: Environment) -> None:
    environment.add("pkg", {"pkg.py": "", "../../../../outside.txt": ""})


def absolute_rows(environment: Environment) -> None:
    environment.add("pkg", {"pkg.py": ""})
    (environment.prefix / "inside.txt").write_text("")
    record = environment.site / "pkg-1.0.dist-info/RECORD"
    record.write_text(f"{record.read_text()}{environment.prefix}/inside.txt,,\n")


def a_folder_row(environment: Environment) -> None:
    environment.add("pkg", {"pkg.py": ""})
    (environment.site / "tree/inner").mkdir(parents=True)
    (environment.site / "tree/inner/file").write_text("")
    record = environment.site / "pkg-1.0.dist-info/RECORD"
    record.write_text(f"{record.read_text()}tree,,\n")


def links(environment: Environment) -> None:
    environment.add("pkg", {"pkg/__init__.py": "", "broken": "", "linked/file.py": ""})
    (environment.site / "broken").unlink()
    (environment.site / "broken").symlink_to("nowhere")
    (environment.site / "elsewhere").mkdir()
    (environment.site / "elsewhere/stays.py").write_text("")
    (environment.site / "linked/file.py").rename(environment.site / "elsewhere/file.py")
    (environment.site / "linked").rmdir()
    (environment.site / "linked").symlink_to("elsewhere")


def two_of_a_name(environment: Environment) -> None:
    environment.add("pkg", {"pkg.py": ""})
    environment.add("pkg", {"pkg2.py": ""}, version="2.0")


def rows_of_what_is_not_there(environment: Environment) -> None:
    environment.add("pkg", {"pkg/__init__.py": "", "pkg/gone.py": ""})
    (environment.site / "pkg/gone.py").unlink()


def nothing(_: Environment) -> None:
    return


CASES = [
    package, byte_code_and_strays, something_unrecorded, namespace, a_namespace_of_its_own, co_owned, scripts_and_data,
    rows_that_escape, a_folder_row, links, two_of_a_name, rows_of_what_is_not_there, nothing,
]  # fmt: skip


def paths(folder: Path) -> set[str]:
    found = {f"{at}/{name}" for at, names, files in os.walk(folder) for name in (*names, *files)}
    return {path for path in found if not path.endswith("/.lock")}  # uv's own


class Tried(NamedTuple):
    planned: Removal
    expected: set[str]
    vanished: set[str]
    code: int
    said: str


def tried(build: Callable[[Environment], None], tmp_path: Path, called: str = "env") -> Tried:
    """Plan, then let uv do it, both calling the environment by the same name."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "UV_NO_CACHE": "1"}
    made = Environment(tmp_path / "box" / "env")
    program = uv()
    venv.create(made.prefix, symlinks=True)
    build(made)
    if called != "env":
        (tmp_path / "box" / called).symlink_to("env")
    python = str(tmp_path / "box" / called / "bin/python")
    before = paths(tmp_path / "box")
    target = targets.read_target(python, environ)
    planned = uv_removal.plan([DistKey("pkg")], site.take_inventory(target), Disk())
    command = [str(program), "pip", "uninstall", "--python", python, "pkg"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    expected = {*planned.files, *_inside(planned.folders, before)}
    return Tried(planned, expected, before - paths(tmp_path / "box"), done.returncode, done.stderr)


def _inside(folders: tuple[str, ...], before: set[str]) -> set[str]:
    """The folders that go whole, and everything below them."""
    return {path for path in before for folder in folders if path == folder or path.startswith(f"{folder}/")}


@pytest.mark.parametrize("build", CASES, ids=lambda case: case.__name__)
def test_the_plan_is_what_uv_then_deletes(build: Callable[[Environment], None], tmp_path: Path) -> None:
    trial = tried(build, tmp_path)
    assert (trial.code, trial.vanished) == (0, trial.expected), trial.said


def test_an_environment_that_is_called_by_a_links_name_has_the_same_plan(tmp_path: Path) -> None:
    trial = tried(package, tmp_path, called="link")
    assert (trial.code, trial.vanished) == (0, trial.expected), trial.said
    assert str(tmp_path / "box/env/lib") in {path.partition("/python")[0] for path in trial.vanished}


def test_an_absolute_row_is_planned_and_uv_leaves_it(tmp_path: Path) -> None:
    trial = tried(absolute_rows, tmp_path)
    assert trial.expected - trial.vanished == {str(tmp_path / "box/env/inside.txt")}
    assert trial.vanished <= trial.expected


def without_record(environment: Environment) -> None:
    (environment.add("pkg", {"pkg.py": ""}) / "RECORD").unlink()


def record_in_no_encoding(environment: Environment) -> None:
    (environment.add("pkg", {"pkg.py": ""}) / "RECORD").write_bytes(b"caf\xe9.py,,\n")


def a_linked_folder_that_is_emptied(environment: Environment) -> None:
    environment.add("pkg", {"linked/file.py": ""})
    (environment.site / "linked").rename(environment.site / "elsewhere")
    (environment.site / "linked").symlink_to("elsewhere")


@pytest.mark.parametrize(
    "build",
    [without_record, record_in_no_encoding, a_linked_folder_that_is_emptied],
    ids=lambda case: case.__name__,
)
def test_where_uv_ends_with_an_error_the_plan_halts(
    build: Callable[[Environment], None], tmp_path: Path
) -> None:
    trial = tried(build, tmp_path)
    assert trial.code == 2
    assert trial.planned.halt is not None
    assert (trial.planned.halt.name, trial.planned.files) == ("pkg", ())
