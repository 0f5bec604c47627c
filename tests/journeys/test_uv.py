"""`safepip uv …`: `uv pip uninstall` behind the guard, everything else uv's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support import trees
from support.sandbox import Environment, Run, run
from support.uvs import uv
from support.wheels import make_wheel

REFUSED, BROKE = 10, 13
SAFEPIP = Path(sys.executable).parent / "safepip"


def variables(story: Environment) -> Mapping[str, str]:
    return {"PATH": f"{uv().parent}:/usr/bin:/bin", "VIRTUAL_ENV": str(story.prefix), "UV_NO_CACHE": "1"}


def safepip(story: Environment, *words: str) -> Run:
    return run([str(SAFEPIP), "uv", *words], env=variables(story), cwd=story.prefix.parent)


def test_the_accident_is_refused_and_nothing_is_touched(story: Environment) -> None:
    before = story.tree()
    answer = safepip(story, "pip", "uninstall", "cudnn-cu13")
    assert (answer.code, "would break torch" in answer.err) == (REFUSED, True)
    assert story.tree() == before


def test_what_harms_nobody_is_removed_by_uv_and_can_be_undone(story: Environment) -> None:
    before = story.tree()
    answer = safepip(story, "pip", "uninstall", "leaf")
    assert (answer.code, " - leaf==1.0" in answer.err) == (0, True)
    assert not (story.site / "leaf.py").exists()
    assert story.safepip("undo").code == 0
    assert {path: data for path, data in story.tree().items() if path in before} == before


def test_an_install_by_uv_is_judged_when_it_is_done_and_taken_back(
    story: Environment, tmp_path: Path
) -> None:
    story.add("user", {"user.py": "import base\n"}, requires=["base<2"])
    story.add("base", {"base/__init__.py": "", "base/old.py": ""})
    wheel = make_wheel(tmp_path, "base", {"base/__init__.py": "", "base/new.py": ""}, version="2.0")
    before = trees.snapshot(story.prefix)
    words = ["pip", "install", "--offline", "--no-deps", str(wheel)]
    done = safepip(story, *words, "--rollback")
    assert (done.code, trees.snapshot(story.prefix)) == (REFUSED, before)
    done = safepip(story, *words)
    assert (done.code, "UNMET NOW: requirements of user, by base 2.0" in done.err) == (BROKE, True)
    assert (story.site / "base/new.py").exists()
    assert story.safepip("undo").code == 0
    assert trees.snapshot(story.prefix) == before


def test_a_harmless_install_by_uv_says_what_uv_says_and_keeps_nothing(
    story: Environment, tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path, "fresh", {"fresh.py": ""})
    done = safepip(story, "pip", "install", "-q", "--offline", "--no-deps", str(wheel))
    assert done == Run(0, "", "")
    assert (story.site / "fresh.py").exists()
    assert list((story.prefix / ".safepip/vault").iterdir()) == []


def test_an_install_by_uv_that_leads_elsewhere_is_uvs_alone(story: Environment, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "fresh", {"fresh.py": ""})
    there = ["--target", str(tmp_path / "there")]
    done = safepip(story, "pip", "install", "-q", "--offline", "--no-deps", *there, str(wheel))
    assert (done.code, (tmp_path / "there/fresh.py").exists()) == (0, True)
    assert not (story.prefix / ".safepip").exists()


def test_a_dry_run_in_json_has_uvs_own_plan(story: Environment) -> None:
    (story.site / "__pycache__").mkdir(exist_ok=True)
    (story.site / f"__pycache__/leaf.{sys.implementation.cache_tag}.pyc").write_bytes(b"")
    plan = [str(SAFEPIP), "--python", str(story.python)]
    of_uv = run([*plan, "uv", "pip", "uninstall", "--dry-run", "--json", "leaf"], env=variables(story)).report
    of_pip = run([*plan, "uninstall", "--dry-run", "--json", "leaf"]).report
    assert of_pip["removal"]["files"] - of_uv["removal"]["files"] == 1  # the byte code, which uv leaves


def test_everything_else_is_uvs(story: Environment) -> None:
    for words in (
        ["--version"],
        ["pip", "list"],
        ["pip", "show", "leaf"],
        ["pip", "nonsense"],
        ["pip", "uninstall", "--help"],
    ):
        direct = subprocess.run(
            [uv(), *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **variables(story)},
            cwd=story.prefix.parent,
        )
        answer = safepip(story, *words)
        assert (answer.code, answer.out, answer.err) == (direct.returncode, direct.stdout, direct.stderr)


@pytest.mark.parametrize("words", [["sync"], ["remove", "x"], ["pip", "sync", "none.txt"]], ids=" ".join)
def test_what_changes_an_environment_without_a_guard_is_named_before_uv_does_it(
    story: Environment, words: list[str]
) -> None:
    answer = safepip(story, *words, "--help")
    name = " ".join(word for word in words if word not in {"x", "none.txt"})
    assert answer.code == 0
    assert answer.err.startswith(f"safepip: `uv {name}` changes the environment and is not guarded;")


def test_an_option_that_is_not_followed_ends_the_command(story: Environment) -> None:
    answer = safepip(story, "pip", "uninstall", "--target", "x", "leaf")
    assert (answer.code, "--target" in answer.err) == (2, True)


def test_without_uv_that_is_said(story: Environment) -> None:
    answer = run(
        [str(SAFEPIP), "uv", "pip", "uninstall", "leaf"], env={**variables(story), "PATH": "/nowhere"}
    )
    assert (answer.code, "uv" in answer.err) == (12, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shells_function_guards_uv_as_well(shell: str, story: Environment, tmp_path: Path) -> None:
    import shutil

    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    load = f"{SAFEPIP} init fish | source" if shell == "fish" else f'eval "$({SAFEPIP} init {shell})"'
    answer = run([shell, "-c", f"{load}; uv pip uninstall cudnn-cu13"], env=variables(story))
    assert (answer.code, "would break torch" in answer.err) == (REFUSED, True)
    wheel = make_wheel(tmp_path, "cudnn-cu12", {"cudnn/x.py": ""}, version="9.11")
    line = f"uv pip install --offline --no-deps {wheel}"
    answer = run([shell, "-c", f"{load}; {line}"], env=variables(story), cwd=tmp_path)
    assert (answer.code, "BROKEN NOW: " in answer.err) == (BROKE, True)
