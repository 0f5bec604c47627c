"""`safepip undo` and `safepip history` from the command line to the disk."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.sandbox import TAG, Environment, library, module, run
from support.trees import snapshot

NOT_THERE, REFUSED, COULD_NOT, BROKE = 1, 10, 12, 13


@pytest.fixture
def rich(environment: Environment) -> Environment:
    """A distribution with everything that an undo has to bring back."""
    site = environment.site
    environment.add(
        "rich-dist",
        {
            "rich_dist/__init__.py": "x = 1\n",
            "rich_dist/sub/data.bin": b"\0" * 5000,
            "rich_dist/run.sh": "#!/bin/sh\n",
            "single.py": "",
            "../../../bin/rich": "#!/bin/sh\n",
            "../../../share/doc/rich/readme": "read me",
        },
    )
    (site / "rich_dist/run.sh").chmod(0o755)
    (site / "rich_dist/sub").chmod(0o750)
    (site / "rich_dist/empty/inner").mkdir(parents=True)
    (site / "rich_dist/link").symlink_to("sub")
    with (site / "rich_dist-1.0.dist-info/RECORD").open("a") as record:
        record.write("rich_dist/link,,\n")
    for index, path in enumerate(sorted(environment.prefix.rglob("*"))):
        if "rich" in str(path) or path.name in {"bin", "site-packages", "share", "doc"}:
            os.utime(path, ns=(0, 10**18 + index), follow_symlinks=False)
    return environment


def remove(environment: Environment, *names: str) -> None:
    answer = environment.safepip("uninstall", "-y", *names)
    assert answer.code == 0, answer.err


def test_undo_brings_back_every_byte_mode_time_link_and_empty_folder(rich: Environment) -> None:
    before = snapshot(rich.prefix)
    remove(rich, "rich-dist")
    assert not (rich.site / "rich_dist").exists()
    answer = rich.safepip("undo")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("safepip: put back rich-dist 1.0")
    assert snapshot(rich.prefix) == before
    assert os.listdir(rich.prefix / ".safepip/vault") == []


def test_the_last_change_is_undone_first_and_any_by_its_number(rich: Environment) -> None:
    before = snapshot(rich.prefix)
    rich.add("other", {"other.py": ""})
    with_other = snapshot(rich.prefix)
    remove(rich, "other")
    remove(rich, "rich-dist")
    assert "rich-dist" in rich.safepip("undo", "2").out
    assert "other" in rich.safepip("undo").out
    after = snapshot(rich.prefix)
    assert after == with_other
    assert set(before) < set(after)


def test_the_way_back_is_said_with_a_command_that_works(rich: Environment) -> None:
    answer = rich.safepip("uninstall", "-y", "rich-dist")
    said = answer.err.split("to put back: ")[1].splitlines()[0]
    assert said == f"safepip --python {rich.python} undo 1"


def test_undo_refuses_where_something_has_taken_the_place(rich: Environment) -> None:
    remove(rich, "rich-dist")
    (rich.site / "single.py").write_text("mine = True\n")
    before = snapshot(rich.prefix)
    answer = rich.safepip("undo")
    assert answer.code == REFUSED
    assert str(rich.site / "single.py") in answer.out
    assert snapshot(rich.prefix) == before
    (rich.site / "single.py").unlink()
    assert rich.safepip("undo").code == 0


def test_nothing_to_undo_is_said(environment: Environment) -> None:
    answer = environment.safepip("undo")
    assert (answer.code, "there is no change to undo" in answer.err) == (NOT_THERE, True)
    answer = environment.safepip("undo", "7")
    assert (answer.code, "there is no change 7 to undo" in answer.err) == (NOT_THERE, True)
    assert not (environment.prefix / ".safepip").exists()


def test_looking_and_dry_runs_create_nothing(rich: Environment) -> None:
    before = snapshot(rich.prefix)
    rich.safepip("history")
    rich.safepip("uninstall", "--dry-run", "rich-dist")
    assert snapshot(rich.prefix) == before
    assert not (rich.prefix / ".safepip").exists()


def test_history_tells_what_is_kept_and_drop_lets_it_go(rich: Environment) -> None:
    remove(rich, "rich-dist")
    listed = rich.safepip("history", "--json").report
    change = listed["changes"][0]
    assert (change["id"], change["removed"], change["command"]) == (
        1,
        [{"name": "rich-dist", "version": "1.0"}],
        ["uninstall", "-y", "rich-dist"],
    )
    assert change["bytes"] > 5000
    assert "rich-dist 1.0" in rich.safepip("history").out
    assert rich.safepip("history", "--drop").code == 0
    assert rich.safepip("history", "--json").report["changes"] == []
    assert rich.safepip("undo").code == NOT_THERE


def test_a_number_is_given_to_no_second_change(rich: Environment) -> None:
    """Whoever kept the line that was printed undoes what it was printed for, or nothing."""
    rich.add("other", {"other.py": ""})
    remove(rich, "rich-dist")
    assert rich.safepip("undo").code == 0
    remove(rich, "other")
    assert rich.safepip("undo", "1").code == NOT_THERE
    assert rich.safepip("history", "--json").report["changes"][0]["id"] == 2
    assert rich.safepip("history", "--drop").code == 0
    assert "undo 3" in rich.safepip("uninstall", "-y", "rich-dist").err


@pytest.mark.parametrize("text", ["", "-1", "1e3", "9" * 10])
def test_a_last_number_that_safepip_did_not_write_is_not_believed(rich: Environment, text: str) -> None:
    (rich.prefix / ".safepip").mkdir(mode=0o755)
    (rich.prefix / ".safepip/last").write_text(text)
    answer = rich.safepip("uninstall", "-y", "rich-dist")
    said = f"not kept: {rich.prefix}/.safepip/last is not what safepip makes"
    assert (answer.code, said in " ".join(answer.err.split())) == (0, True), answer.err


def test_without_keeping_the_reinstall_command_is_given(rich: Environment) -> None:
    answer = rich.safepip("uninstall", "-y", "--no-keep", "rich-dist")
    assert answer.code == 0
    assert f"safepip --python {rich.python} install --no-deps rich-dist==1.0" in answer.err
    assert rich.safepip("history", "--json").report["changes"] == []


def test_five_changes_are_kept(environment: Environment) -> None:
    for number in range(7):
        environment.add(f"leaf{number}", {f"leaf{number}.py": ""})
    for number in range(7):
        remove(environment, f"leaf{number}")
    changes = environment.safepip("history", "--json").report["changes"]
    assert [change["id"] for change in changes] == [7, 6, 5, 4, 3]


@pytest.mark.parametrize(
    ("bounds", "kept"), [("changes = 1", [2]), ("changes = 0", []), ("bytes = 0", []), ("days = 1", [1, 2])]
)
def test_the_configuration_bounds_what_is_kept(
    environment: Environment, bounds: str, kept: list[int]
) -> None:
    (environment.prefix / ".safepip").mkdir()
    (environment.prefix / ".safepip/config.toml").write_text(f"[vault]\n{bounds}\n")
    for number in range(2):
        environment.add(f"one-{number}", {f"one_{number}.py": "x = 1\n"})
        assert environment.safepip("uninstall", "-y", f"one-{number}").code == 0
    listed = environment.safepip("history", "--json").report["changes"]
    assert sorted(change["id"] for change in listed) == kept


def test_what_pip_was_told_not_to_do_is_not_kept(rich: Environment) -> None:
    before = snapshot(rich.prefix)
    answer = rich.safepip("uninstall", "rich-dist", stdin="n\n")
    assert answer.code == 0
    assert "to put back" not in answer.err
    assert snapshot(rich.prefix) == before
    assert rich.safepip("history", "--json").report["changes"] == []


def test_a_removal_with_force_can_be_undone(story: Environment) -> None:
    before = snapshot(story.prefix)
    assert story.safepip("uninstall", "-y", "--force", "cudnn-cu13").code == 13
    assert story.safepip("undo").code == 0
    assert snapshot(story.prefix) == before


def test_an_editable_line_comes_back_into_its_pth_file(environment: Environment, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "legacy.egg-info").mkdir(parents=True)
    (source / "legacy.egg-info/PKG-INFO").write_text("Metadata-Version: 2.1\nName: legacy\nVersion: 1.0\n")
    (environment.site / "legacy.egg-link").write_text(f"{source}\n.")
    (environment.site / "easy-install.pth").write_text(f"/elsewhere\n{source}\n")
    before = snapshot(environment.prefix)
    remove(environment, "legacy")
    assert (environment.site / "easy-install.pth").read_text() == "/elsewhere\n"
    assert environment.safepip("undo").code == 0
    assert snapshot(environment.prefix) == before


def test_a_second_safepip_waits_and_then_says_who_is_at_it(rich: Environment) -> None:
    room = rich.prefix / ".safepip"
    room.mkdir()
    with (room / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(str(os.getpid()))
        lock.flush()
        answer = rich.safepip("uninstall", "-y", "rich-dist")
    assert (answer.code, f"process {os.getpid()}" in answer.err) == (COULD_NOT, True)
    assert (rich.site / "single.py").exists()


def planted(environment: Environment, path: str) -> subprocess.CompletedProcess[str]:
    remove(environment, "rich-dist")
    manifest = environment.prefix / ".safepip/vault/1/manifest"
    said = json.loads(manifest.read_text())
    said["items"] = [["file", path, 0o644, 0, 5, 0, -1, ""]]
    manifest.write_text(json.dumps(said))
    answer = environment.safepip("undo")
    return subprocess.CompletedProcess([], answer.code, answer.out, answer.err)


@pytest.mark.parametrize("path", ["../out.txt", "/out.txt", "a/../../out.txt", ".safepip/lock", "a//b", ""])
def test_an_edited_manifest_restores_nothing_outside(rich: Environment, path: str) -> None:
    answer = planted(rich, path)
    assert (answer.returncode, (rich.prefix.parent / "out.txt").exists()) == (COULD_NOT, False)


def test_a_restore_never_follows_a_link_out(rich: Environment, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (rich.prefix / "way").symlink_to(tmp_path / "out")
    answer = planted(rich, "way/file")
    assert (answer.returncode, os.listdir(tmp_path / "out")) == (COULD_NOT, [])


def test_a_vault_that_others_can_write_is_not_believed(rich: Environment) -> None:
    remove(rich, "rich-dist")
    (rich.prefix / ".safepip/vault").chmod(0o777)
    answer = rich.safepip("undo")
    assert (answer.code, "can be written by others" in answer.err) == (COULD_NOT, True)


def test_nothing_in_the_vault_has_a_name_that_could_be_imported_or_run(rich: Environment) -> None:
    remove(rich, "rich-dist")
    vault = rich.prefix / ".safepip/vault"
    names = {path.name for path in vault.rglob("*") if path.is_file()}
    assert all(name.isdecimal() or name == "manifest" for name in names)
    assert vault.stat().st_mode & 0o777 == 0o700
    assert vault.parent.stat().st_mode & 0o777 == 0o755  # others may read the settings there


def test_a_read_only_environment_is_said_before_pip_is_asked(rich: Environment) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    rich.site.chmod(0o555)
    try:
        answer = rich.safepip("uninstall", "-y", "rich-dist")
    finally:
        rich.site.chmod(0o755)
    assert (answer.code, "cannot be written" in answer.err) == (COULD_NOT, True)
    assert not (rich.prefix / ".safepip").exists()


def test_pip_fails_halfway_and_everything_is_put_back(rich: Environment) -> None:
    """A folder that cannot be moved stops pip after it has moved others."""
    if os.geteuid() == 0:
        pytest.skip("root can move everything")
    (rich.prefix / "share/doc/rich").chmod(0o555)
    (rich.prefix / "share/doc").chmod(0o555)
    before = snapshot(rich.prefix)
    rich.safepip("uninstall", "-y", "--force", "rich-dist")
    assert snapshot(rich.prefix) == before


def test_wrong_numbers_and_words_are_wrong_usage(environment: Environment) -> None:
    assert [
        environment.safepip(*words).code for words in (["undo", "x"], ["undo", "1", "2"], ["history", "1"])
    ] == [
        2,
        2,
        2,
    ]
    assert run([sys.executable, "-m", "safepip", "undo", "--drop"]).code == 2
    assert run([sys.executable, "-m", "safepip", "undo", "99", "--python", "A"]).err == (
        "safepip: error: undo does not take --python A\n  --python stands before the command.\n"
    )


def cut_off(environment: Environment) -> None:
    """A removal as a kill leaves it: kept, journalled, and half done."""
    remove(environment, "rich-dist")
    said = {"action": "removing", "id": 1, "what": "rich-dist 1.0"}
    (environment.prefix / ".safepip/journal").write_text(json.dumps(said))
    (environment.prefix / ".safepip/journal").chmod(0o600)
    manifest = json.loads((environment.prefix / ".safepip/vault/1/manifest").read_text())
    kept = next(item[5] for item in manifest["items"] if item[1].endswith("/single.py"))
    os.link(environment.prefix / f".safepip/vault/1/{kept}", environment.site / "single.py")


def test_the_next_run_says_what_was_cut_off_and_ends_it_before_it_judges(rich: Environment) -> None:
    rich.add("leaf", {"leaf.py": ""})
    before = snapshot(rich.prefix)
    cut_off(rich)
    answer = rich.safepip("uninstall", "--dry-run", "leaf")
    assert "a change of rich-dist 1.0 is not complete" in answer.err
    answer = rich.safepip("uninstall", "-y", "leaf")
    assert "the removal of rich-dist 1.0 had been cut off; everything is back" in answer.err
    assert rich.safepip("undo").code == 0
    assert snapshot(rich.prefix) == before


def test_a_vault_edited_in_place_is_seen_though_size_and_time_agree(rich: Environment) -> None:
    data = rich.site / "rich_dist/sub/data.bin"
    inode, times = data.stat().st_ino, data.stat().st_mtime_ns
    remove(rich, "rich-dist")
    (kept,) = (path for path in (rich.prefix / ".safepip/vault/1").iterdir() if path.stat().st_ino == inode)
    kept.write_bytes(b"x" * 5000)
    os.utime(kept, ns=(times, times))
    between = snapshot(rich.prefix)
    answer = rich.safepip("undo")
    assert (answer.code, "is not what was kept" in " ".join(answer.err.split())) == (COULD_NOT, True)
    assert snapshot(rich.prefix) == between


def test_another_version_that_was_installed_since_stands_in_the_way(environment: Environment) -> None:
    environment.add("dist", {"one.py": ""})
    remove(environment, "dist")
    info = environment.add("dist", {"two.py": ""}, version="2.0")
    answer = environment.safepip("undo", "--json")
    assert (answer.code, answer.report["in_the_way"]) == (REFUSED, [str(info)])
    assert not (environment.site / "one.py").exists()


def test_what_is_back_and_misses_a_library_that_has_gone_since_is_said(environment: Environment) -> None:
    """A library that it never found is no loss."""
    needs = module("libdeep.so.1", "libnever.so.9", runpath="$ORIGIN")
    environment.add("user", {f"user.{TAG}.so": needs})
    environment.add("deep", {"libdeep.so.1": library("libdeep.so.1")})
    remove(environment, "user")
    assert environment.safepip("undo").code == 0
    remove(environment, "user")
    remove(environment, "deep")
    answer = environment.safepip("undo", "2", "--json")
    assert (answer.code, answer.report["unmet"]) == (BROKE, ["libdeep.so.1"])


def test_the_report_of_a_removal_says_what_is_kept(rich: Environment) -> None:
    answer = rich.safepip("uninstall", "-y", "--json", "rich-dist")
    size = sum(path.stat().st_size for path in (rich.prefix / ".safepip/vault/1").iterdir())
    assert answer.report["outcome"]["kept"] == {"id": 1, "bytes": size, "unkept": None, "notes": []}


def test_a_manifest_that_cannot_be_read_does_not_bar_the_way_back_of_another(
    environment: Environment,
) -> None:
    for name in ("one", "two"):
        environment.add(name, {f"{name}.py": ""})
        remove(environment, name)
    (environment.prefix / ".safepip/vault/1/manifest").write_text("{}")
    assert environment.safepip("undo", "1").code == COULD_NOT
    assert environment.safepip("undo").code == 0
    assert (environment.site / "two.py").exists()
