"""A torch whose CUDA libraries lie below another entry of sys.path: no RPATH reaches them, and torch opens them itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from safepip.commands.examine import examine
from safepip.commands.scene import Scene
from safepip.model.paths import DistKey
from safepip.model.policy import Policy
from safepip.model.report import Decision
from safepip.reading.pythons import targets
from safepip.reasoning.verdict.judge import judge

WANTED = "torch==2.9.1"  # its CUDA 12 build, as the index has it


def moved(venv: Path) -> Path:
    """torch installed, with everything of NVIDIA's in a folder that a .pth file names."""
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin/python", "-m", "pip", "install", "-q", WANTED], check=True)
    (site,) = venv.glob("lib/python3*/site-packages")
    second = venv / "second"
    second.mkdir()
    for path in [site / "nvidia", *site.glob("nvidia_*.dist-info")]:
        path.rename(second / path.name)
    (site / "second.pth").write_text(f"{second}\n")
    return venv / "bin/python"


def last_words(python: Path) -> str:
    done = subprocess.run([python, "-c", "import torch"], capture_output=True, text=True, check=False)
    return (done.stderr.strip().splitlines() or [""])[-1] if done.returncode else "imported"


@pytest.mark.large
def test_torch_imports_with_its_libraries_elsewhere_and_dies_with_a_value_error_without_cudnn(
    tmp_path: Path,
) -> None:
    python = moved(tmp_path / "venv")
    assert last_words(python) == "imported"

    environ = {**os.environ, "XDG_CACHE_HOME": f"{tmp_path}/home"}
    scene = Scene(targets.read_target(str(python), environ), environ)
    verdict = judge(examine([DistKey("nvidia-cudnn-cu12")], scene).evidence, Policy())
    assert verdict.decision is Decision.REFUSE
    assert ("library-lost", "torch", "libcudnn.so.9") in [
        (finding.kind.value, finding.distribution, finding.soname) for finding in verdict.findings
    ]

    subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "nvidia-cudnn-cu12"], check=True)
    assert last_words(python).startswith("ValueError: libcudnn.so.*[0-9] not found in the system path")
