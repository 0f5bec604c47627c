"""Every call that changes the disk is failed in turn: the environment ends as before or as after, never between."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from safepip.acting import difference, files, vault
from safepip.acting import snapshot as acting_snapshot
from safepip.commands import keeping, safely, undo
from safepip.commands.scene import Scene
from safepip.errors import SafepipError
from safepip.model.change import Removal
from safepip.model.paths import DistKey, TargetPath
from safepip.model.request import Safe
from safepip.reading.sites import snapshots
from safepip.reading.sites.homes import homes_of
from support import faults
from support.faults import PowerCut
from support.small import Small, copy, small
from support.trees import Node, snapshot

Operation = Callable[[Small], object]
Tree = dict[str, Node]
LONG_AGO = 10**18  # nanoseconds
EVERY = bool(os.environ.get("SAFEPIP_EVERY_FAULT"))  # pairs of faults as well; else a sample of the pairs


def pip_like(removal: Removal) -> keeping.Act:
    """Deletes as pip does: files aside, folders under a `~`-name, then both; through the same failing kernel."""

    def act(_: Sequence[int]) -> int:
        kernel = vars(files)["os"]
        for path in removal.files:
            if not path.startswith(tuple(f"{folder}/" for folder in removal.folders)):
                kernel.unlink(path)
        moved = []
        for folder in removal.folders:
            stash = f"{os.path.dirname(folder)}/~{os.path.basename(folder)[1:]}"
            kernel.rename(folder, stash)
            moved.append(stash)
        for stash in moved:
            for here, inner, names in os.walk(stash, topdown=False):
                links = [name for name in inner if os.path.islink(f"{here}/{name}")]
                for name in [*names, *links]:
                    kernel.unlink(f"{here}/{name}")
                for name in set(inner).difference(links):
                    kernel.rmdir(f"{here}/{name}")
            kernel.rmdir(stash)
        return 0

    return act


def order(env: Small, removal: Removal) -> keeping.Order:
    return keeping.Order(removal, env.target, ("uninstall", "victim"), lambda: True)


def uninstall(env: Small) -> object:
    removal = env.plan("victim")
    return keeping.with_way_back(order(env, removal), pip_like(removal))


def remove_safely(env: Small) -> object:
    """The survivor's bytes come from a cache of uv's, so that no other process has a part in it."""
    scene = Scene(env.target, {"UV_CACHE_DIR": str(env.prefix.parent / "cache")})
    sparing = safely.spare([DistKey("victim")], scene, Safe.RESTORE)
    assert [os.path.basename(item.path) for item in sparing.restored] == ["both.py", "void.py"]
    with safely.own_bytes(sparing, scene.target, scene.environ) as staged:
        return safely.remove(order(env, sparing.removal), staged)


def take_back(env: Small) -> object:
    return undo.undo(env.target, None)


def let_go(env: Small) -> object:
    return undo.drop(env.target)


@pytest.fixture
def before(tmp_path: Path) -> Small:
    env = small(tmp_path)
    stays = {
        "shared/stays.py": "",
        "victim/both.py": "survivor's",
        "victim/void.py": "",
        "victim/same.py": "s",
    }
    info = env.add("stays", stays)
    unpacked = tmp_path / "cache/archive-v0/xyz"
    (unpacked / info.name).mkdir(parents=True)
    (unpacked / "victim").mkdir()
    (unpacked / "victim/both.py").write_text("survivor's")
    own: dict[str, str | bytes] = {
        "victim/__init__.py": "x",
        "victim/sub/data.bin": b"\1" * 100,
        "shared/victim.py": "",
        "one.py": "1",
    }
    env.add("victim", {**own, "victim/both.py": "leaver's", "victim/void.py": "no", "victim/same.py": "s"})
    (env.site / "victim/empty").mkdir()
    (env.site / "victim/link").symlink_to("sub")
    (env.site / "victim/sub").chmod(0o750)
    for index, path in enumerate(sorted(env.prefix.rglob("*"))):
        os.utime(path, ns=(0, LONG_AGO + index), follow_symlinks=False)
    return env


@pytest.fixture
def removed(before: Small, tmp_path: Path) -> Small:
    env = copy(before, tmp_path / "removed")
    uninstall(env)
    return env


@pytest.fixture
def installed(before: Small, tmp_path: Path) -> Small:
    """An upgrade that was done: files that went, others in their place, new ones, folders of both kinds, a link."""
    env = copy(before, tmp_path / "installed")
    home = TargetPath(str(env.prefix))
    vault.make_room(home)
    acting_snapshot.keep_all(home, acting_snapshot.begin(home, 1, ("install", "victim")), [""])
    shutil.rmtree(env.site / "victim/sub")
    (env.site / "victim/link").unlink()
    (env.site / "victim/link").write_text("a file now")
    (env.site / "victim/both.py").unlink()
    (env.site / "victim/both.py").write_text("another's")
    (env.site / "one.py").unlink()
    (env.site / "fresh/inner").mkdir(parents=True)
    (env.site / "fresh/inner/new.py").write_text("")
    (env.site / "fresh/link").symlink_to("inner")
    kept = snapshots.load(home, 1)
    difference.seal(kept, difference.compare(kept), complete=True)
    return env


def ends(start: Small, operation: Operation, work: Path) -> tuple[Tree, Tree, int]:
    """The trees before and after, and how many calls lie between."""
    env = copy(start, work)
    first = snapshot(env.prefix)
    with faults.kernel(faults.nothing) as kernel:
        operation(env)
    return first, after(env), kernel.count


def next_run(env: Small) -> None:
    """What every command that changes something begins with."""
    home = homes_of(env.target)[0]
    if os.path.isdir(f"{home}/.safepip"):
        with undo.held(TargetPath(str(home))):
            pass


def after(env: Small) -> Tree:
    """Without the times that this change has set: they are those of the day."""
    tree = snapshot(env.prefix, folder_times=False)
    return {path: node._replace(mtime=min(node.mtime, LONG_AGO * 3 // 2)) for path, node in tree.items()}


def is_either(env: Small, first: Tree, last: Tree) -> bool:
    return snapshot(env.prefix) == first or after(env) == last


@pytest.fixture
def spared(before: Small, tmp_path: Path) -> Small:
    env = copy(before, tmp_path / "spared")
    remove_safely(env)
    return env


OPERATIONS = pytest.mark.parametrize(
    ("operation", "start"),
    [
        (uninstall, "before"),
        (remove_safely, "before"),
        (take_back, "removed"),
        (take_back, "spared"),
        (take_back, "installed"),
        (let_go, "removed"),
    ],
)


def test_what_a_cut_off_pip_has_moved_to_a_temporary_folder_is_cleared_where_it_is_ours(
    before: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    monkeypatch.setenv("TMPDIR", str(temporary))
    ours, others, empty = (temporary / f"pip-uninstall-{name}" for name in ("ours", "others", "empty"))

    def act(_: Sequence[int]) -> int:
        for folder in (ours, others, empty):
            folder.mkdir(parents=True)
        (before.site / "one.py").rename(ours / "one.py")
        (others / "one.py").write_text("1")
        raise SystemExit

    first = snapshot(before.prefix)
    with pytest.raises(SystemExit):
        keeping.with_way_back(order(before, before.plan("victim")), act)
    assert snapshot(before.prefix) == first
    assert sorted(temporary.iterdir()) == [empty, others]


@OPERATIONS
def test_cut_off_at_any_call_the_next_run_ends_it(
    operation: Operation, start: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    origin: Small = request.getfixturevalue(start)
    first, last, calls = ends(origin, operation, tmp_path / "work")
    for at in range(1, calls + 1):
        env = copy(origin, tmp_path / "work")
        with pytest.raises(PowerCut), faults.kernel(faults.power_cut(at)):
            operation(env)
        next_run(env)
        assert is_either(env, first, last), f"cut off at call {at} of {calls}"


@OPERATIONS
def test_cut_off_while_it_is_mended_the_run_after_that_ends_it(
    operation: Operation, start: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    origin: Small = request.getfixturevalue(start)
    first, last, calls = ends(origin, operation, tmp_path / "work")
    for at in range(1, calls + 1, 1 if EVERY else 5):
        broken = copy(origin, tmp_path / "broken")
        with pytest.raises(PowerCut), faults.kernel(faults.power_cut(at)):
            operation(broken)
        for again in range(1, 1000, 1 if EVERY else 4):
            env = copy_exactly(broken, tmp_path / "work")
            try:
                with faults.kernel(faults.power_cut(again)):
                    next_run(env)
            except PowerCut:
                next_run(env)
                assert is_either(env, first, last), f"cut off at call {at}, then at {again}"
            else:
                break


def copy_exactly(of: Small, to: Path) -> Small:
    """With its hard links: the vault's names are second names."""
    shutil.rmtree(to, ignore_errors=True)
    os.system(f"cp -a '{of.prefix}' '{to}'")  # noqa: S605
    return Small(to)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EINTR, errno.EPERM])
@OPERATIONS
def test_whatever_call_fails_the_environment_is_as_before_or_as_after(
    operation: Operation, start: str, number: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    origin: Small = request.getfixturevalue(start)
    first, last, calls = ends(origin, operation, tmp_path / "work")
    for at in range(1, calls + 1):
        env = copy(origin, tmp_path / "work")
        try:
            with faults.kernel(faults.once(at, number)):
                operation(env)
        except SafepipError as error:
            assert error.exit_code == 12  # noqa: PT017
        assert is_either(env, first, last), f"call {at} of {calls} failed"
        next_run(env)
        assert is_either(env, first, last), f"call {at} of {calls} failed, and the run after it did harm"


@OPERATIONS
def test_where_the_disk_fills_up_the_next_run_ends_it(
    operation: Operation, start: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    origin: Small = request.getfixturevalue(start)
    first, last, calls = ends(origin, operation, tmp_path / "work")
    for at in range(1, calls + 1):
        env = copy(origin, tmp_path / "work")
        try:
            with faults.kernel(faults.disk_full(at)):
                operation(env)
        except SafepipError as error:
            assert error.exit_code == 12  # noqa: PT017
        next_run(env)
        assert is_either(env, first, last), f"full from call {at} of {calls}"
