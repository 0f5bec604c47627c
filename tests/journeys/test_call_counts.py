"""How often the system is asked: the same on every machine, and what a slow network file system feels."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.elves import write
from support.fake_world import lib
from support.sandbox import Environment, library, module
from support.wheels import install

MOST_OF_AN_OBJECT = 6
ROWS = 150
OBJECTS = 120
_CALL = re.compile(
    r'^(?:\[pid +\d+\] |\d+ +)?(\w+)\((?:AT_FDCWD(?:</[^>]*>)?, )?(?:"([^"]*)"|(\d+)<([^>]*)>)', re.MULTILINE
)


@pytest.fixture
def crowded(story: Environment) -> Environment:
    """Beside the story: a distribution of many sources, and one of many objects that need one another."""
    story.add("sources", {f"sources/m{number}.py": "" for number in range(ROWS)})
    objects = {
        f"objects/libo{number}.so.1": write(
            lib(f"libo{number}.so.1", needs=["libo0.so.1"], runpath="$ORIGIN")
        )
        for number in range(OBJECTS)
    }
    install(story.site, "objects", objects)
    story.add(
        "part",
        {
            "objects/libpart.so.1": library("libpart.so.1"),
            "objects/_x.so": module("libpart.so.1", runpath="$ORIGIN"),
        },
    )
    return story


def calls(environment: Environment, tmp_path: Path, *words: str) -> list[tuple[str, str]]:
    """Each system call that names a path or has it open, of one run whose caches are warm."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    log = tmp_path / "calls"
    environment.safepip(*words)
    command = ["strace", "-f", "-y", "-s", "4096", "-o", str(log), "-e", "trace=file,desc"]
    command += [sys.executable, "-m", "safepip", "--python", str(environment.python), *words]
    subprocess.run(command, capture_output=True, check=False)
    found = _CALL.findall(log.read_text(errors="replace"))
    if not found:
        pytest.skip("strace may not trace here")
    return [(name, named or opened) for name, named, _, opened in found]


def test_a_row_that_neither_goes_nor_is_shared_is_not_asked_for(crowded: Environment, tmp_path: Path) -> None:
    made = calls(crowded, tmp_path, "uninstall", "--dry-run", "part")
    of_sources = [call for call in made if "/site-packages/sources/" in call[1]]
    assert of_sources == []
    assert any("/site-packages/objects/" in path for _, path in made)


def test_an_object_costs_at_most_six_calls(crowded: Environment, tmp_path: Path) -> None:
    made = calls(crowded, tmp_path, "uninstall", "--dry-run", "part")
    of_objects = [name for name, path in made if re.search(r"/objects/libo\d+\.so\.1$", path)]
    assert 0 < len(of_objects) <= MOST_OF_AN_OBJECT * OBJECTS
