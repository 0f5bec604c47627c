"""The order in which pip installs what it announces, and what each step leaves of the one before."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from safepip.model.arrival import Announced, Content, Laid, Wheel
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes.arrivals import in_order, inventory_after, lay
from support.environments import at, dist, inventory
from support.fake_world import FakeWorld, Link

EMPTY = inventory()
# Typed in some versions of pip and not in others.
RESOLVER: Any = importlib.import_module("pip._internal.resolution.resolvelib.resolver")
STRUCTS: Any = importlib.import_module("pip._vendor.resolvelib.structs")


def announced(name: str, *requires: str, requested: bool = False, python: bool = False) -> Announced:
    return Announced(DistKey(name), name, "2.0", "", "", requested, requires, python)


def order(*items: Announced, there: Inventory = EMPTY, dependencies: bool = True) -> list[str]:
    return [item.name for item in in_order(items, there, dependencies=dependencies)]


def test_what_others_require_comes_first_and_of_equals_the_last_by_name() -> None:
    items = [announced("app", "lib"), announced("lib", "base"), announced("base"), announced("other")]
    assert order(*items) == ["other", "base", "lib", "app"]


def test_a_requirement_of_an_installed_distribution_counts_too() -> None:
    """app leads to zlib by one that stays, else both were leaves and zlib came first by its name alone."""
    there = inventory(dist("middle", requires=["base"]))
    items = [announced("app", "middle"), announced("base"), announced("zlib", "base")]
    assert order(*items, there=there) == ["base", "zlib", "app"]


def test_the_python_that_is_asked_for_is_a_node_of_its_own() -> None:
    assert order(announced("b", python=True), announced("a")) == ["a", "b"]


def test_an_extra_that_is_asked_for_leads_to_what_is_listed_under_it() -> None:
    base = announced("base", "zed; extra == 'fast'")
    assert order(announced("app", "base[fast]"), base, announced("zed")) == ["zed", "base", "app"]
    assert order(announced("app", "base[fast]"), announced("zed", "app")) == ["app", "zed"]


def test_markers_of_the_target_and_names_of_nobody_and_lines_that_cannot_be_read_lead_nowhere() -> None:
    lines = ["b; sys_platform == 'win32'", "nowhere", "b ==", "= no name"]
    assert order(announced("a", *lines), announced("b")) == ["b", "a"]
    assert order(announced("b", *lines), announced("a", "nowhere")) == ["b", "a"]


def test_without_dependencies_the_names_alone_decide() -> None:
    assert order(announced("b", "a"), announced("a"), dependencies=False) == ["b", "a"]


def test_in_a_circle_what_is_farther_from_what_was_named_comes_first() -> None:
    circle = [announced("b", "a"), announced("a", "b", requested=True)]
    assert order(*circle) == ["b", "a"]
    assert order(announced("b", "a", requested=True), announced("a", "b")) == ["a", "b"]


def test_what_no_named_one_leads_to_is_begun_with_in_the_order_of_the_report() -> None:
    assert order(announced("a", "b"), announced("b", "a")) == ["b", "a"]


def pips_order(graph: Mapping[str, Sequence[str]], named: Iterable[str]) -> list[str]:
    """As `get_installation_order` has it: by weight, then by name, the greatest first."""
    nodes = STRUCTS.DirectedGraph()
    nodes.add(None)
    for node in graph:
        nodes.add(node)
    for name in named:
        nodes.connect(None, name)
    for node, below in graph.items():
        for inner in below:
            nodes.connect(node, inner)
    weights = RESOLVER.get_topological_weights(nodes, set(graph))
    return sorted(graph, key=lambda name: (weights[name], name), reverse=True)


@pytest.mark.parametrize("seed", range(200))
def test_the_order_is_pips_own_with_and_without_circles(seed: int) -> None:
    """In larger circles pip's own order hangs on the hash of names: it looks at a node five times at most."""
    some = random.Random(seed)
    names = [f"n{number}" for number in range(some.randint(2, 6))]
    graph = {name: sorted(some.sample(names, some.randint(0, min(2, len(names) - 1)))) for name in names}
    reached: list[str] = [names[0]]
    for name in reached:  # grows while it is walked
        reached += [inner for inner in graph[name] if inner not in reached]
    graph = {name: graph[name] for name in reached}
    items = [announced(name, *graph[name], requested=name == names[0]) for name in reached]
    assert order(*items) == pips_order(graph, names[:1])


