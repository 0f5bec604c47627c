"""What is only passed on becomes the pip on the PATH, and nothing else does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from safepip.acting.direct import PASSED

CALL = (
    "import sys; sys.argv = sys.argv[1:]; from safepip.acting.direct import become_pip; become_pip(sys.argv)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("pip", '#!/bin/sh\necho "$0" "$@"\nexit 7\n'), ("safepip", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def call(path: Path, *argv: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", CALL, *argv], env={"PATH": f"/nowhere:{path}"}, check=False, capture_output=True, text=True
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_command_that_takes_nothing_away_becomes_pip(folder: Path) -> None:
    assert call(folder, f"{folder}/safepip", "list", "-v", "a b") == (7, f"{folder}/pip list -v a b\n")


@pytest.mark.parametrize("argument", ["uninstall", "install", "audit", "help", "-q", "--python", ""])
def test_what_may_have_to_be_judged_is_left_to_the_command_line(argument: str, folder: Path) -> None:
    assert call(folder, f"{folder}/safepip", argument) == (0, "")


def test_a_safepip_called_by_its_path_may_stand_for_another_pip(folder: Path) -> None:
    (folder / "other").mkdir()
    assert call(folder, f"{folder}/other/safepip", "list") == (0, "")
    assert call(folder, f"{folder}/safepip/__main__.py", "list") == (0, "")


def test_a_pip_that_cannot_be_started_is_left_to_the_command_line(folder: Path) -> None:
    (folder / "pip").write_text("#!/nowhere/python\n")
    assert call(folder, f"{folder}/safepip", "list") == (0, "")


def test_the_module_loads_nothing_that_the_interpreter_has_not_loaded_itself() -> None:
    program = "import sys; before = set(sys.modules); import safepip.acting.direct; print(sorted(set(sys.modules) - before))"
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert told.stdout == "['__future__', 'safepip', 'safepip.acting', 'safepip.acting.direct']\n"


def test_all_of_pips_commands_are_passed_on_but_those_that_change_an_environment() -> None:
    program = "from pip._internal.commands import commands_dict; print(*commands_dict)"
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert set(told.stdout.split()) - PASSED <= {"install", "uninstall", "help"}
