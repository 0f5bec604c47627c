"""Each rule of the loader three times: on values, on files as safepip reads them, and by the real loader."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rules.cases import CASES, Case

from safepip.model.elf import Flaw, Loaded, LoaderConfig, Loading
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import ldconfig
from safepip.reasoning.libraries import linking
from safepip.world import World
from support import elves
from support.environments import target
from support.fake_world import FakeWorld, glibc, lib, program

RULES = [
    pytest.param(case, libc, id=f"{libc.value}: {case.says}")
    for case in CASES
    for libc in Libc
    if (case.glibc if libc is Libc.GLIBC else case.musl) is not None
]
MUSL_SAYS = {
    Flaw.FOLDER: "Is a directory",
    Flaw.LOOP: "Symbolic link loop",
    Flaw.NOT_ELF: "Exec format error",
    Flaw.TOO_SHORT: "Exec format error",
    Flaw.CUT_OFF: "Exec format error",
    Flaw.WRONG_CLASS: "Exec format error",
}
GLIBC_SAYS = {Flaw.CUT_OFF: "cannot read file data"}  # of one that ends before its program headers


@pytest.mark.parametrize(("case", "libc"), RULES)
def test_the_rule_holds_on_values(case: Case, libc: Libc) -> None:
    files = {**elves.moved({**case.files, "bin/main": case.main}, "/r"), **case.system}
    config = glibc(
        "/r/bin/main",
        library_path=case.library_path.replace("@", "/r"),
        preload=tuple(case.preload.replace("@", "/r").split()),
        cwd=f"/r/{case.cwd}".rstrip("/"),
        hwcaps=case.hwcaps if libc is Libc.GLIBC else (),
        version=case.version,
        libc=libc,
    )
    assert expected(case, libc) == said(case, FakeWorld(files), config, "/r")


@pytest.mark.parametrize(("case", "libc"), RULES)
def test_the_rule_holds_on_files(
    case: Case, libc: Libc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = laid_out(case, libc, tmp_path)
    monkeypatch.chdir(tmp_path / case.cwd)
    main = replace(target(), interpreter=TargetPath(f"{tmp_path}/bin/main"), libc=libc)
    config = ldconfig.load(main, environ)
    assert config
    skip_without_variants(case, config)
    assert expected(case, libc) == said(case, Disk(), config, str(tmp_path))


@pytest.mark.parametrize(("case", "libc"), RULES)
def test_the_rule_is_the_real_loader_s(case: Case, libc: Libc, tmp_path: Path) -> None:
    environ = laid_out(case, libc, tmp_path)
    main = replace(target(), interpreter=TargetPath(f"{tmp_path}/bin/main"), libc=libc)
    config = ldconfig.load(main, environ)
    assert config
    skip_without_variants(case, config)
    root = tmp_path / case.root if case.root else None
    lines = elves.run(tmp_path / "bin/main", root, environ, tmp_path / case.cwd)
    assert expected(case, libc) == really_said(case, lines, str(tmp_path))


@pytest.mark.parametrize("libc", Libc)
def test_the_program_s_origin_is_where_its_links_lead(libc: Libc, tmp_path: Path) -> None:
    """A venv's python is a link: its $ORIGIN is the base interpreter's folder. A hard link is no link."""
    files = elves.moved(
        {"X.so": lib(needs=["libT.so.1"]), "real/o/libT.so.1": lib("libT.so.1")}, str(tmp_path)
    )
    elves.lay_out({**files, f"{tmp_path}/view/o/libT.so.1": lib("libT.so.1")})
    elves.program_at(tmp_path / "real/main", libc, program(rpath="$ORIGIN/o"))
    (tmp_path / "view/main").symlink_to("../real/main")
    (tmp_path / "view/hard").hardlink_to(tmp_path / "real/main")
    for name, folder in {"real/main": "real", "view/main": "real", "view/hard": "view"}.items():
        lines = elves.run(tmp_path / name, tmp_path / "X.so", {}, tmp_path)
        assert lines.splitlines()[-1] == f"{tmp_path}/{folder}/o/libT.so.1"
        interpreter = TargetPath(str((tmp_path / name).resolve()))
        config = ldconfig.load(replace(target(), interpreter=interpreter, libc=libc), {})
        assert config
        found = linking.link(TargetPath(f"{tmp_path}/X.so"), Disk(), config)
        assert [item.path for item in found.objects][1:] == [f"{tmp_path}/{folder}/o/libT.so.1"]


def test_an_object_marked_as_of_the_gnu_abi_is_as_good_as_any(tmp_path: Path) -> None:
    """EI_OSABI 3, which the linker writes where an object has unique or indirect symbols."""
    code = elves.write(lib("libT.so.1"))
    case = Case(
        "",
        {"X.so": lib(needs=["libT.so.1"], runpath="@"), "libT.so.1": code[:7] + b"\x03" + code[8:]},
        "libT.so.1",
    )
    environ = laid_out(case, Libc.GLIBC, tmp_path)
    config = ldconfig.load(replace(target(), interpreter=TargetPath(f"{tmp_path}/bin/main")), environ)
    assert config
    lines = elves.run(tmp_path / "bin/main", tmp_path / "X.so", environ, tmp_path)
    assert said(case, Disk(), config, str(tmp_path)) == really_said(case, lines, str(tmp_path)) == "libT.so.1"


def expected(case: Case, libc: Libc) -> str | None:
    return case.glibc if libc is Libc.GLIBC else case.musl


def laid_out(case: Case, libc: Libc, folder: Path) -> dict[str, str]:
    """The files of a case below `folder`, and the environment its program starts with."""
    if case.values_only:
        pytest.skip(f"on values alone: {case.values_only}")
    elves.lay_out(elves.moved(case.files, str(folder)))
    elves.program_at(folder / "bin/main", libc, elves.at_home(case.main, str(folder)))
    variables = {"LD_LIBRARY_PATH": case.library_path, "LD_PRELOAD": case.preload}
    return {name: text.replace("@", str(folder)) for name, text in variables.items() if text}


def skip_without_variants(case: Case, config: LoaderConfig) -> None:
    if config.libc is Libc.GLIBC and not set(case.hwcaps) <= set(config.hwcaps):
        pytest.skip(f"this loader on this processor does not look into {case.hwcaps}")


def said(case: Case, world: World, config: LoaderConfig, folder: str) -> str:
    """What safepip makes of the case, in the words of its table."""
    main = linking.main_program(world, config)
    loading = main
    if case.root:
        loading = linking.link(TargetPath(f"{folder}/{case.root}"), world, config, main=main)
    if loading.flaw:
        return f"{case.root.rpartition('/')[2]}: {loading.flaw.value}"
    for binding in loading.missing:
        if binding.flaw is None:
            return f"missing {binding.wants.removeprefix(folder + '/')}"
        says = GLIBC_SAYS.get(binding.flaw, binding.flaw.value)
        what = says if config.libc is Libc.GLIBC else MUSL_SAYS[binding.flaw]
        return f"{binding.tried[-1].path.rpartition('/')[2]}: {what}"
    return in_words([loaded.path for loaded in own(loading, config)], folder)


def own(loading: Loading, config: LoaderConfig) -> list[Loaded]:
    return [item for item in loading.objects if item.path not in {loading.root, config.main}]


def in_words(paths: list[str], folder: str) -> str:
    """Below the case's folder as they stand there; of what the system brings, the name."""
    words = []
    for path in paths:
        name = path.rpartition("/")[2]
        if path.startswith(folder) or not path.startswith("/"):
            words.append(path.removeprefix(f"{folder}/"))
        elif name == "libresolv.so.2":
            words.append(f"{name} of the system")
    return " ".join(words)


