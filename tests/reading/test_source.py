"""One file into its imports: what stands where, for the interpreter of the target."""

from __future__ import annotations

import textwrap

import pytest

from safepip.model.imports import Condition, Dynamic, Import, Reference, Source, Unread, Way
from safepip.reading.sources.source import LIMIT, read_module

SURE, GUARDED, DEFERRED = Condition.UNCONDITIONAL, Condition.GUARDED, Condition.DEFERRED


def read(
    text: str,
    name: str = "pkg.mod",
    *,
    package: bool = False,
    whole: bool = False,
    version: tuple[int, int] = (3, 12),
) -> Source:
    data = textwrap.dedent(text).lstrip("\n").encode()
    source = read_module(data, name, is_package=package, version=version, whole=whole)
    assert isinstance(source, Source)
    return source


def stands(text: str, *, whole: bool = False, version: tuple[int, int] = (3, 12)) -> dict[str, Condition]:
    return {item.module: item.condition for item in read(text, whole=whole, version=version).imports}


def test_a_statement_keeps_its_names_and_its_line() -> None:
    assert read("import os\nfrom numpy.linalg import norm, svd as decompose\n").imports == (
        Import("os", (), 1, SURE),
        Import("numpy.linalg", ("norm", "svd"), 2, SURE),
    )


@pytest.mark.parametrize(
    ("name", "package", "written", "module"),
    [
        ("pkg.mod", False, "from . import near", "pkg"),
        ("pkg.mod", False, "from .near import it", "pkg.near"),
        ("pkg.sub", True, "from . import near", "pkg.sub"),
        ("pkg.sub", True, "from ..far import it", "pkg.far"),
        ("pkg.sub.mod", False, "from ..far import it", "pkg.far"),
    ],
)
def test_a_relative_import_is_made_absolute(name: str, package: bool, written: str, module: str) -> None:  # noqa: FBT001
    assert [item.module for item in read(written, name, package=package).imports] == [module]


def test_a_relative_import_out_of_the_top_package_names_nothing() -> None:
    assert read("from ...far import it", "pkg.mod").imports == ()


@pytest.mark.parametrize(
    "handler",
    ["except ImportError:", "except (ValueError, ModuleNotFoundError):", "except Exception:", "except:"],
)
def test_a_handler_that_goes_on_guards(handler: str) -> None:
    assert stands(f"try:\n    import numpy\n{handler}\n    numpy = None\n") == {"numpy": GUARDED}


@pytest.mark.parametrize(
    "ending",
    [
        "raise",
        "raise RuntimeError('install it') from None",
        "sys.exit(1)",
        "print('no'); raise SystemExit(2)",
        "fail('numpy')",
    ],
)
def test_a_handler_that_gives_up_guards_nothing(ending: str) -> None:
    functions = (
        "def fail(name):\n    raise RuntimeError(f'install {name}')\ndef note(name):\n    print(name)\n"
    )
    assert stands(f"{functions}try:\n    import numpy\nexcept ImportError:\n    {ending}\n") == {
        "numpy": SURE
    }


def test_a_handler_that_calls_what_does_not_raise_guards() -> None:
    text = (
        "def note(name):\n    print(name)\ntry:\n    import numpy\nexcept ImportError:\n    note('numpy')\n"
    )
    assert stands(text) == {"numpy": GUARDED}


ATTEMPT = "import os\ntry:\n    import numpy as np\nexcept ImportError:\n    {}\n"
NEEDS_NUMPY = ((Reference("numpy"),),)


@pytest.mark.parametrize("handler", ["np = None", "pass", "print('no numpy')"])
@pytest.mark.parametrize(
    "use",
    [
        "class A(np.ndarray):\n    pass\n",
        "class A(metaclass=np.Meta):\n    pass\n",
        "@np.vectorize\ndef f(): pass\n",
        "@np.vectorize(1)\nclass A: pass\n",
        "x = np.zeros(3)\n",
        "x = np.pi + 1\n",
        "x = np.table['a']\n",
        "x = np.c_(y, len(np.d))\n",
    ],
)
def test_a_name_that_a_failed_import_leaves_and_the_module_then_uses_is_needed(
    handler: str, use: str
) -> None:
    (choice,) = read(ATTEMPT.format(handler) + use).choices
    assert (choice.line, choice.ways) == (6 + use.startswith("@"), NEEDS_NUMPY)


