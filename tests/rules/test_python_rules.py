"""What an import makes the loader do: each rule asked of safepip and of real interpreters.

Two kinds of interpreters differ in what they bring along: Debian's has libpython built in, others need it. The
modules here have no code, so an import that has loaded one ends by saying that it defines nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.model.elf import LoaderConfig
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import elf, ldconfig
from safepip.reasoning.libraries import linking
from support import elves
from support.environments import target
from support.fake_world import Content, Link, lib

T = "libT.so.1"
OWN = os.path.realpath(sys.executable)
PYTHONS = tuple(dict.fromkeys([OWN, os.path.realpath("/usr/bin/python3")]))
IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
def attempt(name):
    try:
        __import__(name)
    except ImportError as error:
        said = str(error)
        return "imported" if "does not define module export function" in said else said.partition(":")[0]
answers = [eval(word, {"attempt": attempt, "here": sys.argv[1]}) for word in sys.argv[2:]]
print(*[answer for answer in answers if isinstance(answer, str)], sep="\\n")
maps = {line.split(None, 5)[5] for line in open("/proc/self/maps").read().splitlines() if "/" in line}
print(*sorted(path for path in maps if path.startswith(sys.argv[1])), sep="\\n")
"""
PRELOAD = "__import__('ctypes').CDLL(here + '/{}')"


def really(
    folder: Path, *words: str, python: str = OWN, env: Mapping[str, str] = {}, cwd: Path | None = None
) -> list[str]:
    """The answers of a fresh interpreter, and which files below the folder it has mapped then."""
    command = [python, "-S", "-B", "-c", IMPORTS, str(folder), *words]
    done = subprocess.run(command, env=dict(env), cwd=cwd, capture_output=True, text=True, check=True)
    return [line.removeprefix(f"{folder}/") for line in done.stdout.splitlines() if line]


def ours(
    folder: Path,
    module: str,
    python: str = OWN,
    env: Mapping[str, str] = {},
    before: Mapping[str, str] = {},
) -> list[str]:
    """The same of one module by safepip, `before` being what an earlier import has loaded, by name."""
    config = configured(python, env)
    earlier = {name: TargetPath(f"{folder}/{path}") for name, path in before.items()}
    found = linking.link(TargetPath(f"{folder}/{module}.so"), Disk(), config, fallback=earlier)
    lost = [binding.wants for binding in found.missing]
    loaded = [
        item.real.removeprefix(f"{folder}/") for item in found.objects if item.real.startswith(str(folder))
    ]
    return lost or [
        "imported",
        *sorted({*loaded, *(before[b.wants] for b in found.bindings if b.wants in before)}),
    ]


def configured(python: str, env: Mapping[str, str] = {}) -> LoaderConfig:
    config = ldconfig.load(replace(target(), interpreter=TargetPath(python), libc=Libc.GLIBC), env)
    if config is None:
        pytest.skip(f"{python} is no dynamic program")
    return config


def laid_out(folder: Path, files: Mapping[str, Content]) -> Path:
    elves.lay_out(elves.moved(files, str(folder)))
    return folder


def module(*needs: str, runpath: str | None = None, rpath: str | None = None) -> Content:
    return lib(needs=needs, runpath=runpath, rpath=rpath)


def test_a_module_is_opened_at_once_and_for_itself_alone() -> None:
    """RTLD_NOW | RTLD_LOCAL: every undefined function counts, and no module gives another its symbols."""
    code = "import os, sys; print(sys.getdlopenflags() == os.RTLD_NOW)"
    for python in PYTHONS:
        assert subprocess.run([python, "-c", code], capture_output=True, check=True).stdout == b"True\n"


def test_a_module_that_is_a_link_keeps_the_links_folder(tmp_path: Path) -> None:
    files: dict[str, Content] = {
        "view/mo.so": Link("../real/mo.so"),
        "real/mo.so": module(T, runpath="$ORIGIN/o"),
    }
    laid_out(tmp_path, {**files, f"view/o/{T}": lib(T), f"real/o/{T}": lib(T)})
    expected = ["imported", "real/mo.so", f"view/o/{T}"]
    word = "sys.path.insert(0, 'view') or attempt('mo')".replace("sys", "__import__('sys')")
    assert really(tmp_path, word, cwd=tmp_path) == expected  # a relative entry of the path is made absolute
    assert ours(tmp_path, "view/mo") == expected


def test_what_an_earlier_import_has_loaded_meets_a_need_and_a_failed_one_can_be_tried_again(
    tmp_path: Path,
) -> None:
    laid_out(tmp_path, {"ma.so": module(T, runpath="@/p"), "mb.so": module(T), f"p/{T}": lib(T)})
    assert really(tmp_path, "attempt('mb')") == ours(tmp_path, "mb") == [T]
    said = really(tmp_path, "attempt('mb')", "attempt('ma')", "attempt('mb')")
    assert said == [T, "imported", "imported", "ma.so", "mb.so", f"p/{T}"]
    assert ours(tmp_path, "mb", before={T: f"p/{T}"}) == ["imported", "mb.so", f"p/{T}"]


