"""Library needs before against after: the two traps, preloads, and what is no loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from safepip.model.elf import Binding, Loaded, Loading
from safepip.model.environment import Distribution
from safepip.model.known_loads import KnownLoad, Loads
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import Consumer, FindingKind
from safepip.model.survey import Answer, Need, Objects, Standing, Survey
from safepip.reasoning.libraries import losses, objects
from safepip.reasoning.libraries.survey import Surveyor
from safepip.world import Changed
from support.environments import EXT, at, dist, files, inventory
from support.fake_world import Content, FakeWorld, glibc, lib
from support.surveys import surveyed

TORCH = {
    f"torch/_C{EXT}": lib(needs=["libtorch_python.so"], rpath="$ORIGIN/lib"),
    "torch/lib/libtorch_python.so": lib("libtorch_python.so", needs=["libtorch_cuda.so"], rpath="$ORIGIN"),
    "torch/lib/libtorch_cuda.so": lib(
        "libtorch_cuda.so", needs=["libcudnn.so.9"], rpath="$ORIGIN/../../nvidia/cudnn/lib"
    ),
}
CUDNN = {"nvidia/cudnn/lib/libcudnn.so.9": lib("libcudnn.so.9")}
VISION = {"torchvision/_C.so": lib(needs=["libtorch_cuda.so"])}


def lost(
    contents: Mapping[str, Content],
    dists: Sequence[Distribution],
    leaving: Sequence[Distribution],
    known: Sequence[KnownLoad] = (),
) -> list[tuple[FindingKind, str, str, list[tuple[str, ...]]]]:
    """Kind, name, survivor and chains of every need that gets worse when `leaving` go."""
    world = FakeWorld(files(contents))
    gone = frozenset(path for left in leaving for path in left.files or ())
    site = inventory(*dists)
    scripts = site.target.scripts
    after = Changed(world, gone)
    everybody = objects.gather([*(item for item in dists if item not in leaving), *leaving], scripts, world)
    now = Surveyor(world, everybody, site, glibc(main="/usr/bin/python3.12"), Loads(tuple(known)))
    then = now.without(after, gone)
    index = objects.needing(everybody)
    surveys = losses.widen(
        objects.taken_names(gone, scripts, world),
        lambda names: frozenset(
            path
            for path in objects.reaching(names, everybody, index)
            if path not in gone and everybody.owner[path] not in leaving
        ),
        lambda roots: (now.survey(roots), then.survey(roots)),
        everybody,
    )
    found = losses.compare(losses.Worlds(*surveys, everybody, site))
    return [(g.kind, g.wants, g.survivor.name, [loss.chain for loss in g.losses]) for g in found]


def test_a_lost_library_shows_the_chain_from_the_import_down_to_it() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    chain = ("import torch", f"torch/_C{EXT}", "libtorch_python.so", "libtorch_cuda.so", "libcudnn.so.9")
    assert lost({**TORCH, **CUDNN}, [torch, cudnn], [cudnn]) == [
        (FindingKind.LIBRARY_LOST, "libcudnn.so.9", "torch", [chain])
    ]


def test_removing_the_consumer_as_well_loses_nothing() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    assert lost({**TORCH, **CUDNN}, [torch, cudnn], [cudnn, torch]) == []


def test_what_an_earlier_import_had_loaded_is_lost_once_that_import_fails() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    vision = dist("torchvision", [*VISION], requires=["torch"])
    found = lost({**TORCH, **CUDNN, **VISION}, [torch, cudnn, vision], [cudnn])
    assert [(kind, wants, who) for kind, wants, who, _ in found] == [
        (FindingKind.LIBRARY_LOST, "libcudnn.so.9", "torch"),
        (FindingKind.LIBRARY_LOST, "libcudnn.so.9", "torchvision"),
    ]
    assert found[1][3] == [
        (
            "import torchvision",
            "torchvision/_C.so",
            "libtorch_cuda.so, loaded by import torch",
            f"torch/_C{EXT}",
            "libtorch_python.so",
            "libtorch_cuda.so",
            "libcudnn.so.9",
        )
    ]


def test_an_object_of_a_required_distribution_that_no_import_executes_preloads_nothing() -> None:
    """`libtorch_cuda.so` alone, without an extension module that loads it, is elsewhere, not preloaded."""
    torch = dist("torch", ["torch/lib/libtorch_cuda.so"])
    vision = dist("torchvision", [*VISION], requires=["torch"])
    contents = {"torch/lib/libtorch_cuda.so": lib("libtorch_cuda.so"), **VISION}
    assert lost(contents, [torch, vision], [torch]) == [
        (
            FindingKind.LAST_COPY,
            "libtorch_cuda.so",
            "torchvision",
            [("import torchvision", "torchvision/_C.so", "libtorch_cuda.so")],
        )
    ]


def test_a_need_is_judged_with_its_root_since_an_inherited_rpath_serves_one_and_not_the_other() -> None:
    """libshared.so has no path: module a brings one to libgone.so by RPATH, module b brings another to its own copy."""
    contents: dict[str, Content] = {
        f"a/_m{EXT}": lib(needs=["libshared.so"], rpath="$ORIGIN/../shared:$ORIGIN/../first"),
        f"b/_m{EXT}": lib(needs=["libshared.so"], rpath="$ORIGIN/../shared:$ORIGIN/../second"),
        "shared/libshared.so": lib("libshared.so", needs=["libgone.so"]),
        "first/libgone.so": lib("libgone.so"),
        "second/libgone.so": lib("libgone.so"),
    }
    a, b, shared = (
        dist("a", [f"a/_m{EXT}"]),
        dist("b", [f"b/_m{EXT}"]),
        dist("shared", ["shared/libshared.so"]),
    )
    first, second = dist("first", ["first/libgone.so"]), dist("second", ["second/libgone.so"])
    everybody = [a, b, shared, first, second]
    assert [(kind, who, chains) for kind, _, who, chains in lost(contents, everybody, [first])] == [
        (FindingKind.LIBRARY_LOST, "a", [("import a", f"a/_m{EXT}", "libshared.so", "libgone.so")])
    ]
    assert [(kind, who) for kind, _, who, _ in lost(contents, everybody, [second])] == [
        (FindingKind.LIBRARY_LOST, "b")
    ]


def test_a_replacement_that_brings_an_unmet_need_of_its_own_breaks_what_it_serves() -> None:
    """The need of libz.so stays met, by a file that needs what is not there: a flip test would see nothing."""
    contents: dict[str, Content] = {
        f"app/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/../good:$ORIGIN/../bad"),
        "good/libz.so": lib("libz.so"),
        "bad/libz.so": lib("libz.so", needs=["libnowhere.so"]),
    }
    app, good, bad = (
        dist("app", [f"app/_m{EXT}"]),
        dist("good", ["good/libz.so"]),
        dist("bad", ["bad/libz.so"]),
    )
    assert [(kind, wants, who) for kind, wants, who, _ in lost(contents, [app, good, bad], [good])] == [
        (FindingKind.LIBRARY_LOST, "libnowhere.so", "app"),
        (FindingKind.PROVIDER_CHANGED, "libz.so", "app"),
    ]


def test_an_object_that_could_not_load_before_loses_nothing() -> None:
    contents: dict[str, Content] = {
        f"app/_m{EXT}": lib(needs=["libabsent.so", "libz.so"], rpath="$ORIGIN/../good"),
        "good/libz.so": lib("libz.so"),
    }
    app, good = dist("app", [f"app/_m{EXT}"]), dist("good", ["good/libz.so"])
    assert lost(contents, [app, good], [good]) == []


def test_a_second_provider_that_the_search_reaches_makes_a_change_and_no_loss() -> None:
    contents: dict[str, Content] = {
        f"app/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/../one:$ORIGIN/../two"),
        "one/libz.so": lib("libz.so"),
        "two/libz.so": lib("libz.so"),
    }
    app, one, two = dist("app", [f"app/_m{EXT}"]), dist("one", ["one/libz.so"]), dist("two", ["two/libz.so"])
    assert [kind for kind, _, _, _ in lost(contents, [app, one, two], [one])] == [
        FindingKind.PROVIDER_CHANGED
    ]
    assert lost(contents, [app, one, two], [two]) == []


def test_a_known_load_meets_what_no_search_meets() -> None:
    """Torch opens nvidia/*/lib itself; afterwards the need is missing, and that is a loss."""
    torch, cudnn = dist("torch", [f"torch/_C{EXT}"]), dist("cudnn", [*CUDNN])
    contents = {f"torch/_C{EXT}": lib(needs=["libcudnn.so.9"]), **CUDNN}
    load = KnownLoad(DistKey("torch"), ("libcudnn.so.*",), "nvidia/*/lib", "torch/__init__.py", "2.9.1")
    assert [kind for kind, _, _, _ in lost(contents, [torch, cudnn], [cudnn], [load])] == [
        FindingKind.LIBRARY_LOST
    ]
    assert [kind for kind, _, _, _ in lost(contents, [torch, cudnn], [cudnn])] == [FindingKind.LAST_COPY]


