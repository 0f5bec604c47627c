"""Names taken from a module, and whether it binds them; what Python does with the same source is the measure."""

from __future__ import annotations

import types

import pytest

from safepip.model.imports import Reference
from safepip.reading.sources.bound_names import taken, unbound


def test_what_is_taken_is_read_over_several_lines_with_comments_and_other_names() -> None:
    source = (
        b"import os\nfrom a.b import c as d, e\nfrom .here import no\n"
        b"from f import (  # (g)\n    h,  # i\n    j as k,\n)\n"
        b"if x:\n    from l import m, \\\n        n\n"
    )
    assert list(taken(source)) == [
        Reference("a.b", ("c", "e")),
        Reference("f", ("h", "j")),
        Reference("l", ("m", "n")),
    ]


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
def test_what_any_statement_of_the_module_binds_is_not_called_unbound(source: str) -> None:
    source = source.replace("import x", "import json as x") if source == "import x" else source
    module = _run(source)
    assert hasattr(module, "x")
    assert unbound(source.encode(), ["x"]) == frozenset()


@pytest.mark.parametrize("source", NOT_BINDING)
def test_what_no_statement_of_the_modules_own_scope_binds_is_unbound(source: str) -> None:
    assert not hasattr(_run(source), "x")
    assert unbound(source.encode(), ["x", "__name__"]) == {"x"}


@pytest.mark.parametrize(
    "source",
    [
        "from os.path import *",
        "def __getattr__(name): return 1",
        "globals()['x'] = 1",
        "import sys\nsys.modules[__name__].x = 1",
        "exec('x = 1')",
        "import sys\nsetattr(sys.modules[__name__], 'x', 1)",
        "apipkg.initpkg(__name__, {})",
        "x = = 1",
    ],
)
def test_where_statements_alone_do_not_tell_nothing_is_said(source: str) -> None:
    assert unbound(source.encode(), ["x"]) == frozenset()
    assert unbound(None, ["x"]) == frozenset()


def _run(source: str) -> types.ModuleType:
    module = types.ModuleType("made")
    exec(compile(f"import os\n{source}", "made", "exec"), module.__dict__)  # noqa: S102  the source is above
    return module
