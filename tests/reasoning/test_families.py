"""Libraries of one release, bound from one place before and from two afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from safepip.model.environment import Distribution
from safepip.model.known_loads import Loads
from safepip.reasoning.libraries import families, objects
from safepip.reasoning.libraries.survey import Surveyor
from safepip.world import Changed
from support.environments import EXT, at, dist, files, inventory
from support.fake_world import Content, FakeWorld, glibc, lib

APP = {
    f"app/_m{EXT}": lib(
        needs=["libcudnn_ops.so.9", "libcudnn_graph.so.9"], rpath="$ORIGIN/../one:$ORIGIN/../two"
    )
}
OPS, GRAPH = lib("libcudnn_ops.so.9"), lib("libcudnn_graph.so.9")
TWO = {"two/libcudnn_ops.so.9": OPS, "two/libcudnn_graph.so.9": GRAPH}


def splits(
    contents: Mapping[str, Content], dists: Sequence[Distribution], leaving: Distribution
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Family, survivor and members of each family that a root would get from several folders."""
    world, gone = FakeWorld(files(contents)), frozenset(leaving.files or ())
    site = inventory(*dists)
    everybody = objects.gather(dists, site.target.scripts, world)
    now = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), Loads())
    then = now.without(Changed(world, gone), gone)
    roots = [path for path in everybody.elves if path not in gone]
    found = families.split(now.survey(roots), then.survey(roots), everybody)
    return [(item.family, item.survivor.name, [*item.members]) for item in found]


def roots(contents: Mapping[str, Content], dists: Sequence[Distribution], leaving: Distribution) -> list[str]:
    world, gone = FakeWorld(files(contents)), frozenset(leaving.files or ())
    site = inventory(*dists)
    everybody = objects.gather(dists, site.target.scripts, world)
    now = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), Loads())
    then = now.without(Changed(world, gone), gone)
    staying = [path for path in everybody.elves if path not in gone]
    return [item.root for item in families.split(now.survey(staying), then.survey(staying), everybody)]


def test_a_removal_that_takes_one_member_splits_the_family() -> None:
    one = {"one/libcudnn_ops.so.9": OPS, "one/libcudnn_graph.so.9": GRAPH}
    app, two = dist("app", [*APP]), dist("two", [*TWO])
    graph, ops = dist("graph", ["one/libcudnn_graph.so.9"]), dist("ops", ["one/libcudnn_ops.so.9"])
    assert splits({**APP, **one, **TWO}, [app, graph, ops, two], graph) == [
        (
            "cuDNN (9)",
            "app",
            [
                (at("one/libcudnn_ops.so.9"), "libcudnn_ops.so.9"),
                (at("two/libcudnn_graph.so.9"), "libcudnn_graph.so.9"),
            ],
        )
    ]


def test_a_family_that_moves_whole_is_not_split() -> None:
    one = {"one/libcudnn_ops.so.9": OPS, "one/libcudnn_graph.so.9": GRAPH}
    app, first, two = dist("app", [*APP]), dist("one", [*one]), dist("two", [*TWO])
    assert splits({**APP, **one, **TWO}, [app, first, two], first) == []


def test_what_was_split_before_is_no_doing_of_the_removal() -> None:
    contents = {
        **APP,
        "one/libcudnn_ops.so.9": OPS,
        "two/libcudnn_graph.so.9": GRAPH,
        "two/libcudnn_ops.so.9": OPS,
        "z/libz.so": lib("libz.so"),
    }
    app, one = dist("app", [*APP]), dist("one", ["one/libcudnn_ops.so.9"])
    two, other = dist("two", [*TWO]), dist("z", ["z/libz.so"])
    assert splits(contents, [app, one, two, other], other) == []


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("libcudnn.so.9", "cuDNN (9)"),
        ("libcudnn_engines_precompiled.so.9", "cuDNN (9)"),
        ("libcudnn.so.8", "cuDNN (8)"),
        ("libcublasLt.so.12", "cuBLAS (12)"),
        ("libcusparse.so.12", "cuSPARSE (12)"),
        ("libcusparseLt.so.0", ""),  # a product of its own, with releases of its own
        ("libtorch_cpu.so", "PyTorch"),
        ("libz.so.1", ""),
    ],
)
def test_a_family_is_told_by_stem_and_major_version(name: str, family: str) -> None:
    assert families.family_of(name) == family


GRAPH_ONE = {"one/libcudnn_graph.so.9": GRAPH}


