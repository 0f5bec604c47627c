"""Imports found without parsing."""

from __future__ import annotations

from safepip.model.imports import Reference
from safepip.reading.sources.written_imports import asked, taken, unindented


def test_what_stands_at_the_beginning_of_a_line_is_found_with_the_names_that_are_taken() -> None:
    source = b"""\
import numpy as np, os.path  # import no
from collections import abc as c, deque; x = 1
from a.b import (  # both
    one,
    two as three,  # , four
)
from far \\
    import away
from lib import near, \\
    by
from . import own
    import inner
try:
    import tried
importlib = 1
from x import*"""
    assert set(unindented(source)) == {
        Reference("numpy"),
        Reference("os.path"),
        Reference("collections", ("abc", "deque")),
        Reference("a.b", ("one", "two")),
        Reference("lib", ("near", "by")),
        Reference("x", ()),
    }


def test_the_first_line_counts_and_what_is_cut_off_does_not() -> None:
    assert list(unindented(b"import a")) == [Reference("a")]
    assert list(unindented(b"from a import (b")) == [Reference("a", ("b",))]
    assert list(unindented(b"import")) == []
    assert list(unindented(b"from ")) == []


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


def test_of_some_modules_alone_what_is_asked_is_found_quicker() -> None:
    assert list(asked(b"import a.b as c, d\nc.e; d.f\n", {"a"})) == [Reference("a.b", ("e",))]


def test_what_is_asked_of_an_imported_module_is_every_name_behind_its_own() -> None:
    source = (
        b"import a.b as c, d.e\nimport f\n\n@c.g\nclass H(d.i): pass\n    import no\nx = c.j + xf.k + f.l.m\n"
    )
    assert list(asked(source)) == [
        Reference("a.b", ("g", "j")),
        Reference("d", ("e", "i")),
        Reference("f", ("l",)),
    ]