@pytest.mark.parametrize(
    ("handler", "use"),
    [
        ("from . import np", "x = np.zeros(3)\n"),
        ("np = Stub()", "x = np.zeros(3)\n"),
        ("def np(): pass", "x = np.zeros(3)\n"),
        ("class np: pass", "x = np.zeros(3)\n"),
        ("np = None", "x = np.zeros(3) if np else None\n"),
        ("np = None", "x = np and np.pi\n"),
        ("np = None", "class A(np.B if np else object): pass\n"),
        ("np = None", "x = f(np)\n"),
        ("np = None", "np = f()\nx = np.zeros(3)\n"),
        ("pass", "for np in y:\n    pass\nx = np.zeros(3)\n"),
        ("np = None", "if np:\n    x = np.zeros(3)\n"),
        ("np = None", "def f():\n    return np.zeros(3)\n"),
        ("np = None", "f = lambda: np.zeros(3)\n"),
        ("np = None", "x: np.ndarray\n"),
        ("np = None", "import np\nx = np.zeros(3)\n"),
    ],
)
def test_a_name_that_is_bound_otherwise_or_used_under_a_condition_is_not(handler: str, use: str) -> None:
    assert read(ATTEMPT.format(handler) + use).choices == ()


def test_a_name_is_used_by_itself_only_where_none_would_not_do() -> None:
    both = [read(ATTEMPT.format(handler) + "x = f(np)\n").choices for handler in ("pass", "np = None")]
    assert list(map(len, both)) == [1, 0]
    assert len(read(ATTEMPT.format("np = None") + "@np\ndef f(): pass\n").choices) == 1


def test_each_of_a_thousand_attempts_has_its_own_use() -> None:
    tried = "try:\n    import m{0}\nexcept ImportError:\n    m{0} = None\n"
    text = "".join(map(tried.format, range(1000))) + "".join(map("x = m{}.y\n".format, range(500)))
    choices = read(text).choices
    assert [choice.line for choice in choices] == [*range(4001, 4501)]
    assert choices[499].ways == ((Reference("m499"),),)


def test_a_name_that_two_attempts_bind_is_leant_on_by_neither() -> None:
    assert read(ATTEMPT.format("np = None") * 2 + "x = np.y\n").choices == ()


def test_a_handler_of_other_errors_guards_nothing() -> None:
    assert stands("try:\n    import numpy\nexcept OSError:\n    pass\n") == {"numpy": SURE}


def test_a_list_of_failures_over_which_the_module_raises_guards_nothing() -> None:
    text = """
    missing = []
    for name in ("numpy", "dateutil"):
        try:
            __import__(name)
        except ImportError as problem:
            missing.append(str(problem))
    if missing:
        raise ImportError("\\n".join(missing))
    """
    assert stands(text) == {"numpy": SURE, "dateutil": SURE}


def test_what_a_handler_imports_instead_is_tied_to_what_failed() -> None:
    assert read("try:\n    import fast\nexcept ImportError:\n    import slow as fast\n").imports == (
        Import("fast", (), 2, GUARDED, otherwise=(Reference("slow"),)),
        Import("slow", (), 4, SURE, instead_of=(Reference("fast"),)),
    )


def test_suppress_and_type_checking_guard_and_a_plain_with_does_not() -> None:
    text = """
    from contextlib import suppress
    with suppress(ImportError):
        import one
    with suppress(ValueError):
        import two
    with warnings.catch_warnings():
        import three
    if TYPE_CHECKING:
        import four
    else:
        import five
    """
    assert stands(text) == {"contextlib": SURE, "one": GUARDED, "two": SURE, "three": SURE, "five": SURE}


def test_the_target_version_decides_a_branch() -> None:
    text = """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli
    """
    assert stands(text, version=(3, 12)) == {"tomllib": SURE}
    assert stands(text, version=(3, 10)) == {"tomli": SURE}


@pytest.mark.parametrize(
    ("test", "condition"),
    [
        ("sys.platform == 'linux'", SURE),
        ("sys.platform.startswith('linux')", SURE),
        ("os.name != 'nt' and sys.version_info[0] == 3", SURE),
        ("sys.version_info[:2] >= (3, 8)", SURE),
        ("HAVE_IT", GUARDED),
        ("os.environ.get('FAST')", GUARDED),
    ],
)
def test_a_condition_is_decided_where_version_and_platform_settle_it(test: str, condition: Condition) -> None:
    assert stands(f"if {test}:\n    import numpy\n") == {"numpy": condition}


@pytest.mark.parametrize("test", ["sys.platform == 'win32'", "not PY3", "__name__ == '__main__'", "False"])
def test_a_branch_that_is_never_taken_imports_nothing(test: str) -> None:
    assert stands(f"if {test}:\n    import numpy\n") == {}


