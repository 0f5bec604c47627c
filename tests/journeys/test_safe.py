"""`safepip uninstall --safe` from the command line to the disk, with pip fetching from a folder of wheels."""

from __future__ import annotations

import base64
import csv
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from support.sandbox import TAG, Environment, Run, library, module
from support.trees import snapshot
from support.wheels import Contents, make_wheel

COULD_NOT, REFUSED = 12, 10
OLD = {"pkg/__init__.py": "", "pkg/core.py": "VERSION = 'old'\n", "pkg/same.py": "same = 1\n"}
NEW = {
    "pkg/__init__.py": "",
    "pkg/core.py": "VERSION = 'new'\n",
    "pkg/same.py": "same = 1\n",
    "pkg/extra.py": "",
}


class Shop(NamedTuple):
    """An environment in which `new` lies over `old`, and the wheels that they came from."""

    environment: Environment
    wheels: Path

    def pip(self, *words: str) -> None:
        options = ["--no-index", "--find-links", str(self.wheels), "-q", "--disable-pip-version-check"]
        command = [str(self.environment.python), "-m", "pip", "install", *options, *words]
        subprocess.run(command, check=True, capture_output=True)

    def safepip(self, *words: str) -> Run:
        settings = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "UV_CACHE_DIR": str(self.wheels / "none"),
        }
        return self.environment.safepip(*words, env=settings)

    def core(self) -> str:
        code = "import pkg.core, pkg.same; print(pkg.core.VERSION)"
        done = subprocess.run(
            [self.environment.python, "-B", "-c", code], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() or done.stderr.splitlines()[-1]

    def verify(self, name: str) -> list[str]:
        """Rows of a RECORD that do not hold."""
        (record,) = self.environment.site.glob(f"{name}-*.dist-info/RECORD")
        wrong = []
        for path, digest, _ in csv.reader(record.open()):
            file = self.environment.site / path
            if not file.exists() or (digest and digest != f"sha256={sha(file)}"):
                wrong.append(path)
        return wrong


def sha(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")


@pytest.fixture
def shop(environment: Environment, tmp_path: Path) -> Shop:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels, "old", OLD)
    make_wheel(wheels, "new", NEW, version="2.0")
    made = Shop(environment, wheels)
    made.pip("old")
    made.pip("new")
    return made


def test_the_survivor_gets_its_own_bytes_and_the_rest_goes(shop: Shop) -> None:
    before = snapshot(shop.environment.prefix)
    assert (shop.core(), shop.verify("old")) == ("new", ["pkg/core.py"])
    answer = shop.safepip("uninstall", "-y", "--safe", "new")
    assert answer.code == 0, answer.err
    assert (shop.core(), shop.verify("old")) == ("old", [])
    assert not (shop.environment.site / "pkg/extra.py").exists()
    assert not list(shop.environment.site.glob("new-*"))
    assert "1 of them got old 1.0's own bytes" in answer.err
    assert shop.safepip("undo").code == 0
    assert snapshot(shop.environment.prefix) == before


def test_bytes_that_are_the_survivors_are_kept_without_fetching(shop: Shop) -> None:
    for wheel in shop.wheels.iterdir():
        wheel.unlink()
    answer = shop.safepip("uninstall", "-y", "--safe", "old")
    assert answer.code == 0, answer.err
    assert (shop.core(), shop.verify("new")) == ("new", [])
    assert not list(shop.environment.site.glob("old-*"))


def test_a_script_comes_back_with_the_first_line_that_pip_gave_it(
    environment: Environment, tmp_path: Path
) -> None:
    script = "#!python\nimport sys\nprint('{}', sys.prefix)\n"
    for name in ("old", "new"):
        files = {f"{name}.py": "", f"{name}-1.0.data/scripts/tell": script.format(name)}
        make_wheel(tmp_path, name, files, entry_points=f"[console_scripts]\nsay = {name}:main\n")
    shop = Shop(environment, tmp_path)
    shop.pip("old")
    shop.pip("new")
    answer = shop.safepip("uninstall", "-y", "--safe", "new")
    assert answer.code == 0, answer.err
    first, *rest = (environment.prefix / "bin/tell").read_text().splitlines()
    assert (first, rest) == (f"#!{environment.python}", ["import sys", "print('old', sys.prefix)"])
    assert "from old import main\n" in (environment.prefix / "bin/say").read_text()
    assert shop.verify("old") == []


def test_what_cannot_be_fetched_means_that_nothing_is_removed(shop: Shop) -> None:
    (shop.wheels / "old-1.0-py3-none-any.whl").unlink()
    before = snapshot(shop.environment.prefix)
    answer = shop.safepip("uninstall", "-y", "--safe", "new")
    assert (answer.code, "old 1.0 cannot be had" in answer.err) == (COULD_NOT, True)
    assert "nothing was removed" in answer.err
    assert snapshot(shop.environment.prefix) == before


def test_a_wheel_with_other_bytes_than_recorded_is_not_believed(shop: Shop) -> None:
    make_wheel(shop.wheels, "old", {**OLD, "pkg/core.py": "VERSION = 'forged'\n"})
    before = snapshot(shop.environment.prefix)
    answer = shop.safepip("uninstall", "-y", "--safe", "new")
    assert (answer.code, "pkg/core.py" in answer.err) == (COULD_NOT, True)
    assert snapshot(shop.environment.prefix) == before


def test_the_leavers_bytes_are_kept_where_that_is_asked_for_and_said(shop: Shop) -> None:
    answer = shop.safepip("uninstall", "-y", "--safe=keep", "new")
    assert answer.code == 0, answer.err
    assert "1 of them keep the bytes of the one that leaves" in answer.err
    assert shop.core() == "new"


def test_a_dry_run_says_what_would_be_fetched_and_touches_nothing(shop: Shop) -> None:
    before = snapshot(shop.environment.prefix)
    answer = shop.safepip("uninstall", "--dry-run", "--safe", "new")
    assert (answer.code, "1 of them to get old 1.0's own bytes, fetched and judged first" in answer.out) == (
        0,
        True,
    )
    assert snapshot(shop.environment.prefix) == before


def test_a_safe_removal_is_still_judged(shop: Shop) -> None:
    shop.environment.add("user", {"user.py": "import pkg.extra\n"}, requires=["new"])
    before = snapshot(shop.environment.prefix)
    assert shop.safepip("uninstall", "-y", "--safe", "new").code == REFUSED
    assert snapshot(shop.environment.prefix) == before


def test_the_question_is_pips(shop: Shop) -> None:
    before = snapshot(shop.environment.prefix)
    answer = shop.environment.safepip("uninstall", "--safe", "old", stdin="n\n")
    assert (answer.code, answer.out) == (0, "Proceed (Y/n)? ")
    assert shop.environment.safepip("uninstall", "--safe", "old").code == COULD_NOT
    assert snapshot(shop.environment.prefix) == before


def test_a_process_that_opens_the_shared_file_meanwhile_never_fails(shop: Shop, tmp_path: Path) -> None:
    core, stop = shop.environment.site / "pkg/core.py", tmp_path / "stop"
    code = f"""
import os
opened = set()
print("ready", flush=True)
while not os.path.exists({str(stop)!r}):
    with open({str(core)!r}) as file:
        opened.add(file.read())
print(sorted(opened))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        for _ in range(3):
            assert shop.safepip("uninstall", "-y", "--safe", "new").code == 0
            assert shop.safepip("undo").code == 0
        stop.touch()
        said = reader.stdout.read()
    assert (reader.returncode, said) == (0, "[\"VERSION = 'new'\\n\", \"VERSION = 'old'\\n\"]\n")


@pytest.fixture
def pair(environment: Environment, tmp_path: Path) -> Shop:
    """Two that own one extension module; each bundles the library that its own build of it needs."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("plain", "gui"):
        built = module(f"lib{name}-1a2b.so", runpath=f"$ORIGIN/../{name}.libs")
        files: Contents = {
            f"cv/core.{TAG}.so": built,
            "cv/__init__.py": f"import cv.core\nBUILD = '{name}'\n",
        }
        make_wheel(wheels, name, {**files, f"{name}.libs/lib{name}-1a2b.so": library(f"lib{name}-1a2b.so")})
    return Shop(environment, wheels)


@pytest.mark.parametrize(("first", "second"), [("plain", "gui"), ("gui", "plain")])
@pytest.mark.parametrize("leaver", ["plain", "gui"])
def test_a_survivor_is_judged_by_its_own_bytes_in_either_order(
    pair: Shop, first: str, second: str, leaver: str
) -> None:
    pair.pip(first)
    pair.pip(second)
    survivor = "gui" if leaver == "plain" else "plain"
    assert pair.safepip("uninstall", "--dry-run", leaver).code == REFUSED
    answer = pair.safepip("uninstall", "-y", "--safe", leaver)
    assert (answer.code, pair.verify(survivor)) == (0, []), answer.err
    assert not (pair.environment.site / f"{leaver}.libs").exists()


def test_a_dry_run_names_the_bytes_that_are_not_judged_yet(pair: Shop) -> None:
    pair.pip("plain")
    pair.pip("gui")
    answer = pair.safepip("uninstall", "--dry-run", "--json", "--safe", "gui")
    names = [f"{pair.environment.site}/cv/{name}" for name in ("__init__.py", f"core.{TAG}.so")]
    reason = "plain's own bytes are judged when they have been fetched"
    unjudged = [{"subject": name, "reason": reason} for name in sorted(names)]
    assert (answer.code, answer.report["unjudged"]) == (0, unjudged)


def test_own_bytes_that_need_what_goes_are_refused_once_they_are_there(pair: Shop) -> None:
    """The survivor's own build needs a library that only the leaver brings: found when it has been fetched."""
    built = module("libgui-1a2b.so", runpath="$ORIGIN/../gui.libs")
    make_wheel(pair.wheels, "plain", {f"cv/core.{TAG}.so": built, "cv/__init__.py": "import cv.core\n"})
    pair.pip("plain")
    other = module("libgui-1a2b.so", runpath="$ORIGIN/../gui.libs") + b"other"
    files = {f"cv/core.{TAG}.so": other, "gui.libs/libgui-1a2b.so": library("libgui-1a2b.so")}
    make_wheel(pair.wheels, "gui", files)
    pair.pip("gui")
    before = snapshot(pair.environment.prefix)
    assert pair.safepip("uninstall", "--dry-run", "--safe", "gui").code == 0
    answer = pair.safepip("uninstall", "-y", "--safe", "gui")
    assert (answer.code, "libgui-1a2b.so" in answer.err) == (REFUSED, True)
    assert snapshot(pair.environment.prefix) == before


def test_a_survivors_own_source_that_imports_what_goes_is_refused_once_it_is_there(shop: Shop) -> None:
    make_wheel(shop.wheels, "old", {**OLD, "pkg/core.py": "import pkg.extra\nVERSION = 'old'\n"})
    shop.pip("--force-reinstall", "old")
    shop.pip("--force-reinstall", "new")
    answer = shop.safepip("uninstall", "-y", "--safe", "new")
    assert (answer.code, "pkg.extra" in answer.err) == (REFUSED, True), answer.err


def test_a_leavers_source_that_imports_what_goes_is_held_against_nobody(shop: Shop) -> None:
    make_wheel(
        shop.wheels, "new", {**NEW, "pkg/core.py": "import pkg.extra\nVERSION = 'new'\n"}, version="2.0"
    )
    shop.pip("--force-reinstall", "new")
    assert shop.safepip("uninstall", "-y", "--safe", "new").code == 0
    assert (shop.core(), shop.verify("old")) == ("old", [])


def test_a_requirement_of_metadata_alone_is_lost_though_every_file_stays(environment: Environment) -> None:
    """pip check would complain of it afterwards."""
    for name in ("lib-a", "lib-b"):
        environment.add(name, {"shared/lib.so.1": library("lib.so.1")})
    environment.add(
        "user", {f"user.{TAG}.so": module("lib.so.1", runpath="$ORIGIN/shared")}, requires=["lib-a"]
    )
    answer = environment.safepip("uninstall", "--dry-run", "--json", "--safe", "lib-a")
    assert (answer.code, [item["kind"] for item in answer.report["findings"]]) == (
        REFUSED,
        ["requirement-lost"],
    )
