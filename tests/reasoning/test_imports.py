"""Which imports a removal breaks, with the way to each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.environment import Distribution, EntryPoint
from safepip.model.imports import Found, Gone
from safepip.model.paths import TargetPath
from safepip.reasoning.code.imports import Dropped, statements
from support.code import Sources, environment, package
from support.environments import EXT, SITE, at
from support.fake_world import Content, FakeWorld, Link

NUMPY = package("numpy", {"numpy/__init__.py": "", "numpy/linalg.py": ""})


def user(source: str, *, name: str = "user", requires: tuple[str, ...] = ()) -> tuple[Distribution, Sources]:
    return package(name, {f"{name}/__init__.py": source}, requires=requires)


def test_the_chain_names_each_file_and_line_down_to_the_lost_name() -> None:
    there = environment(
        NUMPY,
        package(
            "sklearn",
            {
                "sklearn/__init__.py": "\nfrom . import base\n",
                "sklearn/base.py": "import os\nimport numpy.linalg as la\n",
            },
        ),
    )
    assert there.chains("numpy") == {
        "sklearn": "import sklearn → sklearn/__init__.py:2 → sklearn/base.py:2 → import numpy.linalg"
    }


def test_a_name_that_goes_from_a_module_which_stays_fails_where_it_is_taken_and_nowhere_else() -> None:
    there = environment(
        NUMPY, user("from numpy.linalg import eig\n"), user("from numpy.linalg import inv\n", name="other")
    )
    numpy = there.inventory.distributions[0]
    gone = Gone("numpy.linalg.eig", Found(at("numpy/linalg.py")), None, numpy)
    found = there.lacking({gone.module: gone})
    assert [(loss.survivor.name, loss.lost.name, loss.module) for loss in found.losses] == [
        ("user", "numpy", "numpy.linalg.eig")
    ]


def test_an_undeclared_import_counts_like_a_declared_one() -> None:
    assert list(environment(NUMPY, user("import numpy")).chains("numpy")) == ["user"]


def test_a_source_that_names_what_goes_and_cannot_be_parsed_is_unjudged() -> None:
    there = environment(NUMPY, user("import numpy as\n"), user("import os as\n", name="other"))
    found = there.without("numpy")
    assert [item.subject for item in found.unjudged] == [at("user/__init__.py")]
    assert found.unjudged[0].reason.startswith("line 1: ")
    assert found.losses == ()


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
        "def later():\n    import numpy\n",
        "if TYPE_CHECKING:\n    import numpy\n",
        "import numpydoc\n",
        "from . import numpy\n",
    ],
)
def test_a_guarded_a_deferred_and_another_name_lose_nothing(source: str) -> None:
    assert environment(NUMPY, user(source)).chains("numpy") == {}


def test_a_module_behind_a_guard_is_guarded_with_all_it_imports() -> None:
    there = environment(
        NUMPY,
        package(
            "user",
            {
                "user/__init__.py": "try:\n    from . import fast\nexcept ImportError:\n    fast = None\n",
                "user/fast.py": "import numpy",
            },
        ),
    )
    assert there.chains("numpy") == {}


def test_a_fallback_that_goes_too_is_no_fallback() -> None:
    source = "try:\n    from yaml import CLoader\nexcept ImportError:\n    from yaml import Loader\n"
    yaml = package("pyyaml", {"yaml/__init__.py": ""})
    assert list(environment(yaml, user(source)).chains("pyyaml")) == ["user"]


def test_a_fallback_that_stays_is_one() -> None:
    source = "try:\n    import simplejson as json\nexcept ImportError:\n    import json\n"
    simple = package("simplejson", {"simplejson/__init__.py": ""})
    assert environment(simple, user(source), stdlib=("json.py",)).chains("simplejson") == {}


def test_a_fallback_that_is_guarded_itself_need_not_be_there() -> None:
    source = """
try:
    import PIL.Image
except ImportError:
    try:
        import Image
    except ImportError:
        PIL = None
