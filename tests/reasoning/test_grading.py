"""How a lost requirement weighs: the five grades, each by what the survivor's code shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.environment import Distribution, EntryPoint
from safepip.model.imports import Basis, Grade
from safepip.model.known_loads import KnownLoad
from safepip.model.paths import DistKey
from safepip.model.report import Severity
from safepip.reasoning.requirements import LostRequirement
from safepip.reasoning.verdict.grading import grade, has_modules
from support.code import Sources, environment, package
from support.environments import at, dist

LOST = package("lost-one", {"lost/__init__.py": ""})
REFUSE, WARN, NOTE = Severity.REFUSE, Severity.WARN, Severity.NOTE


def graded(
    sources: Sources,
    *,
    lost: tuple[Distribution, Sources] = LOST,
    extra: bool = False,
    in_use: str = "",
    known: tuple[KnownLoad, ...] = (),
) -> Grade:
    there = environment(lost, package("user", sources, requires=(lost[0].name,)))
    survivor = there.inventory.distributions[1]
    loss = LostRequirement(survivor, lost[0], lost[0].name, extra or bool(in_use), in_use)
    return grade(loss, there.without(lost[0].name), known)


def test_what_the_surface_reaches_is_refused() -> None:
    found = graded({"user/__init__.py": "import os\nimport lost"})
    assert found == Grade(REFUSE, Basis.REACHED, at("user/__init__.py"), 2, "lost")


def test_a_module_of_its_own_that_imports_it_is_refused_and_named() -> None:
    found = graded({"user/__init__.py": "", "user/syntax.py": "\nfrom lost.lexers import it"})
    assert found == Grade(REFUSE, Basis.MODULE_LEVEL, at("user/syntax.py"), 2, "lost.lexers")


def test_a_module_that_only_a_guard_reaches_is_a_warning() -> None:
    sources = {
        "user/__init__.py": "from . import concurrency",
        "user/concurrency.py": "try:\n    from ._green import it\nexcept ImportError:\n    it = None\n",
        "user/_green.py": "import lost",
    }
    assert graded(sources).severity is WARN


def test_a_module_that_is_reached_only_after_a_guarded_import_worked_is_a_warning() -> None:
    sources = {
        "user/__init__.py": "from . import concurrency",
        "user/concurrency.py": "try:\n    import lost\nexcept ImportError:\n    pass\nelse:\n    from ._green import it\n",
        "user/_green.py": "import lost",
    }
    assert graded(sources).severity is WARN


def test_a_module_that_a_function_loads_is_refused() -> None:
    sources = {"user/__init__.py": "def load():\n    from . import inner\n", "user/inner.py": "import lost"}
    assert graded(sources).basis is Basis.MODULE_LEVEL


@pytest.mark.parametrize(
    ("source", "basis"),
    [
        ("def load():\n    return importlib.import_module('lost')\n", Basis.BY_NAME),
        ("version('lost-one')\n", Basis.VERSION),
        ("NEEDED = ['lost-one']\ndef check(name):\n    require_version(name)\n", Basis.VERSION),
        ("keras = LazyLoader('lost')\n", Basis.LAZY),
    ],
)
def test_evidence_of_a_dynamic_need_is_refused(source: str, basis: Basis) -> None:
    found = graded({"user/__init__.py": "", "user/inner.py": source})
    assert (found.severity, found.basis) == (REFUSE, basis)


def test_a_name_in_a_compiled_module_is_refused() -> None:
    backend = package("cffi", {"_backend.abi3.so": "", "cffi/__init__.py": ""})
    found = graded({"user/__init__.py": "", "user/_rust.abi3.so": "_backend"}, lost=backend)
    assert found == Grade(REFUSE, Basis.COMPILED, at("user/_rust.abi3.so"), 0, "_backend")


@pytest.mark.parametrize(
    ("source", "basis"),
    [
        ("try:\n    import lost\nexcept ImportError:\n    lost = None\n", Basis.GUARDED),
        ("def later():\n    import lost\n", Basis.DEFERRED),
        ("", Basis.NOWHERE),
    ],
)
def test_a_declaration_that_importing_goes_on_without_is_a_warning(source: str, basis: Basis) -> None:
    found = graded({"user/__init__.py": "", "user/inner.py": source})
    assert (found.severity, found.basis) == (WARN, basis)


def test_one_whose_hook_answers_for_imports_is_refused_though_nobody_names_it() -> None:
    """cuml requires numba-cuda, and imports numba.cuda, which is another's name."""
    hook = at("_redirect.py")
    lost = package("lost-one", {"_redirect.py": "", "lost/__init__.py": ""})
    there = environment(lost, package("user", {"user/__init__.py": "import json"}, requires=("lost-one",)))
    loss = LostRequirement(there.inventory.distributions[1], lost[0], "lost-one", extra=False)
    imports = there.without("lost-one")
    assert grade(loss, imports, (), frozenset({hook})) == Grade(REFUSE, Basis.HOOK, hook)
    assert grade(loss, imports, (), frozenset({at("other.py")})) == Grade(WARN, Basis.NOWHERE)


