"""What is kept by a second name keeps its bytes whatever a real pip does meanwhile, and leads back exactly.

`SAFEPIP_ALL_PIPS=1` tries more versions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from safepip import watch
from safepip.acting import difference, files, snapshot, turning
from safepip.acting import vault as vaults
from safepip.model.paths import TargetPath
from safepip.model.receipt import ItemKind
from safepip.reading.sites import receipts, snapshots, standing
from support import trees
from support.boxes import Box
from support.pips import NEWEST, RUNNING, Pip, runner
from support.wheels import make_wheel

PIPS = [Pip("22.3.1", "3.8"), Pip("22.3.1", "3.11"), Pip("24.0", RUNNING), Pip(NEWEST, RUNNING)]
MORE = [
    Pip("25.3", "3.13"),
    Pip("24.0", "3.9"),
    Pip("24.0", "3.10"),
    *(Pip(version, RUNNING) for version in ("23.2.1", "24.3.1", "25.3", "26.1", "26.3")),
]
EVERY = [*PIPS, *(pip for pip in MORE if os.environ.get("SAFEPIP_ALL_PIPS") and pip not in PIPS)]
LAUNCHER = "[console_scripts]\nwhole = whole:main\n"


class Kept(NamedTuple):
    code: int
    said: str
    digests: dict[str, tuple[str, str]]  # by path, before and under the second name after pip
    before: dict[str, trees.Node]
    back: dict[str, trees.Node]


@pytest.fixture(params=EVERY, ids=lambda pip: f"pip {pip.version} on {pip.python}")
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Box:
    return Box(tmp_path, request.param)


@pytest.fixture(params=["as it goes", "at once"])
def way(request: pytest.FixtureRequest) -> str:
    """Both ways of keeping."""
    return str(request.param)


def pip(box: Box, *words: str, watcher: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [str(box.python), *watcher, str(runner(box.pip)), "install", "--no-index", *words]
    return subprocess.run(
        command, env=box.environment(), cwd=box.out, check=False, capture_output=True, text=True
    )


def through_pip(box: Box, *words: str, way: str) -> Kept:
    """Keep the box, let its pip do what `words` say, and go back."""
    home = TargetPath(os.path.realpath(box.v))
    age(box.v)
    before = trees.snapshot(box.v)
    vaults.make_room(home)
    folder = snapshot.begin(home, 1, ("install", *words))
    if way == "at once":
        snapshot.keep_all(home, folder, [""])
        done = pip(box, *words)
    else:
        done = pip(box, *words, watcher=(watch.__file__, home, folder, '[""]'))
    kept = snapshots.load(home, 1)
    digests = {
        path: (before[path].holds, trees.node(f"{kept.folder}/{number}", folder_times=False).holds)
        for path, number in kept.kept.items()
    }
    changed = difference.compare(kept)
    assert changed, done.stdout + done.stderr
    difference.seal(kept, changed, complete=True)
    receipt = receipts.load(home, 1)
    assert (receipt.unkept, standing.edited(receipt), standing.in_the_way(receipt)) == ((), (), ())
    turning.put_back(receipt)
    turning.verify(receipt)
    return Kept(done.returncode, done.stdout + done.stderr, digests, before, trees.snapshot(box.v))


def age(prefix: Path) -> None:
    for index, path in enumerate(sorted(prefix.rglob("*"))):
        os.utime(path, ns=(0, 10**18 + index), follow_symlinks=False)


def holds(kept: Kept) -> None:
    assert {path: pair for path, pair in kept.digests.items() if pair[0] != pair[1]} == {}
    assert kept.back == kept.before


def whole(box: Box, version: str, files: Sequence[str], scripts: str = LAUNCHER) -> str:
    named = dict.fromkeys(files, f"# of {version}\nmain = print\n")
    return str(make_wheel(box.out, "whole", named, version=version, entry_points=scripts))


def test_an_upgrade_is_taken_back_whole(box: Box, way: str) -> None:
    """Modules, byte code, a launcher, a script, data files and files that nobody owns lie in the way."""
    data = ("whole-{}.data/scripts/run", "whole-{}.data/data/share/whole/note", "whole-{}.data/headers/w.h")
    old = ["whole/__init__.py", "whole/gone.py", "single.py", *(name.format("1.0") for name in data)]
    new = [
        "whole/__init__.py",
        "whole/sub/new.py",
        "single.py",
        "loose.py",
        *(name.format("2.0") for name in data),
    ]
    assert pip(box, whole(box, "1.0", old)).returncode == 0
    box.put("loose.py", "whole/sub/own.txt")
    kept = through_pip(box, whole(box, "2.0", new), way=way)
    assert kept.code == 0, kept.said
    holds(kept)


def test_the_same_version_laid_down_once_more_is_taken_back(box: Box, way: str) -> None:
    wheel = whole(box, "1.0", ["whole/__init__.py", "single.py"])
    assert pip(box, wheel).returncode == 0
    box.put("single.py", text="edited = True\n")
    kept = through_pip(box, "--force-reinstall", wheel, way=way)
    assert kept.code == 0, kept.said
    holds(kept)


def test_laid_over_without_a_removal_it_is_taken_back(box: Box, way: str) -> None:
    """`REQUESTED` is opened for writing where it lies."""
    wheel = whole(box, "1.0", ["whole/__init__.py", "single.py"])
    assert pip(box, wheel).returncode == 0
    box.put("single.py", text="edited = True\n")
    kept = through_pip(box, "--ignore-installed", wheel, way=way)
    assert kept.code == 0, kept.said
    holds(kept)


def test_an_editable_line_that_an_upgrade_takes_out_in_place_is_taken_back(box: Box, way: str) -> None:
    source = box.root / "source"
    (source / "whole.egg-info").mkdir(parents=True)
    (source / "whole.egg-info/PKG-INFO").write_text("Metadata-Version: 2.1\nName: whole\nVersion: 0.9\n")
    box.put("whole.egg-link", text=f"{source}\n.")
    box.put("easy-install.pth", text=f"/elsewhere\n{source}\n")
    kept = through_pip(box, whole(box, "2.0", ["whole/__init__.py"]), way=way)
    assert kept.code == 0, kept.said
    holds(kept)


def test_what_setup_py_installs_over_an_older_one_is_taken_back(tmp_path: Path, way: str) -> None:
    """pip before 23.1 lets setuptools do it where there is no wheel package."""
    box = Box(tmp_path, Pip("22.3.1", "3.11"))
    bundled = sorted((Path(runner(box.pip)).parent.parent).glob("setuptools"))
    if not bundled and not provided(box):
        pytest.skip("no setuptools for Python 3.11")
    for version in ("1.0", "2.0"):
        source = tmp_path / f"source-{version}"
        (source / "whole").mkdir(parents=True)
        (source / "whole/__init__.py").write_text(f"version = {version}\n")
        (source / "setup.py").write_text(
            textwrap.dedent(f"""\
                from setuptools import setup
                setup(name="whole", version="{version}", packages=["whole"],
                      entry_points={{"console_scripts": ["whole = whole:main"]}})
            """)
        )
    assert pip(box, "--no-use-pep517", "--no-build-isolation", str(tmp_path / "source-1.0")).returncode == 0
    kept = through_pip(box, "--no-use-pep517", "--no-build-isolation", str(tmp_path / "source-2.0"), way=way)
    assert kept.code == 0, kept.said
    assert "setup.py install" in kept.said
    holds(kept)


def provided(box: Box) -> bool:
    """The setuptools that comes with the interpreter's ensurepip."""
    code = "import ensurepip, os; print(os.path.join(os.path.dirname(ensurepip.__file__), '_bundled'))"
    told = subprocess.run([str(box.python), "-c", code], capture_output=True, text=True, check=False)
    wheels = sorted(Path(told.stdout.strip()).glob("setuptools-*.whl"))
    if not wheels:
        return False
    shutil.unpack_archive(wheels[0], box.sp, "zip")
    return True


