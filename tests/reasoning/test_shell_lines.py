"""Removals and installs in lines of shell; what bash really runs for each line is held beside it in tests/journeys."""

from __future__ import annotations

import pytest

from safepip.reasoning.shell.shell_lines import calls
from safepip.reasoning.shell.shell_words import UnclearError

FOUND = {
    "pip uninstall -y torch": ["pip pip uninstall -y torch"],
    "pip3.12 uninstall torch numpy": ["pip pip3.12 uninstall torch numpy"],
    ".venv/bin/pip -q uninstall torch": ["pip .venv/bin/pip -q uninstall torch"],
    "python -m pip uninstall torch": ["python python uninstall torch"],
    "python3 -Im pip uninstall torch": ["python python3 uninstall torch"],
    "python -mpip uninstall torch": ["python python uninstall torch"],
    "python -W ignore -X utf8 -m pip uninstall a": ["python python uninstall a"],
    "python /x/bin/pip3 uninstall a": ["python python uninstall a"],
    "p'i'p un\\install -y 'to'\"rch\"": ["pip pip uninstall -y torch"],
    "cd /tmp && pip uninstall a; pip uninstall b || true": ["pip pip uninstall a", "pip pip uninstall b"],
    "echo y | pip uninstall a": ["pip pip uninstall a"],
    "(pip uninstall a)": ["pip pip uninstall a"],
    "{ pip uninstall a; }": ["pip pip uninstall a"],
    "if true; then pip uninstall a; fi": ["pip pip uninstall a"],
    "x=$(pip uninstall -y a)": ["pip pip uninstall -y a"],
    'echo "`pip uninstall -y a`"': ["pip pip uninstall -y a"],
    'echo "$(pip uninstall -y a 2>&1 | tail -1)"': ["pip pip uninstall -y a"],
    "diff <(pip uninstall -y a) x": ["pip pip uninstall -y a"],
    "bash -c 'pip uninstall a'": ["pip pip uninstall a"],
    'bash -lc "cd x && pip uninstall a"': ["pip pip uninstall a"],
    "sh -c 'bash -c \"pip uninstall a\"'": ["pip pip uninstall a"],
    "eval pip uninstall a": ["pip pip uninstall a"],
    "eval 'pip uninstall a'": ["pip pip uninstall a"],
    "bash <<'END'\npip uninstall a\nEND\n": ["pip pip uninstall a"],
    "bash <<< 'pip uninstall a'": ["pip pip uninstall a"],
    "PIP_YES=1 A=b pip uninstall a": ["pip pip uninstall a"],
    "sudo -u me -E pip uninstall a": ["pip pip uninstall a"],
    "env -i PATH=/bin pip uninstall a": ["pip pip uninstall a"],
    "nohup nice -n 5 timeout 60 pip uninstall a > log 2>&1 &": ["pip pip uninstall a"],
    "time pip uninstall a": ["pip pip uninstall a"],
    "pip uninstall a # and b": ["pip pip uninstall a"],
    "pip uninstall \\\n  a \\\n  b": ["pip pip uninstall a b"],
    "uv pip uninstall a": ["uv uv uninstall a"],
    "uv --quiet pip uninstall --python .venv a": ["uv uv uninstall --python .venv a"],
    "pip uninstall -y -r old.txt >/dev/null": ["pip pip uninstall -y -r old.txt"],
    "pip install torch": ["pip pip install torch"],
    "pip install -U $PACKAGES": ["pip pip install -U "],
    "cd $(pwd) && pip3 install -e .": ["pip pip3 install -e ."],
    "python3 -m venv .venv && .venv/bin/pip install a": ["pip .venv/bin/pip install a"],
    "xargs pip install < names": ["pip pip install "],
    "uv pip install a": ["uv uv install a"],
    "curl -LsSf https://x/uv/install.sh | sh && uv pip install a": ["uv uv install a"],
    "bash -eo pipefail -c 'pip uninstall a'": ["pip pip uninstall a"],
    "bash -c -eu -o pipefail -- 'pip uninstall a' x": ["pip pip uninstall a"],
    "bash --norc -O extglob -c 'pip uninstall a'": ["pip pip uninstall a"],
    "bash - <<< 'pip uninstall a'": ["pip pip uninstall a"],
    '$"pip" uninstall a': ["pip pip uninstall a"],
    'echo "a$\'" ; pip uninstall a ; echo "\'"': ["pip pip uninstall a"],
    "echo $'a\\'' $'b\\'' ; pip uninstall a": ["pip pip uninstall a"],
    'echo ${x:-"}"} ; pip uninstall a ; echo "x"': ["pip pip uninstall a"],
    "bash <<END\necho $(pip uninstall a)\nEND": ["pip pip uninstall a", "pip pip uninstall a"],
    ". ./settings.sh; pip uninstall a": ["pip pip uninstall a"],
    "source x/bin/other && pip uninstall a": ["pip pip uninstall a"],
    "python -u -m pip uninstall a": ["python python uninstall a"],
    "python --isolated -S -m pip uninstall a": ["python python uninstall a"],
    "virtualenv --clear v && v/bin/pip install a": ["pip v/bin/pip install a"],
    "p'i'p un'in'sta'll' a": ["pip pip uninstall a"],
    'p"i"p un"in"sta"ll" a': ["pip pip uninstall a"],
    "p\\ip unin\\sta\\ll a": ["pip pip uninstall a"],
    "p\\\nip unin\\\nsta\\\nll a": ["pip pip uninstall a"],
    "cat <<A\nx\nA\nls\npip uninstall a": ["pip pip uninstall a"],
    "sudo A=1 pip uninstall a": ["pip pip uninstall a"],
    "pip show uninstall": ["pip pip show uninstall"],  # pip's own grammar tells that it is none
}
NONE = [
    "ls -la",
    "pip list | grep cudnn",
    "python -m pip --version && python -c 'import pip; print(pip)'",
    "git commit -m 'pip uninstall torch'",
    "echo pip uninstall torch",
    "echo pip uninstall torch || bash",
    "echo pip install torch",
    "apt-get install -y python3-pip && brew install pipx && conda install pip",
    "curl -LsSf https://x/uv/install.sh | sh",
    "curl -d 'run pip install x' https://host/",
    "python -c \"print('pip install x')\"",
    "python <<'END'\nprint('pip install x')\nEND\n",
    "cat > setup.sh <<'END'\npip install torch\nEND\n",
    "echo 'RUN pip install x' >> Dockerfile",
    "grep -rn 'pip uninstall' docs",
    "cat > clean.sh <<'END'\npip uninstall torch\nEND\n",
    "# pip uninstall torch",
    "npm uninstall left-pad",
    "pipx uninstall black",
    "uv sync && uv pip list",
    "uv tool uninstall black",
    "safepip uninstall torch",
    "make uninstall",
    "for i in $(seq 3); do pip list; done",
    "echo $((1 + 2)) pip",
    "pytest tests -k 'not pip' > out.txt 2>&1",
    "echo 'it''s' pip",
    "case $x in pip) echo;; esac",
    "sudo -u pip; timeout 5; nohup",
    "bash -o pipefail clean.sh pip uninstall a",
    "bash setup.sh -c 'pip uninstall a'",
    "bash -c; bash -o",
    "python -m json.tool pip; python -m",
    "python --version; python - pip uninstall a",
    "for word in pip uninstall a; do echo; done",
    "$EDITOR pip.conf",
    "bash 'pip uninstall a'; bash -x 'pip uninstall a'",
    "bash - -c 'pip uninstall a'; bash -- -c 'pip uninstall a'",
    'pip list; bash -c "ls $X"',
    "uv run pytest tests/pip",
    "cat <<\\END\n$(pip uninstall a)\nEND",
    'cat <<"END"\n$(pip uninstall a)\nEND',
    "cat <<$'END'\n$(pip uninstall a)\nEND",
    "",
]  # fmt: skip
UNCLEAR = [
    "pip uninstall -y $PACKAGE",
    "pip uninstall -y $(cat names)",
    "pip freeze | xargs pip uninstall -y",
    "pip $COMMAND",
    "for p in a b; do pip uninstall -y $p; done",
    "pip uninstall nvidia-{cudnn,cublas}-cu13",
    "P=pip; $P uninstall torch",
    "C='pip uninstall torch'; $C",
    "echo 'pip uninstall torch' | bash",
    'bash -c "pip $X torch"',
    "python -c \"import pip; pip.main(['uninstall', 'x'])\"",
    "python <<'END'\nfrom pip import main; main(['uninstall', 'x'])\nEND\n",
    "$PIP install torch",
    "$VENV/bin/pip install torch",
    "pip $FLAGS install torch",
    "echo 'pip install torch' | bash",
    "python -c \"import subprocess; subprocess.run(['pip', 'install', 'x'])\"",
    "python <<'END'\nimport os\nos.system('python -m pip -q install x')\nEND\n",
    "ssh host 'cd x && pip install torch'",
    "docker exec box pip install -y torch",
    "uv run pip install torch",
    "conda activate x && pip install torch",
    "PATH=/x:$PATH pip install torch",
    "cd $X && bin/pip install torch",
    "cd $X && uv pip install torch",
    "cd $X && pip uninstall -r old.txt",
    "ssh host pip uninstall torch",
    "ssh host 'pip uninstall torch'",
    "docker exec box pip uninstall -y torch",
    "su -c 'pip uninstall torch'",
    "find . -exec pip uninstall -y {} +",
    "uv run pip uninstall torch",
    "conda run -n x pip uninstall torch",
    "conda activate x && pip uninstall torch",
    "source $ENV/bin/activate; pip uninstall torch",
    "source activate; pip uninstall torch",
    "source tools/activate; pip install torch",
    "cd $X && . .venv/bin/activate && pip install torch",
    "PATH=/x:$PATH pip uninstall torch",
    "pip uninstall 'torch",
    "env -S 'pip uninstall $X'",
    'bash -c "$(echo pip uninstall x)"',
]