def test_a_loop_that_tries_one_name_after_the_other_is_a_guard() -> None:
    source = """
def find():
    for name in ("chardet", "lost"):
        try:
            return importlib.import_module(name)
        except ImportError:
            pass

found = find()
"""
    assert graded({"user/__init__.py": source}).severity is WARN


def test_an_extra_is_a_warning_where_it_is_named_and_a_note_where_it_is_not() -> None:
    guarded = "try:\n    import lost\nexcept ImportError:\n    lost = None\n"
    assert graded({"user/__init__.py": guarded}, extra=True).severity is WARN
    assert graded({"user/__init__.py": ""}, extra=True).severity is NOTE


def test_an_extra_in_use_that_brings_libraries_is_refused() -> None:
    """tensorflow[and-cuda] goes on without cuDNN, and without the GPU that it was asked for."""
    goes_on = KnownLoad(DistKey("user"), ("libnccl.so*",), "", "read in its sources", "1.0", required=False)
    silent = {"user/__init__.py": ""}
    assert graded(silent, lost=LIBRARIES, in_use="cuda") == Grade(REFUSE, Basis.LIBRARIES)
    assert graded(silent, lost=LIBRARIES, in_use="cuda", known=(goes_on,)) == Grade(REFUSE, Basis.KNOWN_LOAD)
    assert graded(silent, lost=LIBRARIES, extra=True, known=(goes_on,)).severity is NOTE
    guarded = {"user/__init__.py": "try:\n    import nvidia.nccl\nexcept ImportError:\n    pass\n"}
    assert graded(guarded, lost=LIBRARIES, in_use="cuda").severity is WARN
    commented = {
        "user/__init__.py": "'import nvidia.nccl'"
    }  # its sources know the folder: they may go on without
    assert graded(commented, lost=LIBRARIES, in_use="cuda").severity is NOTE


def explained(*, asked: bool, marked: bool = True, required: bool = False) -> Severity:
    one = replace(LOST[0], requested=asked)
    other, sources = package("other", {"other/__init__.py": ""}, requires=[one.name] if required else [])
    there = environment(
        (one, LOST[1]), package("user", {"user/__init__.py": ""}), (replace(other, requested=marked), sources)
    )
    loss = LostRequirement(
        there.inventory.distributions[1], one, "lost-one; extra == 's'", extra=True, in_use="s"
    )
    return grade(loss, there.without("lost-one")).severity


def test_what_nothing_but_an_extra_in_use_explains_is_warned_of() -> None:
    assert explained(asked=False) is WARN
    assert explained(asked=True) is NOTE
    assert (
        explained(asked=False, marked=False) is NOTE
    )  # whoever installed this wrote down of nothing that it was asked for
    assert explained(asked=False, required=True) is NOTE


