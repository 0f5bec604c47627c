"""Versions and symbols: what an object lacks of a provider, by safepip and by the real loader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from safepip.model.elf import LoaderConfig, Symbol, VersionNeed
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import ldconfig
from safepip.reasoning.libraries import linking, symbols
from support import elves
from support.environments import target
from support.fake_world import program

T = "libT.so.1"
V1_NEEDED = b"\x91\x05\0\0\0\0"  # in verneed: the hash of "V1" and no flags
V1, V2, BOTH = "V1 { tf; };", "V2 { tf; };", "V1 { };\nV2 { tf; } V1;"
TF = "int tf(void) { return 7; }"
OLD_AND_NEW = """
    __asm__(".symver tf_old, tf@V1");
    __asm__(".symver tf_new, tf@@V2");
    int tf_old(void) { return 1; }
    int tf_new(void) { return 2; }
"""
HIDDEN_SECOND = """
    __asm__(".symver tf_old, tf@V2");
    int tf_old(void) { return 2; }
    int other(void) { return 0; }
"""
CALL = "int tf(void); int call(void) { return tf(); }"
WEAK = "int tf(void) __attribute__((weak)); int call(void) { return tf ? tf() : 5; }"


@dataclass(frozen=True)
class Case:
    says: str
    linked: tuple[str, str]  # source and version script of the library when the consumer was built
    found: tuple[str, str]  # and of the one that is there
    lacks: tuple[VersionNeed | Symbol, ...]
    says_really: str = ""  # in dlerror's text
    consumer: str = CALL
    also: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # other libraries the consumer needs
    behind: tuple[str, str] | None = None  # what lies in the next folder of the list
    through: bool = False  # the consumer needs only libO.so, and that one the library
    first: bool = False  # the consumer needs nothing, and the library was opened before it


CASES = [
    Case("A library as it was lacks nothing", (TF, V1), (TF, V1), ()),
    Case("A version that the provider does not define is checked at load", (TF, V1), (TF, V2),
         (VersionNeed(T, "V1", weak=False),), "version `V1' not found"),
    Case("A provider may define more versions", (TF, V1), (OLD_AND_NEW, "V1 { };\nV2 { } V1;"), ()),
    Case("Versions are checked by name: one without the symbol fails at binding", (TF, V1), (TF, BOTH),
         (Symbol("tf", "V1"),), "undefined symbol: tf, version V1"),
    Case("A need without a version takes the first version though it is hidden", (TF, ""),
         (OLD_AND_NEW, "V1 { };\nV2 { } V1;"), ()),
    Case("A need without a version takes no hidden later version", (TF, ""),
         (HIDDEN_SECOND, "V1 { other; };\nV2 { } V1;"), (Symbol("tf", ""),), "undefined symbol: tf"),
    Case("A need without a version takes a default version", (TF, ""), (TF, V2), ()),
    Case("A symbol that nobody defines is lacking", (TF, ""), ("int other(void) { return 0; }", ""),
         (Symbol("tf", ""),), "undefined symbol: tf"),
    Case("A weak symbol may be lacking", (TF, ""), ("int other(void) { return 0; }", ""), (), consumer=WEAK),
    Case("Data that nobody defines is lacking", ("int td = 7;", ""), ("int other(void) { return 0; }", ""),
         (Symbol("td", ""),), "undefined symbol: td", consumer="extern int td; int call(void) { return td; }"),
    Case("A symbol that no relocation asks for may be lacking", (TF, ""), ("int other(void) { return 0; }", ""),
         (), consumer='__asm__(".globl tf"); int call(void) { return 3; }'),
    Case("Another object of the closure may define the symbol", (TF, ""), ("int other(void) { return 0; }", ""),
         (), also={"libO.so": (TF, "")}),
    Case("Another object that defines the version serves it too", (TF, V1),
         ("int other(void) { return 0; }", "V1 { other; };"), (), also={"libO.so": (TF, V1)}),
    Case("Another object without any versions serves a versioned need", (TF, V1),
         ("int other(void) { return 0; }", "V1 { other; };"), (), also={"libO.so": (TF, "")}),
    Case("Another object with another version does not", (TF, V1),
         ("int other(void) { return 0; }", "V1 { other; };"), (Symbol("tf", "V1"),),
         "undefined symbol: tf, version V1", also={"libO.so": (TF, V2)}),
    Case("No other library is searched for a better version", (TF, V1), (TF, V2),
         (VersionNeed(T, "V1", weak=False),), "version `V1' not found", behind=(TF, V1)),
    Case("A need of a need may define the symbol", (TF, ""), (TF, ""), (), through=True),
    Case("A need of a need may lack the symbol", (TF, ""), ("int other(void) { return 0; }", ""),
         (Symbol("tf", ""),), "undefined symbol: tf", through=True),
    Case("What was opened before for itself alone gives no symbols", (TF, ""), (TF, ""),
         (Symbol("tf", ""),), "undefined symbol: tf", first=True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_what_is_lacking_is_what_the_real_loader_misses(case: Case, tmp_path: Path) -> None:
    real, lacks = asked(case, tmp_path)
    assert case.lacks == lacks
    error = re.search(r"^ERR (.*)$", real, re.MULTILINE)
    assert case.says_really in (error[1] if error else "")
    assert bool(case.lacks) == bool(error)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_what_is_lacking_in_musl_is_a_name(case: Case, tmp_path: Path) -> None:
    """Versions are no matter at load (ldso/dynlink.c:find_sym)."""
    real, lacks = asked(case, tmp_path, Libc.MUSL)
    error = re.search(r"^ERR Error relocating .*: (\w+): symbol not found$", real, re.MULTILINE)
    assert [need.name for need in lacks if isinstance(need, Symbol)] == ([error[1]] if error else [])
    assert "ERR" not in real or error


def test_a_version_that_may_be_lacking_is_no_symbol_that_may_be(tmp_path: Path) -> None:
    """VER_FLG_WEAK passes the check at load (dl-version.c:match_symbol), and then the symbol is not found."""
    _, root, config = built(Case("", (TF, V1), (TF, V2), ()), tmp_path)
    code = Path(root).read_bytes()
    assert code.count(V1_NEEDED) == 1
    Path(root).write_bytes(code.replace(V1_NEEDED, V1_NEEDED[:4] + b"\2\0"))
    real = elves.run(tmp_path / "main", Path(root), {}, tmp_path)
    assert "undefined symbol: tf, version V1" in real
    loading = linking.link(root, Disk(), config)
    assert symbols.lacking(loading, root, TargetPath(f"{tmp_path}/{T}"), Disk()) == (Symbol("tf", "V1"),)


def asked(case: Case, folder: Path, libc: Libc = Libc.GLIBC) -> tuple[str, tuple[VersionNeed | Symbol, ...]]:
    """What the real loader says, and what safepip finds lacking."""
    real, root, config = built(case, folder, libc)
    world = Disk()
    main = linking.main_program(world, config)
    loading = linking.link(root, world, config, main=main)
    provider = root if case.first else TargetPath(f"{folder}/{T}")
    return real, symbols.lacking(loading, root, provider, world, main=main, libc=libc)


def built(case: Case, folder: Path, libc: Libc = Libc.GLIBC) -> tuple[str, TargetPath, LoaderConfig]:
    """The consumer, linked against one library and run against another."""
    before = elves.compile_lib(folder / "linked" / T, case.linked[0], versions=case.linked[1], libc=libc)
    others = [
        elves.compile_lib(folder / name, source, versions=script, libc=libc)
        for name, (source, script) in case.also.items()
    ]
    listed = [f"-Wl,-rpath,{folder}:{folder}/behind"]
    needs = [before, *others]
    if case.through:
        needs = [elves.compile_lib(folder / "libO.so", "", needs=[before], flags=listed, libc=libc)]
    needs = [] if case.first else needs
    root = elves.compile_lib(folder / "X.so", case.consumer, needs=needs, flags=listed, libc=libc)
    found = elves.compile_lib(folder / T, case.found[0], versions=case.found[1], libc=libc)
    if case.behind:
        elves.compile_lib(folder / "behind" / T, case.behind[0], versions=case.behind[1], libc=libc)
    elves.program_at(folder / "main", libc, program())
    main = replace(target(), interpreter=TargetPath(f"{folder}/main"), libc=libc)
    config = ldconfig.load(main, {})
    assert config
    said = elves.run(folder / "main", root, {}, folder, first=[found] if case.first else [])
    return said, TargetPath(str(root)), config


def test_an_object_without_a_version_table_serves_versioned_needs(tmp_path: Path) -> None:
    """The real one binds it too where there is DT_VERSYM; without, glibc before 2.41 stops by an assertion."""
    case = Case("", (TF, V1), (TF, ""), ())
    _, root, config = built(case, tmp_path)
    world = Disk()
    loading = linking.link(root, world, config)
    assert symbols.lacking(loading, root, TargetPath(f"{tmp_path}/{T}"), world) == ()
