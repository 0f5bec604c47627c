"""Broken environments, broken interpreters and impatient callers: a clear answer, and nothing lost."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.sandbox import TAG, Environment, library, module, run

REFUSED, COULD_NOT = 10, 12
GUARD = [sys.executable, "-m", "safepip"]


def test_odd_files_in_site_packages_are_passed_over_or_named_and_the_rest_is_judged(
    story: Environment,
) -> None:
    site = story.site
    names = [
        "empty.so",
        "script.so",
        "dangling.so",
        "loop.so",
        "folder.so",
        "fifo.so",
        "foreign.so",
        "text.so.1",
    ]
    story.add("odd", {"odd.py": "", **dict.fromkeys(names, "")})
    (site / "script.so").write_text("/* GNU ld script */ GROUP ( libcudnn.so.9 )\n")
    (site / "text.so.1").write_bytes(b"\x7fELF" + bytes(range(256)))
    (site / "foreign.so").write_bytes(
        module("libcudnn.so.9")[:18] + (183).to_bytes(2, "little") + module("libcudnn.so.9")[20:]
    )
    for name in ("dangling.so", "loop.so", "folder.so", "fifo.so"):
        (site / name).unlink()
    (site / "dangling.so").symlink_to("nowhere.so")
    (site / "loop.so").symlink_to("loop.so")
    (site / "folder.so").mkdir()
    os.mkfifo(site / "fifo.so")
    report = story.safepip("uninstall", "--dry-run", "--json", "cudnn-cu13").report
    assert {
        finding["distribution"] for finding in report["findings"] if finding["kind"] == "library-lost"
    } == {"torch"}
    assert story.safepip("uninstall", "--dry-run", "--json", "leaf").report["verdict"] == "allow"


def test_a_damaged_object_that_goes_is_not_passed_over(environment: Environment) -> None:
    environment.add("odd", {"odd.so": library("libodd.so.1")[:100]})
    report = environment.safepip("uninstall", "--dry-run", "--json", "odd").report
    assert [finding["kind"] for finding in report["findings"]] == ["cannot-tell"]


def test_a_record_without_commas_with_absolute_and_climbing_rows_is_never_followed_outside(
    environment: Environment, tmp_path: Path
) -> None:
    outside = tmp_path / "precious.txt"
    outside.write_text("mine")
    info = environment.add("odd", {"odd.py": ""})
    rows = [
        "odd.py",
        f"{outside},,",
        "../../../../precious.txt,,",
        "./odd.py,,",
        "nosuch/../odd.py,,",
        "/etc/passwd,,",
    ]
    (info / "RECORD").write_text(
        "\n".join([*rows, f"{info.name}/RECORD,,", f"{info.name}/METADATA,,"]) + "\n"
    )
    report = environment.safepip("uninstall", "--dry-run", "--json", "--files", "odd").report
    assert all(path.startswith(str(environment.prefix)) for path in report["removal"]["paths"])
    assert environment.safepip("uninstall", "-y", "odd").code in {0, REFUSED}
    assert outside.read_text() == "mine"


def test_a_row_that_deletes_the_environments_own_configuration_is_refused(environment: Environment) -> None:
    info = environment.add("odd", {"odd.py": ""})
    with (info / "RECORD").open("a") as record:
        record.write("../../../pyvenv.cfg,,\n")
    report = environment.safepip("uninstall", "--dry-run", "--json", "odd").report
    assert [(finding["kind"], finding["severity"]) for finding in report["findings"]] == [
        ("reach-beyond", "refuse")
    ]


def test_a_record_that_is_not_utf_8_refuses_and_is_named(environment: Environment) -> None:
    info = environment.add("odd", {"odd.py": ""})
    (info / "RECORD").write_bytes(b"odd\xff.py,,\n")
    answer = environment.safepip("uninstall", "-y", "odd")
    assert answer.code == REFUSED
    assert "UTF-8" in answer.err


def test_200_000_rows_are_judged_within_the_time_limit(environment: Environment) -> None:
    info = environment.add("large", {"large/__init__.py": ""})
    with (info / "RECORD").open("a") as record:
        record.writelines(f"large/data/{number}.bin,sha256=abc,1\n" for number in range(200_000))
    assert environment.safepip("uninstall", "--dry-run", "--json", "large").report["removal"]["files"] == 4


def test_invalid_requirements_and_versions_of_survivors_are_unjudged_and_named(
    environment: Environment,
) -> None:
    environment.add("leaf", {"leaf.py": ""})
    environment.add("odd", {"odd.py": ""}, version="not a version", requires=["leaf >= nonsense", "???"])
    report = environment.safepip("uninstall", "--dry-run", "--json", "leaf").report
    assert any("leaf >= nonsense" in item["subject"] for item in report["unjudged"])


def test_an_interpreter_that_is_no_python_is_named(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho hello\n")
    fake.chmod(0o755)
    answer = run([*GUARD, "--python", str(fake), "uninstall", "x"])
    assert answer.code == COULD_NOT
    assert str(fake) in answer.err
    assert "Traceback" not in answer.err


def test_a_venv_whose_python_link_is_broken_is_named(story: Environment) -> None:
    story.python.unlink()
    story.python.symlink_to("/nowhere/python3.12")
    answer = run([*GUARD, "--python", str(story.prefix), "uninstall", "leaf"])
    assert answer.code == COULD_NOT
    assert str(story.python) in answer.err
    assert (story.site / "leaf.py").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--root"], "--root option requires 1 argument"),
        (["--python"], "--python option requires 1 argument"),
        (["why", ""], "why wants a name, and this one is empty"),
        (["explain", "nonsense"], "there is no kind 'nonsense'"),
    ],
)
def test_a_wrong_line_is_named_in_safepips_own_words(
    environment: Environment, words: list[str], said: str
) -> None:
    answer = run([*GUARD, *words], env={"PATH": os.environ["PATH"]}, cwd=environment.prefix)
    assert (answer.code, answer.err.splitlines()[0]) == (2, f"safepip: error: {said}")


def test_a_closed_pipe_ends_quietly(story: Environment) -> None:
    command = [*GUARD, "--python", str(story.python), "uninstall", "--dry-run", "-v", "cudnn-cu13"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate()
    assert b"Traceback" not in said


@pytest.mark.parametrize("words", [["doctor", "--json"], ["uninstall", "--dry-run", "leaf"], ["history"]])
def test_a_report_that_cannot_be_written_is_an_error_and_no_mistake_of_safepips(
    story: Environment, words: list[str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*GUARD, "--python", str(story.python), *words], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == COULD_NOT
    assert done.stderr.decode() == (
        "safepip: error: standard output cannot be written: No space left on device\n"
        "  Send it elsewhere, or make room.\n"
    )


@pytest.mark.parametrize(
    ("words", "code"), [("uninstall --dry-run leaf", 0), ("audit", 0), ("uninstall -y cudnn-cu13", REFUSED)]
)
def test_a_stream_that_is_closed_takes_no_verdict_back(story: Environment, words: str, code: int) -> None:
    command = shlex.join([*GUARD, "--python", str(story.python)])
    done = subprocess.run(["sh", "-c", f"{command} {words} <&- >&- 2>&-"], check=False)
    assert done.returncode == code


def test_pip_writes_into_no_file_where_a_stream_is_closed(story: Environment) -> None:
    command = shlex.join([*GUARD, "--python", str(story.python), "uninstall", "-y", "leaf"])
    done = subprocess.run(["sh", "-c", f"{command} >&- 2>&-"], check=False)
    assert (done.returncode, (story.site / "leaf.py").exists()) == (0, False)
    assert (story.prefix / ".safepip/lock").read_text().isdecimal()


def test_what_cannot_be_said_on_standard_error_stops_nothing(story: Environment) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*GUARD, "--python", str(story.python), "uninstall", "-y", "leaf"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=full, check=False)
    assert (done.returncode, (story.site / "leaf.py").exists()) == (0, False)


def test_a_name_that_is_not_installed_gets_pips_warning_and_no_way_back(story: Environment) -> None:
    answer = story.safepip("uninstall", "-y", "laef")
    assert (answer.code, "Skipping laef as it is not installed" in answer.err) == (0, True)
    assert "kept" not in answer.err


def test_ctrl_c_while_judging_touches_nothing_and_says_so(story: Environment, tmp_path: Path) -> None:
    fifo = tmp_path / "requirements"
    os.mkfifo(fifo)
    command = [*GUARD, "--python", str(story.python), "uninstall", "-y", "-r", str(fifo)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    with fifo.open("wb"):  # it waits for the file's end
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == COULD_NOT
    assert b"interrupted" in said
    assert b"Traceback" not in said


def test_judging_longer_than_the_configured_time_ends_with_an_error_and_touches_nothing(
    story: Environment,
) -> None:
    (story.prefix / ".safepip").mkdir()
    (story.prefix / ".safepip" / "config.toml").write_text("timeout = 0.001\n")
    before = story.tree()
    answer = story.safepip("uninstall", "-y", "leaf")
    assert (answer.code, story.tree()) == (COULD_NOT, before)
    assert "0.001 s" in answer.err


def test_a_configuration_with_an_unknown_key_is_named(story: Environment) -> None:
    (story.prefix / ".safepip").mkdir()
    config = story.prefix / ".safepip" / "config.toml"
    config.write_text("protect = ['torch']\n")
    answer = story.safepip("uninstall", "-y", "leaf")
    assert answer.code == COULD_NOT
    assert "protect" in answer.err
    assert str(config) in answer.err


def test_a_read_only_environment_ends_with_a_message_and_nothing_is_gone(story: Environment) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    story.site.chmod(0o555)
    answer = story.safepip("uninstall", "-y", "leaf")
    story.site.chmod(0o755)
    assert answer.code != 0
    assert (story.site / "leaf.py").exists()


def test_an_unreadable_object_that_may_need_what_goes_is_refused(story: Environment) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can read everything")
    story.add("closed", {f"closed.{TAG}.so": module("libcudnn.so.9")})
    (story.site / f"closed.{TAG}.so").chmod(0)
    report = story.safepip("uninstall", "--dry-run", "--json", "cudnn-cu13").report
    assert ("cannot-tell", "closed") in {
        (finding["kind"], finding["distribution"]) for finding in report["findings"]
    }


@pytest.mark.parametrize("words", [["uninstall", "--dry-run", "torch"], ["why", "torch"]])
def test_a_working_folder_that_was_deleted_is_named(
    story: Environment, tmp_path: Path, words: list[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = [
        "/bin/sh",
        "-c",
        'rmdir "$0" && exec "$@"',
        str(gone),
        str(Path(sys.executable).parent / "safepip"),
    ]
    done = run([*command, "--python", str(story.python), *words], cwd=gone)
    assert (done.code, "the working folder no longer exists" in done.err) == (COULD_NOT, True), done.err