def test_an_extra_counts_by_way_of_a_requirement_that_needs_it() -> None:
    there = environment(
        LOST,
        package("urllib3", {"urllib3/__init__.py": "", "urllib3/socks.py": "import lost"}),
        package(
            "requests",
            {
                "requests/__init__.py": "try:\n    from urllib3.socks import it\nexcept ImportError:\n    it = None\n"
            },
            requires=("urllib3",),
        ),
    )
    loss = LostRequirement(
        there.inventory.distributions[2], LOST[0], "lost-one; extra == 'socks'", extra=True
    )
    expected = Grade(WARN, Basis.GUARDED, at("requests/__init__.py"), 2, "urllib3.socks")
    assert grade(loss, there.without("lost-one")) == expected


LIBRARIES = package("nvidia-nccl", {"nvidia/nccl/__init__.py": "", "nvidia/nccl/lib/libnccl.so.2": ""})


def test_a_wheel_of_libraries_is_opened_without_an_import() -> None:
    assert graded({"user/__init__.py": ""}, lost=LIBRARIES) == Grade(REFUSE, Basis.LIBRARIES)


def test_a_wheel_of_libraries_that_is_named_only_in_a_function_is_a_warning() -> None:
    source = "def preload():\n    from nvidia.nccl import lib\n"
    assert graded({"user/__init__.py": source}, lost=LIBRARIES).severity is WARN


def test_a_known_load_counts_whatever_the_sources_say() -> None:
    source = "def preload():\n    from nvidia.nccl import lib\n"
    load = KnownLoad(DistKey("user"), ("libnccl.so*",), "nvidia/nccl/lib", "read in its sources", "1.0")
    found = graded({"user/__init__.py": source}, lost=LIBRARIES, known=(load,))
    assert found == Grade(REFUSE, Basis.KNOWN_LOAD)
    goes_on = replace(load, required=False)
    found = graded({"user/__init__.py": source}, lost=LIBRARIES, known=(goes_on,))
    assert found == Grade(WARN, Basis.OPTIONAL_LOAD)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("nvidia/__init__.py", "nvidia/nccl/lib/libnccl.so.2"), False),
        (("mkl.libs/libmkl_rt.so",), False),
        (("x/__init__.py",), True),
        (("x/__init__.py", "x/_c.abi3.so"), True),
        (("x/core.py", "x/lib/libx.so.1"), True),
    ],
)
def test_a_distribution_of_libraries_has_no_modules(files: tuple[str, ...], expected: bool) -> None:  # noqa: FBT001
    assert has_modules(dist("x", files)) is expected


def test_a_circle_of_modules_is_no_guard() -> None:
    sources = {
        "user/__init__.py": "",
        "user/locales.py": "from user.format import it\nfrom user.provider import it\n",
        "user/provider.py": "def load():\n    from user.factory import it\n",
        "user/factory.py": "from user.locales import it\n",
        "user/format.py": "import lost\n",
    }
    assert graded(sources) == Grade(REFUSE, Basis.MODULE_LEVEL, at("user/format.py"), 1, "lost")


def test_a_circle_that_only_a_guard_leads_into_is_guarded() -> None:
    sources = {
        "user/__init__.py": "try:\n    from . import locales\nexcept ImportError:\n    pass\n",
        "user/locales.py": "import lost\nfrom . import factory\n",
        "user/factory.py": "from . import locales\n",
    }
    assert graded(sources).severity is WARN


def test_a_module_that_raises_when_its_only_choice_is_lost_is_refused() -> None:
    source = (
        "try:\n    import lost\nexcept ImportError:\n    lost = None\nif lost is None:\n    raise Missing\n"
    )
    found = graded({"user/__init__.py": "", "user/inner.py": source})
    assert found == Grade(REFUSE, Basis.MODULE_LEVEL, at("user/inner.py"), 6, "lost")


def test_two_modules_with_one_importer_are_both_guarded_by_it() -> None:
    sources = {
        "user/__init__.py": "try:\n    from . import one, two\nexcept ImportError:\n    pass\n",
        "user/one.py": "import lost\nfrom . import one\n",
        "user/two.py": "from . import one\nimport lost\n",
    }
    assert graded(sources).severity is WARN