"""
    pillow = package("pillow", {"PIL/__init__.py": "", "PIL/Image.py": ""})
    assert environment(pillow, user(source)).chains("pillow") == {}


def test_what_is_imported_only_after_a_guarded_import_worked_is_guarded_with_it() -> None:
    sources = {
        "user/__init__.py": "try:\n    import numpy\nexcept ImportError:\n    pass\nelse:\n    from . import fast\n    import other\n",
        "user/fast.py": "import numpy",
    }
    other = package("other", {"other.py": ""})
    there = environment(NUMPY, other, package("user", sources))
    assert there.chains("numpy") == {}
    assert list(there.chains("other")) == ["user"]


def test_what_stands_in_for_a_missing_module_is_needed() -> None:
    source = "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\n"
    tomli = package("tomli", {"tomli/__init__.py": ""})
    assert list(environment(tomli, user(source)).chains("tomli")) == ["user"]
    assert environment(tomli, user(source), stdlib=("tomllib.py",)).chains("tomli") == {}


def test_a_loss_goes_on_to_those_who_import_the_broken() -> None:
    there = environment(
        NUMPY,
        user("import numpy", name="pandas", requires=("numpy",)),
        user("import pandas", name="declared", requires=("pandas",)),
        user("import pandas", name="undeclared"),
        user("import pandas", name="extra", requires=("pandas; extra == 'data'",)),
        user("def later():\n    import pandas\n", name="lazy"),
    )
    assert there.chains("numpy") == {
        "pandas": "import pandas → pandas/__init__.py:1 → import numpy",
        "declared": "import declared → declared/__init__.py:1 → pandas/__init__.py:1 → import numpy",
        "undeclared": "import undeclared → undeclared/__init__.py:1 → pandas/__init__.py:1 → import numpy",
        "extra": "import extra → extra/__init__.py:1 → pandas/__init__.py:1 → import numpy",
    }


def test_consumers_inside_the_removal_do_not_count() -> None:
    assert environment(NUMPY, user("import numpy")).chains("numpy", "user") == {}


def test_a_command_is_surface_though_no_import_of_the_package_reaches_it() -> None:
    there = environment(
        NUMPY,
        package(
            "tool",
            {"tool/__init__.py": "", "tool/cli.py": "import numpy"},
            entry_points=[EntryPoint("console_scripts", "tool", "tool.cli:main")],
        ),
    )
    assert there.chains("numpy") == {"tool": "command tool → tool/cli.py:1 → import numpy"}


def test_a_dead_plugin_stops_its_host() -> None:
    plugin = package(
        "pytest-cov",
        {"pytest_cov/__init__.py": "", "pytest_cov/plugin.py": "import coverage"},
        entry_points=[EntryPoint("pytest11", "pytest_cov", "pytest_cov.plugin")],
    )
    coverage = package("coverage", {"coverage/__init__.py": ""})
    there = environment(coverage, plugin, package("pytest", {"pytest/__init__.py": ""}))
    way = "plugin pytest_cov (pytest11) → pytest_cov/plugin.py:1 → import coverage"
    assert there.chains("coverage") == {
        "pytest-cov": way,
        "pytest": f"pytest loads every plugin when it starts → {way}",
    }


@pytest.mark.parametrize("host_is_there", [True, False])
def test_a_plugin_without_its_host_is_loaded_by_nobody(host_is_there: bool) -> None:  # noqa: FBT001
    plugin = package(
        "anyio",
        {"anyio/__init__.py": "", "anyio/pytest_plugin.py": "import pytest\nimport numpy"},
        entry_points=[EntryPoint("pytest11", "anyio", "anyio.pytest_plugin")],
    )
    host = package("pytest", {"pytest/__init__.py": ""})
    there = environment(NUMPY, plugin, host) if host_is_there else environment(NUMPY, plugin)
    assert there.chains("pytest") == {}
    assert ("anyio" in there.chains("numpy")) == host_is_there


def test_the_standard_library_keeps_a_name_that_a_backport_takes_along() -> None:
    enum34 = package("enum34", {"enum/__init__.py": ""})
    assert environment(enum34, user("import enum"), stdlib=("enum.py",)).chains("enum34") == {}


def test_another_file_under_the_same_name_is_a_loss() -> None:
    there = environment(
        package("python-docx", {"docx/__init__.py": "", "docx/opc.py": ""}),
        package("docx", {"docx.py": "import docx.opc"}),
        user("from docx.opc import part", name="docxtpl"),
    )
    assert there.chains("docx") == {}
    assert "docxtpl" in there.chains("python-docx")


def test_in_a_namespace_only_the_part_that_goes_is_lost() -> None:
    there = environment(
        package("storage", {"google/cloud/storage/__init__.py": ""}),
        package("core", {"google/cloud/core.py": ""}),
        user("from google.cloud import storage", name="one"),
        user("from google.cloud import core\nimport google.cloud", name="two"),
    )
    assert there.chains("storage") == {"one": "import one → one/__init__.py:1 → import google.cloud.storage"}


def test_a_vendored_copy_serves_its_owner() -> None:
    there = environment(
        package("packaging", {"packaging/__init__.py": ""}),
        package(
            "setuptools",
            {"setuptools/__init__.py": "import packaging", "setuptools/_vendor/packaging/__init__.py": ""},
        ),
    )
    assert there.chains("packaging") == {}


def test_the_source_beside_a_compiled_module_tells_what_it_imports() -> None:
    sources = {f"black/__init__{EXT}": "", "black/__init__.py": "import numpy"}
    assert environment(NUMPY, package("black", sources)).chains("numpy") == {
        "black": "import black → black/__init__.py:1 → import numpy"
    }


def test_the_stub_that_loads_a_compiled_module_of_an_egg_is_not_its_source() -> None:
    """It is run where the egg is zipped: in a folder the module beside it comes first."""
    stub = (
        "def __bootstrap__():\n    global __bootstrap__\n    import sys, pkg_resources\n"
        "    __file__ = pkg_resources.resource_filename(__name__, '_c.so')\n__bootstrap__()\n"
    )
    setuptools = package("setuptools", {"pkg_resources/__init__.py": ""})
    egg = {"fast/__init__.py": "from fast import _c", f"fast/_c{EXT}": "", "fast/_c.py": stub}
    pure = {name: text for name, text in egg.items() if name != f"fast/_c{EXT}"}
    assert environment(setuptools, package("fast", egg)).chains("setuptools") == {}
    assert environment(setuptools, package("fast", pure)).chains("setuptools") == {
        "fast": "import fast → fast/__init__.py:1 → fast/_c.py:3 → import pkg_resources"
    }


def test_a_compiled_module_made_by_cffi_imports_its_backend_when_it_starts() -> None:
    there = environment(
        package("cffi", {"_cffi_backend.abi3.so": "", "cffi/__init__.py": ""}),
        package(
            "pynacl",
            {"nacl/__init__.py": "from nacl import _sodium", "nacl/_sodium.abi3.so": "_cffi_backend"},
            requires=("cffi",),
        ),
        user("import nacl", name="paramiko", requires=("pynacl",)),
    )
    assert there.chains("cffi") == {
        "pynacl": "import nacl → nacl/__init__.py:1 → nacl/_sodium.abi3.so → import _cffi_backend",
        "paramiko": "import paramiko → paramiko/__init__.py:1 → nacl/__init__.py:1 → nacl/_sodium.abi3.so → import _cffi_backend",
    }


def test_a_compiled_module_in_the_package_of_pyqt_imports_what_it_is_built_on_when_it_starts() -> None:
    there = environment(
        package("PyQt6", {"PyQt6/__init__.py": "", "PyQt6/QtCore.abi3.so": ""}),
        package("PyQt6-sip", {f"PyQt6/sip{EXT}": ""}),
        package("PyQt6-Charts", {"PyQt6/QtCharts.abi3.so": "PyQt6.QtCore"}, requires=("pyqt6",)),
        package("PyQt6-Other", {"PyQt6/QtOther.abi3.so": "PyQt6.sip"}, requires=("pyqt6", "pyqt6-sip")),
    )
    assert there.chains("PyQt6") == {
        "PyQt6-Charts": "import PyQt6.QtCharts → PyQt6/QtCharts.abi3.so → import PyQt6.QtCore"
    }
    assert list(there.chains("PyQt6-sip")) == ["PyQt6-Other"]


def test_a_submodule_deep_inside_is_no_surface() -> None:
    there = environment(NUMPY, package("rich", {"rich/__init__.py": "", "rich/syntax.py": "import numpy"}))
    assert there.chains("numpy") == {}


def test_a_circle_of_imports_is_walked_once() -> None:
    sources = {
        "user/__init__.py": "from . import one",
        "user/one.py": "from . import two",
        "user/two.py": "from . import one\nimport numpy",
    }
    assert environment(NUMPY, package("user", sources)).chains("numpy") == {
        "user": "import user → user/__init__.py:1 → user/one.py:1 → user/two.py:2 → import numpy"
    }


@pytest.mark.parametrize(
    ("helper", "lost"),
    [
        ("import multiprocessing as it\n", ["user"]),
        ("try:\n    import numpy as it\nexcept ImportError:\n    it = None\n", []),
    ],
)
def test_what_hangs_on_a_name_of_the_package_counts_unless_the_removal_can_change_it(
    helper: str, lost: list[str]
) -> None:
    sources = {
        "user/__init__.py": "from ._helpers import it\nif it is not None:\n    from . import inner\n",
        "user/_helpers.py": helper,
        "user/inner.py": "import numpy",
    }
    assert list(environment(NUMPY, package("user", sources)).chains("numpy")) == lost


def test_a_name_of_a_lazy_package_imports_its_module_when_it_is_asked_for() -> None:
    lazy = "__getattr__ = attach(__name__)\nif TYPE_CHECKING:\n    from .api import Api\n    from .other import Other\n"
    there = environment(
        NUMPY,
        package("hub", {"hub/__init__.py": lazy, "hub/api.py": "import numpy", "hub/other.py": ""}),
        user("from hub import Api", name="one", requires=("hub",)),
        user("from hub import Other", name="two", requires=("hub",)),
    )
    assert there.chains("numpy") == {
        "one": "import one → one/__init__.py:1 → hub/api.py:1 → import numpy",
    }


def test_a_module_that_cannot_be_imported_now_either_loses_nothing() -> None:
    """triton's viewer wants hatchet, which is not there: it is no user of pandas."""
    source = (
        "import numpy\ntry:\n    import hatchet\nexcept ImportError:\n    raise ImportError('install it')\n"
    )
    assert environment(NUMPY, user(source)).chains("numpy") == {}
    hatchet = package("hatchet", {"hatchet/__init__.py": ""})
    assert list(environment(NUMPY, user(source), hatchet).chains("numpy")) == ["user"]


