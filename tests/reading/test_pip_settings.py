"""Held against the real pip: each case is put to its own parser as well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from safepip.errors import UsageError
from safepip.model.request import PipSettings
from safepip.reading.settings.pip_settings import read

ASK = """
import json, sys
sys.prefix = sys.argv[1]  # what pip asks for the environment's own file
from pip._internal.cli.main_parser import create_main_parser
from pip._internal.commands import create_command
python = create_main_parser().parse_args([])[0].python
values = create_command("uninstall", isolated="--isolated" in sys.argv).parse_args([])[0]
print(json.dumps({
    "python": python, "requirement_files": values.requirements, "yes": bool(values.yes),
    "verbose": int(values.verbose), "quiet": int(values.quiet), "no_input": bool(values.no_input),
    "require_venv": bool(values.require_venv),
    "break_system_packages": bool(values.override_externally_managed)}))
"""


class Setting:
    """A home, an environment and variables of their own."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "venv"
        self.home = folder / "home"
        self.system = folder / "xdg"
        self.named = folder / "named.conf"
        self.variables: dict[str, str] = {}
        for place in (self.prefix, self.home, self.system):
            place.mkdir()

    @property
    def environ(self) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        return {**kept, "HOME": str(self.home), "XDG_CONFIG_DIRS": str(self.system), **self.variables}

    def says(self, place: str, text: str) -> None:
        files = {
            "system": self.system / "pip/pip.conf",
            "old": self.home / ".pip/pip.conf",
            "user": self.home / ".config/pip/pip.conf",
            "site": self.prefix / "pip.conf",
            "named": self.named,
        }
        files[place].parent.mkdir(parents=True, exist_ok=True)
        files[place].write_text(text)
        if place == "named":
            self.variables["PIP_CONFIG_FILE"] = str(self.named)

    def read(self, monkeypatch: pytest.MonkeyPatch, *, isolated: bool = False) -> PipSettings:
        monkeypatch.setenv("HOME", str(self.home))
        return read(self.environ, str(self.prefix), isolated=isolated)

    def ask_pip(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", ASK, str(self.prefix), *arguments],
            env=self.environ, check=False, capture_output=True, text=True,
        )  # fmt: skip

    def pips(self, *arguments: str) -> PipSettings:
        told = json.loads(self.ask_pip(*arguments).stdout)
        return PipSettings(**{**told, "requirement_files": tuple(told["requirement_files"])})


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_without_a_word_anywhere_nothing_is_set(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    assert setting.read(monkeypatch) == PipSettings() == setting.pips()


def test_later_files_and_then_variables_win(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    setting.says("system", "[global]\nyes = 1\nverbose = 1\nquiet = 1\npython = a\n")
    setting.says("old", "[global]\nverbose = 2\nquiet = 2\npython = b\n")
    setting.says("user", "[global]\nquiet = 3\nno_input = on\n")
    setting.says("site", "[uninstall]\nrequirement = one.txt two.txt\n")
    setting.variables["PIP_QUIET"] = "4"
    expected = PipSettings(
        python="b", requirement_files=("one.txt", "two.txt"), yes=True, verbose=2, quiet=4, no_input=True
    )
    assert setting.read(monkeypatch) == expected == setting.pips()


def test_the_commands_section_beats_the_global_one_of_a_later_file(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting.says("system", "[uninstall]\nyes = no\n[install]\nquiet = 1\n")
    setting.says("site", "[global]\nyes = yes\n")
    assert setting.read(monkeypatch) == PipSettings() == setting.pips()


def test_a_named_file_stands_in_for_the_users(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    setting.says("user", "[global]\nyes = 1\n")
    setting.says("named", "[global]\nrequire-venv = true\nbreak_system_packages = t\n")
    expected = PipSettings(require_venv=True, break_system_packages=True)
    assert setting.read(monkeypatch) == expected == setting.pips()


def test_isolation_leaves_out_the_users_file_and_the_variables_but_not_for_the_interpreter(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting.says("user", "[global]\nyes = 1\npython = of-the-user\n")
    setting.says("site", "[global]\nquiet = 1\n")
    setting.variables.update(PIP_VERBOSE="1", PIP_REQUIREMENT="r.txt")
    expected = PipSettings(python="of-the-user", quiet=1)
    assert setting.read(monkeypatch, isolated=True) == expected == setting.pips("--isolated")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PIP_YES": "1", "PIP_NO_INPUT": "Yes"}, PipSettings(yes=True, no_input=True)),
        ({"PIP_YES": ""}, PipSettings()),
        ({"PIP_YES": "off"}, PipSettings()),
        ({"PIP_REQUIRE_VIRTUALENV": "true"}, PipSettings(require_venv=True)),
        ({"PIP_REQUIREMENT": " a.txt\tb.txt "}, PipSettings(requirement_files=("a.txt", "b.txt"))),
        ({"PIP_VERBOSE": "true", "PIP_QUIET": "02"}, PipSettings(verbose=1, quiet=2)),
        ({"PIP_PYTHON": "/x/python"}, PipSettings(python="/x/python")),
        ({"PIP_USER": "1", "PIP_TARGET": "/x", "PIP_DRY_RUN": "1", "PIP_Y": "1"}, PipSettings()),
        ({"PIP_CONFIG_FILE": "/nowhere/pip.conf"}, PipSettings(quiet=1)),
        ({"PIP_CONFIG_FILE": "/dev/null"}, PipSettings()),
    ],
)
def test_variables_are_taken_as_pip_takes_them(
    variables: dict[str, str], expected: PipSettings, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "PIP_CONFIG_FILE" in variables:
        setting.says("user", "[uninstall]\nquiet = 1\n")
    setting.variables.update(variables)
    assert setting.read(monkeypatch) == expected == setting.pips()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[global]\nyes = maybe\n", "maybe is not a valid value for pip's yes option"),
        ("[uninstall]\nquiet = -1\n", "-1 is not a valid value for pip's quiet option"),
        ("[global\nyes = 1\n", "pip's configuration file .*pip.conf cannot be read: File contains no section headers"),
        ("[global]\nyes = 1\nyes = 0\n", "pip's configuration file .* cannot be read: While reading"),
    ],
)  # fmt: skip
def test_what_pip_would_not_take_ends_the_command_as_it_would_end_pip(
    text: str, message: str, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting.says("site", text)
    with pytest.raises(UsageError, match=message) as caught:
        setting.read(monkeypatch)
    assert caught.value.exit_code == setting.ask_pip().returncode == 2


def test_an_environment_not_yet_known_has_no_file(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    setting.says("site", "[global]\nyes = 1\n")
    monkeypatch.setenv("HOME", str(setting.home))
    assert read(setting.environ, None, isolated=False) == PipSettings()