def test_a_pip_that_fails_halfway_is_taken_back(box: Box, way: str) -> None:
    """It has brought one distribution and cannot bring the next: a folder lies where a file belongs."""
    assert pip(box, whole(box, "1.0", ["whole/__init__.py"])).returncode == 0
    (box.sp / "stuck.py").mkdir()
    (box.sp / "stuck.py/inside").write_text("")
    stuck = str(make_wheel(box.out, "zz-stuck", {"stuck.py": ""}, requires=["whole==2.0"]))
    kept = through_pip(box, stuck, whole(box, "2.0", ["whole/__init__.py", "whole/new.py"]), way=way)
    assert kept.code != 0
    holds(kept)


def test_second_names_are_no_use_for_what_is_written_in_place(tmp_path: Path) -> None:
    """Why some files are copied, and how it is seen where that should have been one."""
    home = TargetPath(str(tmp_path))
    for name in ("a.pth", "plain.txt"):
        (tmp_path / name).write_text("old")
    vaults.make_room(home)
    snapshot.keep_all(home, snapshot.begin(home, 1, ()), [""])
    kept = snapshots.load(home, 1)
    for name in ("a.pth", "plain.txt"):
        (tmp_path / name).write_text("newer")
    (tmp_path / "fresh").touch()
    receipt = difference.seal(kept, difference.compare(kept), complete=True)
    assert [item.path for item in receipt.of(ItemKind.CHANGED)] == ["a.pth"]
    assert receipt.unkept == (TargetPath(f"{home}/plain.txt"),)
    turning.put_back(receipt)
    assert (tmp_path / "a.pth").read_text() == "old"
    files.clear(receipt.folder)
