"""What ails an environment: each check by itself, from what was looked up to what is said."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.elf import Binding
from safepip.model.environment import Distribution, EntryPoint, Inventory
from safepip.model.imports import ImportLoss
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Answer, Need, Objects, Standing, Survey
from safepip.reasoning.health import diagnosis
from support.environments import EXT, SITE, at, dist, inventory
from support.fake_world import Content, lib
from support.surveys import surveyed

MODULE, LIBRARY, TOOL = at(f"torch/_C{EXT}"), at("torch/lib/libtorch.so"), at("torch/bin/tool")
TORCH = dist("torch", [MODULE, LIBRARY], requires=["cudnn"])
CUDNN = dist("cudnn", ["nv/libcudnn.so.9"])
OBJECTS: Mapping[str, Content] = {
    MODULE: lib(needs=["libtorch.so"], rpath="$ORIGIN/lib"),
    LIBRARY: lib("libtorch.so", needs=["libcudnn.so.9"]),
}


def missing(
    dists: Collection[Distribution],
    contents: Mapping[str, Content] = OBJECTS,
    imported: Collection[TargetPath] = (),
    listed: Mapping[str, Distribution] | None = None,
) -> list[Ailment]:
    there = surveyed(contents, *dists)
    return list(
        diagnosis.missing_libraries(there.survey, there.objects, there.inventory, imported, listed or {})
    )


def test_a_library_that_an_import_misses_is_told_once_with_the_plainest_way() -> None:
    assert missing([TORCH, CUDNN], imported=[MODULE], listed={"libcudnn.so.9": CUDNN}) == [
        Ailment(
            Check.MISSING_LIBRARY,
            Level.ERROR,
            "torch",
            "libcudnn.so.9 is missing: libtorch.so of torch needs it",
            LIBRARY,
            "libcudnn.so.9",
            Standing.MISSING,
            ("import torch", f"torch/_C{EXT}", "libtorch.so", "libcudnn.so.9"),
            (MODULE, LIBRARY),
            (CUDNN.key,),
        )
    ]


def test_one_that_no_import_is_seen_to_come_to_is_an_error_where_its_owner_is_required() -> None:
    bare = replace(TORCH, requires=())
    listed = {"libcudnn.so.9": CUDNN}
    levels = [
        [(item.level, item.mended_by) for item in missing([who, CUDNN], listed=names)]
        for who, names in ((TORCH, listed), (bare, listed), (TORCH, {}))
    ]
    assert levels == [
        [(Level.ERROR, (CUDNN.key,))],
        [(Level.WARN, (CUDNN.key,))],
        [(Level.WARN, ())],
    ]


def test_each_owners_own_requirements_count() -> None:
    """Who requires what brings the library fails; the one looked at last only lacks it."""
    zed = dist("zed", [f"zed/_z{EXT}"])
    contents = {**OBJECTS, f"zed/_z{EXT}": lib(needs=["libcudnn.so.9"])}
    found = missing([TORCH, CUDNN, zed], contents, listed={"libcudnn.so.9": CUDNN})
    assert [(item.distribution, item.level) for item in found] == [
        ("torch", Level.ERROR),
        ("zed", Level.WARN),
    ]


def test_what_no_import_executes_is_only_noted() -> None:
    plugin = dist("plugin", ["plugin/libplugin.so"])
    (found,) = missing([plugin], {"plugin/libplugin.so": lib(needs=["libnone.so.1"])})
    assert (found.level, found.chain) == (
        Level.NOTE,
        ("opened later", "plugin/libplugin.so", "libnone.so.1"),
    )


def test_a_library_that_lies_where_no_search_comes_is_said_to_be_there() -> None:
    contents = {**OBJECTS, "nv/libcudnn.so.9": lib("libcudnn.so.9")}
    (found,) = missing([replace(TORCH, requires=()), CUDNN], contents)
    assert (found.how, found.message) == (
        Standing.ELSEWHERE,
        "libcudnn.so.9 is not found, though it is there: libtorch.so of torch needs it",
    )


def test_needs_that_are_met_and_objects_of_nobody_are_not_told() -> None:
    contents = {**OBJECTS, "torch/lib/libcudnn.so.9": lib("libcudnn.so.9")}
    assert missing([TORCH, dist("cudnn", ["torch/lib/libcudnn.so.9"])], contents) == []
    there = surveyed(OBJECTS, TORCH)
    nobodys = Objects({}, there.objects.elves)
    assert list(diagnosis.missing_libraries(there.survey, nobodys, there.inventory, (), {})) == []


def lacking(*names: str, provider: TargetPath | None = LIBRARY) -> tuple[Need, Answer, tuple[str, ...]]:
    binding = Binding(MODULE, "libtorch.so", provider, None, ())
    return Need(MODULE, MODULE, "libtorch.so"), Answer(Standing.SEARCHED, binding, provider), names


def test_symbols_that_a_provider_lacks_are_named_up_to_three() -> None:
    owned = Objects({MODULE: TORCH}, {})
    two, four = diagnosis.missing_symbols([lacking("a", "b"), lacking("a", "b", "c", "d")], owned)
    assert two == Ailment(
        Check.MISSING_SYMBOL,
        Level.ERROR,
        "torch",
        f"_C{EXT} of torch binds libtorch.so, which lacks a, b",
        MODULE,
        "libtorch.so",
        Standing.SEARCHED,
        paths=(LIBRARY,),
    )
    assert four.message.endswith("which lacks a, b, c and 1 more")
    three = next(diagnosis.missing_symbols([lacking("a", "b", "c")], owned))
    assert three.message.endswith("which lacks a, b, c")


def test_a_need_of_nobody_or_without_provider_lacks_no_symbols() -> None:
    assert list(diagnosis.missing_symbols([lacking("a")], Objects({}, {}))) == []
    assert list(diagnosis.missing_symbols([lacking("a", provider=None)], Objects({MODULE: TORCH}, {}))) == []


def loss(
    what: str, chain: tuple[str, ...] = ("import app", "app/__init__.py:3", "import dep.x")
) -> ImportLoss:
    lost = diagnosis.phantom(dist("dep"), what, ())
    return ImportLoss(dist("app"), lost, "dep.x", at("dep/x.py"), chain, at("app/__init__.py"), 3)


def test_an_import_that_fails_for_a_missing_module_names_the_statement_and_what_mends_it() -> None:
    lost, absent, unchained = diagnosis.missing_modules(
        iter([loss("files"), loss("broken"), loss("absent"), loss("files", ())]), inventory()
    )
    said = "app/__init__.py:3 imports dep.x, which is not there"
    assert lost == Ailment(
        Check.MISSING_MODULE,
        Level.ERROR,
        "app",
        f"import app fails: {said}",
        at("app/__init__.py"),
        chain=("import app", "app/__init__.py:3", "import dep.x"),
        mended_by=(DistKey("dep"),),
    )
    assert absent == replace(lost, mended_by=(), wants="dep")
    assert unchained.message == f"app fails: {said}"


def nowhere(
    begins: str, wants: Collection[str] = (), *others: Distribution, extra: str = "x"
) -> tuple[Level, str]:
    app = dist("app", ["app/__init__.py"], requires=[f"{extra}>=1 ; extra == 'more'", "attrs", "yaml-plain"])
    module = diagnosis.nowhere("yaml", SITE)
    chain = (begins, "app/__init__.py:3", "import yaml.nodes")
    lost = ImportLoss(app, module, "yaml.nodes", at("yaml.py"), chain, at("app/__init__.py"), 3)
    failing = [
        replace(lost, survivor=one, importer=at("of-nobody.py")) for one in others if one.version == "2"
    ]
    unmet = [Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "app", "", wants=one) for one in wants]
    elsewhere = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "other", "", wants="yaml-of-another")
    found = next(diagnosis.missing_modules([lost, *failing], inventory(app, *others), [elsewhere, *unmet]))
    assert (found.check, found.mended_by) == (Check.MISSING_MODULE, ())
    return found.level, found.wants


def test_a_module_that_is_nowhere_is_brought_by_what_its_importer_requires_in_vain() -> None:
    assert nowhere("import app") == (Level.ERROR, "")
    assert nowhere("import app", ["six>=1"]) == (Level.ERROR, "six>=1")
    assert nowhere("import app", ["six>=1", "PyYAML>=5"]) == (Level.ERROR, "PyYAML>=5")
    assert nowhere("import app", ["six>=1", "attrs"]) == (Level.ERROR, "")
    assert nowhere("import app", ["six>=1", "attrs"], dist("six", version="0.1")) == (Level.ERROR, "attrs")
    assert diagnosis.nowhere("yaml", SITE).files == (at("yaml.py"),)


def test_a_module_that_is_nowhere_breaks_no_more_than_those_who_use_its_importer() -> None:
    """googleapis-common-protos has modules for an extra; matplotlib-inline is installed for who never imports it."""
    assert nowhere("command app")[0] is Level.WARN
    assert nowhere("import app.of_an_extra")[0] is Level.WARN
    assert nowhere("plugin app (group)")[0] is Level.NOTE
    assert nowhere("import app", extra="py-yaml")[0] is Level.NOTE
    assert nowhere("import app", (), dist("user", requires=["app"]))[0] is Level.WARN
    broken = dist("broken", requires=["app"], version="2")
    assert nowhere("import app", (), dist("user", requires=["app"]), broken)[0] is Level.ERROR


def test_what_is_missing_is_put_as_a_distribution_of_its_own() -> None:
    point = EntryPoint("console_scripts", "x", "y")
    whole = replace(dist("dep", ["a.py", "b.py"], requires=["x"], entry_points=[point]), as_written=())
    assert diagnosis.phantom(whole, "files", [at("a.py")]) == replace(
        dist("dep"), info=TargetPath(f"{whole.info}#files"), files=(at("a.py"),)
    )


def unmet(requirement: str, *others: Distribution, **more: Collection[TargetPath]) -> list[Ailment]:
    there = inventory(dist("user", requires=[requirement]), *others)
    return list(diagnosis.unmet_requirements(there, more.get("hollow", ())))


def test_a_requirement_of_what_is_not_installed_is_told_as_it_would_be_installed() -> None:
    assert unmet("Dep[b,a]>=2; python_version >= '3.8'") == [
        Ailment(
            Check.UNMET_REQUIREMENT,
            Level.WARN,
            "user",
            "user requires Dep>=2, which is not installed",
            wants="Dep[a,b]>=2",
        )
    ]


def test_a_requirement_that_another_version_is_installed_for_names_both() -> None:
    (found,) = unmet("dep>=2", dist("dep", version="1.5"))
    assert (found.message, found.level) == ("user requires dep>=2, and 1.5 is installed", Level.WARN)


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("dep>=2", "2.0"),
        ("dep", "2.0"),
        ("Dep_x>=2", "2.0"),
        ("dep>=2", "3.0rc1"),
        ("dep @ https://example.org/dep-9.whl", "2.0"),
        ("dep>=3; extra == 'more'", "2.0"),
        ("dep>=3; sys_platform == 'win32'", "2.0"),
        ("dep>=>3", "2.0"),
    ],
)
def test_what_is_met_or_asked_by_nobody_or_cannot_be_read_is_not_told(requirement: str, version: str) -> None:
    name = "dep-x" if "_" in requirement else "dep"
    assert unmet(requirement, dist(name, version=version)) == []


def test_a_distribution_of_which_only_the_metadata_is_there_meets_nothing() -> None:
    dep = dist("dep", version="2.0")
    assert unmet("dep", dep, hollow=[dep.info]) == [
        Ailment(
            Check.UNMET_REQUIREMENT,
            Level.ERROR,
            "user",
            "user requires dep, of which nothing but the metadata is there",
            mended_by=(DistKey("dep"),),
            wants="dep",
        )
    ]


def test_a_requirement_for_want_of_which_imports_fail_is_an_error() -> None:
    there = inventory(dist("user", requires=["De.p", "other"]))
    found = diagnosis.unmet_requirements(there, (), [("user", DistKey("de-p"))])
    assert [item.level for item in found] == [Level.ERROR, Level.WARN]


def test_needs_that_only_the_variable_meets_are_told_once_each() -> None:
    app, second = at(f"app/_a{EXT}"), at(f"app/_b{EXT}")
    contents = {
        app: lib(needs=["libx.so.1", "liby.so.1"]),
        second: lib(needs=["libx.so.1", "libnone.so.1"]),
        "/opt/libx.so.1": lib("libx.so.1"),
        "/lib/liby.so.1": lib("liby.so.1"),
    }
    who = dist("app", [app, second])
    told, bare = surveyed(contents, who, library_path="/opt"), surveyed(contents, who)
    expected = Ailment(
        Check.ENV_RELIANT,
        Level.WARN,
        "app",
        f"_a{EXT} of app finds libx.so.1 through LD_LIBRARY_PATH only",
        app,
        "libx.so.1",
        Standing.SEARCHED,
        paths=(TargetPath("/opt/libx.so.1"),),
    )
    assert list(diagnosis.env_reliant(told.survey, bare.survey, told.objects)) == [expected]
    assert list(diagnosis.env_reliant(told.survey, told.survey, told.objects)) == []
    assert list(diagnosis.env_reliant(told.survey, bare.survey, Objects({}, {}))) == []


@pytest.mark.parametrize(("folder", "told_too"), [("/opt", [("x", "liby.so.1")]), ("/lib", [])])
def test_what_a_library_of_the_variables_folders_needs_is_told_where_it_lies_there_too(
    folder: str, told_too: list[tuple[str, str]]
) -> None:
    """libx from the variable's folder needs liby, which nobody asked for without it."""
    app = at(f"app/_a{EXT}")
    contents = {
        app: lib(needs=["libx.so.1"]),
        "/opt/libx.so.1": lib("libx.so.1", needs=["liby.so.1"]),
        f"{folder}/liby.so.1": lib("liby.so.1"),
    }
    who = dist("app", [app])
    told, bare = surveyed(contents, who, library_path="/opt"), surveyed(contents, who)
    owned = told.objects.owned_by({TargetPath("/opt/libx.so.1"): dist("x")})
    found = diagnosis.env_reliant(told.survey, bare.survey, owned)
    assert [(item.distribution, item.soname) for item in found] == [("app", "libx.so.1"), *told_too]


