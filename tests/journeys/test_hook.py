"""`safepip hook`: a coding agent's tool call is judged before it runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.sandbox import Environment, Run, run

BLOCKED = 2
SAFEPIP = str(Path(sys.executable).parent / "safepip")


def call(line: str | list[str], environment: Environment, **more: Any) -> Run:
    tool = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}, **more}
    tool.setdefault("cwd", str(environment.prefix))
    return run(
        [SAFEPIP, "hook"], stdin=json.dumps(tool), env={"PATH": f"{environment.prefix / 'bin'}:/usr/bin:/bin"}
    )


@pytest.fixture
def place(story: Environment) -> Environment:
    for script in story.prefix.glob("bin/pip*"):
        body = script.read_text().split("\n", 1)[1]
        script.unlink()
        script.write_text(f"#!{story.python}\n{body}")
        script.chmod(0o755)
    return story


@pytest.mark.parametrize(
    "line",
    [
        "pip uninstall -y cudnn-cu13",
        "bin/pip uninstall -y cudnn-cu13",
        "cd bin && ./pip3 uninstall -y cudnn-cu13",
        "bin/python -m pip uninstall -y cudnn-cu13",
        "cd .. && . env/bin/activate && python -m pip uninstall -y cudnn-cu13",
        "bash -lc 'pip uninstall -y cudnn-cu13 && echo done'",
        "sudo -E pip uninstall -y cudnn-cu13 || true",
        "uv pip uninstall --python . cudnn-cu13",
        "VIRTUAL_ENV=$PWD uv pip uninstall cudnn-cu13",
        "printf 'cudnn-cu13' > gone.txt; pip uninstall -y -r gone.txt",
        "pip uninstall -y leaf; pip uninstall -y cudnn-cu13",
    ],
)
def test_the_accident_is_blocked_however_it_is_spelled(line: str, place: Environment) -> None:
    before = place.tree()
    answer = call(line, place)
    assert (answer.code, answer.out, answer.err[:17]) == (BLOCKED, "", "safepip: BLOCKED:")
    assert len(answer.err) <= 1650
    assert place.tree() == before


@pytest.mark.parametrize(
    "line",
    [
        "ls -la && git status",
        "pip uninstall -y leaf",
        "pip list | grep cudnn",
        "pip uninstall -y torch && pip uninstall -y cudnn-cu12 cudnn-cu13",
        "pip show uninstall",
        "git commit -m 'pip uninstall cudnn-cu13'",
    ],
)
def test_what_harms_nobody_is_let_through_without_a_word(line: str, place: Environment) -> None:
    assert call(line, place) == Run(0, "", "")


INSTALLS = {
    "pip install -U 'a b' x": "install -U 'a b' x",
    "bin/pip -q install x": "install x",
    "cd bin && python3 -m pip install $X": "install …",
    ". bin/activate && bash -c 'pip install -r x.txt'": "install -r x.txt",
    "mkdir y && cd y && pip install x": "install x",
}


@pytest.mark.parametrize("line", INSTALLS)
def test_an_install_that_nobody_would_judge_is_sent_through_safepip(line: str, place: Environment) -> None:
    answer = call(line, place)
    lines = answer.err.splitlines()
    expected = (BLOCKED, "", f"Run instead: safepip --python {place.python} {INSTALLS[line]}")
    assert (answer.code, answer.out, lines[-1].replace("bin/python3 ", "bin/python ")) == expected
    assert lines[0].startswith("safepip: BLOCKED: nobody would judge what this install breaks in ")


def test_an_install_may_run_where_the_guard_judges_it(place: Environment) -> None:
    assert place.safepip("guard", "on").code == 0
    for line in INSTALLS:
        assert call(line, place) == Run(0, "", "")
    for line in ("bin/python -S -m pip install x", "uv pip install --python . x"):
        assert call(line, place).code == BLOCKED


@pytest.mark.parametrize(
    "line",
    [
        "python3 -m venv new && new/bin/pip install x",
        "cd bin && virtualenv ../new && . ../new/bin/activate && pip install -r x.txt",
        "uv venv new && uv pip install --python new x && VIRTUAL_ENV=new uv pip install x",
        "uv venv && uv pip install x",
        "pip install --target here x; pip install --dry-run x; pip install --help; pip download x",
        "safepip install x",
    ],
)
def test_an_install_that_can_break_nothing_there_is_let_through(line: str, place: Environment) -> None:
    assert call(line, place) == Run(0, "", "")


def test_an_environment_that_is_there_is_not_taken_for_a_new_one(place: Environment) -> None:
    assert call("python3 -m venv . && bin/pip install x", place).code == BLOCKED


def test_the_reason_says_what_would_break_and_ends_with_what_to_run_instead(place: Environment) -> None:
    lines = call("pip uninstall -y cudnn-cu13", place).err.splitlines()
    assert "cudnn-cu13 9.19 would break torch" in lines[0]
    assert f"safepip --python {place.python}" in lines[-1]


def test_the_shell_line_may_be_a_list_of_words_and_stand_under_another_name(place: Environment) -> None:
    words = ["bash", "-lc", "pip uninstall -y cudnn-cu13"]
    assert call(words, place).code == BLOCKED
    assert call("", place, tool_input={"cmd": "pip uninstall -y cudnn-cu13"}).code == BLOCKED


def test_another_kind_of_tool_is_none_of_its_business(place: Environment) -> None:
    written = {"file_path": "/x.sh", "content": "pip uninstall -y cudnn-cu13"}
    assert call("", place, tool_name="Write", tool_input=written) == Run(0, "", "")


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{",
        "[]",
        '"pip"',
        '{"tool_input": "pip"}',
        '{"tool_input": {"command": 3, "description": "pip"}}',
        "[" * 100_000,
    ],
)
def test_a_call_that_cannot_be_read_is_blocked(data: str) -> None:
    answer = run([SAFEPIP, "hook"], stdin=data)
    assert (answer.code, answer.err[:17]) == (BLOCKED, "safepip: BLOCKED:")


def test_what_cannot_be_followed_is_blocked_with_the_way_to_say_it(place: Environment) -> None:
    answer = call("pip freeze | xargs pip uninstall -y", place)
    assert answer.code == BLOCKED
    assert answer.err.splitlines()[-1].endswith("safepip --python PATH uninstall -y PACKAGE …")


def test_an_environment_that_is_not_there_is_blocked(place: Environment) -> None:
    assert call("/nowhere/bin/python -m pip uninstall -y x", place).code == BLOCKED


LOADED = """
import io, sys
start = set(sys.modules)
from safepip.commands import hook
sys.stdin = io.TextIOWrapper(io.BytesIO(sys.argv[1].encode()))
print(hook.answer([], {}), *sorted(set(sys.modules) - start))
"""


def test_a_harmless_line_is_answered_with_nothing_loaded() -> None:
    data = json.dumps({"tool_name": "Bash", "tool_input": {"command": "git status && ls 'a b' | head"}})
    assert run([sys.executable, "-c", LOADED, data]).out.split() == [
        "0",
        "__future__",
        "safepip",
        "safepip.commands",
        "safepip.commands.hook",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "p'i'p uninstall -y cudnn-cu13",
        "p\\ip unin\\stall -y cudnn-cu13",
        "pi\\\np unin\\\nstall -y cudnn-cu13",
    ],
)
def test_quotes_within_a_word_hide_nothing(line: str, place: Environment) -> None:
    assert call(line, place).code == BLOCKED


def test_an_escaped_letter_hides_nothing(place: Environment) -> None:
    line = "\\u0070\\u0069p \\u0075ninst\\u0061ll -y cudnn-cu13"
    data = f'{{"tool_input": {{"command": "{line}"}}, "cwd": "{place.prefix}"}}'
    path = {"PATH": f"{place.prefix / 'bin'}:/usr/bin:/bin"}
    for sent in (data, data.replace("\\u0070", "p").replace("\\u0069", "i")):
        assert run([SAFEPIP, "hook"], stdin=sent, env=path).code == BLOCKED


@pytest.mark.parametrize(
    "line",
    [
        "pip uninstall a b",
        "x=1 pip uninstall 'a b' \"c\"'d' e\\ f",
        "pip uninstall a && pip uninstall b || pip uninstall c; pip uninstall d",
        "bash -c 'pip uninstall \"a b\"'",
        "eval \"pip uninstall 'a'\"",
        "echo $(pip uninstall a) `pip uninstall b`",
        "env A=b nice -n 1 pip uninstall a 2>&1 >/dev/null # c",
        "{ pip uninstall a; } | cat; (pip uninstall b)",
        "bash <<'END'\npip uninstall a\nEND\npip uninstall b",
        "pip uninstall \\\n a",
        "if true; then pip uninstall a; fi; for x in 1; do pip uninstall b; done",
        "pip uninstall a<<<x 3>/dev/null",
        "pip uninstall $'a' a#b",
    ],
)
def test_the_words_found_are_those_that_a_real_shell_hands_to_pip(line: str, tmp_path: Path) -> None:
    """A pip that only writes down what it is given stands first on the PATH."""
    from safepip.reasoning.shell.shell_lines import calls

    if shutil.which("bash") is None:
        pytest.skip("no bash on this machine")
    (tmp_path / "pip").write_text(
        f'#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >> {tmp_path}/seen\nprintf "\\1" >> {tmp_path}/seen\n'
    )
    (tmp_path / "pip").chmod(0o755)
    subprocess.run(
        ["bash", "-c", line.replace("||", ";")],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=False,
        capture_output=True,
    )
    seen = [call.split("\0")[:-1] for call in (tmp_path / "seen").read_text().split("\1")[:-1]]
    assert [found.words for found in calls(line)] == seen
