"""Imports that raise though what they import is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.imports import ImportLoss, VersionCheck
from safepip.reasoning.health import diagnosis, failing_imports
from support.environments import at, dist, inventory

NUMPY = dist("numpy", ["numpy/__init__.py"], version="1.26.4")
PANDAS = dist("pandas", ["pandas/__init__.py"], requires=["numpy>=2"])
WANTS = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "pandas", "unmet", wants="numpy>=2")


def loss(what: str, module: str) -> ImportLoss:
    return ImportLoss(
        PANDAS,
        diagnosis.phantom(NUMPY, what, ()),
        module,
        at("numpy/__init__.py"),
        ("import pandas", "pandas/__init__.py:3", f"import {module}"),
        at("pandas/__init__.py"),
        3,
    )


def found(*losses: ImportLoss, unmet: tuple[Ailment, ...] = ()) -> list[Ailment]:
    return list(failing_imports.ailments(losses, inventory(NUMPY, PANDAS), unmet))


def test_a_name_that_is_not_there_and_a_version_that_is_refused_are_told_with_the_requirement_that_mends() -> (
    None
):
    other = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "pandas", "unmet", wants="pytz")
    anothers = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "other", "unmet", wants="numpy>=9")
    files = loss("missing", "numpy")
    unbound, refused = found(
        files,
        loss("unbound", "numpy.lib.x"),
        loss("refused", "numpy"),
        unmet=(anothers, other, WANTS),
    )
    assert unbound == Ailment(
        Check.FAILING_IMPORT,
        Level.ERROR,
        "pandas",
        "import pandas fails: pandas/__init__.py:3 takes x of numpy.lib, and numpy 1.26.4 has no such name there",
        at("pandas/__init__.py"),
        chain=("import pandas", "pandas/__init__.py:3", "import numpy.lib.x"),
        wants="numpy>=2",
    )
    assert (refused.message, refused.chain) == (
        "import pandas fails: pandas/__init__.py:3 raises over numpy 1.26.4",
        ("import pandas", "pandas/__init__.py:3"),
    )
    assert [item.wants for item in found(loss("unbound", "numpy.x"), unmet=(other,))] == [""]
    compiled = replace(loss("refused", "numpy"), line=0)
    module = replace(compiled, importer=at("pandas/lib.so"))
    before = "is built for a version of numpy before 1.26.4"
    assert [item.message for item in found(compiled, module)] == [
        f"import pandas fails: pandas {before}",
        f"import pandas fails: pandas/lib.so {before}",
    ]


def test_a_name_that_this_python_has_no_longer_ails_as_much_as_a_module_that_is_nowhere() -> None:
    python = replace(NUMPY, key=failing_imports.PYTHON, name="Python", version="3.12.1")
    lost = replace(
        loss("unbound", "collections.Mapping"), lost=diagnosis.phantom(python, diagnosis.UNBOUND, ())
    )
    command = replace(lost, chain=("command pandas", *lost.chain[1:]))
    plugin = replace(lost, chain=("plugin pandas (hosts)", *lost.chain[1:]))
    assert [(item.level, item.message) for item in found(lost, command, plugin)] == [
        (
            level,
            f"{begins} fails: pandas/__init__.py:3 takes Mapping of collections, and Python 3.12.1 has no such name there",
        )
        for level, begins in (
            (Level.ERROR, "import pandas"),
            (Level.WARN, "command pandas"),
            (Level.NOTE, "plugin pandas (hosts)"),
        )
    ]


def test_what_is_there_is_no_missing_module() -> None:
    losses = [loss("unbound", "numpy.x"), loss("refused", "numpy")]
    assert list(diagnosis.missing_modules(losses, inventory(NUMPY, PANDAS))) == []


@pytest.mark.parametrize(
    ("operator", "than", "installed", "expected"),
    [
        ("<", "2.0.2", "1.26.4", True),
        ("<", "2.0.2", "2.0.2", False),
        ("<", "2.0.2", "2.0.2rc1", False),  # cut to its numbers it is no older
        (">", "2.3", "2.3.1", False),  # numba compares two numbers, others all of them
        (">", "2.3", "2.4.0", True),
        (">=", "2", "2.1", True),
        ("<=", "2", "1.9", True),
        ("==", "2.1", "2.1", True),
        ("==", "2.1", "2.1.1", False),
        ("!=", "2.1", "2.2", True),
        ("<", "odd", "1", False),
        ("<", "2", "odd", False),
    ],
)
def test_a_check_holds_where_it_does_by_all_numbers_and_by_as_many_as_it_has(
    operator: str, than: str, installed: str, *, expected: bool
) -> None:
    assert failing_imports.holds(VersionCheck(1, "numpy", operator, than), installed) is expected
