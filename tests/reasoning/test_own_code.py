"""What one's own sources lose: every file of theirs is a beginning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from safepip.model.environment import Distribution, Unjudged
from safepip.model.imports import ImportLoss
from safepip.model.paths import TargetPath
from safepip.reasoning.code import own_code
from support.code import environment, package
from support.environments import at, dist

LOST = package("lost", {"lost/__init__.py": "", "lost/inner.py": ""})
MIDDLE = package(
    "middle",
    {"middle/__init__.py": "", "middle/sub.py": "\nimport lost.inner", "middle/plain.py": ""},
    requires=["lost"],
)
OTHER = package("other", {"other/__init__.py": ""})
HOME = "/home/me/app"


def project(sources: Mapping[str, str]) -> Distribution:
    home = TargetPath(HOME)
    return replace(
        dist("app"), location=home, info=home, files=tuple(TargetPath(f"{home}/{name}") for name in sources)
    )


def found(sources: Mapping[str, str], *leaving: str) -> own_code.Found:
    there = environment(LOST, MIDDLE, OTHER)
    text = {**there.text, **{TargetPath(f"{HOME}/{name}"): source for name, source in sources.items()}}
    return own_code.losses([project(sources)], there._replace(text=text).without(*(leaving or ("lost",))))


def chains(sources: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [loss.chain for loss in found(sources)[0]]


def test_a_statement_that_imports_what_goes_is_told_with_its_line() -> None:
    sources = {"pkg/run.py": "import os\nimport other\nfrom lost import inner\n"}
    importer = TargetPath(f"{HOME}/pkg/run.py")
    loss = ImportLoss(
        survivor=project(sources),
        lost=LOST[0],
        module="lost",
        path=at("lost/__init__.py"),
        chain=(f"{HOME}/pkg/run.py:3", "import lost"),
        importer=importer,
        line=3,
    )
    assert found(sources) == ((loss,), ())


def test_one_that_leads_to_it_is_told_with_the_way() -> None:
    way = (f"{HOME}/run.py:1", "middle/sub.py:2", "import lost.inner")
    assert chains({"run.py": "import middle.sub"}) == [way]
    assert chains({"run.py": "from middle import plain, sub"}) == [way]
    assert chains({"run.py": "from middle import plain"}) == []


def test_what_lies_beside_a_source_is_not_what_goes_though_it_has_its_name() -> None:
    assert chains({"pkg/__init__.py": "from .lost import inner", "pkg/lost.py": "inner = 1"}) == []
    assert chains({"pkg/sub/run.py": "from ..lost import inner", "pkg/lost.py": "inner = 1"}) == []
    assert chains({"pkg/__init__.py": "from . import lost", "pkg/lost.py": "inner = 1"}) == []
    assert chains({"pkg/sub/run.py": "from .. import lost", "pkg/lost.py": "inner = 1"}) == []
    assert chains({"pkg/sub/run.py": "from .lost import inner", "pkg/sub/lost.py": "inner = 1"}) == []


def test_functions_are_run_and_what_is_caught_is_not_missed() -> None:
    assert chains({"run.py": "def later():\n    import lost\n"}) == [(f"{HOME}/run.py:2", "import lost")]
    assert chains({"run.py": "try:\n    import lost\nexcept ImportError:\n    lost = None\n"}) == []


@pytest.mark.parametrize("own", ["lost.py", "lost/__init__.py", "src/lost.py", "src/lost/__init__.py"])
def test_a_module_of_ones_own_comes_before_an_installed_one(own: str) -> None:
    assert chains({own: "", "run.py": "import lost"}) == []


def test_the_name_of_a_folder_below_src_is_not_that_of_a_folder_elsewhere() -> None:
    assert len(chains({"lib/lost/__init__.py": "", "run.py": "import lost"})) == 1


def test_relative_imports_of_a_package_stay_in_it() -> None:
    assert chains({"pkg/__init__.py": "from . import lost", "pkg/lost.py": ""}) == []


def test_a_source_that_cannot_be_read_is_said_and_the_others_are_judged() -> None:
    (loss,), (unjudged,) = found({"bad.py": "def broken(:", "run.py": "import lost"})
    assert (loss.line, unjudged.subject) == (1, f"{HOME}/bad.py")
    assert isinstance(unjudged, Unjudged)


def test_where_nothing_goes_that_could_be_imported_nothing_is_read() -> None:
    assert found({"bad.py": "def broken(:"}, "none") == ((), ())
    assert own_code.losses([], environment(LOST).without("lost")) == ((), ())


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("pkg/sub/mod.py", "from .. import lost"),
        ("pkg/sub/__init__.py", "from .. import lost"),
        ("pkg/mod.py", "from .lost import x"),
    ],
)
def test_a_relative_import_is_seen_from_where_it_stands(name: str, source: str) -> None:
    assert chains({"pkg/__init__.py": "", "pkg/lost.py": "", name: source}) == []


def test_a_file_that_no_import_names_is_a_program_all_the_same() -> None:
    assert chains({"a-b.py": "import lost", "c.d/e.py": "import lost"}) == [
        (f"{HOME}/a-b.py:1", "import lost"),
        (f"{HOME}/c.d/e.py:1", "import lost"),
    ]


def test_what_led_nowhere_for_the_installed_may_lead_to_what_goes_from_here() -> None:
    big = package("big", {"big/__init__.py": "", "big/inner.py": "import lost"})
    sources = {"mid.py": "import lost", "mid2.py": "import big.inner", "mid3.py": "import mid2"}
    there = environment(LOST, big, package("mid", sources))
    run = TargetPath(f"{HOME}/run.py")
    here = there._replace(text={**there.text, run: "import mid3"}).without("lost")
    (loss,), _ = own_code.losses([project({"run.py": ""})], here)
    assert loss.chain == (f"{HOME}/run.py:1", "mid3.py:1", "mid2.py:1", "big/inner.py:1", "import lost")


def test_a_namespace_that_goes_is_told_by_its_folder() -> None:
    there = environment(package("part", {"ns/part.py": ""}))
    here = there._replace(text={**there.text, TargetPath(f"{HOME}/run.py"): "import ns"}).without("part")
    assert [loss.path for loss in own_code.losses([project({"run.py": ""})], here)[0]] == [at("ns")]
