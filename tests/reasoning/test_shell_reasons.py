"""Why a line of shell cannot be followed, and what of a call decides where it acts."""

from __future__ import annotations

import pytest

from safepip.reasoning.shell.shell_lines import calls
from safepip.reasoning.shell.shell_words import UnclearError, split


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("$PIP uninstall a", "the program is computed"),
        ("$PIP install a", "the program is computed"),
        ("pip $X a", "pip's command is computed"),
        ("pip uninstall $X", "what is to go is computed"),
        ("uv pip install --python $X a", "the environment may be computed"),
        ("cd $X; uv pip install a", "the folder is computed"),
        ("cd -; v/bin/pip install a", "the folder is computed"),
        ("pushd $X; pip uninstall a", "the folder is computed"),
        ("cd $X; cd y; pip uninstall a", "the folder is computed"),
        ("PATH=$X pip uninstall a", "PATH is computed"),
        ("export VIRTUAL_ENV=$X; pip uninstall a", "VIRTUAL_ENV is computed"),
        ("env PATH=$X pip uninstall a", "PATH is computed"),
        ("eval pip uninstall $X", "a part of the code is computed"),
        ("eval $X pip list", "a part of the code is computed"),
        ('env -S "pip uninstall $X"', "a part of the code is computed"),
        ('env --split-string "pip uninstall $X"', "a part of the code is computed"),
        ("echo pip uninstall a | bash", "a shell reads what another command writes"),
        ("echo pip install a | sort | bash", "a shell reads what another command writes"),
        ("python -c \"import pip; pip.main(['uninstall'])\"", "code of Python's may call pip"),
        ("python <<< \"import pip; pip.main(['uninstall'])\"", "code of Python's may call pip"),
        ("ssh host pip uninstall a", "ssh may run it where safepip cannot look"),
        ("'if' pip uninstall a", "if may run it where safepip cannot look"),
        ("conda run pip uninstall a", "conda may run it in another environment"),
        ("uv run pip uninstall a", "uv run may choose another environment"),
        (". $X/bin/activate; pip uninstall a", "the environment's folder is computed"),
        ("source activate; pip uninstall a", "nobody can tell what is activated"),
        ("cd $X; . bin/activate; pip install a", "the environment's folder is computed"),
        ("workon x; pip uninstall a", "workon has changed the environment"),
        ("deactivate; pip uninstall a", "deactivate has changed the environment"),
        ("conda activate x; pip uninstall a", "conda has changed the environment"),
        ("pyenv shell 3.12; pip uninstall a", "pyenv has changed the environment"),
        ("module load python; pip uninstall a", "module has changed the environment"),
        ("mise use python; pip uninstall a", "mise has changed the environment"),
        ("$(" * 30 + "pip" + ")" * 30, "too deeply nested"),
    ],
)
def test_what_cannot_be_followed_says_why(line: str, why: str) -> None:
    with pytest.raises(UnclearError) as problem:
        calls(line)
    assert str(problem.value) == why


@pytest.mark.parametrize(
    "line",
    [
        "cd $X; cd /abs; pip uninstall a",
        "cd $X; cd ~/x; pip uninstall a",
        "conda list pip; pip uninstall a",
        "module avail; pip uninstall a",
        ". $X/bin/other; pip uninstall a",
        "bash -c 'eval true; eval true'; eval 'pip uninstall a'",
        "PAGER=$X pip uninstall a",
    ],
)
def test_what_does_not_decide_hides_nothing(line: str) -> None:
    assert [call.words for call in calls(line)] == [["uninstall", "a"]]


def test_what_is_written_before_another_pipe_is_not_read_by_it() -> None:
    for line in (
        "echo pip install a; cat f | bash; pip list",
        "echo pip install a | cat; cat f | bash -s; pip list",
    ):
        assert calls(line) == []


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("python -m pip uninstall a", False),
        ("python -S -m pip uninstall a", True),
        ("python -ISm pip uninstall a", True),
        ("python -Im pip uninstall a", False),
        ("python -m pip.__main__ uninstall a", False),
        ("python -W S -S x/bin/pip uninstall a", True),
        ("pypy3 -m pip uninstall a", False),
    ],
)
def test_a_python_without_site_reads_no_hook(line: str, bare: bool) -> None:  # noqa: FBT001
    (call,) = calls(line)
    assert (call.tool, call.bare, call.words) == ("python", bare, ["uninstall", "a"])


