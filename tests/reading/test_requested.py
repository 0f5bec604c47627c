"""Each command line is put to the real pip as well, in one process, with the removal itself left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from safepip.errors import SafepipError
from safepip.model.paths import DistKey
from safepip.model.request import Refused, Requested
from safepip.reading.sites.requested import requested
from support.pips import Pip, runner

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"  # under which every one of these pips starts

FILES = {
    "plain.txt": b"six\nidna==3.7  # a comment\n\n# another\nNumPy >=1 ; python_version < '3'\nsix\n",
    "options.txt": b"--index-url https://nowhere.invalid/simple\n-f links --pre\nb --hash=sha256:"
    + b"0" * 64
    + b"\n"
    b"--only-binary :all:\n-e git+file:///nowhere#egg=editable-one\n-e ./project\n./c-1.0-py3-none-any.whl\n",
    "nested.txt": b"a\n-r sub/inner.txt\n-c constraints.txt\nz\n",
    "sub/inner.txt": b"inner\n-r other.txt\n",
    "sub/other.txt": b"other @ https://nowhere.invalid/other-1.zip\n",
    "constraints.txt": b"from-constraints==1\n",
    "editable-constraint.txt": b"-c editable.txt\n",
    "editable.txt": b"-e git+file:///nowhere#egg=editable-two\n",
    "joined.txt": b"one\\\n==1.0\ntwo \\\n  --hash=sha256:" + b"0" * 64 + b" \\\n# comment \\\nthree\nfour\\",
    "variable.txt": b"${SAFEPIP_TEST_NAME}\nx-${SAFEPIP_TEST_NAME}[y]\n",
    "unset.txt": b"${SAFEPIP_TEST_UNSET}\n",
    "mark.txt": b"\xef\xbb\xbfmarked\n",
    "utf16.txt": "\ufeffwide\n".encode("utf-16-le"),
    "latin.txt": "# -*- coding: latin-1 -*-\nname # caf\xe9\n".encode("latin-1"),
    "latin-undeclared.txt": "name # caf\xe9\n".encode("latin-1"),
    "unknown-coding.txt": b"# coding: martian\nname\n",
    "loop.txt": b"a\n-r loop.txt\n",
    "missing-nested.txt": b"a\n-r nowhere.txt\n",
    "malformed.txt": b"good\nbad bad\n",
    "bad-option.txt": b"--no-such-option\ngood\n",
    "open-quote.txt": b"-r 'plain.txt\n",
    "editable-missing.txt": b"-e ./nosuch\n",
    "empty.txt": b"\n# nothing\n",
    "option-after-name.txt": b"kept -r plain.txt\n",
    "both.txt": b"-r sub/other.txt -c constraints.txt -r plain.txt\n",
    "project/pyproject.toml": b"",
    "folder/readme": b"",
    "six/__init__.py": b"",
    "local-2.0-py3-none-any.whl": b"",
    "crlf.txt": b"a\r\nb ; python_version > '3'\r\n",
}

COMMANDS = """
six
six | IDNA | Six | foo.bar | foo-bar | foo_bar
pkg==9.9
pkg>=2,<1
pkg[extra]
pkg[extra]==1 | pkg [a, b] >= 1
pkg ; python_version < '3'
pkg (==1)
pkg~=1.4.2
pkg===weird
pkg @ file:///nowhere/x.whl
pkg@https://nowhere.invalid/y-1.0.zip
git+file:///nowhere#egg=pkg
git+https://nowhere.invalid/r.git@v1.whl#egg=pkg&subdirectory=x
https://nowhere.invalid/d/pkg_one-1.0-py3-none-any.whl
https://nowhere.invalid/pkg-1.0.tar.gz#egg=other
https://nowhere.invalid/pkg-1.0.tar.gz
pkg-1.0-py3-none-any.whl
Some_Name-1.0-1-py3-none-any.whl
local-2.0-py3-none-any.whl
./local-2.0-py3-none-any.whl[extra]
file:///nowhere/pkg-1.0-py3-none-any.whl
bad-wheel.whl
pkg==
pkg=1
pkg/
pkg*
pkg other==
six | pkg-1.0.tar.gz
pkg-1.0.tar.gz
file:///nowhere/x.whl
six |  file:///nowhere#egg=after-a-blank
x/.whl
.whl
a.tar.gz
./project
six | ./project
./folder
./nosuch
.
-
six ; nonsense
six; python_version
pkg==1.0.*
pkg>=1.0.*
pkg==banana
pkg; extra == 'x'
1
a-
_a
a..b
p\u00e4ckchen
nosuch.txt
-r plain.txt
-r options.txt
-r nested.txt -r plain.txt
last -r nested.txt
-r editable-constraint.txt
-r joined.txt
-r variable.txt
-r unset.txt
-r mark.txt
-r utf16.txt
-r latin.txt
-r unknown-coding.txt
-r loop.txt
-r missing-nested.txt
-r malformed.txt
-r bad-option.txt
-r open-quote.txt
-r editable-missing.txt
-r empty.txt
six -r empty.txt
-r option-after-name.txt
-r both.txt
-r nowhere.txt
-r folder
-r crlf.txt
-r file:{cwd}/plain.txt
-r file://{cwd}/nested.txt
""".strip().split("\n")  # ` | ` and ` -r ` part the arguments, so that blanks can stand in one

ASK = """
import json, logging, sys
from pip._internal.commands import create_command
from pip._internal.commands import uninstall
from pip._internal.req.req_install import InstallRequirement
uninstall.check_externally_managed = lambda: None
told = []
for arguments in json.load(sys.stdin):
    names = []
    InstallRequirement.uninstall = lambda self, **_: names.append(uninstall.canonicalize_name(self.name))
    code = create_command("uninstall").main(["-y", "--root-user-action=ignore", *arguments])
    told.append([code, names])