def test_a_name_for_a_platform_test_is_remembered_and_a_flag_is_not() -> None:
    text = """
    WINDOWS = sys.platform == "win32"
    STATIC_ONLY = True
    if not WINDOWS:
        import one
    if STATIC_ONLY:
        import two
    """
    assert stands(text) == {"one": SURE, "two": GUARDED}


def test_a_class_body_runs_and_its_methods_do_not() -> None:
    text = """
    class Thing:
        import one

        @property
        def value(self):
            import two
    """
    assert stands(text) == {"one": SURE}
    assert stands(text, whole=True) == {"one": SURE, "two": DEFERRED}


def test_a_function_that_the_module_calls_runs_two_calls_deep() -> None:
    text = """
    def check():
        really()

    def really():
        import importlib
        for name, minimum in [("kiwisolver", "1.3"), ("numpy", "1.25")]:
            importlib.import_module(name)

    def idle():
        import never

    check()
    """
    assert stands(text) == {"importlib": SURE, "kiwisolver": SURE, "numpy": SURE}


def test_a_function_called_in_a_guard_is_guarded() -> None:
    text = """
    def load():
        import numpy

    try:
        load()
    except ImportError:
        pass
    """
    assert stands(text) == {"numpy": GUARDED}


def test_a_guard_in_a_function_stays_a_guard() -> None:
    text = """
    def later():
        import one
        try:
            import two
        except ImportError:
            two = None
    """
    assert stands(text, whole=True) == {"one": DEFERRED, "two": GUARDED}


def test_names_given_as_strings_are_imports_where_they_can_be_read() -> None:
    text = """
    NAMES = ("urllib3", "idna")
    for package in NAMES:
        __import__(package)
    importlib.import_module(".near", __package__)
    """
    assert stands(text) == {"urllib3": SURE, "idna": SURE, "pkg.near": SURE}


def test_a_whole_reading_tells_version_checks_libraries_and_lazy_names() -> None:
    text = """
    importlib.metadata.version("safetensors")
    keras = LazyLoader("keras")
    def later():
        ctypes.CDLL("libfoo.so.1")
    """
    assert read(text, whole=True).dynamics == (
        Dynamic(Way.VERSION, "safetensors", 1, SURE),
        Dynamic(Way.LAZY, "keras", 2, SURE),
        Dynamic(Way.LIBRARY, "libfoo.so.1", 4, DEFERRED),
    )


def test_where_a_checked_name_stands_elsewhere_every_string_may_be_it() -> None:
    text = """
    CHECKED = {"yaml": 1}
    def check(name):
        return require_version(name)
    """
    assert read(text, whole=True).dynamics == (Dynamic(Way.VERSION, "yaml", 1, SURE),)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"print 'Python 2'\n", "line 1"),
        (b"x = 1\0\n", "null bytes"),
        (b"# coding: no-such-encoding\n", "unknown encoding"),
        (b"import \xff\n", "line"),
        (b"(" * 5000, "line 1"),
        (b"#" * (LIMIT + 1), "larger than 4 MiB"),
    ],
)
def test_what_cannot_be_parsed_is_told_with_its_reason(data: bytes, reason: str) -> None:
    found = read_module(data, "pkg.mod", is_package=False)
    assert isinstance(found, Unread)
    assert reason in found.reason


def test_another_encoding_is_read_by_its_declaration() -> None:
    data = "# -*- coding: latin-1 -*-\nname = 'é'\nimport numpy\n".encode("latin-1")
    assert read_module(data, "mod", is_package=False) == Source((Import("numpy", (), 3, SURE),))


def test_the_cut_before_parsing_changes_no_answer() -> None:
    text = """
    '''A docstring with a line that looks like code:

import never
    '''
    import one

    TEXT = '''
def broken(:
    '''

    @decorate(
        argument,
    )
    def later(
        value,
    ):
        '''Text
at the margin
        '''
        import two

    class Thing:
        '''Text.'''

        def method(self):
            import three
        import four

    try:
        import five
    except ImportError:
        five = None
    else:
        import six
    """
    data = text.replace("\n    ", "\n").lstrip("\n").encode()
    short = read_module(data, "pkg.mod", is_package=False)
    whole = read_module(data, "pkg.mod", is_package=False, whole=True)
    assert isinstance(short, Source)
    assert isinstance(whole, Source)
    assert short.imports == tuple(item for item in whole.imports if item.condition is not DEFERRED)
    assert [item.module for item in short.imports] == ["one", "four", "five", "six"]


LAZY = """
__lazy_modules__ = ["numpy", "pandas", "scipy"]
import numpy
from pandas import DataFrame
import os
try:
    import scipy
finally:
    pass
"""


