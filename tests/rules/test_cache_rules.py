"""The loader's cache: written by the real ldconfig, read by safepip and by the real loader."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from rules.cases import AARCH64, I386, SCRIPT, T
from rules.cases import Case as Opened
from rules.test_loader_rules import really_said, said

from safepip.model.elf import Abi, cache_key
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reading.disk import Disk
from safepip.reading.elf_files import ldconfig, loader_cache
from support import elves
from support.environments import target
from support.fake_world import Content, Link, lib, program

X86_64 = Abi(64, little_endian=True, machine=62)
V2 = "glibc-hwcaps/x86-64-v2"


@dataclass(frozen=True)
class Case:
    says: str
    wants: str
    cached: Mapping[str, Content]  # what lies there when ldconfig runs
    said: str
    later: Mapping[str, Content | None] = field(default_factory=dict)  # and what of it changes; None: it goes
    folders: tuple[str, ...] = ("conf",)
    runpath: str | None = None
    library_path: str = ""
    nodeflib: bool = False
    arguments: tuple[str, ...] = ()  # of ldconfig
    cut: int | None = None  # bytes of the cache that are left


RESOLV = "libresolv.so.2"  # lies in a default folder everywhere
PLAIN = {f"conf/{T}": lib(T)}
CASES = [
    Case("The cache is asked after the lists", T, PLAIN, f"conf/{T}"),
    Case("LD_LIBRARY_PATH comes before the cache", T, {**PLAIN, f"llp/{T}": lib(T)}, f"llp/{T}",
         library_path="@/llp"),
    Case("RUNPATH comes before the cache", T, {**PLAIN, f"rn/{T}": lib(T)}, f"rn/{T}", runpath="@/rn"),
    Case("The key is the SONAME", "libTson.so.1", {"conf/libTfile.so.1.2": lib("libTson.so.1")},
         "conf/libTson.so.1", {"conf/libTson.so.1": Link("libTfile.so.1.2")}),
    Case("A file name that is no SONAME is no key", "libTfile.so.1.2",
         {"conf/libTfile.so.1.2": lib("libTson.so.1")}, "missing libTfile.so.1.2"),
    Case("A file without SONAME is known by its name", "libTn.so", {"conf/libTn.so": lib()}, "conf/libTn.so"),
    Case("A name that does not start with lib is no key", "plug.so", {"conf/plug.so": lib("plug.so")},
         "missing plug.so"),
    Case("Digits compare as numbers", "libT.so.01", PLAIN, f"conf/{T}"),
    Case("Of two folders the one listed first counts", T, {"c1/libT.so.1": lib(T), "c2/libT.so.1": lib(T)},
         f"c1/{T}", folders=("c1", "c2")),
    Case("Of two folders the one listed first counts, the other way round", T,
         {"c1/libT.so.1": lib(T), "c2/libT.so.1": lib(T)}, f"c2/{T}", folders=("c2", "c1")),
    Case("A linked folder is stored as configured", T, {"real/libT.so.1": lib(T), "conf": Link("real")},
         f"conf/{T}"),
    Case("A processor's variant comes first", T, {**PLAIN, f"conf/{V2}/{T}": lib(T)}, f"conf/{V2}/{T}"),
    Case("A stale variant hides the entry that is still there", T, {**PLAIN, f"conf/{V2}/{T}": lib(T)},
         f"missing {T}", {f"conf/{V2}/{T}": None}),
    Case("Of two entries of one key only the first is tried", T,
         {"c1/libT.so.1": lib(T), "c2/libT.so.1": lib(T)}, f"missing {T}", {f"c2/{T}": None},
         folders=("c2", "c1")),
    Case("What came after ldconfig ran is not known", T, {"conf/libother.so": lib()}, f"missing {T}", PLAIN),
    Case("The cached file is checked as any candidate", T, PLAIN, f"{T}: invalid ELF header",
         {f"conf/{T}": SCRIPT}),
    Case("A cached file of another class is passed over", T, PLAIN, f"missing {T}",
         {f"conf/{T}": lib(T, abi=I386)}),
    Case("A cached file of another machine is passed over", T, PLAIN, f"missing {T}",
         {f"conf/{T}": lib(T, abi=AARCH64)}),
    Case("DF_1_NODEFLIB lets cache entries outside the default folders count", T, PLAIN, f"conf/{T}",
         nodeflib=True),
    Case("The compatible format is read", T, PLAIN, f"conf/{T}", arguments=("-c", "compat")),
    Case("The old format alone is read", T, PLAIN, f"conf/{T}", arguments=("-c", "old")),
    Case("A cut cache is none, without a message", T, PLAIN, f"missing {T}", cut=60),
    Case("An empty cache is none", T, PLAIN, f"missing {T}", cut=0),
    Case("The cache comes before the default folders", RESOLV, {f"conf/{RESOLV}": lib(RESOLV)}, f"conf/{RESOLV}"),
    Case("After a stale entry the default folders are searched", RESOLV, {f"conf/{RESOLV}": lib(RESOLV)},
         f"{RESOLV} of the system", {f"conf/{RESOLV}": None}),
    Case("Without a cache the default folders are searched", RESOLV, PLAIN, f"{RESOLV} of the system", cut=0),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_the_cache_is_used_as_the_real_loader_uses_it(case: Case, tmp_path: Path) -> None:
    cache = built(case, tmp_path)
    root = lib("X.so", needs=[case.wants], runpath=case.runpath, nodeflib=case.nodeflib)
    elves.lay_out(elves.moved({"X.so": root}, str(tmp_path)))
    elves.program_at(tmp_path / "bin/main", Libc.GLIBC, program())
    environ = {"LD_LIBRARY_PATH": case.library_path.replace("@", str(tmp_path))} if case.library_path else {}
    opened = Opened(case.says, {}, case.said)
    config = ldconfig.load(replace(target(), interpreter=TargetPath(f"{tmp_path}/bin/main")), environ)
    assert config
    variants = tuple(name.removeprefix("glibc-hwcaps/") for name in config.hwcaps if "-v" in name)
    config = replace(config, cache=loader_cache.read(str(cache), X86_64, variants))
    assert case.said == said(opened, Disk(), config, str(tmp_path))
    lines = elves.run(
        tmp_path / "bin/main", tmp_path / "X.so", environ, tmp_path, around=in_place_of_the_system_s(cache)
    )
    assert case.said == really_said(opened, lines, str(tmp_path))


def test_what_the_system_s_list_of_preloads_names_meets_later_needs(tmp_path: Path) -> None:
    """rtld.c:do_preload. The loader opens /etc/ld.so.preload itself, so /etc is another folder for a while."""
    root = lib("X.so", needs=["libT.so.1", "libU.so.1"], runpath="@/q")
    files: dict[str, Content] = {"X.so": root}
    for name in (T, "libU.so.1"):
        files |= {f"{folder}/{name}": lib(name) for folder in "pq"}
    elves.lay_out(elves.moved(files, str(tmp_path)))
    elves.program_at(tmp_path / "bin/main", Libc.GLIBC, program())
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ld.so.preload").write_text(f"{tmp_path}/p/{T} # {tmp_path}/p/libU.so.1\n")
    around = in_place_of_the_system_s(tmp_path / "etc", "/etc")
    said_really = elves.run(tmp_path / "bin/main", tmp_path / "X.so", {}, tmp_path, around=around)
    code = (
        "import sys; from safepip.reading.elf_files import ldconfig;"
        "print(*ldconfig._preload_file(), sep='\\n')"
    )
    read = subprocess.run([*around, sys.executable, "-c", code], capture_output=True, text=True, check=True)
    environ = {"LD_PRELOAD": ":".join(read.stdout.split())}
    config = ldconfig.load(replace(target(), interpreter=TargetPath(f"{tmp_path}/bin/main")), environ)
    assert config
    opened = Opened("", {}, "q/libU.so.1")
    assert said(opened, Disk(), config, str(tmp_path)) == really_said(opened, said_really, str(tmp_path))
    assert really_said(opened, said_really, str(tmp_path)) == "q/libU.so.1"


def built(case: Case, folder: Path) -> Path:
    elves.lay_out(elves.moved(case.cached, str(folder)))
    (folder / "ld.so.conf").write_text("".join(f"{folder}/{name}\n" for name in case.folders))
    cache = folder / "ld.so.cache"
    ran = ["-X", *case.arguments, "-f", str(folder / "ld.so.conf"), "-C", str(cache)]
    subprocess.run([tool("ldconfig"), *ran], check=True, capture_output=True)
    if case.cut is not None:
        os.truncate(cache, case.cut)
    for path in case.later:
        (folder / path).unlink(missing_ok=True)
    left = {path: content for path, content in case.later.items() if content is not None}
    elves.lay_out(elves.moved(left, str(folder)))
    return cache


def tool(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/sbin:/usr/sbin")
    if not found:
        pytest.skip(f"needs {name}")
    return found


def in_place_of_the_system_s(ours: Path, place: str = "/etc/ld.so.cache") -> list[str]:
    """A mount namespace of its own, where `ours` lies at `place`."""
    unshare = [tool("unshare"), *(("-m",) if os.geteuid() == 0 else ("-r", "-m"))]
    if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        pytest.skip("may not make a mount namespace")
    return [*unshare, "sh", "-c", f'mount --bind {ours} {place} && exec "$@"', "sh"]


def test_the_system_s_own_cache_reads_as_ldconfig_prints_it() -> None:
    printed = subprocess.run([tool("ldconfig"), "-p"], capture_output=True, text=True, check=True).stdout
    first: dict[str, str] = {}
    for line in printed.splitlines()[1:]:
        name, _, rest = line.strip().partition(" (")
        kind, _, path = rest.partition(") => ")
        if kind == "libc6,x86-64":
            first.setdefault(name, path)
    if not first:
        pytest.skip("the cache names no library of this machine")
    found = loader_cache.read("/etc/ld.so.cache", X86_64, ())
    assert first == {name: found.get(cache_key(name)) for name in first}