print("\\n" + json.dumps(told))
"""


class Case(NamedTuple):
    names: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def arguments(self) -> list[str]:
        return [*(f"-r{file}" for file in self.files), "--", *self.names]


def cases(cwd: Path) -> list[Case]:
    made = []
    for command in COMMANDS:
        names, *files = f" {command}".replace("{cwd}", str(cwd)).split(" -r ")
        made.append(
            Case(tuple(name.removeprefix(" ") for name in names.split(" |") if name.strip()), tuple(files))
        )
    return made


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("SAFEPIP_TEST_NAME", "of-variable")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path


def ask_pip(arguments: list[list[str]], cwd: Path, folder: str) -> list[list[object]]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    told = subprocess.run(
        [sys.executable, "-c", ASK], cwd=cwd, env={**environ, "PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": folder},
        input=json.dumps(arguments), check=True, capture_output=True, text=True,
    )  # fmt: skip
    answer: list[list[object]] = json.loads(told.stdout.splitlines()[-1])
    return answer


def ours(case: Case, version: str, cwd: Path) -> list[object]:
    wanted = requested(case.names, case.files, version, str(cwd))
    return [wanted.refused.exit_code if wanted.refused else 0, list(wanted.keys)]


VERSIONS: tuple[str, ...] = ("26.3", "24.0")
if os.environ.get("SAFEPIP_EVERY_PIP"):
    VERSIONS += (
        "23.2.1",
        "23.3.2",
        "24.1",
        "24.2",
        "24.3.1",
        "25.0.1",
        "25.1.1",
        "25.2",
        "25.3",
        "26.0.1",
        "26.1.2",
        "26.2.1",
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_names_are_those_that_pip_takes(version: str, cwd: Path) -> None:
    folder = runner(Pip(version, OWN)).parent.parent
    asked = cases(cwd)
    told = ask_pip([case.arguments for case in asked], cwd, str(folder))
    wrong = {
        str(case): (mine, pips)
        for case, pips in zip(asked, told, strict=True)
        if (mine := ours(case, version, cwd)) != pips
    }
    assert wrong == {}


def test_what_has_no_name_is_left_out_with_pips_warning(cwd: Path) -> None:
    assert requested(["six", "./project", "gone.zip"], [], "26.3", str(cwd)) == Requested(
        (DistKey("six"),),
        (
            "Invalid requirement: './project' ignored - the uninstall command expects named requirements.",
            "Requirement 'gone.zip' looks like a filename, but the file does not exist",
            "Invalid requirement: 'gone.zip' ignored - the uninstall command expects named requirements.",
        ),
    )


def test_no_name_at_all_is_refused_as_pip_refuses_it(cwd: Path) -> None:
    assert requested([], [], "26.3", str(cwd)) == Requested(
        (), (), Refused("You must give at least one requirement to uninstall", 1)
    )


@pytest.mark.parametrize("file", ["https://nowhere.invalid/r.txt", "fetches.txt"])
def test_a_file_behind_a_url_is_not_fetched(file: str, cwd: Path) -> None:
    (cwd / "fetches.txt").write_text("six\n-r https://nowhere.invalid/r.txt\n")
    with pytest.raises(SafepipError, match=r"https://nowhere\.invalid/r\.txt would have to be fetched"):
        requested([], [file], "26.3", str(cwd))


def test_a_pipe_named_by_another_file_is_not_emptied(cwd: Path) -> None:
    os.mkfifo(cwd / "pipe")
    (cwd / "outer.txt").write_text("six\n-r pipe\n")
    with pytest.raises(SafepipError, match=r"pipe can be read only once"):
        requested([], ["outer.txt"], "26.3", str(cwd))


def test_files_nested_without_end_are_refused(cwd: Path) -> None:
    for number in range(1200):
        (cwd / f"{number}.txt").write_text(f"-r {number + 1}.txt\n")
    assert requested([], ["0.txt"], "26.3", str(cwd)).refused == Refused(
        "requirement files are nested too deep", 2
    )


def test_ordinary_names_cost_no_import_of_packaging() -> None:
    program = (
        "import sys; from safepip.reading.sites.requested import requested;"
        "print(requested(['six', 'a.b==1.0'], [], '26.3', '/').keys, 'packaging' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert told.stdout == "('six', 'a-b') False\n"