QTPY = """
API = os.environ.get("QT_API", "one").lower()
if API in ("one",):
    try:
        from one.core import VERSION
    except ImportError:
        API = "two"
    else:
        os.environ["QT_API"] = API
if API in ("two",):
    try:
        from two.core import VERSION
    except ImportError:
        raise NothingFound from None
"""
PYQTGRAPH = """
ONE = "one"
LIB = os.getenv("LIB")
if LIB is None:
    order = [ONE, "two"]
if LIB is None:
    for lib in order:
        core = lib + ".core"
        try:
            __import__(core)
            LIB = lib
            break
        except ImportError:
            pass
if LIB is None:
    raise Exception("none of them")
"""
FLAGS = """
try:
    import one.core
    HAS_ONE = True
except ImportError:
    HAS_ONE = False
try:
    import two.core as core
except ImportError:
    core = None
if not (HAS_ONE or core):
    raise RuntimeError("none of them")
"""
LOOP = """
for name in ("one", "two"):
    try:
        core = importlib.import_module(f"{name}.core")
    except ImportError:
        continue
    break
else:
    raise ImportError("none of them")
"""


@pytest.mark.parametrize(
    ("source", "line"),
    [(QTPY, 11), (PYQTGRAPH, 16), (FLAGS, 12), (LOOP, 9)],
    ids=["chain", "names", "flags", "loop"],
)
def test_a_module_that_raises_when_none_of_several_imports_works_needs_the_last_of_them(
    source: str, line: int
) -> None:
    one = package("one", {"one/__init__.py": "", "one/core.py": ""})
    two = package("two", {"two/__init__.py": "", "two/core.py": ""})
    user = package("user", {"user/__init__.py": source})
    both = environment(one, two, user)
    assert both.chains("one") == both.chains("two") == {}
    assert environment(two, user).chains("two") == {
        "user": f"import user → user/__init__.py:{line} → import two.core"
    }
    assert set(both.chains("one", "two")) == {"user"}