def test_what_a_module_lists_as_lazy_is_deferred_where_python_knows_the_list() -> None:
    later = {"numpy": DEFERRED, "pandas": DEFERRED, "os": SURE, "scipy": SURE}
    assert stands(LAZY, version=(3, 15)) == later
    assert stands(LAZY, version=(3, 14)) == dict.fromkeys(later, SURE)
    assert stands(LAZY, version=(3, 15), whole=True) == later


def test_no_import_in_a_class_or_of_every_name_is_lazy() -> None:
    text = "__lazy_modules__ = ['numpy', 'scipy']\nclass A:\n    import numpy\nfrom scipy import *\n"
    assert stands(text, version=(3, 15)) == {"numpy": SURE, "scipy": SURE}


WRITTEN_LAZY = """
lazy import numpy, os.path as paths
lazy from pandas import DataFrame
import scipy
if X:
    lazy from . import inner
"""


def test_an_import_that_is_written_lazy_waits() -> None:
    """PEP 810; whether the Python that runs this has the statement or not."""
    later = {"numpy": DEFERRED, "os.path": DEFERRED, "pandas": DEFERRED, "scipy": SURE, "pkg": DEFERRED}
    assert stands(WRITTEN_LAZY, version=(3, 15)) == stands(WRITTEN_LAZY, version=(3, 15), whole=True) == later
    assert [item.line for item in read(WRITTEN_LAZY, version=(3, 15)).imports] == [1, 1, 2, 3, 5]


# Each was run by CPython 3.15.2, with no numpy there: those end in ModuleNotFoundError, or do not.
ENDS = ["class A(n.B): pass", "@n.b\ndef f(): pass", "def f(x=n.B): pass", "x = [n.B for _ in (1,)]", "n"]
GOES_ON = [
    "def f(x: n.B) -> n.B: n.C",
    "x: n.B = 1",
    "x: n.B",
    "f = lambda: n.B",
    "class A:\n    def f(self): n.B",
    "n = 1",
]


@pytest.mark.parametrize("use", ENDS)
@pytest.mark.parametrize(
    "text", ["lazy import numpy as n\n", "__lazy_modules__ = ['numpy']\nimport numpy as n\n"]
)
def test_a_lazy_import_does_not_wait_where_its_name_is_used_at_once(text: str, use: str) -> None:
    assert stands(f"{text}{use}\n", version=(3, 15)) == {"numpy": SURE}


@pytest.mark.parametrize("use", GOES_ON)
def test_a_lazy_import_waits_where_its_name_is_only_used_later(use: str) -> None:
    assert stands(f"lazy import numpy as n\n{use}\n", version=(3, 15)) == {"numpy": DEFERRED}


NEWER = [
    "try:\n    import numpy\nexcept ImportError, ValueError:\n    numpy = None\n",
    "import numpy\nx = t'{numpy!r} \\n'\ny = Rt\"{x}\"\nz = 'it''t'\n",
]


@pytest.mark.parametrize(("text", "how"), [(NEWER[0], GUARDED), (NEWER[1], SURE)])
def test_sources_in_the_syntax_of_a_newer_python_are_read(text: str, how: Condition) -> None:
    """PEP 758 and PEP 750, of CPython 3.14."""
    assert stands(text, version=(3, 14)) == stands(text, version=(3, 14), whole=True) == {"numpy": how}


def test_what_is_wrong_in_every_python_is_told_by_the_line_it_stands_in() -> None:
    text = b"lazy import numpy\nx = t'{numpy}'\n(\n"
    found = read_module(text, "m", is_package=False, version=(3, 15), whole=True)
    assert isinstance(found, Unread)
    assert found.reason.startswith("line ")


@pytest.mark.parametrize(
    "text",
    [
        "q = \"'''\"\nimport numpy\n'''x\nz'''\n",
        "# it's '''\nimport numpy\n'''a\n# '''\n",
        '"""it is \'\'\' here"""\nimport numpy\n"""\nand\n"""\n',
        "q = r'\\\\'\nimport numpy\nw = '''\n\\'''\n'''\n",
    ],
)
def test_a_mark_of_three_quotes_inside_another_text_or_a_comment_opens_none(text: str) -> None:
    assert list(stands(text)) == ["numpy"]


def test_an_import_at_the_end_of_a_very_long_line_is_seen() -> None:
    assert list(stands(f"x = [{'1, ' * 1000}]; import numpy\n")) == ["numpy"]


def test_a_name_of_hundreds_of_parts_in_a_list_of_imports_is_too_heavy_to_parse() -> None:
    found = read_module(f"import os, {'a.' * 300}b\n".encode(), "mod", is_package=False)
    assert found == Unread("a name of more than 200 parts")