def test_the_folder_is_where_the_line_has_gone_by_then() -> None:
    line = "pip uninstall a; cd x; pip uninstall b; pushd y; pip uninstall c; cd; pip uninstall d; cd /z; pip uninstall e"
    assert [call.folder for call in calls(line)] == ["", "x", "x/y", "~", "/z"]


def test_more_evals_than_are_followed_one_in_another_may_stand_side_by_side() -> None:
    assert len(calls("eval 'pip uninstall a';" * 50)) == 50


@pytest.mark.parametrize("program", ["pip.exe", "pip3.12.exe", "pip.pyz", "pip3", "pip-3.12", "pip3.13t"])
def test_a_pip_is_one_by_any_of_its_names(program: str) -> None:
    assert [call.program for call in calls(f"/x/{program} uninstall a")] == [f"/x/{program}"]


@pytest.mark.parametrize("program", ["python.exe", "python3.12", "pypy", "pypy3.10", "python3.13t"])
def test_a_python_is_one_by_any_of_its_names(program: str) -> None:
    assert [call.program for call in calls(f"{program} -m pip uninstall a")] == [program]


@pytest.mark.parametrize("line", ["p\\ip uninstall a", "p''ip unin\"\"stall a", "pi\\\np uninstall a"])
def test_quotes_inside_a_name_hide_it_from_nobody(line: str) -> None:
    assert [call.words for call in calls(line)] == [["uninstall", "a"]]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("pip 'x", "a ' that does not end"),
        ("pip `x", "a ` that does not end"),
        ('pip "x', 'a " that does not end'),
        ("pip $'x", "a $' that does not end"),
        ("pip $(x", "a ( that does not end"),
    ],
)
def test_what_does_not_end_is_named(line: str, why: str) -> None:
    with pytest.raises(UnclearError) as problem:
        calls(line)
    assert str(problem.value) == why


@pytest.mark.parametrize(
    "line",
    [
        "#pip\npip uninstall a",
        "cat <<< pip\npip uninstall a",
        "cat <<A\n\nA\npip uninstall a",
        "env -i A=b pip uninstall a",
        "env - pip uninstall a",
        "nohup -- pip uninstall a",
        "bash -- -c; bash -lc 'pip uninstall a'",
        "if true; then 'echo' pip; fi; pip uninstall a",
        "bash script.sh; pip uninstall a",
        "bash --rcfile; bash -c 'pip uninstall a'",
    ],
)
def test_odd_lines_are_read_to_their_end(line: str) -> None:
    assert [call.words for call in calls(line)] == [["uninstall", "a"]]


def test_what_a_name_cannot_hold_ends_it() -> None:
    with pytest.raises(UnclearError, match="what is to go is computed"):
        calls("pip uninstall $a_b")
    assert [word.text for word in split("x $a_b.c ${d}e")[0].words] == ["x", ".c", "e"]


def test_a_brace_is_a_list_only_with_a_comma_or_dots_and_no_blank_in_it() -> None:
    assert [word.dynamic for word in split("{a,b} {a} x{1..2} a,b {c")[0].words] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert [word.dynamic for word in split("{a, b}")[0].words] == [False, False]


PYTHON = "code of Python's may call pip"


@pytest.mark.parametrize(
    ("code", "unclear"),
    [
        ("subprocess.run(['pip', 'install', 'x'])", True),
        ('subprocess.run(["pip", "install"])', True),
        ("subprocess.run([PIP, '-m', 'pip', *'install'])", True),
        ("os.system('pip -q install x')", True),
        ("os.system('pip list; apt install x')", False),
        ("subprocess.run(['apt', 'install', 'x'])", False),
        ("subprocess.run(['pip', 'list'])", False),
        ("print('pip', 'install')", False),
        ("os.system('apt -y install x')", False),
    ],
)
def test_code_for_python_may_call_pip_where_it_starts_a_process_and_names_both(
    code: str,
    unclear: bool,  # noqa: FBT001
) -> None:
    line = f"pip list; python <<'END'\n{code}\nEND"
    if unclear:
        with pytest.raises(UnclearError, match=PYTHON):
            calls(line)
    else:
        assert calls(line) == []