def test_the_last_copy_is_of_no_use_to_what_lacks_another_library_altogether() -> None:
    """onnxruntime's TensorRT provider needs cuDNN, and TensorRT, which nobody has."""
    cudnn = dist("cudnn", [*CUDNN])
    ort = dist("ort", ["ort/libprovider.so"])
    needs = ["libcudnn.so.9"]
    found = lost({"ort/libprovider.so": lib(needs=needs), **CUDNN}, [ort, cudnn], [cudnn])
    assert [(kind, wants) for kind, wants, _, _ in found] == [(FindingKind.LAST_COPY, "libcudnn.so.9")]
    needs.append("libnvinfer.so.10")
    assert lost({"ort/libprovider.so": lib(needs=needs), **CUDNN}, [ort, cudnn], [cudnn]) == []


def test_what_is_found_only_after_another_import_once_the_search_fails_is_order_reliant() -> None:
    contents: dict[str, Content] = {
        f"base/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/../two"),
        f"app/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/../one"),
        "one/libz.so": lib("libz.so"),
        "two/libz.so": lib("libz.so"),
    }
    base, two = dist("base", [f"base/_m{EXT}"]), dist("two", ["two/libz.so"])
    app, one = dist("app", [f"app/_m{EXT}"], requires=["base"]), dist("one", ["one/libz.so"])
    assert [(kind, who) for kind, _, who, _ in lost(contents, [base, app, one, two], [one])] == [
        (FindingKind.ORDER_RELIANT, "app")
    ]


