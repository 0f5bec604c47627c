"""Real wheels of other machines, big-endian and 32-bit ones too: read rightly, and judged in an image of theirs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from safepip.model.elf import Abi, Elf
from safepip.reading.elf_files import elf, elf_library
from support.elves import write
from support.fake_world import lib
from support.images import AARCH64, S390X, make_image

WHEELS = [("rpds-py", "s390x", S390X), ("rpds-py", "aarch64", AARCH64)]


@pytest.fixture(params=WHEELS, ids=lambda item: item[1])
def wheel(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Abi]:
    name, machine, abi = request.param
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", "3.12", "-d", str(tmp_path / "wheels"), name]
    command += ["--platform", f"manylinux2014_{machine}", "--platform", f"manylinux_2_17_{machine}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no {name} for {machine} to be had: {done.stderr[-200:]}")
    return next((tmp_path / "wheels").iterdir()), abi


def test_the_lean_reader_reads_another_machine_s_objects_as_pyelftools_does(
    wheel: tuple[Path, Abi], tmp_path: Path
) -> None:
    path, abi = wheel
    zipfile.ZipFile(path).extractall(tmp_path / "unpacked")
    objects = sorted((tmp_path / "unpacked").rglob("*.so"))
    assert objects != []
    for found in objects:
        lean = elf.read(str(found))
        handle = os.open(found, os.O_RDONLY)
        try:
            assert lean == elf_library.read(handle)
        finally:
            os.close(handle)
        assert isinstance(lean, Elf)
        assert (lean.abi, "libc.so.6" in lean.needed) == (abi, True)


def test_a_wheel_of_another_machine_finds_the_libraries_of_its_image(
    wheel: tuple[Path, Abi], tmp_path: Path
) -> None:
    path, abi = wheel
    image = make_image(tmp_path / "image", abi)
    zipfile.ZipFile(path).extractall(image.site)
    module = next(image.site.rglob("*.so"))
    found = elf.read(str(module))
    assert isinstance(found, Elf)
    wanted = {name for name in found.needed if not name.startswith("ld")}
    broken = image.safepip("doctor", "--json").report["broken"]
    assert {item["soname"] for item in broken} == wanted
    for name in wanted:
        place = image.root / "usr/lib" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(write(lib(name, abi=abi)))
    assert image.safepip("doctor", "--json").report["broken"] == []