def test_a_choice_that_is_mended_before_it_is_judged_needs_none() -> None:
    source = FLAGS.replace("if not", "HAS_ONE = True\nif not")
    there = environment(
        package("two", {"two/__init__.py": "", "two/core.py": ""}),
        package("user", {"user/__init__.py": source}),
    )
    assert there.chains("two") == {}


def test_a_choice_with_a_way_that_nobody_can_read_needs_none() -> None:
    source = LOOP.replace('("one", "two")', "sorted(plugins())")
    there = environment(
        package("two", {"two/__init__.py": "", "two/core.py": ""}),
        package("user", {"user/__init__.py": source}),
    )
    assert there.chains("two") == {}


OPENPYXL = "if FAST is True:\n    from fast.etree import it\nelse:\n    from lost import it\n"


def test_the_other_branch_is_taken_where_the_imports_of_the_first_are_not_there() -> None:
    lost, user = package("lost", {"lost.py": ""}), package("user", {"user.py": OPENPYXL})
    assert environment(lost, user).chains("lost") == {"user": "import user → user.py:4 → import lost"}
    fast = package("fast", {"fast/__init__.py": "", "fast/etree.py": ""})
    assert environment(lost, user, fast).chains("lost") == {}


def test_one_of_three_branches_may_be_any() -> None:
    source = OPENPYXL.replace("else", "elif SLOW:\n    from slow import it\nelse")
    lost, user = package("lost", {"lost.py": ""}), package("user", {"user.py": source})
    assert environment(lost, user).chains("lost") == {}


