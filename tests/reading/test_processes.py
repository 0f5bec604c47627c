"""Who maps a file, asked of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from safepip.model.paths import TargetPath
from safepip.reading import processes

MAPS = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print("mapped", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no /proc here")
def test_a_process_that_maps_a_file_is_named(tmp_path: Path) -> None:
    library, other = tmp_path / "lib x.so.1", tmp_path / "other.so"
    library.write_bytes(b"\x7fELF" * 2000)
    other.write_bytes(b"")
    paths = [TargetPath(str(library)), TargetPath(str(other))]
    assert processes.mapping(paths) == ()
    command = [sys.executable, "-c", MAPS, str(library)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mapped\n"
        found = processes.mapping(paths)
        process.communicate("")
    assert [(one.pid, one.path) for one in found] == [(process.pid, str(library))]
    assert found[0].name.startswith("python")
    assert processes.mapping(paths) == ()
