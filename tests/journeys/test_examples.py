"""Each example does what it says: its commands are taken out of its file and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.sandbox import Environment, Run, run

REFUSED = 10
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAFEPIP = Path(sys.executable).parent / "safepip"


@pytest.fixture
def project(story: Environment, tmp_path: Path) -> Path:
    """A folder with the environment as .venv, and a list of removals that would break it."""
    for script in story.prefix.glob("bin/pip*"):
        body = script.read_text().split("\n", 1)[1]
        script.unlink()
        script.write_text(f"#!{story.python}\n{body}")
        script.chmod(0o755)
    folder = tmp_path / "project"
    (folder / "tools").mkdir(parents=True)
    (folder / "tools/safepip").symlink_to(SAFEPIP)
    (folder / ".venv").symlink_to(story.prefix)
    (folder / "removals.txt").write_text("cudnn-cu13\n")
    return folder


def shell(line: str, project: Path, stdin: str = "") -> Run:
    path = f"{project}/tools:{project}/.venv/bin:/usr/bin:/bin"
    return run(["/bin/sh", "-c", line], env={"PATH": path}, cwd=project, stdin=stdin)


def harmless(project: Path) -> None:
    (project / "removals.txt").write_text("leaf\n")


def test_the_agents_hook_blocks_the_accident(project: Path) -> None:
    settings = json.loads((EXAMPLES / "agent-hook.json").read_text())
    (matched,) = settings["hooks"]["PreToolUse"]
    (hook,) = matched["hooks"]
    call = {"tool_name": matched["matcher"], "tool_input": {"command": "pip uninstall -y cudnn-cu13"}}
    answer = shell(hook["command"], project, json.dumps(call))
    assert (answer.code, "would break torch" in answer.err) == (2, True)


def test_make_stops_before_the_accident_and_goes_on_with_what_is_harmless(project: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("no make on this machine")
    refused = shell(f"make -f {EXAMPLES}/Makefile clean-packages REMOVE=cudnn-cu13", project)
    assert (refused.code, "Error 10" in refused.err) == (2, True)
    done = shell(f"make -f {EXAMPLES}/Makefile clean-packages REMOVE=leaf", project)
    assert (done.code, "Successfully uninstalled leaf" in done.out) == (0, True)


@pytest.mark.parametrize("name", ["ci-job.yml", "pre-commit-config.yaml"])
def test_the_jobs_steps_refuse_the_accident(name: str, project: Path) -> None:
    lines = re.findall(r"(?:run|entry): (safepip .*)", (EXAMPLES / name).read_text())
    answers = [shell(line, project) for line in lines]
    assert [(answer.code, answer.err) for answer in answers if answer.code != REFUSED] == []
    assert answers != []
    harmless(project)
    assert [shell(line, project).code for line in lines] == [0] * len(lines)


def test_the_image_is_guarded_in_its_own_steps(project: Path) -> None:
    """Its RUN lines, with this environment in the place of the image's Python."""
    text = (EXAMPLES / "Dockerfile").read_text()
    on, removal, status = re.findall(r"^RUN (.*(?:guard|uninstall).*)$", text, re.MULTILINE)
    swaps = {
        "/opt/safepip/bin/safepip": str(SAFEPIP),
        "/usr/local/bin/python3": str(project / ".venv/bin/python"),
    }
    for old, new in swaps.items():
        on, status = on.replace(old, new), status.replace(old, new)
    assert shell(on, project).code == 0
    assert shell(removal, project).code == REFUSED
    assert shell(status, project).code == 0
    harmless(project)
    assert shell(removal, project).code == 0


def test_each_example_is_tested() -> None:
    assert sorted(os.listdir(EXAMPLES)) == sorted(
        [
            "Dockerfile",
            "Makefile",
            "agent-hook.json",
            "ci-job.yml",
            "container",
            "fleet",
            "pre-commit-config.yaml",
        ]
    )
