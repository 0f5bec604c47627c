from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from safepip.errors import SafepipError
from safepip.model.policy import Bounds, Policy
from safepip.model.report import FindingKind, Severity
from safepip.reading.settings.configuration import load


class Files:
    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "venv"
        self.home = folder / "config"

    def write(self, *, user: str = "", environment: str = "") -> None:
        for path, text in ((self.home / "safepip", user), (self.prefix / ".safepip", environment)):
            path.mkdir(parents=True, exist_ok=True)
            (path / "config.toml").write_text(text)

    def load(self) -> Policy:
        return load({"XDG_CONFIG_HOME": str(self.home)}, str(self.prefix))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_files_the_defaults_hold(files: Files) -> None:
    assert files.load() == Policy({}, frozenset(), 60.0)


def test_the_environments_file_wins_and_both_protect(files: Files) -> None:
    files.write(
        user='protected = ["Torch"]\ntimeout = 5\n[severity]\nin-use = "note"\nlibrary-lost = "warn"\n',
        environment='protected = ["nvidia_cudnn.cu12"]\n[severity]\nlibrary-lost = "refuse"\n',
    )
    assert files.load() == Policy(
        {FindingKind.IN_USE: Severity.NOTE, FindingKind.LIBRARY_LOST: Severity.REFUSE},
        frozenset({"torch", "nvidia-cudnn-cu12"}),
        5.0,
        stated={
            FindingKind.IN_USE: f"{files.home}/safepip/config.toml",
            FindingKind.LIBRARY_LOST: f"{files.prefix}/.safepip/config.toml",
        },
    )


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "colour = 1",
            "there is no setting 'colour'",
            "Allowed: severity, protected, timeout, code, rollback, allow-force, vault and ignore.",
        ),
        ('[severity]\nlibrary-lost = "note"', "severity.library-lost is 'note'", "Allowed: refuse or warn."),
        ('[severity]\nin-use = "off"', "severity.in-use is 'off'", "Allowed: refuse or warn or note."),
        ("[severity]\nin-use = 1", "severity.in-use is 1", "Allowed: refuse or warn or note."),
        ("[severity]\nin-use = [1]", "severity.in-use is [1]", "Allowed: refuse or warn or note."),
        ("severity = 1", "severity is no table", "Allowed: a table of kinds."),
        ('protected = "torch"', "protected is 'torch'", "Allowed: a list of names."),
        ("protected = [1]", "protected is [1]", "Allowed: a list of names."),
        ("timeout = 0", "timeout is 0", "Allowed: seconds, more than 0 and at most 86400."),
        ("allow-force = 0", "allow-force is 0", "Allowed: true or false."),
        ("[vault]\nfiles = 1", "there is no setting vault.files", "Allowed: changes, bytes and days."),
        ("vault = 3", "vault is no table", "Allowed: a table of changes, bytes and days."),
        ("[vault]\ndays = 0", "vault.days is 0", "Allowed: a whole number above 0."),
        ("[vault]\nbytes = -1", "vault.bytes is -1", "Allowed: a whole number."),
        ("timeout = true", "timeout is True", "Allowed: seconds, more than 0 and at most 86400."),
        ("timeout = nan", "timeout is nan", "Allowed: seconds, more than 0 and at most 86400."),
    ],
)
def test_what_is_not_understood_ends_the_command_and_is_named(
    text: str, message: str, hint: str, files: Files
) -> None:
    files.write(environment=text)
    with pytest.raises(SafepipError) as caught:
        files.load()
    assert caught.value.message == f"{files.prefix}/.safepip/config.toml: {message}"
    assert (caught.value.hint, caught.value.exit_code) == (hint, 12)


def test_the_environments_file_bounds_what_is_kept_where_it_says_so(files: Files) -> None:
    files.write(user="[vault]\nchanges = 2\ndays = 30\n", environment="[vault]\nchanges = 9\n")
    assert files.load().keeps == Bounds(changes=9, bytes=2 << 30, days=30)


def test_a_kind_that_does_not_exist_is_answered_with_those_that_do(files: Files) -> None:
    files.write(user='[severity]\nlib-lost = "warn"')
    with pytest.raises(SafepipError, match=r"severity\.lib-lost names no kind of finding") as caught:
        files.load()
    assert caught.value.hint.startswith("Allowed: library-lost, symbol-lost,")


def test_what_is_no_toml_is_named(files: Files) -> None:
    files.write(user="protected = [")
    with pytest.raises(SafepipError, match=r"safepip/config\.toml: it is no TOML: Invalid value"):
        files.load()


def test_a_file_that_cannot_be_read_is_named(files: Files) -> None:
    (files.home / "safepip/config.toml").mkdir(parents=True)
    with pytest.raises(SafepipError, match=r"config\.toml: it cannot be read: Is a directory") as caught:
        files.load()
    assert caught.value.hint == (
        "Make it readable for this user, or lead XDG_CONFIG_HOME to settings that may be."
    )


def test_a_relative_configuration_home_is_passed_over(
    files: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    files.write(user="timeout = 1")
    assert load({"XDG_CONFIG_HOME": "config"}, str(files.prefix)).timeout == 60.0


def test_no_file_costs_no_import_of_the_parser(files: Files) -> None:
    program = (
        "import sys; from safepip.reading.settings.configuration import load;"
        f"load({{'XDG_CONFIG_HOME': {str(files.home)!r}}}, '/nowhere'); print('tomllib' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert told.stdout == "False\n"
