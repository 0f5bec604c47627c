"""Imports that stand at the beginning of a line, found without parsing."""

from __future__ import annotations

from safepip.model.imports import Reference
from safepip.reading.sources.unindented import imports


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
    assert set(imports(source)) == {
        Reference("numpy"),
        Reference("os.path"),
        Reference("collections", ("abc", "deque")),
        Reference("a.b", ("one", "two")),
        Reference("lib", ("near", "by")),
        Reference("x", ()),
    }


def test_the_first_line_counts_and_what_is_cut_off_does_not() -> None:
    assert list(imports(b"import a")) == [Reference("a")]
    assert list(imports(b"from a import (b")) == [Reference("a", ("b",))]
    assert list(imports(b"import")) == []
    assert list(imports(b"from ")) == []
