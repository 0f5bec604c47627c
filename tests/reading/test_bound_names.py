"""Which names a module binds; what Python does with the same source is the measure."""

from __future__ import annotations

import types

import pytest

from safepip.reading.sources.bound_names import Bound, bound, is_plainly_bound

BINDING = [
    "x = 1",
    "x: int = 1",
    "a, (x, *b) = 1, (2, 3)",
    "def x(): pass",
    "class x: pass",
    "import x",
    "import os.path as x",
    "from os import path as x",
    "for x in [1]: pass",
    "with open(os.devnull) as x: pass",
    "if (x := 1): pass",
    "try:\n    x = 1\nfinally:\n    pass",
    "def f():\n    global x\n    x = 1\nf()",
    "match [1, 2]:\n    case [1, *x]: pass",
    "match {1: 2}:\n    case {1: _, **x}: pass",
    "match 1:\n    case int() as x: pass",
]
NOT_BINDING = [
    "y = 1",
    "def f():\n    x = 1\nf()",
    "class A:\n    x = 1",
    "# x = 1",
    "'x = 1'",
]


@pytest.mark.parametrize("source", BINDING)
def test_what_any_statement_of_the_module_binds_it_may_have(source: str) -> None:
    source = source.replace("import x", "import json as x") if source == "import x" else source
    assert hasattr(_run(source), "x")
    assert "x" in bound(source.encode(), "made", is_package=False).names


@pytest.mark.parametrize("source", NOT_BINDING)
def test_what_no_statement_of_the_modules_own_scope_binds_it_has_not(source: str) -> None:
    assert not hasattr(_run(source), "x")
    found = bound(source.encode(), "made", is_package=False)
    assert ("x" in found.names, "__name__" in found.names, found.is_open) == (False, True, False)
    assert not is_plainly_bound(source.encode(), b"x")


@pytest.mark.parametrize(
    "source",
    [
        "def __getattr__(name): return 1",
        "__getattr__ = lambda name: 1",
        "globals()['x'] = 1",
        "def f(): globals().update(x=1)\nf()",
        "vars()['x'] = 1",
        "import sys\nsys.modules[__name__].x = 1",
        "import sys\nsetattr(sys.modules.get(__name__), 'x', 1)",
        "exec('x = 1')",
        "import made\ndef f(): setattr(made, 'x', 1)\nf()",
        "apipkg.initpkg(__name__, {})",
        "x = = 1",
    ],
)
def test_where_statements_alone_do_not_tell_a_module_is_open(source: str) -> None:
    assert bound(source.encode(), "made", is_package=False).is_open


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __getattr__(self, name): return 1",
        "def f(**given): return vars(), locals(), exec('y = 1')\nf()",
        "import sys\nsys.modules.get('os')",
        "def f(one): setattr(one, 'x', 1)",
        "import logging\nlogging.getLogger(__name__)",
    ],
)
def test_what_binds_in_other_places_leaves_a_module_closed(source: str) -> None:
    assert not hasattr(_run(source), "x")
    assert not bound(source.encode(), "made", is_package=False).is_open


def test_modules_of_which_every_name_is_taken_are_named_absolutely() -> None:
    source = b"from os import *\nfrom . import *\nfrom .inner.more import *\n"
    package, module = bound(source, "a.b", is_package=True), bound(source, "a.b", is_package=False)
    assert package == Bound(package.names, ("a.b.inner.more", "a.b", "os"))
    assert module.stars == ("a.inner.more", "a", "os")


@pytest.mark.parametrize("line", ["def x():", "class x(A):", "x = 1", "x: int = 1", "from a import b, x"])
def test_a_line_of_its_own_is_seen_without_parsing(line: str) -> None:
    assert is_plainly_bound(f"import os\n{line}\n".encode(), b"x")


def _run(source: str) -> types.ModuleType:
    module = types.ModuleType("made")
    exec(compile(f"import os\n{source}", "made", "exec"), module.__dict__)  # noqa: S102  the source is above
    return module
