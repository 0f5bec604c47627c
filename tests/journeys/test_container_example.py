"""The build gate of examples/container, on a small image."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from support.elves import write
from support.fake_world import lib
from support.images import make_image
from support.sandbox import Run, run

REFUSED = 10
CONTAINER = Path(__file__).resolve().parents[2] / "examples/container"


def gate(*words: str, tools: Path) -> Run:
    (tools / "bin").mkdir(exist_ok=True)
    if not (tools / "bin/safepip").exists():
        (tools / "bin/safepip").symlink_to(Path(sys.executable).parent / "safepip")
    return run(["/bin/sh", str(CONTAINER / "gate.sh"), *words], env={"PATH": f"{tools}/bin:/usr/bin:/bin"})


def test_the_gate_lets_a_whole_image_pass_and_stops_one_that_lost_a_library(tmp_path: Path) -> None:
    image = make_image(tmp_path / "image")
    image.add("provider", {"provider/libstory.so.1": write(lib("libstory.so.1"))})
    core = image.module("libstory.so.1", runpath="$ORIGIN/../provider")
    image.add("app", {"app/__init__.py": "from app import _core\n", f"app/_core{image.suffix}": core})
    python = "/usr/local/bin/python3"
    assert gate(str(image.root), tools=tmp_path).code == 0
    assert gate(str(image.root), python, "app", tools=tmp_path).code == 0
    assert gate(str(image.root), python, "provider", tools=tmp_path).code == REFUSED
    (image.site / "provider/libstory.so.1").unlink()
    broken = gate(str(image.root), python, tools=tmp_path)
    assert (broken.code, "libstory.so.1" in broken.out) == (REFUSED, True)


def test_the_recipe_calls_the_gate_as_the_gate_wants_to_be_called() -> None:
    recipe = (CONTAINER / "Containerfile").read_text()
    mount, words = re.findall(r"target=(\S+)\s+sh /gate.sh (.+) && touch /passed", recipe)[0]
    assert (mount, words) == ("/image", "/image /usr/local/bin/python3")