def test_more_files_than_are_tried_at_first_hide_nothing() -> None:
    modules = {f"user/m{number}.py": "" for number in range(60)}
    sources = {
        "user/__init__.py": "".join(f"from . import m{number}\n" for number in range(60)),
        **modules,
        "user/m59.py": "import numpy",
    }
    assert environment(NUMPY, package("user", sources)).chains("numpy") == {
        "user": "import user → user/__init__.py:60 → user/m59.py:1 → import numpy"
    }


def test_a_chain_longer_than_is_climbed_hides_nothing() -> None:
    sources = {
        "user/__init__.py": "import user.m0",
        **{f"user/m{number}.py": f"import user.m{number + 1}" for number in range(20)},
        "user/m20.py": "import numpy",
    }
    found = environment(NUMPY, package("user", sources), package("other", {"other.py": ""})).without("numpy")
    assert [len(loss.chain) for loss in found.losses] == [24]


def test_a_module_that_too_many_could_import_may_be_felt_by_all() -> None:
    """What a search cannot bound is followed from the surface instead, where it is not reached."""
    sources = {
        "user/__init__.py": "",
        "user/common.py": "import numpy",
        **{f"user/m{number}.py": "from . import common" for number in range(70)},
    }
    assert environment(NUMPY, package("user", sources)).chains("numpy") == {}


def test_a_source_that_names_a_broken_module_and_cannot_be_read_imports_nothing() -> None:
    sources = {
        "user/__init__.py": "",
        "user/inner.py": "import numpy",
        "user/broken.py": "import user.inner as\n",
        "user/right.py": "x = 'user.inner'",
    }
    found = environment(NUMPY, package("user", sources)).without("numpy")
    assert (found.losses, found.unjudged) == ((), ())


def test_what_can_be_read_and_names_what_goes_is_judged() -> None:
    sources = {"user/__init__.py": "", "user/bad.py": "import numpy as\n", "user/good.py": "x = 'numpy'"}
    found = environment(NUMPY, package("user", sources)).without("numpy")
    assert [item.subject for item in found.unjudged] == [at("user/bad.py")]


def test_of_a_distribution_with_two_dead_modules_one_loss_is_told() -> None:
    two = package("two", {"first.py": "import numpy", "second.py": "import numpy"})
    assert [loss.chain[0] for loss in environment(NUMPY, two).without("numpy").losses] == ["import first"]


def test_where_a_hook_brings_names_nobody_can_say_what_fails_already() -> None:
    source = "import hatchet\nimport numpy"
    hooked = package("mine", {"__editable___mine_finder.py": ""})
    assert environment(NUMPY, user(source)).chains("numpy") == {}
    assert list(environment(NUMPY, user(source), hooked).chains("numpy")) == ["user"]


def test_a_compiled_module_without_its_source_leads_nowhere() -> None:
    sources = {"user/__init__.py": "from . import fast\nfrom . import numbers", "user/fast.abi3.so": ""}
    assert environment(NUMPY, package("user", sources)).chains("numpy") == {}
    below = {**sources, "user/numbers.py": "import numpy"}
    assert list(environment(NUMPY, package("user", below)).chains("numpy")) == ["user"]


def test_a_lazy_name_of_a_package_that_cannot_lead_to_what_goes_is_not_followed() -> None:
    lazy = "__getattr__ = attach(__name__)\nif TYPE_CHECKING:\n    from .api import Api\n    from far import Far\n"
    there = environment(
        NUMPY,
        package("far", {"far/__init__.py": ""}),
        package("hub", {"hub/__init__.py": lazy, "hub/api.py": "import numpy"}),
        user("from hub import Far, Api", name="one", requires=("hub",)),
        user("from hub import Far", name="two", requires=("hub",)),
    )
    assert list(there.chains("numpy")) == ["one"]