def wheel(of: Distribution) -> Wheel:
    contents = {path: Content(1) for path in of.files or ()}
    return Wheel(Announced(of.key, of.name, of.version, "", "", True, of.requires, False), of, contents, {})


def with_record(*dists: Distribution) -> FakeWorld:
    return FakeWorld({path: b"" for one in dists for path in one.files or ()})


def test_an_upgrade_takes_the_old_versions_files_that_the_new_one_does_not_bring() -> None:
    old = dist("pkg", ["pkg/a.py", "pkg/old.py"])
    new = dist("pkg", ["pkg/a.py", "pkg/new.py"], version="2.0")
    laid = lay([wheel(new)], inventory(old), with_record(old))
    assert laid == Laid(
        replaced=(old,),
        gone=frozenset({*(old.files or ()), at("pkg"), old.info}),
        taken={at("pkg/old.py"): old, at("pkg-1.0.dist-info/RECORD"): old},
        contents={path: Content(1) for path in new.files or ()},
    )


def test_the_old_versions_record_takes_what_another_has_just_brought() -> None:
    """opencv: what was split off is laid down first, then the old version goes with its own list."""
    old = dist("whole", ["pkg/a.py", "pkg/b.py"])
    part, new = dist("part", ["pkg/a.py"]), dist("whole", ["pkg/b.py"], version="2.0")
    laid = lay([wheel(part), wheel(new)], inventory(old), with_record(old))
    assert laid.taken == {at("pkg/a.py"): old, at("whole-1.0.dist-info/RECORD"): old}
    assert laid.contents.keys() == {*(part.files or ()), *(new.files or ())} - {at("pkg/a.py")}


def test_a_file_takes_the_place_of_a_link() -> None:
    new = dist("pkg", ["pkg/a.py"])
    laid = lay([wheel(new)], EMPTY, FakeWorld({at("pkg/a.py"): Link("/elsewhere.py"), "/elsewhere.py": b""}))
    assert laid == Laid((), frozenset({at("pkg/a.py")}), {}, wheel(new).contents)


def test_those_who_come_are_installed_after_those_who_stay() -> None:
    old, stays, new = dist("pkg"), dist("other"), dist("pkg", version="2.0")
    laid = lay([wheel(new)], inventory(old, stays), with_record(old, stays))
    there = inventory(old, stays)
    assert inventory_after(there, laid, [wheel(new)]) == replace(there, distributions=(stays, new))
    below = replace(stays, location=TargetPath("/usr/lib/python3/dist-packages"))
    there = inventory(stays, below)
    assert inventory_after(there, laid, [wheel(new)]).distributions == (stays, new, below)
    also = dist("also")
    assert inventory_after(inventory(stays, also), laid, [wheel(new)]).distributions == (stays, also, new)
    assert inventory_after(inventory(below), laid, [wheel(new)]).distributions == (new, below)


def test_what_an_extra_asks_for_comes_before_who_asks_however_far_below() -> None:
    """Without the extra zz would lie as high as zed, and come first by its name."""
    base, zed = announced("base", "zed; extra == 'fast'"), announced("zed", "y")
    assert order(announced("zz", "base[fast]"), base, zed, announced("y")) == ["y", "base", "zed", "zz"]


def test_what_an_installed_distribution_requires_comes_before_who_comes_to_it_by_that() -> None:
    there = inventory(dist("middle", requires=["base"]))
    items = [announced("zz", "middle"), announced("base"), announced("zlib", "base")]
    assert order(*items, there=there) == ["base", "zlib", "zz"]


def test_a_requirement_is_one_step_as_python_is() -> None:
    assert order(announced("z", "a"), announced("a"), announced("p", python=True)) == ["a", "z", "p"]


def test_a_line_that_cannot_be_read_hides_none_after_it() -> None:
    assert order(announced("b", "a ==", "a"), announced("a")) == ["a", "b"]