def test_the_root_nearest_the_top_stands_for_the_others_of_its_distribution() -> None:
    deep = {
        f"app/deep/_n{EXT}": lib(
            needs=["libcudnn_ops.so.9", "libcudnn_graph.so.9"], rpath="$ORIGIN/../../one:$ORIGIN/../../two"
        )
    }
    twin = {f"app/_a{EXT}": APP[f"app/_m{EXT}"]}
    one = {"one/libcudnn_ops.so.9": OPS, **GRAPH_ONE}
    for more, root in ((deep, f"app/_m{EXT}"), (twin, f"app/_a{EXT}")):
        app = dist("app", [*more, *APP])
        graph, ops, two = (
            dist("graph", [*GRAPH_ONE]),
            dist("ops", ["one/libcudnn_ops.so.9"]),
            dist("two", [*TWO]),
        )
        assert roots({**APP, **more, **one, **TWO}, [app, graph, ops, two], graph) == [at(root)]


def test_a_root_that_does_not_load_any_more_has_lost_more_than_its_familys_unity() -> None:
    needing = {
        f"app/_m{EXT}": lib(
            needs=["libcudnn_ops.so.9", "libcudnn_graph.so.9", "libgone.so"],
            rpath="$ORIGIN/../one:$ORIGIN/../two",
        )
    }
    one = {"one/libcudnn_ops.so.9": OPS, **GRAPH_ONE, "one/libgone.so": lib("libgone.so")}
    app, two, ops = dist("app", [*needing]), dist("two", [*TWO]), dist("ops", ["one/libcudnn_ops.so.9"])
    leaving = dist("graph", [*GRAPH_ONE, "one/libgone.so"])
    assert splits({**needing, **one, **TWO}, [app, leaving, ops, two], leaving) == []


def test_libraries_of_no_family_may_come_from_anywhere_and_another_survivor_is_judged_all_the_same() -> None:
    paths = "$ORIGIN/../one:$ORIGIN/../two"
    plain = {f"aaa/_m{EXT}": lib(needs=["libz.so", "liby.so"], rpath=paths)}
    broken = {f"aab/_m{EXT}": lib(needs=["libcudnn_ops.so.9", "libcudnn_graph.so.9", "libw.so"], rpath=paths)}
    only = {f"aac/_m{EXT}": lib(needs=["libcudnn_ops.so.9"], rpath=paths)}
    more: dict[str, Content] = {
        "one/libz.so": lib("libz.so"),
        "one/liby.so": lib("liby.so"),
        "two/liby.so": lib("liby.so"),
        "one/libw.so": lib("libw.so"),
    }
    one = {"one/libcudnn_ops.so.9": OPS, **GRAPH_ONE}
    dists = [
        dist("aaa", [*plain]),
        dist("aab", [*broken]),
        dist("aac", [*only]),
        dist("app", [*APP]),
        dist("two", [*TWO, "two/liby.so"]),
        dist("ops", ["one/libcudnn_ops.so.9", "one/libz.so"]),
    ]
    leaving = dist("graph", [*GRAPH_ONE, "one/liby.so", "one/libw.so"])
    found = splits({**plain, **broken, **only, **APP, **more, **one, **TWO}, [*dists, leaving], leaving)
    assert [(family, survivor) for family, survivor, _ in found] == [("cuDNN (9)", "app")]


def test_a_root_near_the_top_stands_before_one_with_a_shorter_path() -> None:
    deep = {
        f"a/b/_n{EXT}": lib(
            needs=["libcudnn_ops.so.9", "libcudnn_graph.so.9"], rpath="$ORIGIN/../../one:$ORIGIN/../../two"
        )
    }
    long = {f"a_long_name/_n{EXT}": APP[f"app/_m{EXT}"]}
    one = {"one/libcudnn_ops.so.9": OPS, **GRAPH_ONE}
    app, graph, ops, two = (
        dist("app", [*deep, *long]),
        dist("graph", [*GRAPH_ONE]),
        dist("ops", ["one/libcudnn_ops.so.9"]),
        dist("two", [*TWO]),
    )
    assert roots({**deep, **long, **one, **TWO}, [app, graph, ops, two], graph) == [
        at(f"a_long_name/_n{EXT}")
    ]


def test_one_member_of_each_place_comes_before_the_others() -> None:
    names = ["libcudnn_ops.so.9", "libcudnn_adv.so.9", "libcudnn_graph.so.9"]
    app = {f"app/_m{EXT}": lib(needs=names, rpath="$ORIGIN/../one:$ORIGIN/../two")}
    both: dict[str, Content] = {f"{folder}/{name}": lib(name) for folder in ("one", "two") for name in names}
    leaving = dist("graph", ["one/libcudnn_graph.so.9"])
    dists = [
        dist("app", [*app]),
        leaving,
        dist("one", [f"one/{name}" for name in names[:2]]),
        dist("two", [f"two/{name}" for name in names]),
    ]
    ((_, _, members),) = splits({**app, **both}, dists, leaving)
    assert members == [
        (at("one/libcudnn_ops.so.9"), "libcudnn_ops.so.9"),
        (at("two/libcudnn_graph.so.9"), "libcudnn_graph.so.9"),
        (at("one/libcudnn_adv.so.9"), "libcudnn_adv.so.9"),
    ]