def test_built_in_names_and_namespaces_on_the_way_run_no_file() -> None:
    source = "import sys\nimport google.cloud.core\n"
    core = package("core", {"google/cloud/core.py": "import numpy"})
    assert environment(NUMPY, core, user(source, requires=("core",))).chains("numpy") == {
        "core": "import google.cloud.core → google/cloud/core.py:1 → import numpy",
        "user": "import user → user/__init__.py:2 → google/cloud/core.py:1 → import numpy",
    }


@pytest.mark.parametrize("quick", [True, False])
def test_who_imports_the_broken_undeclared_is_found_with_or_without_a_list_of_what_it_imports(
    quick: bool,  # noqa: FBT001
) -> None:
    there = environment(
        NUMPY,
        user("import numpy", name="pandas"),
        user("import pandas.core", name="undeclared"),
        user("import pandasql\nx = 'pandas'", name="other"),
        user("try:\n    import pandas\nexcept ImportError:\n    pass\n", name="careful"),
        user("x = 'pandas", name="unread"),
    )
    found = there.without("numpy", quick=quick)
    assert [loss.survivor.name for loss in found.losses] == ["pandas", "undeclared"]
    assert {dist.name for dist in found.closure.entered} == {"pandas", "undeclared"}  # no other is read


def pytest_with(plugin_source: str, *, host_source: str = "") -> list[str]:
    plugin = package(
        "plug",
        {"plug/__init__.py": "", "plug/it.py": plugin_source},
        entry_points=[EntryPoint("pytest11", "plug", "plug.it")],
    )
    host = package("pytest", {"pytest/__init__.py": host_source})
    return [loss.survivor.name for loss in environment(NUMPY, plugin, host).without("numpy").losses]


def test_a_host_that_is_broken_itself_is_told_by_its_own_loss() -> None:
    assert pytest_with("import numpy") == ["plug", "pytest"]
    assert pytest_with("import numpy", host_source="import numpy") == ["pytest"]


def test_a_host_with_a_plugin_of_its_own_is_told_once() -> None:
    host = package(
        "pytest",
        {"pytest/__init__.py": "", "pytest/own.py": "import numpy"},
        entry_points=[EntryPoint("pytest11", "own", "pytest.own")],
    )
    assert [loss.host for loss in environment(NUMPY, host).without("numpy").losses] == [False]


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("try:\n    import os\n    import nothere\nexcept ImportError:\n    import numpy\n", True),
        ("try:\n    import os\nexcept ImportError:\n    import numpy\n", False),
        ("try:\n    import numpy\nexcept ImportError:\n    import os\n    import numpy.linalg\n", True),
        ("try:\n    import numpy\nexcept ImportError:\n    import os\n", False),
        ("import _missing\nimport numpy\n", True),
        ("import missing\nimport numpy\n", False),
        ("try:\n    import missing\nexcept ImportError:\n    pass\nimport numpy\n", True),
        ("try:\n    import os\nexcept ImportError:\n    import missing\nimport numpy\n", True),
        (
            "try:\n    import missing\nexcept ImportError:\n    pass\nelse:\n    import missing2\nimport numpy\n",
            True,
        ),
    ],
)
def test_what_is_tried_first_and_what_is_missing_already_decide_together(source: str, lost: bool) -> None:  # noqa: FBT001
    assert list(environment(NUMPY, user(source)).chains("numpy")) == (["user"] if lost else [])


def test_an_inner_module_that_fails_is_felt_by_those_who_declare_it_and_import_it() -> None:
    there = environment(
        NUMPY,
        package(
            "pkg",
            {"pkg/__init__.py": "", "pkg/inner.py": "import numpy", "pkg/mid.py": "from . import inner"},
        ),
        user("import pkg.mid", name="one", requires=("pkg",)),
        user("import pkg", name="two", requires=("pkg",)),
    )
    assert there.chains("numpy") == {
        "one": "import one → one/__init__.py:1 → pkg/mid.py:1 → pkg/inner.py:1 → import numpy"
    }


def test_a_command_that_begins_at_an_inner_module_which_fails_later_is_lost() -> None:
    sources = {
        "pkg/__init__.py": "",
        "pkg/bad.py": "from . import work as\n",
        "pkg/cli.py": "from . import work",
        "pkg/work.py": "import numpy",
    }
    point = EntryPoint("console_scripts", "pkg", "pkg.cli:main")
    there = environment(NUMPY, package("pkg", sources, entry_points=[point]))
    assert list(there.chains("numpy")) == ["pkg"]