def test_the_order_of_distributions_changes_nothing() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    vision = dist("torchvision", [*VISION], requires=["torch"])
    contents = {**TORCH, **CUDNN, **VISION}
    assert lost(contents, [torch, cudnn, vision], [cudnn]) == lost(contents, [vision, cudnn, torch], [cudnn])


def test_removing_nothing_changes_nothing() -> None:
    torch, cudnn = dist("torch", [*TORCH]), dist("cudnn", [*CUDNN])
    assert lost({**TORCH, **CUDNN}, [torch, cudnn], []) == []


def test_a_command_that_is_no_object_is_no_name_that_the_loader_could_bind() -> None:
    contents: dict[str, Content] = {
        "bin/flask": b"#!/usr/bin/python3\n",
        "bin/tool": lib("libtool.so.1"),
        "flask/libbad.so": b"GROUP",
    }
    world = FakeWorld(files(contents))
    gone = dist("flask", [*contents]).files or ()
    scripts = TargetPath(gone[0].rpartition("/")[0])
    assert objects.taken_names(gone, scripts, world) == {"tool", "libtool.so.1"}


def test_a_provider_that_brings_needs_which_are_met_loses_nothing() -> None:
    contents: dict[str, Content] = {
        f"app/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/../first:$ORIGIN/../second"),
        "first/libz.so": lib("libz.so"),
        "second/libz.so": lib("libz.so", needs=["libnew.so"]),
        "second/libnew.so": lib("libnew.so"),
    }
    app, first = dist("app", [f"app/_m{EXT}"]), dist("first", ["first/libz.so"])
    second = dist("second", ["second/libz.so", "second/libnew.so"])
    assert [(kind, wants) for kind, wants, _, _ in lost(contents, [app, first, second], [first])] == [
        (FindingKind.PROVIDER_CHANGED, "libz.so")
    ]


