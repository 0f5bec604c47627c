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
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_what_is_lacking_is_what_the_real_loader_misses(case: Case, tmp_path: Path) -> None:
    real, root, config = built(case, tmp_path)
    world = Disk()
    main = linking.main_program(world, config)
    loading = linking.link(root, world, config, main=main)
    provider = TargetPath(f"{tmp_path}/{T}")
    assert case.lacks == symbols.lacking(loading, root, provider, world, main=main)
    error = re.search(r"^ERR (.*)$", real, re.MULTILINE)
    assert case.says_really in (error[1] if error else "")
    assert bool(case.lacks) == bool(error)


def built(case: Case, folder: Path) -> tuple[str, TargetPath, LoaderConfig]:
    """The consumer, linked against one library and run against another."""
    before = elves.compile_lib(folder / "linked" / T, case.linked[0], versions=case.linked[1])
    others = [
        elves.compile_lib(folder / name, source, versions=script)
        for name, (source, script) in case.also.items()
    ]
    root = elves.compile_lib(
        folder / "X.so", case.consumer, needs=[before, *others], flags=[f"-Wl,-rpath,{folder}"]
    )
    elves.compile_lib(folder / T, case.found[0], versions=case.found[1])
    elves.program_at(folder / "main", Libc.GLIBC, program())
    config = ldconfig.load(replace(target(), interpreter=TargetPath(f"{folder}/main")), {})
    assert config
    return elves.run(folder / "main", root, {}, folder), TargetPath(str(root)), config


def test_an_object_without_a_version_table_serves_versioned_needs(tmp_path: Path) -> None:
    """The real one binds it too where there is DT_VERSYM; without, glibc before 2.41 stops by an assertion."""
    case = Case("", (TF, V1), (TF, ""), ())
    _, root, config = built(case, tmp_path)
    world = Disk()
    loading = linking.link(root, world, config)
    assert symbols.lacking(loading, root, TargetPath(f"{tmp_path}/{T}"), world) == ()