def really_said(case: Case, lines: str, folder: str) -> str:
    """The real loader's answer in the same words."""
    error = re.search(
        r"^(?:ERR |.*: error while loading shared libraries: |(?=Error loading ))(.*)$", lines, re.MULTILINE
    )
    if error:
        return in_the_table_s_words(error[1], folder)
    if not case.root:
        paths = re.findall(r"^start (.+)$", lines, re.MULTILINE)
        return in_words([p for p in paths if p.startswith(folder) and p != f"{folder}/bin/main"], folder)
    paths = [line for line in lines.splitlines() if line and not line.startswith(("start", "ERROR:"))]
    home = f"{folder}/{case.cwd}".rstrip("/")
    paths = [path if path.startswith("/") else f"{home}/{path}" for path in paths]
    return in_words([path for path in paths if path != f"{folder}/{case.root}"], folder)


def in_the_table_s_words(error: str, folder: str) -> str:
    error = error.removeprefix("Error loading shared library ").partition(" (needed by")[0]
    path, _, what = error.partition(": ")
    what = what.rpartition(": ")[2]
    if what in {"No such file or directory", "cannot open shared object file"} or what.startswith(
        ("wrong ELF class", "ELFCLASS")
    ):
        return f"missing {path.removeprefix(folder + '/')}"
    return f"{path.rpartition('/')[2]}: {what}"
