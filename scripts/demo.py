"""Show the guard at work on real wheels.

    python3 scripts/demo.py            a small environment (570 MB to download), about two minutes
    python3 scripts/demo.py --torch    torch 2.9.1 with CUDA 12 and nvidia-cudnn-cu13 (7 GB), the story itself

Everything lies in .demo/ inside this checkout (ignored by git); delete that folder to be rid of it. Needs
Python 3.11 or newer and the package index, nothing else.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / ".demo"
TOOL = DEMO / "tool"
REFUSED = 10


class Trial(NamedTuple):
    title: str
    names: list[str]
    exit_code: int


class Story(NamedTuple):
    folder: str
    installs: list[list[str]]
    trials: list[Trial]
    proof: str  # a program that works before the first trial's removal and not after it


SMALL = Story(
    "small",
    [
        ["PyQt6==6.6.1", "PyQt6-Qt6==6.6.1", "nvidia-nccl-cu12==2.27.5", "six==1.17.0"],
        ["nvidia-nccl-cu13==2.27.7"],
    ],
    [
        Trial("a library that PyQt6 loads would be lost", ["PyQt6-Qt6"], REFUSED),
        Trial("a library that two distributions own would be lost", ["nvidia-nccl-cu12"], REFUSED),
        Trial("nobody needs it", ["six"], 0),
    ],
    "import PyQt6.QtCore; print('PyQt6.QtCore imported, Qt', PyQt6.QtCore.qVersion())",
)
TORCH = Story(
    "torch",
    [["torch==2.9.1", "torchvision==0.24.1", "six==1.17.0"], ["--no-deps", "nvidia-cudnn-cu13==9.19.0.56"]],
    [
        Trial("the story: leftover CUDA 13 packages are cleaned up", ["nvidia-cudnn-cu13"], REFUSED),
        Trial("its CUDA 12 sister", ["nvidia-cudnn-cu12"], REFUSED),
        Trial("a library that torch declares", ["nvidia-nccl-cu12"], REFUSED),
        Trial("nobody needs it", ["six"], 0),
    ],
    "import torch; print('torch imported, cuDNN', torch.backends.cudnn.version())",
)


def main(arguments: list[str]) -> int:
    if "--help" in arguments:
        print(__doc__)
        return 0
    if sys.version_info < (3, 11):
        print("safepip needs Python 3.11 or newer; this is", sys.version.split()[0], file=sys.stderr)
        return 2
    story = TORCH if "--torch" in arguments else SMALL
    environment = DEMO / story.folder
    prepare(environment, story)
    wrong = sum(not attempt(environment, trial) for trial in story.trials)
    wrong += not prove(environment, story)
    print(
        "\nThe demonstration went as described." if not wrong else f"\n{wrong} steps did not go as described."
    )
    return 1 if wrong else 0


def prepare(environment: Path, story: Story) -> None:
    if not (TOOL / "bin" / "python").exists():
        say("Installing safepip into .demo/tool")
        venv.create(TOOL, with_pip=True)
    run([TOOL / "bin" / "python", "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", ROOT])
    run([TOOL / "bin" / "python", "-m", "pip", "install", "-q", ROOT])
    if (environment / "ready").exists():
        return
    say(f"Making the environment .demo/{story.folder}")
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=True)
    for step in story.installs:
        run([environment / "bin" / "python", "-m", "pip", "install", "-q", *step])
    (environment / "ready").touch()


def attempt(environment: Path, trial: Trial) -> bool:
    """One dry-run of the guard; whether it ended as the trial says."""
    say(f"{trial.title}: safepip uninstall --dry-run {' '.join(trial.names)}")
    code = run(
        [TOOL / "bin" / "safepip", "--python", environment, "uninstall", "--dry-run", *trial.names],
        check=False,
    )
    print(f"exit code {code}", flush=True)
    return code == trial.exit_code


def prove(environment: Path, story: Story) -> bool:
    """Really uninstall in a copy of hard links, and show what the first refusal has prevented."""
    names = story.trials[0].names
    copy = environment.with_name(environment.name + "-copy")
    say(f"The proof, in a copy: pip uninstall {' '.join(names)}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(environment, copy, symlinks=True, copy_function=os.link)
    works = run([copy / "bin" / "python", "-c", story.proof], check=False) == 0
    run([copy / "bin" / "python", "-m", "pip", "uninstall", "-y", *names])
    run([copy / "bin" / "python", "-m", "pip", "check"], check=False)
    broken = run([copy / "bin" / "python", "-c", story.proof], check=False) != 0
    shutil.rmtree(copy, ignore_errors=True)
    return works and broken


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


def run(command: list[str | Path], *, check: bool = True) -> int:
    print("$", shlex.join(str(word).replace(f"{ROOT}/", "") for word in command), flush=True)
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, check=check, env={**os.environ, **quiet}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
