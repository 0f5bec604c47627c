"""What a real distribution names, and that a second run does not look again."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import TargetPath
from safepip.model.survey import Mention
from safepip.reading.sources.mentions import Mentions
from safepip.reading.sources.modules import Modules
from support.elves import compile_lib
from support.environments import dist, target

OPENS = 'const char *name = "libcublas.so.12"; const char *other = "libother.so";'
SOURCE = """
import ctypes, os
HERE = os.path.dirname(__file__)
def first():
    return ctypes.CDLL("libnccl.so.2")
def second():
    return ctypes.cdll.LoadLibrary("nvidia/nccl/lib/libnccl.so.2")
TEXT = "libmentioned.so.1 in passing"
"""


@pytest.fixture
def app(tmp_path: Path) -> Distribution:
    """A distribution with an object and a source that open libraries by name."""
    if not shutil.which("cc"):
        pytest.skip("needs cc")
    site = tmp_path / "site"
    info = site / "app-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text("app/_m.so,,\napp/load.py,,\n")
    (site / "app").mkdir()
    compile_lib(site / "app/_m.so", OPENS)
    (site / "app/load.py").write_text(SOURCE)
    files = tuple(TargetPath(f"{site}/app/{name}") for name in ("_m.so", "load.py"))
    return replace(dist("app"), location=TargetPath(f"{site}"), info=TargetPath(f"{info}"), files=files)


def mentions_of(app: Distribution, home: Path, *names: str) -> list[Mention]:
    environ = {"XDG_CACHE_HOME": str(home)}
    looking = Mentions(target(), environ, Modules(Inventory(target(), (app,)), environ))
    found = looking.of(app, {app.files[0]} if app.files else set(), names)
    looking.keep()
    return found


def test_objects_and_ctypes_calls_are_asked_for_the_names_in_question(
    tmp_path: Path, app: Distribution
) -> None:
    assert app.files
    module, source = app.files
    home = tmp_path / "home"
    assert mentions_of(app, home, "libcublas.so.12") == [Mention("libcublas.so.12", module)]
    assert mentions_of(app, home, "libnccl.so.2") == [
        Mention("libnccl.so.2", source, 5),
        Mention("libnccl.so.2", source, 7),
    ]
    assert mentions_of(app, home, "libmentioned.so.1", "libelse.so") == []


def test_a_second_run_answers_from_what_the_first_one_kept_until_record_changes(
    tmp_path: Path, app: Distribution
) -> None:
    assert app.files
    home = tmp_path / "home"
    before = mentions_of(app, home, "libcublas.so.12", "libnccl.so.2")
    for path in app.files:
        Path(path).write_bytes(b"")
    assert mentions_of(app, home, "libcublas.so.12", "libnccl.so.2") == before
    os.utime(f"{app.info}/RECORD", ns=(1, 1))
    assert mentions_of(app, home, "libcublas.so.12", "libnccl.so.2") == []


@pytest.mark.parametrize(
    "text", ["", "[", "[2,1]", '[2,"3.12.1","/env",{"/x":[[1],[["a"]]]}]', '[2,"3.12.1","/env",7]']
)
def test_a_damaged_file_means_looking_again(tmp_path: Path, app: Distribution, text: str) -> None:
    home = tmp_path / "home"
    before = mentions_of(app, home, "libcublas.so.12")
    kept = [path for path in (home / "safepip/imports").iterdir() if path.name.startswith("libraries-")]
    assert len(kept) == 1
    kept[0].write_text(text)
    assert mentions_of(app, home, "libcublas.so.12") == before


def test_without_a_home_everything_is_looked_up_each_time(tmp_path: Path, app: Distribution) -> None:
    looking = Mentions(target(), {}, Modules(Inventory(target(), (app,)), {}))
    assert app.files
    assert looking.of(app, app.files, {"libcublas.so.12"}) == [Mention("libcublas.so.12", app.files[0])]
    looking.keep()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
