"""`safepip install`: judged before it happens with --dry-run, and after it as a transaction with a way back."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import trees
from support.boxes import Box
from support.pips import NEWEST, RUNNING, Pip
from support.sandbox import Environment, library
from support.wheels import make_wheel

REFUSED, COULD_NOT, BROKE = 10, 12, 13
OFFLINE = ("--no-index", "--no-deps")
HALF_A_PIP = """
import os, sys, time
site = os.path.dirname(os.path.dirname(__file__))
os.unlink(f"{site}/leaf.py")
os.mkdir(f"{site}/leaf-2.0.dist-info")
open(f"{site}/fresh.py", "w").close()
print("half", flush=True)
time.sleep(60)
"""


@pytest.fixture
def split(environment: Environment, tmp_path: Path) -> tuple[Environment, list[str]]:
    """Version 2 of `whole` gives its module to a new dependency, which pip lays down first."""
    old = make_wheel(tmp_path, "whole", {"whole/__init__.py": "", "whole/core.py": "x = 1\n"})
    new = make_wheel(tmp_path, "whole", {"whole_meta.py": ""}, version="2.0", requires=["whole-core"])
    core = make_wheel(tmp_path, "whole-core", {"whole/__init__.py": "", "whole/core.py": "x = 2\n"})
    assert environment.safepip("install", *OFFLINE, str(old)).code == 0
    return environment, ["install", "--no-index", str(new), str(core)]


def tree(environment: Environment) -> dict[str, bytes | str]:
    """Without safepip's own folder."""
    return {path: held for path, held in environment.tree().items() if not path.startswith(".safepip")}


def kinds(report: dict[str, object]) -> list[tuple[str, str, str]]:
    return [(one["kind"], one["severity"], one["distribution"]) for one in report["findings"]]  # type: ignore[attr-defined]


def test_the_old_versions_record_takes_what_the_new_dependency_has_just_brought(
    split: tuple[Environment, list[str]],
) -> None:
    environment, words = split
    before = tree(environment)
    answer = environment.safepip(*words, "--dry-run", "--json")
    assert (answer.code, answer.report["verdict"]) == (REFUSED, "refuse")
    assert ("file-lost", "refuse", "whole-core") in kinds(answer.report)
    assert answer.report["installing"] == [
        {"name": "whole-core", "version": "1.0", "was": None},
        {"name": "whole", "version": "2.0", "was": "1.0"},
    ]
    assert tree(environment) == before
    done = environment.safepip(*words)
    assert (done.code, (environment.site / "whole/core.py").exists()) == (BROKE, False)
    assert "BROKEN NOW: whole-core" in done.err
    assert environment.safepip("undo").code == 0
    assert tree(environment) == before


def test_rollback_leaves_the_environment_as_it_was(split: tuple[Environment, list[str]]) -> None:
    environment, words = split
    before = tree(environment)
    done = environment.safepip(*words, "--rollback")
    assert (done.code, tree(environment)) == (REFUSED, before)
    assert "TAKEN BACK" in done.err