@pytest.mark.parametrize("value", ["pkg.sub.cli:main", " pkg.sub.cli : main"])
def test_a_command_runs_the_packages_that_its_module_lies_in(value: str) -> None:
    sources = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "import numpy", "pkg/sub/cli.py": "import os"}
    point = EntryPoint("console_scripts", "pkg", value)
    there = environment(NUMPY, package("pkg", sources, entry_points=[point]))
    assert there.chains("numpy") == {"pkg": "command pkg → pkg/sub/__init__.py:1 → import numpy"}


def test_the_backend_of_a_compiled_module_is_missed_where_it_is_one_of_several_requirements() -> None:
    there = environment(
        package("cffi", {"_cffi_backend.abi3.so": "", "cffi/__init__.py": ""}),
        package("one", {"one.abi3.so": "_cffi_backend"}, requires=("other", "cffi")),
        package("two", {"two.abi3.so": "_cffi_backend"}, requires=("other",)),
    )
    assert list(there.chains("cffi")) == ["one"]


@pytest.mark.parametrize("group", ["flask.commands", "flask", "Flask_x.y"])
def test_a_plugin_of_what_leaves_is_loaded_no_more(group: str) -> None:
    flask = package("flask", {"flask/__init__.py": ""})
    sources = {"ext/__init__.py": "", "ext/plug.py": "import flask"}
    plugin = package("ext", sources, entry_points=[EntryPoint(group, "ext", "ext.plug")])
    assert environment(flask, plugin).chains("flask") == {}
    assert environment(flask, plugin, NUMPY).chains("flask", "numpy") == {}


@pytest.mark.parametrize(
    ("group", "name"), [("console_scripts", "plugin"), ("flaskext", "x"), ("console_scripts", "x (flask)")]
)
def test_a_command_is_no_plugin_whatever_it_is_called(group: str, name: str) -> None:
    flask = package("flask", {"flask/__init__.py": ""})
    host = package("flaskext", {"flaskext/__init__.py": ""})
    sources = {"ext/__init__.py": "", "ext/plug.py": "import flask"}
    plugin = package("ext", sources, entry_points=[EntryPoint(group, name, "ext.plug")])
    assert list(environment(flask, host, plugin).chains("flask")) == ["ext"]


def test_only_a_module_that_an_import_can_name_is_looked_at() -> None:
    sources = {"user/__init__.py": "", "user/a-script.py": "import numpy"}
    assert list(environment(NUMPY, package("user", sources)).chains("numpy")) == []


@pytest.mark.parametrize("other", ["nothere", "two.core"])
def test_one_of_several_ways_needs_all_that_it_imports(other: str) -> None:
    source = FLAGS.replace("    import one.core\n", f"    import one.core\n    import {other}\n")
    there = environment(
        package("one", {"one/__init__.py": "", "one/core.py": ""}),
        package("two", {"two/__init__.py": "", "two/core.py": ""}),
        package("user", {"user/__init__.py": source}),
    )
    assert list(there.chains("two")) == ["user"]


def test_a_fallback_that_becomes_another_file_is_none() -> None:
    pkg = package("pkg", {"alt/__init__.py": "", "alt/x.py": ""})
    old = package("old", {"alt.py": ""})
    source = "try:\n    import alt.x\nexcept ImportError:\n    import alt\n"
    assert list(environment(pkg, old, user(source)).chains("pkg")) == ["user"]


def test_where_a_module_would_come_from_afterwards_is_told() -> None:
    there = environment(
        package("python-docx", {"docx/__init__.py": ""}),
        package("docx", {"docx.py": ""}),
        user("import docx"),
    )
    lost = there.without("python-docx").losses
    assert [(loss.survivor.name, loss.instead) for loss in lost] == [("user", at("docx.py"))]


def test_a_namespace_that_goes_is_told_by_its_folder() -> None:
    lost = environment(package("part", {"ns/part.py": ""}), user("import ns")).without("part").losses
    assert [(loss.survivor.name, loss.module, loss.path) for loss in lost] == [("user", "ns", at("ns"))]


def test_an_inner_module_that_fails_is_felt_by_the_only_user_that_imports_it() -> None:
    there = environment(
        NUMPY,
        package("pkg", {"pkg/__init__.py": "", "pkg/inner.py": "import numpy"}),
        user("import pkg.inner", requires=("pkg",)),
    )
    assert list(there.chains("numpy")) == ["user"]


