"""From ailments to the fewest commands, in the right order."""

from __future__ import annotations

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.environment import Distribution
from safepip.model.paths import DistKey
from safepip.reasoning.health.repair import Kept, Means, plan
from support.environments import at, dist, inventory

TORCH = dist("torch", version="2.9.1+cu128")
CUDNN = dist("cudnn", ["cudnn/libcudnn.so.9"], version="9.10")
NUMPY = dist("numpy", ["numpy/a.py"], version="2.0")
HOLLOW = Ailment(
    Check.HOLLOW,
    Level.ERROR,
    "cudnn",
    "hollow",
    at("cudnn/libcudnn.so.9"),
    paths=(at("cudnn/libcudnn.so.9"),),
    mended_by=(CUDNN.key,),
)
LIBRARY = Ailment(
    Check.MISSING_LIBRARY,
    Level.ERROR,
    "torch",
    "missing",
    at("torch/_C.so"),
    "libcudnn.so.9",
    mended_by=(CUDNN.key,),
)


def lost(who: Distribution) -> Ailment:
    return Ailment(
        Check.MISSING_FILE, Level.ERROR, who.name, "lost", paths=who.files or (), mended_by=(who.key,)
    )


def unmet(user: str, wants: str) -> Ailment:
    return Ailment(Check.UNMET_REQUIREMENT, Level.WARN, user, "unmet", wants=wants)


def steps(*ailments: Ailment, means: Means | None = None) -> list[tuple[str, ...]]:
    cures, _ = plan(ailments, inventory(TORCH, CUDNN, NUMPY), means or Means())
    return [cure.command[3:] for cure in cures]


def test_one_command_mends_a_hollow_distribution_and_all_that_hangs_on_it() -> None:
    cures, incurable = plan((LIBRARY, HOLLOW), inventory(TORCH, CUDNN), Means())
    assert [(cure.command[3:], cure.cures) for cure in cures] == [
        (("install", "--no-deps", "--force-reinstall", "cudnn==9.10"), (LIBRARY, HOLLOW))
    ]
    assert incurable == ()


def test_several_are_installed_anew_in_one_command_and_a_local_label_in_one_of_its_own() -> None:
    assert steps(lost(NUMPY), HOLLOW, lost(TORCH)) == [
        ("install", "--no-deps", "--force-reinstall", "numpy==2.0", "cudnn==9.10"),
        ("install", "--no-deps", "--force-reinstall", "torch==2.9.1+cu128"),
    ]


def test_what_was_installed_from_an_archive_comes_from_there_again() -> None:
    means = Means(urls={DistKey("torch"): "torch @ https://example.org/torch.whl"})
    assert steps(lost(TORCH), means=means) == [
        ("install", "--no-deps", "--force-reinstall", "torch @ https://example.org/torch.whl")
    ]


def test_what_is_kept_comes_before_what_must_be_fetched() -> None:
    kept = Kept(3, "cudnn-cu13", frozenset([at("cudnn/libcudnn.so.9")]))
    assert steps(lost(NUMPY), HOLLOW, LIBRARY, means=Means((kept,))) == [
        ("undo", "3"),
        ("install", "--no-deps", "--force-reinstall", "numpy==2.0"),
    ]


def test_a_change_that_kept_only_a_part_of_what_is_missing_is_not_undone() -> None:
    kept = Kept(3, "other", frozenset([at("other.py")]))
    assert steps(HOLLOW, means=Means((kept,)))[0][0] == "install"


def test_pips_wreckage_is_put_back_before_anything_else() -> None:
    left = Ailment(Check.LEFTOVERS, Level.ERROR, "numpy", "left over")
    assert steps(HOLLOW, lost(NUMPY), left) == [
        ("doctor", "--fix", "--only", "leftovers"),
        ("install", "--no-deps", "--force-reinstall", "cudnn==9.10"),
    ]


def test_all_that_is_said_of_one_requirement_is_asked_of_pip_at_once() -> None:
    assert steps(unmet("a", "lib>=1.2"), unmet("b", "Lib<2"), unmet("c", "lib"), unmet("d", "other[x]")) == [
        ("install", "lib>=1.2,<2", "other[x]")
    ]


def test_a_note_needs_no_cure_and_what_no_command_mends_is_named() -> None:
    note = Ailment(Check.MISSING_LIBRARY, Level.NOTE, "numba", "tbb", soname="libtbb.so.12")
    system = Ailment(Check.MISSING_LIBRARY, Level.ERROR, "cv2", "libGL", soname="libGL.so.1")
    assert plan((note, system), inventory(TORCH), Means()) == ((), (system,))


def test_what_a_person_has_changed_comes_last_and_is_marked() -> None:
    edited = Ailment(Check.ALTERED_FILE, Level.WARN, "numpy", "edited", mended_by=(NUMPY.key,))
    cures, _ = plan((edited, HOLLOW), inventory(CUDNN, NUMPY), Means())
    assert [(cure.command[-1], cure.loses_changes) for cure in cures] == [
        ("cudnn==9.10", False),
        ("numpy==2.0", True),
    ]
