"""Attributes of modules that importing a source asks for; what Python does with the same source is the measure."""

from __future__ import annotations

import types

import pytest

from safepip.reading.sources.attribute_uses import Use, uses

HEAD = "import json as j\nimport os.path\n"


@pytest.mark.parametrize(
    "line",
    [
        "x = j.gone",
        "x: int = j.gone",
        "j.gone",
        "x = str(j.gone)",
        "x = str(object=j.gone)",
        "x = [j.gone.more]",
        "x = j.gone or 1",
        "x = 1 if j.gone else 2",
        "@j.gone\ndef f(): pass",
        "def f(x=j.gone): pass",
        "def f(*, y, x=j.gone): pass",
        "class A(j.gone): pass",
        "class A(metaclass=j.gone): pass",
        "class A:\n    x = j.gone",
        "class A:\n    @j.gone\n    def f(self): pass",
    ],
)
def test_what_is_evaluated_whenever_the_module_is_imported_is_a_use(line: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'gone'"):
        _run(line)
    assert [use for use in uses((HEAD + line).encode()) if use.name == "gone"] == [
        Use(HEAD.count("\n") + 1 + line.partition("j.gone")[0].count("\n"), "json", "gone")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "def f(): return j.gone",
        "f = lambda: j.gone",
        "x = False and j.gone",
        "x = j.gone if False else 1",
        "x = [j.gone for _ in ()]",
        "try:\n    x = j.gone\nexcept AttributeError:\n    x = None",
        "if False:\n    x = j.gone",
        "class j: gone = 1\nx = j.gone",
        "from types import SimpleNamespace as j\nj = j(gone=1)\nx = j.gone",
        "x = 'j.gone'",
    ],
)
def test_what_may_not_be_evaluated_or_is_no_modules_is_no_use(line: str) -> None:
    _run(line)
    assert [use for use in uses((HEAD + line).encode()) if use.name == "gone"] == []


def test_a_module_without_another_name_stands_for_its_topmost_package() -> None:
    assert list(uses(b"import a.b, c.d as e\nx = a.b.f, e.g\n")) == [Use(2, "a", "b"), Use(2, "c.d", "g")]
    assert list(uses(b"x = = 1")) == []


def _run(line: str) -> None:
    exec(compile(HEAD + line, "made", "exec"), types.ModuleType("made").__dict__)  # noqa: S102  the source is above