def test_more_modules_that_fail_than_are_climbed_hide_none() -> None:
    sources = {
        **{f"user/a{number}.py": "import numpy" for number in range(8)},
        "user/__init__.py": "".join(f"from . import m{number}\n" for number in range(60))
        + "from . import z\n",
        **{f"user/m{number}.py": "" for number in range(60)},
        "user/z.py": "import numpy",
    }
    assert list(environment(NUMPY, package("user", sources)).chains("numpy")) == ["user"]


def test_who_imports_one_of_two_broken_modules_undeclared_is_found() -> None:
    two = package("two", {"first.py": "import numpy", "second.py": "import numpy"})
    found = environment(NUMPY, two, user("import first")).without("numpy", quick=False)
    assert [loss.survivor.name for loss in found.losses] == ["two", "user"]


def test_statements_of_a_file_that_no_import_can_name_are_not_given() -> None:
    sources = {"user/__init__.py": "", "user/a-script.py": "import numpy", "user/b.py": "import numpy"}
    found = environment(NUMPY, package("user", sources)).without("numpy")
    given = statements(found, found.inventory.distributions[1])
    assert [(path, name) for path, name, _ in given] == [(at("user/b.py"), "user.b")]


def test_a_way_that_does_not_work_now_either_is_not_missed() -> None:
    source = FLAGS.replace("    import one.core\n", "    import one.core\n    import nothere\n")
    one = package("one", {"one/__init__.py": "", "one/core.py": ""})
    assert environment(one, package("user", {"user/__init__.py": source})).chains("one") == {}


def test_what_a_compiled_module_imports_and_is_not_there_now_is_not_missed() -> None:
    there = environment(
        package("PyQt6", {"PyQt6/__init__.py": ""}),
        package("PyQt6-Other", {"other.abi3.so": "PyQt6.sip"}, requires=("pyqt6",)),
    )
    assert there.chains("PyQt6") == {}


def test_a_vendored_module_serves_its_owner_wherever_the_folder_lies_on_the_path() -> None:
    six = package("six", {"six.py": ""})
    there = environment(
        six, package("setuptools", {"setuptools/__init__.py": "import six", "setuptools/_vendor/six.py": ""})
    )
    path = (TargetPath(SITE.removesuffix("-packages")), SITE)
    after_another = replace(there.inventory, target=replace(there.inventory.target, path=path))
    assert there.chains("six") == {}
    assert there._replace(inventory=after_another).chains("six") == {}


def test_a_lazy_name_is_followed_into_a_package_that_no_statement_before_has_shown() -> None:
    lazy = "__getattr__ = attach(__name__)\nif TYPE_CHECKING:\n    from .api import Api\n"
    there = environment(
        NUMPY,
        user("from os import path\nfrom hub import Api", name="one", requires=("hub",)),
        package("hub", {"hub/__init__.py": lazy, "hub/api.py": "import far"}, requires=("far",)),
        package("far", {"far/__init__.py": "import numpy"}),
    )
    assert there.chains("numpy")["one"] == (
        "import one → one/__init__.py:2 → hub/api.py:1 → far/__init__.py:1 → import numpy"
    )


def test_a_folder_that_a_pth_puts_on_the_path_is_known_through_a_link_that_goes_with_it() -> None:
    """site.addpackage adds what the line says; the removal takes the link, not what it leads to."""
    link, sources = TargetPath(f"{SITE}/link"), TargetPath("/opt/sources")
    there = environment(package("linked", {"linked.pth": "link"}), user("import far"))
    linked = replace(there.inventory.distributions[0], files=(at("linked.pth"), link))
    found_at = replace(there.inventory.target, path=(*there.inventory.target.path, link))
    inventory = replace(
        there.inventory, target=found_at, distributions=(linked, *there.inventory.distributions[1:])
    )
    listed: dict[str, Content] = {path: text.encode() for path, text in there.text.items()}
    world = FakeWorld({**listed, link: Link(str(sources)), f"{sources}/far.py": b""})
    changed = there._replace(inventory=inventory, world=world)
    found = changed.without("linked", dropped=Dropped(frozenset({link})))
    assert [(loss.survivor.name, loss.module) for loss in found.losses] == [("user", "far")]
    assert changed.without("linked").losses == ()


def test_a_distribution_in_which_nobody_reaches_what_fails_is_not_followed() -> None:
    sources = {
        "pkg/__init__.py": "import os\nx = 'inner other'",
        "pkg/inner.py": "import numpy",
        "pkg/other.py": "import os\nx = 'inner'",
    }
    found = environment(NUMPY, package("pkg", sources), user("import os")).without("numpy")
    assert (found.losses, found.closure.entered) == ((), set())