def test_an_import_that_failed_has_loaded_nothing_for_others(tmp_path: Path) -> None:
    laid_out(
        tmp_path, {"ma.so": module(T, "libgone.so", runpath="@/p"), "mb.so": module(T), f"p/{T}": lib(T)}
    )
    assert really(tmp_path, "attempt('ma')", "attempt('mb')") == ["libgone.so", T]


def test_of_two_copies_of_a_library_the_one_that_came_first_serves_both_modules(tmp_path: Path) -> None:
    modules = {"ma.so": module(T, runpath="@/p"), "mq.so": module(T, rpath="@/q")}
    laid_out(tmp_path, {**modules, f"p/{T}": lib(T), f"q/{T}": lib(T)})
    for name, copy in {"ma": "p", "mq": "q"}.items():
        assert (
            really(tmp_path, f"attempt('{name}')")
            == ours(tmp_path, name)
            == ["imported", f"{name}.so", f"{copy}/{T}"]
        )
    for order, copy in ((("ma", "mq"), "p"), (("mq", "ma"), "q")):
        words = [f"attempt('{name}')" for name in order]
        assert really(tmp_path, *words) == ["imported", "imported", "ma.so", "mq.so", f"{copy}/{T}"]


@pytest.mark.parametrize("path", [f"p/{T}", "oth/libTxyz.so"])
def test_a_library_that_ctypes_opens_by_its_path_meets_later_needs_by_its_soname(
    path: str, tmp_path: Path
) -> None:
    laid_out(tmp_path, {"mb.so": module(T), path: lib(T)})
    said = really(tmp_path, PRELOAD.format(path), "attempt('mb')")
    assert said == sorted(ours(tmp_path, "mb", before={T: path})) == sorted(["imported", "mb.so", path])


def test_a_library_path_counts_as_it_was_when_the_process_started(tmp_path: Path) -> None:
    laid_out(tmp_path, {"mb.so": module(T), f"p/{T}": lib(T)})
    set_inside = "__import__('os').environ.update(LD_LIBRARY_PATH=here + '/p')"
    assert really(tmp_path, set_inside, "attempt('mb')") == ours(tmp_path, "mb") == [T]
    env = {"LD_LIBRARY_PATH": f"{tmp_path}/p"}
    expected = ["imported", "mb.so", f"p/{T}"]
    assert really(tmp_path, "__import__('os').environ.clear()", "attempt('mb')", env=env) == expected
    assert ours(tmp_path, "mb", env=env) == expected


@pytest.mark.parametrize("python", PYTHONS)
def test_libpython_is_met_by_an_interpreter_that_needs_it_and_searched_for_by_one_that_is_it(
    python: str, tmp_path: Path
) -> None:
    program = elf.read(python)
    needed = getattr(program, "needed", ())
    soname = next((name for name in needed if name.startswith("libpython")), "libpython3.99.so.1.0")
    laid_out(tmp_path, {"mp.so": module(soname, runpath="@/own"), f"own/{soname}": lib(soname)})
    said = really(tmp_path, "attempt('mp')", python=python)
    assert said == ours(tmp_path, "mp", python)
    assert said == ["imported", "mp.so"] + ([] if soname in needed else [f"own/{soname}"])


@pytest.mark.parametrize("python", PYTHONS)
def test_what_the_interpreter_has_loaded_is_not_loaded_again_from_a_modules_own_folder(
    python: str, tmp_path: Path
) -> None:
    config = configured(python)
    started = {item.soname for item in linking.main_program(Disk(), config).objects if item.soname}
    names = ["libm.so.6", "libz.so.1", "libexpat.so.1", "libstdc++.so.6"]
    files: dict[str, Content] = {f"own/{name}": lib(name) for name in names}
    laid_out(tmp_path, {"mo.so": module(*names, rpath="@/own"), **files})
    said = really(tmp_path, "attempt('mo')", python=python)
    assert said == ours(tmp_path, "mo", python)
    assert said == ["imported", "mo.so", *sorted(f"own/{name}" for name in names if name not in started)]


def test_an_interpreters_rpath_serves_every_module_without_a_runpath_and_its_runpath_none(
    tmp_path: Path,
) -> None:
    """How conda builds its own."""
    if not shutil.which("patchelf"):
        pytest.skip("needs patchelf")
    modules = {"mb.so": module(T), "mr.so": module(T, runpath="/none")}
    laid_out(tmp_path, {**modules, f"lib/{T}": lib(T)})
    home = {"PYTHONHOME": sys.base_prefix}
    for flags, said in ((["--force-rpath"], ["imported", f"lib/{T}", "mb.so"]), ([], [T])):
        python = tmp_path / "bin/python"
        python.parent.mkdir(exist_ok=True)
        shutil.copy(OWN, python)
        lists = f"$ORIGIN/../lib:{sys.base_prefix}/lib"
        subprocess.run(["patchelf", *flags, "--set-rpath", lists, python], check=True)
        of_others = [
            path
            for path in really(tmp_path, "attempt('mb')", python=str(python), env=home)
            if path[:4] != "bin/"
        ]
        assert of_others == said == ours(tmp_path, "mb", str(python))
        assert really(tmp_path, "attempt('mr')", python=str(python), env=home)[0] == T
        assert ours(tmp_path, "mr", str(python)) == [T]