def test_a_source_that_cannot_be_read_says_nothing() -> None:
    found = graded({"user/__init__.py": "", "user/bad.py": "import lost as\n"})
    assert found == Grade(WARN, Basis.NOWHERE)


def through(source: str, urllib3: str = "import lost") -> Grade:
    there = environment(
        LOST,
        package("urllib3", {"urllib3/__init__.py": "", "urllib3/socks.py": urllib3}),
        package("requests", {"requests/__init__.py": source}, requires=("urllib3", "= odd")),
        package("other", {"other/__init__.py": "import lost"}),
    )
    loss = LostRequirement(there.inventory.distributions[2], LOST[0], "lost-one; extra == 's'", extra=True)
    return grade(loss, there.without("lost-one"))


def test_a_requirement_that_does_not_need_it_or_is_not_imported_leads_an_extra_nowhere() -> None:
    nowhere = Grade(NOTE, Basis.NOWHERE)
    assert through("import os\nx = 'urllib3.socks'\nimport urllib3") == nowhere
    assert through("") == nowhere
    assert (
        through(
            "def later():\n    import urllib3.socks\n",
            "try:\n    import lost\nexcept ImportError:\n    pass\n",
        )
        == nowhere
    )
    assert through("def later():\n    import urllib3.socks\n").line == 2


def test_of_several_known_loads_one_that_it_cannot_do_without_is_enough() -> None:
    load = KnownLoad(DistKey("user"), ("libnccl.so*",), "nvidia/nccl/lib", "read in its sources", "1.0")
    both = (replace(load, required=False), load)
    assert graded({"user/__init__.py": ""}, lost=LIBRARIES, known=both) == Grade(REFUSE, Basis.KNOWN_LOAD)


def test_another_survivors_loss_or_the_loss_of_another_decides_nothing() -> None:
    other = package("other-lost", {"other/__init__.py": ""})
    user = package("user", {"user/__init__.py": "import other"}, requires=("lost-one",))
    there = environment(LOST, other, user, package("second", {"second.py": "import lost"}))
    loss = LostRequirement(there.inventory.distributions[2], LOST[0], "lost-one", extra=False)
    assert grade(loss, there.without("lost-one", "other-lost")) == Grade(WARN, Basis.NOWHERE)


def test_a_host_that_a_plugin_stops_does_not_need_what_the_plugin_needs() -> None:
    point = EntryPoint("pytest11", "plug", "plug")
    plug = package("plug", {"plug.py": "import lost"}, entry_points=[point])
    there = environment(LOST, plug, package("pytest", {"pytest/__init__.py": ""}, requires=("lost-one",)))
    loss = LostRequirement(there.inventory.distributions[2], LOST[0], "lost-one", extra=False)
    assert grade(loss, there.without("lost-one")) == Grade(WARN, Basis.NOWHERE)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("x/__pycache__/core.cpython-312.py", "x/libx.so.1"), False),
        (("x/data.json", "x/libx.so.1"), False),
        (("x/core.abi3.so", "x/libx.so.1"), True),
        (("x/data.json",), True),
        (("x.so.d/data.json",), True),
    ],
)
def test_what_counts_as_a_module_and_as_a_library(files: tuple[str, ...], expected: bool) -> None:  # noqa: FBT001
    assert has_modules(dist("x", files)) is expected


def test_a_guard_far_above_covers_the_module_and_a_command_of_its_own_begins_below_it() -> None:
    sources = {
        "user/__init__.py": "try:\n    from . import top\nexcept ImportError:\n    pass\n",
        "user/top.py": "from . import middle",
        "user/middle.py": "from . import low",
        "user/low.py": "import lost",
    }
    assert graded(sources).severity is WARN
    for point, severity in (("user.middle:run", REFUSE), ("user.other:run", WARN)):
        there = environment(
            LOST,
            package(
                "user",
                sources,
                requires=("lost-one",),
                entry_points=[EntryPoint("console_scripts", "u", point)],
            ),
        )
        loss = LostRequirement(there.inventory.distributions[1], LOST[0], "lost-one", extra=False)
        assert grade(loss, replace(there.without("lost-one"), losses=())).severity is severity