@pytest.mark.parametrize(
    ("soname", "file", "wants"),
    [
        ("libother.so", "libother.so", "libother.so"),
        (None, "libother.so", "libother.so"),
        ("libother.so.1", "libother.so", "libother.so.1"),
        ("libother.so.1", "libother.so", "libother.so"),
    ],
)
def test_what_the_broken_had_loaded_for_others_is_looked_at_too(
    soname: str | None, file: str, wants: str
) -> None:
    """Nothing of vision names the library that goes: only torch, which had loaded another one for it, does."""
    contents: dict[str, Content] = {
        f"torch/_C{EXT}": lib(needs=[file, "libgone.so"], rpath="$ORIGIN/lib:$ORIGIN/../gone"),
        f"torch/lib/{file}": lib(soname),
        "gone/libgone.so": lib("libgone.so"),
        f"vision/_C{EXT}": lib(needs=[wants]),
    }
    torch, gone = dist("torch", [f"torch/_C{EXT}", f"torch/lib/{file}"]), dist("gone", ["gone/libgone.so"])
    vision = dist("vision", [f"vision/_C{EXT}"], requires=["torch"])
    _, (kind, lost_name, who, chains) = lost(contents, [torch, gone, vision], [gone])
    assert (kind, lost_name, who) == (FindingKind.LIBRARY_LOST, "libgone.so", "vision")
    assert chains == [
        (
            "import vision",
            f"vision/_C{EXT}",
            f"{wants}, loaded by import torch",
            f"torch/_C{EXT}",
            "libgone.so",
        )
    ]


APP, OTHER = dist("app"), dist("other")


def group(kind: FindingKind, *roots: str) -> losses.Grouped:
    def loss(root: str) -> losses.Loss:
        binding = Binding(TargetPath(root), "libz.so", None, None, ())
        need = Need(TargetPath(root), TargetPath(root), "libz.so")
        return losses.Loss(kind, need, None, Answer(Standing.MISSING, binding), APP, (root,), at_import=True)

    return losses.Grouped(kind, "libz.so", APP, tuple(map(loss, roots)))


def test_a_move_to_another_provider_is_lost_where_that_lacks_something_and_a_change_where_not() -> None:
    moved, lost_already = (
        group(FindingKind.PROVIDER_CHANGED, "/a", "/b"),
        group(FindingKind.LIBRARY_LOST, "/c"),
    )

    def lacking(one: losses.Loss) -> tuple[str, ...]:
        assert one.kind is FindingKind.PROVIDER_CHANGED
        return ("inflate",) if one.need.root == "/b" else ()

    weighed = losses.with_symbols([moved, lost_already], lacking)
    assert [(item.kind, [(loss.need.root, loss.lacking) for loss in item.losses]) for item in weighed] == [
        (FindingKind.SYMBOL_LOST, [("/b", ("inflate",))]),
        (FindingKind.PROVIDER_CHANGED, [("/a", ())]),
        (FindingKind.LIBRARY_LOST, [("/c", ())]),
    ]
    only = losses.with_symbols([group(FindingKind.PROVIDER_CHANGED, "/a")], lacking)
    assert [item.kind for item in only] == [FindingKind.PROVIDER_CHANGED]


def chains_of(
    contents: Mapping[str, Content], *dists: Distribution, leaving: Distribution
) -> list[tuple[str, ...]]:
    return [chain for _, _, _, chains in lost(contents, [*dists, leaving], [leaving]) for chain in chains]


GONE = {"gone/libgone.so": lib("libgone.so")}
LEAVER = dist("gone", [*GONE])


def test_of_two_ways_to_one_consumer_the_package_named_after_its_distribution_is_told() -> None:
    modules = {
        f"{name}/_m{EXT}": lib(needs=["libshared.so"], rpath="$ORIGIN/../own_name/lib")
        for name in ("aaa", "own_name")
    }
    shared = {
        "own_name/lib/libshared.so": lib("libshared.so", needs=["libgone.so"], rpath="$ORIGIN/../../gone")
    }
    own = dist("own-name", [*modules, *shared])
    assert chains_of({**modules, **shared, **GONE}, own, leaving=LEAVER) == [
        ("import own_name", f"own_name/_m{EXT}", "libshared.so", "libgone.so")
    ]


def test_of_two_ways_the_shorter_is_told_then_the_nearer_to_the_top() -> None:
    near = {
        f"app/deep/_m{EXT}": lib(needs=["libshared.so"], rpath="$ORIGIN/../lib"),
        f"app/a_long_name{EXT}": lib(needs=["libshared.so"], rpath="$ORIGIN/lib"),
    }
    shared = {"app/lib/libshared.so": lib("libshared.so", needs=["libgone.so"], rpath="$ORIGIN/../../gone")}
    app = dist("app", [*near, *shared])
    assert chains_of({**near, **shared, **GONE}, app, leaving=LEAVER) == [
        ("import app", f"app/a_long_name{EXT}", "libshared.so", "libgone.so")
    ]