def test_an_upgrade_that_keeps_everything_is_silent_and_keeps_nothing(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("user", {"user.py": "import leaf\n"}, requires=["leaf"])
    for version in ("1.0", "2.0"):
        wheel = make_wheel(tmp_path, "leaf", {"leaf.py": f"x = {version}\n"}, version=version)
        done = environment.safepip("install", "-q", *OFFLINE, str(wheel))
        assert (done.code, done.out, done.err) == (0, "", "")
    assert (environment.site / "leaf.py").read_text() == "x = 2.0\n"
    assert list((environment.prefix / ".safepip/vault").iterdir()) == []


def test_a_library_that_another_owns_is_overwritten_and_both_are_named(
    environment: Environment, tmp_path: Path
) -> None:
    environment.add("nccl-cu12", {"nccl/libnccl.so.2": library("libnccl.so.2") + b"twelve"})
    wheel = make_wheel(tmp_path, "nccl-cu13", {"nccl/libnccl.so.2": library("libnccl.so.2") + b"thirteen"})
    report = environment.safepip("install", *OFFLINE, "--dry-run", "--json", str(wheel)).report
    assert (report["verdict"], kinds(report)) == ("warn", [("overwrites", "warn", "nccl-cu12")])
    done = environment.safepip("install", *OFFLINE, str(wheel))
    assert (done.code, "nccl-cu13 1.0 overwrites nccl/libnccl.so.2" in " ".join(done.err.split())) == (
        0,
        True,
    )


def test_a_pip_that_fails_leaves_nothing_kept_where_it_changed_nothing(
    environment: Environment, tmp_path: Path
) -> None:
    before = tree(environment)
    done = environment.safepip("install", *OFFLINE, str(tmp_path / "nosuch-1.0-py3-none-any.whl"))
    assert done.code == 1
    assert tree(environment) == before
    assert list((environment.prefix / ".safepip/vault").iterdir()) == []


def test_an_install_into_another_folder_is_pips_alone(environment: Environment, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "leaf", {"leaf.py": "x = 1\n"})
    done = environment.safepip("install", *OFFLINE, "--target", str(tmp_path / "aside"), str(wheel))
    assert (done.code, (tmp_path / "aside/leaf.py").exists()) == (0, True)
    assert not (environment.prefix / ".safepip").exists()


def test_where_nothing_is_to_be_installed_a_dry_run_says_so(environment: Environment) -> None:
    environment.add("leaf", {"leaf.py": ""})
    answer = environment.safepip("install", "--no-index", "--dry-run", "leaf")
    assert (answer.code, answer.out) == (
        0,
        "safepip: nothing is to be installed: what is asked for is there\n",
    )


def test_undo_leads_back_to_every_byte_mode_and_time(split: tuple[Environment, list[str]]) -> None:
    environment, words = split
    environment.add("old", {"old/__init__.py": "", "../../../bin/old": "#!/bin/sh\n"})
    (environment.site / "old/link").symlink_to("elsewhere")
    for index, path in enumerate(sorted(environment.prefix.rglob("*"))):
        if "python" not in path.name and ".safepip" not in path.parts:
            os.utime(path, ns=(0, 10**18 + index), follow_symlinks=False)
    before = trees.snapshot(environment.prefix)
    assert environment.safepip(*words).code == BROKE
    assert trees.snapshot(environment.prefix) != before
    history = environment.safepip("history", "--json").report["changes"]
    assert [(one["id"], one["installed"], one["removed"]) for one in history] == [
        (
            1,
            [{"name": "whole_core", "version": "1.0"}, {"name": "whole", "version": "2.0"}],
            [{"name": "whole", "version": "1.0"}],
        )
    ]
    cache = environment.site / "whole_core-1.0.dist-info/__pycache__"  # what Python writes when it likes
    cache.mkdir()
    (cache / "x.cpython-312.pyc").touch()
    answer = environment.safepip("undo")
    assert (answer.code, answer.out.startswith("safepip: took back the install of whole_core 1.0")) == (
        0,
        True,
    )
    assert trees.snapshot(environment.prefix) == before
    assert os.listdir(environment.prefix / ".safepip/vault") == []


def test_another_version_that_was_installed_since_stands_in_the_way_of_an_undo(
    split: tuple[Environment, list[str]], tmp_path: Path
) -> None:
    environment, words = split
    assert environment.safepip(*words).code == BROKE
    newer = make_wheel(tmp_path, "whole", {"whole_meta.py": ""}, version="3.0")
    assert environment.safepip("install", *OFFLINE, str(newer)).code == 0
    answer = environment.safepip("undo", "--json")
    assert (answer.code, answer.report["in_the_way"]) == (
        REFUSED,
        [str(environment.site / "whole-3.0.dist-info")],
    )


def test_the_configuration_may_ask_for_the_way_back(
    split: tuple[Environment, list[str]], tmp_path: Path
) -> None:
    environment, words = split
    (tmp_path / "config/safepip").mkdir(parents=True)
    (tmp_path / "config/safepip/config.toml").write_text("rollback = true\n")
    before = trees.snapshot(environment.prefix)
    done = environment.safepip(*words, "--json", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    outcome = done.report["outcome"]
    assert (done.code, outcome["rolled_back"], outcome["kept"]) == (REFUSED, True, {"id": None})
    assert trees.snapshot(environment.prefix) == before


def test_the_report_of_an_install_is_json_and_says_what_to_run(
    split: tuple[Environment, list[str]],
) -> None:
    environment, words = split
    done = environment.safepip(*words, "--json")
    report = done.report
    assert (done.code, report["verdict"], report["outcome"]) == (
        BROKE,
        "refuse",
        {"pip_exit_code": 0, "rolled_back": False, "kept": {"id": 1}, "unjudged": None, "notes": []},
    )
    assert report["remedies"][0]["commands"] == [
        ["safepip", "--python", str(environment.python), "undo", "1"]
    ]


@pytest.mark.parametrize(("said", "code"), [("y", REFUSED), ("n", BROKE), ("", BROKE)])
def test_at_a_terminal_it_asks_whether_to_go_back(
    said: str, code: int, split: tuple[Environment, list[str]]
) -> None:
    environment, words = split
    before = trees.snapshot(environment.prefix)
    main, side = pty.openpty()
    command = [sys.executable, "-m", "safepip", "--python", str(environment.python), *words]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    shown = b""
    while b"Take the install back (y/N)? " not in shown:
        shown += os.read(main, 65536)
    os.write(main, f"{said}\n".encode())
    assert process.wait() == code
    os.close(main)
    assert (trees.snapshot(environment.prefix) == before) is (said == "y")


def test_where_judging_takes_too_long_that_is_said_and_the_way_back_is_open(
    split: tuple[Environment, list[str]],
) -> None:
    environment, words = split
    before = trees.snapshot(environment.prefix)
    (environment.prefix / ".safepip/config.toml").write_text("timeout = 0.0001\n")
    done = environment.safepip(*words)
    assert (done.code, "this install is not judged: judging took longer" in done.err) == (COULD_NOT, True)
    assert f"safepip --python {environment.python} undo 1" in done.err
    assert environment.safepip("undo").code == 0
    assert trees.snapshot(environment.prefix) == before
    assert environment.safepip(*words, "--rollback").code == REFUSED
    assert trees.snapshot(environment.prefix) == before


def half(environment: Environment) -> tuple[subprocess.Popen[str], dict[str, trees.Node]]:
    """An install whose pip has done half of its work."""
    environment.add("leaf", {"leaf.py": "x = 1\n"})
    main = environment.site / "pip/__main__.py"
    main.unlink()
    main.write_text(HALF_A_PIP)
    before = trees.snapshot(environment.prefix)
    command = [sys.executable, "-m", "safepip", "--python", str(environment.python), "install", "leaf==2.0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    return process, before


def test_an_interrupted_pip_leaves_the_way_back_open(environment: Environment) -> None:
    process, before = half(environment)
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    assert process.returncode not in {0, BROKE}
    assert f"safepip --python {environment.python} undo 1" in said
    assert "  incomplete install  " in environment.safepip("history").out
    change = environment.safepip("history", "--json").report["changes"][0]
    assert (change["complete"], change["command"]) == (False, ["install", "leaf==2.0"])
    said = environment.safepip("undo").out
    assert said.startswith("safepip: took back the incomplete install (")
    assert trees.snapshot(environment.prefix) == before


def test_killed_with_its_pip_the_next_run_finds_the_way_back(environment: Environment) -> None:
    process, before = half(environment)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    answer = environment.safepip("undo")
    assert (answer.code, "`pip install leaf==2.0` had been cut off" in " ".join(answer.out.split())) == (
        0,
        True,
    )
    assert trees.snapshot(environment.prefix) == before


def test_a_pip_that_outlives_safepip_is_waited_for(environment: Environment) -> None:
    """It holds the lock; what it does is not taken for done."""
    process, _ = half(environment)
    process.kill()
    process.wait()
    answer = environment.safepip("uninstall", "-y", "leaf")
    assert (answer.code, "is changing this environment" in answer.err) == (12, True)
    os.killpg(process.pid, signal.SIGKILL)


def test_a_journal_without_a_whole_snapshot_is_the_end_of_nothing(environment: Environment) -> None:
    """Cut off before pip was started."""
    environment.add("leaf", {"leaf.py": ""})
    (environment.prefix / ".safepip/vault/1").mkdir(parents=True)
    (environment.prefix / ".safepip").chmod(0o700)
    (environment.prefix / ".safepip/vault").chmod(0o700)
    (environment.prefix / ".safepip/vault/1/0").touch()
    journal = environment.prefix / ".safepip/journal"
    journal.write_text(json.dumps({"action": "installing", "id": 1, "what": "pip install leaf"}))
    journal.chmod(0o600)
    assert environment.safepip("uninstall", "-y", "leaf").code == 0
    assert not journal.exists()
    assert os.listdir(environment.prefix / ".safepip/vault") == ["1"]
    assert environment.safepip("undo").code == 0


def test_a_password_in_an_address_is_not_kept(environment: Environment, tmp_path: Path) -> None:
    environment.add("user", {"user.py": "import base\n"}, requires=["base<2"])
    environment.add("base", {"base.py": ""})
    wheel = make_wheel(tmp_path, "base", {"base.py": ""}, version="2.0")
    words = ("install", "--no-deps", "--find-links", "https://me:secret@localhost:1/", str(wheel))
    assert environment.safepip(*words).code == BROKE
    manifest = (environment.prefix / ".safepip/vault/1/manifest").read_text()
    assert ("secret" in manifest, "https://localhost:1/" in manifest) == (False, True)


def test_an_installation_of_python_itself_is_guarded_as_an_environment_is(tmp_path: Path) -> None:
    """As in a container: what pip may change lies among what is none of its business."""
    box = Box(tmp_path, Pip(NEWEST, RUNNING), system=True).install_pip()
    environment = Environment(box.sys)
    environment.add("base", {"base.py": "", "../../../share/base/note": "old"})
    environment.add("user", {"user.py": "import base\n"}, requires=["base<2"])
    data = "base-2.0.data/data/share/base/note"
    wheel = make_wheel(tmp_path, "base", {"base.py": "", data: "new"}, version="2.0")
    before = trees.snapshot(environment.prefix)
    env = {name: value for name, value in box.environment().items() if name != "PATH"}
    assert environment.safepip("install", *OFFLINE, str(wheel), env=env).code == BROKE
    assert (environment.prefix / "share/base/note").read_text() == "new"
    assert environment.safepip("undo", env=env).code == 0
    assert trees.snapshot(environment.prefix) == before
