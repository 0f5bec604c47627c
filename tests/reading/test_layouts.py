"""Layouts that are told by files alone: of builds without a lock or with assertions, and of PyPy."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.reading.pythons import layout
from safepip.reading.pythons.layout import Layout, VenvConfig
from support.elves import write
from support.environments import target
from support.fake_world import program


def lay_out(prefix: Path, name: str, program_name: str, header: str, data: str = "") -> Path:
    (prefix / f"lib/{name}/site-packages").mkdir(parents=True)
    (prefix / f"lib/{name}/os.py").touch()
    (prefix / f"include/{name}").mkdir(parents=True)
    (prefix / f"include/{name}/patchlevel.h").write_text(header)
    if data:
        soabi = f"cpython-{name.removeprefix('python').replace('.', '')}{'d' if data == 'd' else ''}-x86_64-linux-gnu"
        place = prefix / f"lib/{name}/_sysconfigdata_{data.strip('_')}_linux_x86_64-linux-gnu.py"
        place.write_text(f"build_time_vars = {{'SOABI': '{soabi}'}}\n")
    (prefix / "bin").mkdir()
    python = prefix / "bin" / program_name
    python.write_bytes(write(program()))
    return python


def test_a_build_without_a_lock_has_a_folder_and_a_suffix_of_its_own(tmp_path: Path) -> None:
    python = lay_out(tmp_path, "python3.13t", "python3.13t", '#define PY_VERSION "3.13.9"\n', "t")
    stdlib = f"{tmp_path}/lib/python3.13t"
    start = (f"{tmp_path}/lib/python313t.zip", stdlib, f"{stdlib}/lib-dynload")
    expected = Layout(
        "cpython", "3.13.9", str(tmp_path), stdlib, start, "cpython-313", "cpython-313t-x86_64-linux-gnu"
    )
    assert layout.read_layout(str(python), None, {}) == expected


def test_a_virtual_environment_of_a_build_without_a_lock_is_told_by_its_home(tmp_path: Path) -> None:
    base = lay_out(tmp_path / "base", "python3.13t", "python3.13t", '#define PY_VERSION "3.13.9"\n', "t")
    (tmp_path / "venv/bin").mkdir(parents=True)
    link = tmp_path / "venv/bin/python"
    link.symlink_to(base)
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = {base.parent}\nversion = 3.13.9\n")
    venv = layout.read_venv(str(link))
    assert venv == VenvConfig(str(tmp_path / "venv"), str(base.parent), True, "3.13.9")
    assert layout.read_layout(str(link), venv, {}).stdlib == str(tmp_path / "base/lib/python3.13t")


def test_a_build_with_assertions_shares_the_folder_of_a_plain_one(tmp_path: Path) -> None:
    python = lay_out(tmp_path, "python3.12", "python3.12d", '#define PY_VERSION "3.12.7"\n', "d")
    found = layout.read_layout(str(python), None, {})
    assert (found.stdlib, found.soabi) == (f"{tmp_path}/lib/python3.12", "cpython-312d-x86_64-linux-gnu")


# What `importlib.machinery.EXTENSION_SUFFIXES` of Debian's CPython 3.14.10 and 3.15.2, of CPython 3.13.15 built without
# the lock, and of Debian's PyPy 8.0.1 is; the platform beside `abi3` is in Debian's alone before 3.15.
SUFFIXES = {
    ("cpython-314", ""): ["{tag}", "abi3", "abi3-{platform}"],
    ("cpython-314", "d"): ["{tag}", "cpython-314-{platform}", "abi3", "abi3-{platform}"],
    ("cpython-313", "t"): ["{tag}", "abi3", "abi3-{platform}"],
    ("cpython-315", ""): ["{tag}", "abi3-{platform}", "abi3", "abi3t-{platform}", "abi3t"],
    ("cpython-315", "d"): [
        "{tag}",
        "cpython-315-{platform}",
        "abi3-{platform}",
        "abi3",
        "abi3t-{platform}",
        "abi3t",
    ],
    ("cpython-315", "t"): ["{tag}", "abi3t-{platform}", "abi3t"],
}


@pytest.mark.parametrize("build", SUFFIXES, ids="".join)
def test_a_build_loads_extension_modules_of_its_own_and_of_the_stable_abi(build: tuple[str, str]) -> None:
    (tag, flags), platform = build, "x86_64-linux-gnu"
    minor = tag.removeprefix("cpython-3")
    soabi = f"{tag}{flags}-{platform}"
    found = replace(target(), version=f"3.{minor}.2", cache_tag=tag, soabi=soabi).suffixes
    expected = [f".{each.format(tag=soabi, platform=platform)}.so" for each in SUFFIXES[build]]
    assert (set(found), found[0], found[-1]) == ({*expected, ".so"}, expected[0], ".so")


def test_pypy_loads_extension_modules_of_its_own_suffix_alone() -> None:
    pypy = replace(target(), version="3.11.17", cache_tag="pypy311", soabi="pypy311-pp80-x86_64-linux-gnu")
    assert pypy.suffixes == (".pypy311-pp80-x86_64-linux-gnu.so",)


def test_pypy_has_its_own_version_in_its_suffix(tmp_path: Path) -> None:
    header = '#define PY_VERSION "3.10.14"\n#define PYPY_VERSION "7.3.17"\n'
    python = lay_out(tmp_path, "pypy3.10", "pypy3.10", header)
    stdlib = f"{tmp_path}/lib/pypy3.10"
    expected = Layout(
        "pypy", "3.10.14", str(tmp_path), stdlib, (stdlib,), "pypy310", "pypy310-pp73-x86_64-linux-gnu"
    )
    assert layout.read_layout(str(python), None, {}) == expected


@pytest.mark.parametrize(
    "name", ["/usr/bin/pypy3", "/usr/bin/python3.11d", "/usr/bin/python3.13t", "/usr/bin/python3.11"]
)
def test_files_say_what_the_interpreter_says_of_itself(name: str) -> None:
    python = shutil.which(name)
    if python is None:
        pytest.skip(f"no {name} on this machine")
    told = layout._asked(python, os.environ)  # noqa: SLF001
    read = layout._from_files(python, None)  # noqa: SLF001
    if read is None:
        pytest.skip(f"{name} has no headers here: it is asked")
    assert read == told