def test_a_loss_goes_on_through_several_imports_down_to_its_cause() -> None:
    """third needs what second had loaded, which needs what first had loaded, which loses its library."""
    contents: dict[str, Content] = {
        **GONE,
        f"first/_m{EXT}": lib(needs=["libone.so", "libgone.so"], rpath="$ORIGIN/lib:$ORIGIN/../gone"),
        "first/lib/libone.so": lib("libone.so"),
        f"second/_m{EXT}": lib(needs=["libone.so", "libtwo.so"], rpath="$ORIGIN/lib"),
        "second/lib/libtwo.so": lib("libtwo.so"),
        f"third/_m{EXT}": lib(needs=["libtwo.so"]),
    }
    first = dist("first", [f"first/_m{EXT}", "first/lib/libone.so"])
    second = dist("second", [f"second/_m{EXT}", "second/lib/libtwo.so"], requires=["first"])
    third = dist("third", [f"third/_m{EXT}"], requires=["second"])
    found = lost(contents, [first, second, third, LEAVER], [LEAVER])
    assert [(wants, who) for _, wants, who, _ in found] == [
        ("libgone.so", name) for name in ("first", "second", "third")
    ]
    assert found[2][3] == [
        (
            "import third",
            f"third/_m{EXT}",
            "libtwo.so, loaded by import second",
            f"second/_m{EXT}",
            "libone.so, loaded by import first",
            f"first/_m{EXT}",
            "libgone.so",
        )
    ]


def test_the_consumers_of_a_group_are_told_with_their_ways() -> None:
    one = group(FindingKind.LIBRARY_LOST, "/a", "/b")
    assert one.consumers == (
        Consumer(TargetPath("/a"), "app", ("/a",)),
        Consumer(TargetPath("/b"), "app", ("/b",)),
    )


def test_a_loss_that_is_one_already_hides_no_change_after_it() -> None:
    both = [group(FindingKind.LIBRARY_LOST, "/c"), group(FindingKind.PROVIDER_CHANGED, "/b")]
    found = losses.with_symbols(both, lambda _: ("inflate",))
    assert [item.kind for item in found] == [FindingKind.LIBRARY_LOST, FindingKind.SYMBOL_LOST]


def test_a_path_is_told_below_its_site_or_the_prefix_or_whole() -> None:
    paths = (
        "/env/lib/python3.12/site-packages/a/b.py",
        "/env/bin/tool",
        "/environment/x",
        "/usr/x",
        "/env/lib/python3.12/site-packages-old/x",
    )
    told = [losses.relative(TargetPath(path), inventory()) for path in paths]
    assert told == ["a/b.py", "bin/tool", "/environment/x", "/usr/x", "lib/python3.12/site-packages-old/x"]


def test_of_two_ways_the_one_without_an_earlier_import_is_told() -> None:
    """Both modules come to libgone.so; the one of fewer steps only after torch was imported."""
    contents: dict[str, Content] = {
        **GONE,
        f"torch/_C{EXT}": lib(needs=["libx.so", "libgone.so"], rpath="$ORIGIN:$ORIGIN/../gone"),
        "torch/libx.so": lib("libx.so"),
        f"app/_m{EXT}": lib(needs=["libx.so"]),
        f"app/x/_n{EXT}": lib(needs=["libp.so"], rpath="$ORIGIN/lib"),
        "app/x/lib/libp.so": lib("libp.so", needs=["libq.so"], rpath="$ORIGIN"),
        "app/x/lib/libq.so": lib("libq.so", needs=["libr.so"], rpath="$ORIGIN"),
        "app/x/lib/libr.so": lib("libr.so", needs=["libgone.so"], rpath="$ORIGIN/../../../gone"),
    }
    torch = dist("torch", [f"torch/_C{EXT}", "torch/libx.so"])
    own = [f"app/x/lib/lib{letter}.so" for letter in "pqr"]
    app = dist("app", [f"app/_m{EXT}", f"app/x/_n{EXT}", *own], requires=["torch"])
    told = next(
        chains for _, _, who, chains in lost(contents, [torch, app, LEAVER], [LEAVER]) if who == "app"
    )
    assert [way[0] for way in told] == ["import app.x", "import app"]


