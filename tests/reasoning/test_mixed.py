"""Runtimes that lie in an environment several times, or in each other's place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from safepip.model.audit import Bound, Build, Mixed
from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.report import Severity
from safepip.model.survey import Objects
from safepip.reasoning.health import mixed
from support.environments import EXT, at, dist
from support.fake_world import Content, lib
from support.surveys import Surveyed, surveyed


def build(path: TargetPath) -> Build:
    return Build(path, path.rpartition("/")[2], ("owner",), "owner", "1.0")


def found(there: Surveyed, builds: Mapping[TargetPath, Build] | None = None) -> list[Mixed]:
    of = (builds or {}).get
    return list(
        mixed.find(there.survey, there.objects, there.inventory, lambda path: of(path) or build(path))
    )


def test_a_runtime_is_known_by_its_name_with_or_without_the_mark_of_auditwheel() -> None:
    names = (
        "libgomp.so.1",
        "libgomp-a34b3233.so.1.0.0",
        "libiomp5.so",
        "libcudart-1a2b.so.12",
        "libQt6Core.so.6",
    )
    assert [mixed.family_of(name) for name in names] == ["OpenMP", "OpenMP", "OpenMP", "CUDA runtime", "Qt"]
    assert [mixed.family_of(name) for name in ("libgomp_plugin.so.1", "libcudnn_ops.so.9", "")] == [
        "",
        "",
        "",
    ]


def user(name: str, wants: str) -> tuple[Distribution, dict[str, Content]]:
    """A package that brings a library of its own and is bound to it."""
    made: dict[str, Content] = {
        f"{name}/_m{EXT}": lib(needs=[wants], rpath="$ORIGIN/libs"),
        f"{name}/libs/{wants}": lib(wants),
    }
    return dist(name, [*made]), made


def bound(name: str, wants: str) -> Bound:
    return Bound(name, at(f"{name}/_m{EXT}"), at(f"{name}/libs/{wants}"))


GOMP, IOMP = "libgomp.so.1", "libiomp5.so"
ONE, TWO = user("one", GOMP), user("two", IOMP)


def test_two_builds_of_one_runtime_are_told_with_who_is_bound_to_which() -> None:
    there = surveyed({**ONE[1], **TWO[1]}, ONE[0], TWO[0])
    paths = [at(f"one/libs/{GOMP}"), at(f"two/libs/{IOMP}")]
    assert found(there) == [
        Mixed(
            "OpenMP",
            tuple(build(path) for path in paths),
            (bound("one", GOMP), bound("two", IOMP)),
            "2 builds of OpenMP, all in use",
        )
    ]


def test_a_build_that_is_bound_by_nobody_is_counted_as_one() -> None:
    third = dist("third", [f"third/{IOMP}"])
    unused: dict[str, Content] = {f"third/{IOMP}": lib(IOMP)}
    (one,) = found(surveyed({**ONE[1], **unused}, ONE[0], third))
    assert (one.message, one.severity) == ("2 builds of OpenMP, 1 of them bound by a need", Severity.NOTE)
    fourth: dict[str, Content] = {"fourth/libomp.so": lib("libomp.so")}
    (few,) = found(surveyed({**ONE[1], **unused, **fourth}, ONE[0], third, dist("fourth", [*fourth])))
    assert few.message == "3 builds of OpenMP, 1 of them bound by a need"
    spare: dict[str, Content] = {**unused, f"third/{GOMP}": lib(GOMP)}
    (none,) = found(surveyed(spare, dist("third", [*spare])))
    assert none.message == "2 builds of OpenMP, none of them bound by a need"


def test_one_build_that_all_use_is_nothing_to_tell() -> None:
    assert found(surveyed(ONE[1], ONE[0])) == []


def test_a_build_of_the_system_counts_where_it_is_bound() -> None:
    module: dict[str, Content] = {f"two/_m{EXT}": lib(needs=[GOMP]), f"/lib/{GOMP}": lib(GOMP)}
    there = surveyed({**ONE[1], **module}, ONE[0], dist("two", [f"two/_m{EXT}"]))
    (one,) = found(there)
    assert [item.path for item in one.builds] == [at(f"one/libs/{GOMP}"), f"/lib/{GOMP}"]


def test_a_library_of_two_names_is_one_build_and_an_unowned_consumer_is_nobodys() -> None:
    path = at(f"one/libs/{GOMP}")
    contents: dict[str, Content] = {path: lib("libgomp.so.1.0.0")}
    there = surveyed(contents, dist("one", [path]))
    assert mixed.members(there.objects) == {"OpenMP": [path]}
    whole = surveyed({**ONE[1], **TWO[1]}, ONE[0], TWO[0])
    nobodys = whole._replace(objects=Objects({}, whole.objects.elves))
    assert [item.bound for item in found(nobodys)] == [()]


CUDNN = at("nvidia/cudnn/lib/libcudnn.so.9")


def cudnn_used(
    requires: Sequence[str], owners: Sequence[str], bytes_of: str, *more: Distribution
) -> list[Mixed]:
    """torch is bound to one cuDNN, which `owners` have at one path."""
    module = f"torch/_C{EXT}"
    contents: dict[str, Content] = {
        module: lib(needs=["libcudnn.so.9"], rpath="$ORIGIN/../nvidia/cudnn/lib"),
        CUDNN: lib("libcudnn.so.9"),
    }
    torch = dist("torch", [module], requires=requires)
    twelve, thirteen = dist("cudnn-a", [CUDNN], version="9.10"), dist("cudnn-b", [CUDNN], version="9.19")
    there = surveyed(contents, torch, twelve, thirteen, *more)
    version = {"cudnn-a": "9.10", "cudnn-b": "9.19"}.get(bytes_of, "")
    return found(there, {CUDNN: Build(CUDNN, "libcudnn.so.9", tuple(owners), bytes_of, version)})


BOTH = ("cudnn-a", "cudnn-b")


def test_who_gets_the_bytes_of_another_than_it_requires_is_told() -> None:
    (one,) = cudnn_used(["cudnn-a"], BOTH, "cudnn-b", dist("idle", requires=["cudnn-a"]))
    assert (one.family, one.severity, one.overwritten, one.message) == (
        "cuDNN",
        Severity.WARN,
        ("cudnn-a",),
        "torch uses cuDNN 9.19 from cudnn-b; its own cudnn-a 9.10 was overwritten",
    )


def test_who_has_its_own_or_requires_both_or_neither_or_nobody_knows_whose_is_not_told() -> None:
    assert cudnn_used(["cudnn-a"], BOTH, "cudnn-a") == []
    assert cudnn_used(["cudnn-a", "cudnn-b"], BOTH, "cudnn-b") == []
    assert cudnn_used([], BOTH, "cudnn-b") == []
    assert cudnn_used(["cudnn-a"], BOTH, "") == []
    assert cudnn_used(["cudnn-a"], ("cudnn-a",), "cudnn-b") == []


def test_distributions_of_two_cuda_releases_are_told_side_by_side() -> None:
    dists = [dist(name) for name in ("nvidia-cublas-cu12", "nvidia-nccl-cu13", "nvidia-cudnn-cu13")]
    assert found(surveyed({}, *dists)) == [
        Mixed("CUDA", (), (), "CUDA 12 (1 distribution) and CUDA 13 (2 distributions) side by side")
    ]
    assert found(surveyed({}, *dists[1:])) == []


def test_each_build_in_anothers_place_is_told_and_who_uses_another_build_is_not_one_of_its_users() -> None:
    modules: dict[str, Content] = {
        f"{name}/_m{EXT}": lib(needs=["libcudnn.so.9"], rpath=f"$ORIGIN/../{name}_nv")
        for name in ("one", "two")
    }
    libraries: dict[str, Content] = {
        f"{name}_nv/libcudnn.so.9": lib("libcudnn.so.9") for name in ("one", "two")
    }
    users = [dist(name, [f"{name}/_m{EXT}"], requires=[f"{name}-own"]) for name in ("idle", "one", "two")]
    owns = [dist(f"{name}-own", [f"{name}_nv/libcudnn.so.9"], version="1") for name in ("one", "two")]
    builds = {
        at(f"{name}_nv/libcudnn.so.9"): Build(
            at(f"{name}_nv/libcudnn.so.9"), "libcudnn.so.9", (f"{name}-own", "usurper"), "usurper", "2"
        )
        for name in ("one", "two")
    }
    (told,) = found(surveyed({**modules, **libraries}, *users, *owns), builds)
    assert told.message == (
        "one uses cuDNN 2 from usurper; its own one-own 1 was overwritten; "
        "two uses cuDNN 2 from usurper; its own two-own 1 was overwritten"
    )
