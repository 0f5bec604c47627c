"""Versions of others that a module refuses by raising, as far as its statements tell."""

from __future__ import annotations

import pytest

from safepip.model.imports import VersionCheck
from safepip.reading.sources.version_checks import checks

RAISE = "    raise ImportError\n"


def found(source: str) -> list[tuple[str, str, str]]:
    return [(check.module, check.operator, check.than) for check in checks(source.encode())]


def test_the_check_of_pandas() -> None:
    source = f"""\
import numpy as np
from pandas.util.version import Version
_np_version = np.__version__
_nlv = Version(_np_version)
_min_numpy_ver = "2.0.2"
if _nlv < Version(_min_numpy_ver):
{RAISE}"""
    assert list(checks(source.encode())) == [VersionCheck(6, "numpy", "<", "2.0.2")]


def test_the_checks_of_numba_in_a_function_that_is_called() -> None:
    source = """\
import sys
def _ensure():
    def extract_version(mod):
        return tuple(map(int, mod.__version__.split('.')[:2]))
    if sys.version_info[:2] < (3, 10):
        raise ImportError
    import numpy as np
    numpy_version = extract_version(np)
    if numpy_version < (1, 22):
        raise ImportError(f"Numba needs NumPy {numpy_version}")
    elif numpy_version > (2, 3):
        msg = "NumPy"
        raise ImportError(msg)
_ensure()
"""
    assert found(source) == [("numpy", "<", "1.22"), ("numpy", ">", "2.3")]
    assert found(source.replace("\n_ensure()", "\n_other()")) == []


@pytest.mark.parametrize(
    ("test", "check"),
    [
        ("lib.__version__ != '1.5'", ("lib", "!=", "1.5")),
        ("'2' <= lib.version.full_version", ("lib", ">=", "2")),
        ("not parse_version(lib.__version__) >= parse_version('1.2')", ("lib", "<", "1.2")),
        ("not hasattr(lib, 'x') or Version(lib.__version__).release < (1, 2)", ("lib", "<", "1.2")),
        ("int(lib.__version__.split('.')[0]) < 2", ("lib", "<", "2")),
        ("Version(lib.__version__).major < 2", ("lib", "<", "2")),
        ("tuple(map(int, lib.__version__.split('.')[:2])) < (1, 9)", ("lib", "<", "1.9")),
        ("lib.__version__[2:] < '5'", None),
        ("lib.__version__ < '5' and x", None),
        ("lib.other < '5'", None),
        ("other.__version__ < '5'", None),
        ("lib.__version__ in ('5', '6')", None),
        ("Version(lib.__version__).minor < 5", None),
        ("Version(lib.__version__) < other", None),
        ("Version(lib.__version__) < True", None),
    ],
)
def test_a_test_is_read_where_it_compares_a_version_with_what_is_written(
    test: str, check: tuple[str, str, str] | None
) -> None:
    assert found(f"import lib\nif {test}:\n{RAISE}") == ([check] if check else [])


@pytest.mark.parametrize(
    "source",
    [
        f"try:\n    import lib\n    if lib.__version__ < '5':\n    {RAISE}except ImportError:\n    pass\n",
        f"import lib\nlib = other()\nif lib.__version__ < '5':\n{RAISE}",
        f"import lib\nif x:\n    lib = 1\nif lib.__version__ < '5':\n{RAISE}",
        f"import lib\nif lib.__version__ < '5':\n    if x:\n    {RAISE}",
        "import lib\nif lib.__version__ < '5':\n    warn('raise')\n",
        f"import lib\nfor lib in ():\n    pass\nif lib.__version__ < '5':\n{RAISE}",
        f"import lib\ndef f():\n    if x:\n        return\n    if lib.__version__ < '5':\n    {RAISE}f()\n",
        f"import lib\ndef f():\n    with x:\n        return\n    if lib.__version__ < '5':\n    {RAISE}f()\n",
        f"import lib\ndef f():\n    return\n    if lib.__version__ < '5':\n    {RAISE}f()\n",
        f"from . import __version__\nif __version__ < '5':\n{RAISE}",
        f"import lib\nif x:\n    pass\nelif lib.__version__ < '5':\n{RAISE}",
        "import version\nraise (\n",
    ],
)
def test_what_another_statement_may_turn_away_or_bind_anew_is_no_check(source: str) -> None:
    assert found(source) == []


def test_a_version_is_taken_by_name_and_a_name_is_lost_with_a_function_of_its_own() -> None:
    assert found(f"from lib import __version__ as v\nif v < '5':\n{RAISE}") == [("lib", "<", "5")]
    assert found(f"from lib import __version__ as v\ndef v(): pass\nif v < '5':\n{RAISE}") == []
    assert found(f"import lib.inner\nif lib.__version__ < '5':\n{RAISE}") == [("lib", "<", "5")]
    assert found(f"import lib.inner as i\nif i.__version__ < '5':\n{RAISE}") == [("lib.inner", "<", "5")]