def test_what_another_import_loads_in_its_place_is_a_change_of_provider() -> None:
    """app asks for libz.so where no search leads: the first of the imports before it that has one gives its own."""
    contents: dict[str, Content] = {
        **{f"{name}/_m{EXT}": lib(needs=["libz.so"], rpath="$ORIGIN/lib") for name in ("one", "two")},
        **{f"{name}/lib/libz.so": lib("libz.so") for name in ("one", "two")},
        f"app/_m{EXT}": lib(needs=["libz.so"]),
    }
    one, two = (dist(name, [f"{name}/_m{EXT}", f"{name}/lib/libz.so"]) for name in ("one", "two"))
    app = dist("app", [f"app/_m{EXT}"], requires=["one", "two"])
    assert [(kind, who) for kind, _, who, _ in lost(contents, [one, two, app], [one])] == [
        (FindingKind.PROVIDER_CHANGED, "app")
    ]


def test_a_need_that_an_import_before_still_has_preloaded_is_no_cause_of_its_fall() -> None:
    """second keeps what first loads for it, and loses libgone.so: that alone is why third falls."""
    contents: dict[str, Content] = {
        **GONE,
        f"first/_m{EXT}": lib(needs=["libone.so"], rpath="$ORIGIN/lib"),
        "first/lib/libone.so": lib("libone.so"),
        f"second/_m{EXT}": lib(
            needs=["libone.so", "libtwo.so", "libgone.so"], rpath="$ORIGIN/lib:$ORIGIN/../gone"
        ),
        "second/lib/libtwo.so": lib("libtwo.so"),
        f"third/_m{EXT}": lib(needs=["libtwo.so"]),
    }
    first = dist("first", [f"first/_m{EXT}", "first/lib/libone.so"])
    second = dist("second", [f"second/_m{EXT}", "second/lib/libtwo.so"], requires=["first"])
    third = dist("third", [f"third/_m{EXT}"], requires=["second"])
    found = lost(contents, [first, second, third, LEAVER], [LEAVER])
    assert [(wants, who) for _, wants, who, _ in found] == [
        ("libgone.so", "second"),
        ("libgone.so", "third"),
    ]


def test_what_did_not_load_before_is_not_newly_broken() -> None:
    there = surveyed({"a/m.so": lib(needs=["none.so"]), "a/n.so": lib()}, dist("a", ["a/m.so", "a/n.so"]))
    assert losses.newly_broken(there.survey, there.survey) == ()


def fallen(roots: Mapping[str, Sequence[tuple[str, str | None]]]) -> list[tuple[str, tuple[str, ...]]]:
    """Losses, by name, of roots whose every need was preloaded by the root that is named, or searched, and is missing now."""
    owner = dist("all", [f"all/{root}" for root in roots])
    needs = {
        Need(at(f"all/{root}"), at(f"all/{root}"), wants): brought_by
        for root, wanted in roots.items()
        for wants, brought_by in wanted
    }
    loadings = {
        at(f"all/{root}"): Loading(
            at(f"all/{root}"), (Loaded(at(f"all/{root}"), at(f"all/{root}"), None, None),), ()
        )
        for root in roots
    }

    def answer(need: Need, brought_by: str | None) -> Answer:
        found = Binding(need.consumer, need.wants, at("gone"), None, ())
        if brought_by is None:
            return Answer(Standing.SEARCHED, found, at("gone"))
        return Answer(Standing.PRELOADED, found, at("gone"), at(f"all/{brought_by}"))

    def missing(need: Need) -> Answer:
        return Answer(Standing.MISSING, Binding(need.consumer, need.wants, None, None, ()))

    worlds = losses.Worlds(
        Survey({need: answer(need, by) for need, by in needs.items()}, loadings),
        Survey({need: missing(need) for need in needs}, loadings),
        Objects({need.root: owner for need in needs}, {}),
        inventory(owner),
    )
    return [(group.wants, group.losses[0].chain) for group in losses.compare(worlds)]


def test_of_many_ways_through_earlier_imports_down_to_one_cause_the_shortest_is_told() -> None:
    """As in RAPIDS, where each library is brought by one that others were brought for: the ways double at each step."""
    last = 60
    line = {f"m{i}{EXT}": [("liba.so", f"m{i + 1}{EXT}"), ("libb.so", f"m{i + 1}{EXT}")] for i in range(last)}
    found = fallen({**line, f"m{last}{EXT}": [("libc.so", None)]})
    assert found == [("libc.so", ("import all", f"all/m{last}{EXT}", "libc.so"))]


def test_imports_that_had_their_libraries_of_each_other_are_told_with_what_each_wants() -> None:
    found = fallen({f"a{EXT}": [("liba.so", f"b{EXT}")], f"b{EXT}": [("libb.so", f"a{EXT}")]})
    assert sorted(wants for wants, _ in found) == ["liba.so", "libb.so"]