@pytest.mark.parametrize("line", FOUND)
def test_a_removal_or_install_is_found_however_it_is_spelled(line: str) -> None:
    assert [repr(found) for found in calls(line)] == FOUND[line]


@pytest.mark.parametrize("line", NONE)
def test_what_changes_nothing_is_let_alone(line: str) -> None:
    assert calls(line) == []


@pytest.mark.parametrize("line", UNCLEAR)
def test_what_cannot_be_followed_is_unclear(line: str) -> None:
    with pytest.raises(UnclearError):
        calls(line)


def test_what_decides_the_environment_is_told() -> None:
    first, second, third = calls(
        "cd /a; . .venv/bin/activate; cd b; A=1 pip uninstall x; export B=2; pip uninstall y; C=3; uv pip uninstall z"
    )
    assert (first.folder, first.activated, first.variables) == ("/a/b", "/a/.venv", {"A": "1"})
    assert (second.folder, second.activated, second.variables) == ("/a/b", "/a/.venv", {"B": "2"})
    assert third.variables == {"B": "2", "C": "3"}


@pytest.mark.parametrize(
    ("line", "activated"),
    [
        (". .venv/bin/activate", ".venv"),
        (". bin/activate.fish", "."),
        ("cd .venv; . bin/activate", ".venv"),
        ("cd /a/.venv/bin; source ./activate", "/a/.venv"),
        ("cd $X; . /a/bin/activate", "/a"),
        (". bin/activated", ""),
        (". settings/activate_all.sh", ""),
    ],
)
def test_an_environment_is_activated_by_its_script_from_wherever(line: str, activated: str) -> None:
    (call,) = calls(f"{line}; pip install x")
    assert call.activated == activated


def test_the_environments_that_a_line_makes_are_told() -> None:
    line = "virtualenv -q v; cd p; python -m venv --clear w; python -m virtualenv u; uv venv -q; uv venv x; pip uninstall a"
    assert calls(line)[0].made == ("v", "p/w", "p/u", "p/.venv", "p/x")


def test_a_line_that_no_kernel_would_take_is_not_read() -> None:
    with pytest.raises(UnclearError, match="longer than 512 KiB"):
        calls("pip uninstall " + "a" * (1 << 19))


@pytest.mark.parametrize(("word", "why"), [("eval ", "too deeply nested"), ("nohup ", "nesting without end")])
def test_one_program_that_starts_another_without_end_is_unclear(word: str, why: str) -> None:
    with pytest.raises(UnclearError, match=why):
        calls(word * 1000 + "pip uninstall a")


def test_deep_nesting_ends() -> None:
    with pytest.raises(UnclearError):
        calls("$(" * 500 + "pip uninstall x" + ")" * 500)