def test_what_the_variable_does_not_touch_is_not_looked_up_without_it_and_relies_on_nothing() -> None:
    app, other = at(f"app/_a{EXT}"), at(f"other/_b{EXT}")
    contents: Mapping[str, Content] = {
        app: lib(needs=["libx.so.1"]),
        other: lib(needs=["libc.so.6"]),
        "/opt/libx.so.1": lib("libx.so.1"),
        "/lib/libc.so.6": lib("libc.so.6"),
    }
    dists = dist("app", [app]), dist("other", [other])
    told, bare = surveyed(contents, *dists, library_path="/opt"), surveyed(contents, dists[0])
    found = diagnosis.env_reliant(told.survey, bare.survey, told.objects)
    assert [(item.distribution, item.soname) for item in found] == [("app", "libx.so.1")]


def test_an_inventory_without_distributions_ails_nothing() -> None:
    assert list(diagnosis.unmet_requirements(Inventory(inventory().target, ()), ())) == []


def test_a_requirement_that_counts_for_nobody_or_cannot_be_read_or_is_met_hides_none_after_it() -> None:
    for first in ("x; extra == 'more'", "x >> 1", "dep"):
        there = inventory(dist("user", requires=[first, "gone"]), dist("dep"))
        assert [item.wants for item in diagnosis.unmet_requirements(there, ())] == ["gone"]


