"""How a loader is configured, read from files and variables."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.model.elf import LoaderConfig
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.reading.elf_files import ldconfig, loader_cache
from support import elves
from support.environments import target
from support.fake_world import X86_64, lib, program

GLIBC_LOADER = Path("/lib64/ld-linux-x86-64.so.2")


def loaded(folder: Path, environ: dict[str, str], libc: Libc = Libc.GLIBC) -> LoaderConfig:
    elves.program_at(folder / "main", libc, program())
    config = ldconfig.load(replace(target(), interpreter=TargetPath(f"{folder}/main"), libc=libc), environ)
    assert config
    return config


def test_variables_are_taken_as_written_and_preloads_split_at_colons_and_blanks(tmp_path: Path) -> None:
    config = loaded(tmp_path, {"LD_LIBRARY_PATH": ":/a;/b", "LD_PRELOAD": " /x.so:liby.so  /z.so:"})
    assert (config.library_path, config.preload[:3]) == (":/a;/b", ("/x.so", "liby.so", "/z.so"))


@pytest.mark.skipif(not GLIBC_LOADER.exists(), reason="needs glibc for x86-64")
def test_folders_variants_and_platform_are_those_the_loader_tells_of_itself(tmp_path: Path) -> None:
    told = subprocess.run([GLIBC_LOADER, "--list-diagnostics"], capture_output=True, text=True, check=False)
    if told.returncode:
        pytest.skip("glibc before 2.33 tells nothing")
    text = told.stdout
    folders = re.findall(r'^path\.system_dirs\[\w+\]="(.*)/"$', text, re.MULTILINE)
    names = re.search(r'^dl_hwcaps_subdirs="(.*)"$', text, re.MULTILINE)
    active = re.search(r"^dl_hwcaps_subdirs_active=(0x[0-9a-f]+)$", text, re.MULTILINE)
    platform = re.search(r'^dl_platform="(.*)"$', text, re.MULTILINE)
    version = re.search(r'^version\.version="(\d+)\.(\d+)"$', text, re.MULTILINE)
    assert names
    assert active
    assert platform
    assert version
    known = names[1].split(":")
    usable = known[len(known) - int(active[1], 16).bit_count() :]
    config = loaded(tmp_path, {})
    assert config.defaults == tuple(folders)
    assert [name for name in config.hwcaps if "glibc" in name] == [f"glibc-hwcaps/{name}" for name in usable]
    assert config.platform == platform[1]
    assert config.version == (int(version[1]), int(version[2]))


@pytest.mark.skipif(not GLIBC_LOADER.exists(), reason="needs glibc for x86-64")
def test_every_folder_that_the_loader_tries_is_known(tmp_path: Path) -> None:
    elves.lay_out({f"{tmp_path}/X.so": lib("X.so", needs=["libnowhere.so"])})
    config = loaded(tmp_path, {"LD_LIBRARY_PATH": str(tmp_path)})
    said = elves.run(
        tmp_path / "main",
        tmp_path / "X.so",
        {"LD_LIBRARY_PATH": str(tmp_path), "LD_DEBUG": "libs"},
        tmp_path,
    )
    tried = re.findall(rf"trying file=({re.escape(str(tmp_path))}/.*)/libc\.so\.6", said)
    ours = [f"{tmp_path}/{name}" for name in config.hwcaps]
    assert list(dict.fromkeys(tried)) == ours


@pytest.mark.skipif(not GLIBC_LOADER.exists(), reason="needs glibc for x86-64")
@pytest.mark.parametrize(("release", "there"), [("2.36", {"tls", "x86_64"}), ("2.37", set())])
def test_folders_named_after_the_processor_are_looked_into_before_glibc_2_37(
    release: str, there: set[str], tmp_path: Path
) -> None:
    code = re.sub(
        rb"(release version )\d+\.\d+", b"\\g<1>" + release.encode(), GLIBC_LOADER.read_bytes(), count=1
    )
    (tmp_path / "ld.so").write_bytes(code)
    elves.lay_out({f"{tmp_path}/main": replace(program(), interpreter=f"{tmp_path}/ld.so")})
    config = ldconfig.load(replace(target(), interpreter=TargetPath(f"{tmp_path}/main")), {})
    assert config
    assert {"tls", "x86_64"} & set(config.hwcaps) == there


def test_musl_s_path_file_takes_the_place_of_its_defaults(tmp_path: Path) -> None:
    """The file lies beside the loader's own prefix, the interpreter's path less its last two parts."""
    elves.program_at(tmp_path / "main", Libc.MUSL, program())
    code = Path(elves.MUSL_LOADER).read_bytes()
    found = {}
    for name, text in {"none": None, "two": "/a:/b/\n/c\n", "empty": ""}.items():
        prefix = tmp_path / name
        (prefix / "lib").mkdir(parents=True)
        (prefix / "etc").mkdir()
        if text is not None:
            (prefix / "etc/ld-musl-x86_64.path").write_text(text)
        found[name] = ldconfig._musl_folders(code, f"{prefix}/lib/ld-musl-x86_64.so.1")  # noqa: SLF001
    assert found == {
        "none": ("/lib", "/usr/local/lib", "/usr/lib"),
        "two": ("/a", "/b", "/c"),
        "empty": (),
    }


def test_musl_has_no_cache_and_no_variants(tmp_path: Path) -> None:
    config = loaded(tmp_path, {"LD_LIBRARY_PATH": "/a", "LD_PRELOAD": "/x.so"}, Libc.MUSL)
    assert (config.libc, config.library_path, config.preload) == (Libc.MUSL, "/a", ("/x.so",))
    assert (dict(config.cache), config.hwcaps) == ({}, ())
    assert config.defaults


def test_an_interpreter_that_is_no_dynamic_program_has_no_loader(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n" * 20)
    assert ldconfig.load(replace(target(), interpreter=TargetPath(f"{tmp_path}/script")), {}) is None
    assert ldconfig.load(replace(target(), libc=None), {}) is None


@pytest.mark.parametrize(
    "data", [b"", b"ld.so-1.7.0\0" + b"\xff" * 40, b"glibc-ld.so.cache1.1" + b"\xff" * 99]
)
def test_a_damaged_cache_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "cache").write_bytes(data)
    assert dict(loader_cache.read(f"{tmp_path}/cache", X86_64, ())) == {}


def test_a_missing_cache_is_none(tmp_path: Path) -> None:
    assert dict(loader_cache.read(f"{tmp_path}/cache", X86_64, ())) == {}
