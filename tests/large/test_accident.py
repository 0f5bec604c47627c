"""The accident that safepip is for, with the wheels it happened to: really broken by pip, mended by the doctor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BUILT_FOR = "91002"  # cuDNN 9.10.2, which torch 2.9.1 for CUDA 12 requires
OVERWRITTEN_BY = "91900"


def pip(python: Path, *words: str) -> None:
    subprocess.run([python, "-m", "pip", *words, "-q"], check=True)


def cudnn(python: Path) -> str:
    """The version that torch loads, or the last line of why it does not."""
    program = "import torch; print(torch.backends.cudnn.version())"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().splitlines()[-1]


def doctor(python: Path, *words: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "safepip", "--python", str(python), "doctor", "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.large
def test_after_the_accident_the_doctor_brings_torch_back_with_the_cudnn_it_was_built_for(
    tmp_path: Path,
) -> None:
    python = tmp_path / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    pip(python, "install", "torch==2.9.1")
    assert cudnn(python) == BUILT_FOR
    pip(python, "install", "--no-deps", "nvidia-cudnn-cu13==9.19.0.56")
    assert cudnn(python) == OVERWRITTEN_BY
    pip(python, "uninstall", "-y", "nvidia-cudnn-cu13")
    assert "libcudnn.so.9: cannot open shared object file" in cudnn(python)

    code, report = doctor(python)
    assert code == 10
    assert ("missing-library", "torch", "libcudnn.so.9") in {
        (item["check"], item["distribution"], item["soname"]) for item in report["broken"]
    }
    (remedy,) = report["remedies"]
    again = ["install", "--no-deps", "--force-reinstall", "nvidia-cudnn-cu12==9.10.2.21"]
    assert [command[3:] for command in remedy["commands"]] == [again]

    assert doctor(python, "--fix", "-y")[0] == 0
    assert cudnn(python) == BUILT_FOR
    assert doctor(python)[0] == 0