def test_without_an_extra_among_the_markers_a_requirement_under_one_still_counts_for_nobody() -> None:
    there = inventory(dist("user", requires=["x; extra == ''", "y; extra == 'more'"]))
    bare = replace(there, target=replace(there.target, markers={"python_version": "3.12"}))
    assert [item.wants for item in diagnosis.unmet_requirements(bare, ())] == ["x"]


def test_a_need_of_nobody_hides_none_after_it_and_an_earlier_import_meets_one_too() -> None:
    owned = Objects({MODULE: TORCH}, {})
    nobodys = lacking("a", provider=None)
    assert len(list(diagnosis.missing_symbols([nobodys, lacking("a")], owned))) == 1
    need, answer, _ = lacking()
    loaded = answer._replace(standing=Standing.PRELOADED)
    told = Survey({need: loaded}, {})
    for other, expected in (
        (Survey({}, {}), 0),
        (told, 0),
        (Survey({need: answer._replace(standing=Standing.ELSEWHERE)}, {}), 1),
    ):
        assert len(list(diagnosis.env_reliant(told, other, owned))) == expected


def test_a_module_near_the_top_stands_for_one_with_a_shorter_path() -> None:
    deep, near = at(f"a/b/_m{EXT}"), at(f"a/long_name{EXT}")
    contents: Mapping[str, Content] = {deep: lib(needs=["libnone.so"]), near: lib(needs=["libnone.so"])}
    (found,) = missing([dist("a", [deep, near])], contents)
    assert (found.path, found.paths) == (near, (deep, near))


def test_what_is_not_installed_is_taken_to_give_a_module_of_its_own_name() -> None:
    stand_in = diagnosis.absent(DistKey("lxml-html-clean"), TargetPath("/site"))
    assert (stand_in.key, stand_in.info, stand_in.files) == (
        "lxml-html-clean",
        "/site/lxml_html_clean#absent",
        ("/site/lxml_html_clean.py",),
    )