def test_a_module_at_the_top_is_a_users_to_import_whoever_guards_it() -> None:
    sources = {
        "top.py": "import os",
        "_helper.py": "import lost",
        "other.py": "try:\n    import _helper\nexcept ImportError:\n    pass\n",
    }
    there = environment(LOST, package("user", sources, requires=("lost-one",)))
    loss = LostRequirement(there.inventory.distributions[1], LOST[0], "lost-one", extra=False)
    found = grade(loss, replace(there.without("lost-one"), losses=()))
    assert (found.severity, found.basis) == (REFUSE, Basis.MODULE_LEVEL)


def test_an_extra_that_is_stated_at_module_level_says_so() -> None:
    inner = {"user/__init__.py": "", "user/inner.py": "import lost"}
    assert graded(inner, extra=True) == Grade(WARN, Basis.MODULE_LEVEL, at("user/inner.py"), 1, "lost")
    guarded = "try:\n    import lost\nexcept ImportError:\n    lost = None\n"
    assert graded({"user/__init__.py": guarded}, extra=True).basis is Basis.GUARDED


def test_a_library_of_many_names_of_which_one_is_named_is_named() -> None:
    two = package(
        "nvidia-nccl",
        {"nvidia/nccl/__init__.py": "", "nvsmi/__init__.py": "", "nvidia/nccl/lib/libnccl.so.2": ""},
    )
    assert graded({"user/__init__.py": "x = 'nvidia'"}, lost=two) == Grade(WARN, Basis.NOWHERE)
    assert graded({"user/__init__.py": ""}, lost=two) == Grade(REFUSE, Basis.LIBRARIES)


def test_the_first_evidence_of_a_use_stands() -> None:
    source = "try:\n    version('lost-one')\n    version('lost-one')\nexcept Exception:\n    pass\n"
    found = graded({"user/__init__.py": "", "user/inner.py": source})
    assert (found.severity, found.basis, found.line) == (WARN, Basis.VERSION, 2)


def test_a_requirement_of_another_does_not_lead_an_extra_to_what_is_lost() -> None:
    urllib3 = package("urllib3", {"urllib3/__init__.py": "", "urllib3/socks.py": "import lost"})
    source = "def later():\n    import urllib3.socks\n"
    there = environment(LOST, urllib3, package("requests", {"requests/__init__.py": source}))
    loss = LostRequirement(there.inventory.distributions[2], LOST[0], "lost-one; extra == 's'", extra=True)
    assert grade(loss, there.without("lost-one")) == Grade(NOTE, Basis.NOWHERE)


def test_one_way_that_nobody_guards_decides_whatever_is_guarded_before_it() -> None:
    sources = {
        "user/__init__.py": "try:\n    from . import middle\nexcept ImportError:\n    pass\n",
        "user/middle.py": "from . import low",
        "user/other.py": "from . import low",
        "user/low.py": "import lost",
    }
    found = graded(sources)
    assert (found.severity, found.basis) == (REFUSE, Basis.MODULE_LEVEL)


def test_a_module_that_names_itself_hides_nobody_who_guards_it() -> None:
    sources = {
        "user/__init__.py": "",
        "user/_green.py": "import lost\nname = '_green'",
        "user/concurrency.py": "try:\n    from ._green import it\nexcept ImportError:\n    it = None\n",
    }
    assert graded(sources).severity is WARN


def test_every_source_is_read_for_what_is_evidence_of_a_need() -> None:
    sources = {
        "user/__init__.py": "",
        "user/a.py": "def later():\n    import lost\n",
        "user/b.py": "import importlib.metadata\nV = importlib.metadata.version('lost-one')\n",
    }
    assert graded(sources).severity is REFUSE
