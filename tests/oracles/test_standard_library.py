"""What is said to be absent of the standard library, held against what importing it really gives."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from safepip.commands import standard_library, taken_names
from safepip.commands.target import find
from safepip.model.imports import Reference
from safepip.reading.disk import Disk
from safepip.reasoning.code.finder import Finder
from support.environments import dist

# Each by a way of its own: stars of compiled modules, constants out of tables, decorators, `__getattr__`, `globals()`.
MODULES = """
ast asyncio calendar codecs collections collections.abc concurrent.futures configparser contextlib
ctypes curses dataclasses datetime dbm decimal dis email enum functools gettext heapq http
http.client importlib inspect io json locale logging multiprocessing opcode operator os os.path
pathlib pickle plistlib queue re shutil signal socket sqlite3 ssl stat string struct subprocess
symtable tarfile tempfile threading token tokenize types typing unittest unittest.mock urllib.parse
uuid weakref xml.dom xml.etree.ElementTree zipfile zoneinfo
"""
USER = dist("user")


@pytest.fixture(scope="module")
def modules() -> taken_names.Modules:
    target = find(sys.executable).target
    owner = standard_library.or_python(lambda _: None, target)
    return taken_names.Modules(Finder(Disk(), target), owner, lambda path: path)


def absent(references: list[Reference], modules: taken_names.Modules) -> set[str]:
    gone = taken_names.absent([(USER, reference) for reference in references], modules)
    return set(gone) - standard_library.given(gone.values(), ())


def test_nothing_that_importing_a_module_gives_is_said_to_be_absent(modules: taken_names.Modules) -> None:
    given = [
        Reference(name, tuple(one for one in dir(importlib.import_module(name)) if not one.startswith("__")))
        for name in MODULES.split()
    ]
    assert sum(len(reference.names) for reference in given) > 3000
    assert absent(given, modules) == set()


def test_what_was_taken_out_of_it_is_absent_and_what_is_compiled_is_silent(
    modules: taken_names.Modules,
) -> None:
    gone = [("collections", "Mapping"), ("inspect", "getargspec"), ("asyncio", "coroutine")]
    silent = [("time", "clock"), ("os", "errno")]  # compiled, or a star of what is
    asked = [Reference(module, (name,)) for module, name in (*gone, *silent)]
    assert absent(asked, modules) == {f"{module}.{name}" for module, name in gone}


def test_a_name_that_somebody_sets_from_outside_is_given(
    modules: taken_names.Modules, tmp_path: Path
) -> None:
    gone = taken_names.absent([(USER, Reference("collections", ("Mapping",)))], modules)
    for text, expected in {
        "import collections\ncollections.Mapping = dict\n": True,
        "setattr(collections, 'Mapping', dict)\n": True,
        "if collections.Mapping == dict: pass\n": False,
        "collections = Mapping = None\n": False,
    }.items():
        (tmp_path / "patch.py").write_text(text)
        patching = dist("patch", [str(tmp_path / "patch.py")])
        assert (standard_library.given(gone.values(), [patching]) == {"collections.Mapping"}) is expected
