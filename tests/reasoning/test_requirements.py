"""Requires-Dist of survivors, met now and no longer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.reasoning.requirements import (
    LONGEST,
    Lost,
    LostRequirement,
    asks_for_other,
    listed_under,
    lost,
    requires_closure,
    wishes,
)
from support.environments import dist, inventory


def all_lost(
    leaving: list[Distribution], *everybody: Distribution, hollow: frozenset[TargetPath] = frozenset()
) -> Lost:
    here = inventory(*everybody)
    return lost(leaving, here, hollow, wishes(here))


def losses(
    leaving: list[Distribution], *everybody: Distribution, hollow: frozenset[TargetPath] = frozenset()
) -> list[tuple[str, str, bool]]:
    found = all_lost(leaving, *everybody, hollow=hollow)
    return [(loss.survivor.name, loss.lost.name, loss.extra) for loss in found.requirements]


def test_a_requirement_that_only_the_leaver_meets_is_lost() -> None:
    numpy, pandas = dist("numpy", version="2.5.5"), dist("pandas", requires=["numpy>=1.26"])
    assert losses([numpy], numpy, pandas) == [("pandas", "numpy", False)]


def test_names_are_compared_in_canonical_form() -> None:
    dot, user = dist("ruamel-yaml"), dist("user", requires=["ruamel.YAML"])
    assert losses([dot], dot, user) == [("user", "ruamel-yaml", False)]


def test_a_requirement_that_is_not_met_now_is_not_lost() -> None:
    numpy, old = dist("numpy", version="2.5.5"), dist("old", requires=["numpy<2"])
    assert losses([numpy], numpy, old) == []


def test_a_prerelease_meets_a_requirement_as_in_pip_check() -> None:
    numpy, user = dist("numpy", version="2.0.0rc1"), dist("user", requires=["numpy>=1.26"])
    assert losses([numpy], numpy, user) == [("user", "numpy", False)]


def test_a_marker_is_evaluated_for_the_target_and_not_for_this_interpreter() -> None:
    backport = dist("tomli")
    user = dist("user", requires=['tomli; python_version < "3.11"'])
    windows = dist("windows", requires=['tomli; sys_platform == "win32"'])
    always = dist("always", requires=['tomli; python_version >= "3.12" and python_version < "3.13"'])
    assert losses([backport], backport, user, windows, always) == [("always", "tomli", False)]


def test_a_requirement_under_an_extra_is_told_apart() -> None:
    socks = dist("PySocks", version="1.7.1")
    requests = dist("requests", requires=['PySocks!=1.5.7,>=1.5.6; extra == "socks"'], extras=["socks"])
    assert losses([socks], socks, requests) == [("requests", "PySocks", True)]


CUDA = 'nvidia-{}<13; (sys_platform == "linux") and extra == "and-cuda"'
TENSORFLOW = dist(
    "tensorflow",
    requires=[
        "numpy",
        CUDA.format("cudnn-cu12"),
        CUDA.format("nccl-cu12"),
        'windows-only; sys_platform == "win32" and extra == "and_cuda"',
        'not-here; extra == "gcs"',
        'nvidia-cudnn-cu12; extra == "gcs"',
    ],
    extras=["gcs", "And_CUDA"],
)


def test_an_extra_all_of_which_is_installed_is_in_use() -> None:
    cudnn, nccl = dist("nvidia-cudnn-cu12", version="9.1"), dist("nvidia-nccl-cu12", version="2.27")
    (loss,) = all_lost([cudnn], cudnn, nccl, TENSORFLOW).requirements
    assert (loss.extra, loss.in_use) == (True, "And_CUDA")


def test_of_several_extras_the_one_that_lists_what_goes_and_is_whole_is_in_use() -> None:
    user = dist(
        "user", [], requires=["cudnn; extra == 'gpu'", "nose; extra == 'test'"], extras=("test", "gpu")
    )
    cudnn = dist("cudnn", [])
    [loss] = all_lost([cudnn], cudnn, user).requirements
    assert loss.in_use == "gpu"


def test_a_line_that_is_too_long_to_be_read_is_of_no_extra() -> None:
    long = f"nccl{'>=1,' * LONGEST}>=1; extra == 'gpu'"
    user = dist("user", [], requires=["cudnn; extra == 'gpu'", long], extras=("gpu",))
    assert listed_under("gpu", user) == ["cudnn; extra == 'gpu'"]


def test_an_extra_of_which_something_is_not_there_or_does_not_fit_is_not_in_use() -> None:
    cudnn, old = dist("nvidia-cudnn-cu12", version="9.1"), dist("nvidia-nccl-cu12", version="13.1")
    odd = replace(TENSORFLOW, requires=(*TENSORFLOW.requires, 'numpy >== 1; extra == "and-cuda"'))
    nccl, numpy = dist("nvidia-nccl-cu12", version="2.27"), dist("numpy")
    assert [loss.in_use for loss in all_lost([cudnn], cudnn, TENSORFLOW).requirements] == [""]
    assert [loss.in_use for loss in all_lost([cudnn], cudnn, old, TENSORFLOW).requirements] == [""]
    assert [loss.in_use for loss in all_lost([cudnn], cudnn, nccl, numpy, odd).requirements] == [""]


def test_who_leaves_as_well_loses_nothing() -> None:
    numpy, pandas = dist("numpy"), dist("pandas", requires=["numpy"])
    assert losses([numpy, pandas], numpy, pandas) == []


def test_who_loses_nothing_hides_nobody_after_it() -> None:
    """One who leaves as well, and one whom the second copy serves, come before the one who loses."""
    first, second = dist("numpy", version="1.26.4"), dist("numpy", version="2.3.5")
    leaver, served = dist("app", requires=["numpy"]), dist("arrow", requires=["numpy>=1"])
    pandas = dist("pandas", requires=["numpy<2"])
    everybody = (leaver, served, pandas, first, second)
    assert losses([first, leaver], *everybody) == [("pandas", "numpy", False)]


def test_a_hollow_distribution_met_nothing() -> None:
    numpy, pandas = dist("numpy"), dist("pandas", requires=["numpy"])
    assert losses([numpy], numpy, pandas, hollow=frozenset({numpy.info})) == []


def test_a_second_installation_of_the_same_name_still_meets() -> None:
    first, second = dist("numpy", version="1.0"), dist("numpy", version="2.0")
    pandas = dist("pandas", requires=["numpy"])
    assert losses([first], first, second, pandas) == []


def test_of_a_second_installation_the_version_counts() -> None:
    new, old, oldest = (dist("numpy", version=version) for version in ("2.0", "1.0", "0.9"))
    pandas, other = dist("pandas", requires=["numpy>=2"]), dist("other", requires=["numpy>=1"])
    assert losses([new], new, old, oldest, pandas, other) == [("pandas", "numpy", False)]
    assert losses([new, old], new, old, oldest, pandas, other) == [
        ("pandas", "numpy", False),
        ("other", "numpy", False),
    ]


def test_a_requirement_by_address_is_met_by_any_version() -> None:
    tool, user = dist("tool", version="0.1"), dist("user", requires=["tool @ file:///somewhere/tool-9.whl"])
    assert losses([tool], tool, user) == [("user", "tool", False)]


def test_what_cannot_be_parsed_is_unjudged_and_named() -> None:
    numpy, user = dist("numpy"), dist("user", requires=["numpy >= what"])
    found = all_lost([numpy], numpy, user)
    assert found.requirements == ()
    assert [item.subject for item in found.unjudged] == ["user requires 'numpy >= what'"]


def test_requirements_are_followed_transitively_without_extras() -> None:
    a = dist("a", requires=["b", 'd; extra == "more"'])
    b, c, d = dist("b", requires=["c", "a"]), dist("c"), dist("d")
    assert {item.name for item in requires_closure(a, inventory(a, b, c, d))} == {"b", "c"}


def test_what_is_too_long_to_be_parsed_in_time_is_unjudged() -> None:
    numpy = dist("numpy")
    long = dist("user", requires=["numpy" + ",".join(f">={number}" for number in range(2000))])
    (item,) = all_lost([numpy], numpy, long).unjudged
    shown = "numpy>=0,>=1,>=2,>=3,>=4,>=5,>=6,>=7,>=8"
    assert (item.subject, item.reason) == (f"user requires '{shown}' …", "more than 8192 characters")


def test_one_loss_of_a_pair_is_told_and_one_without_an_extra_before_one_under_an_extra() -> None:
    numpy = dist("numpy")
    under, plain = "numpy; extra == 'x'", "numpy>=1"
    for lines in ([under, plain], [plain, under], [plain, "numpy"]):
        user = dist("user", requires=lines, extras=["x"])
        assert all_lost([numpy], numpy, user).requirements == (
            LostRequirement(user, numpy, plain, extra=False),
        )


def test_an_extra_that_nobody_can_ask_for_loses_nothing() -> None:
    numpy, user = dist("numpy"), dist("user", requires=["numpy; extra == 'x'"], extras=["y"])
    assert losses([numpy], numpy, user) == []


def test_losses_are_told_in_the_order_of_those_who_lose() -> None:
    one, two = dist("one"), dist("two")
    first, last = dist("first", requires=["two", "one"]), dist("last", requires=["one"])
    assert losses([one, two], one, first, two, last) == [
        ("first", "two", False),
        ("first", "one", False),
        ("last", "one", False),
    ]


def test_a_line_that_begins_with_no_name_requires_nobody() -> None:
    numpy, user = dist("numpy"), dist("user", requires=["= numpy", "numpy"])
    assert losses([numpy], numpy, user) == [("user", "numpy", False)]


def test_what_no_parser_takes_is_unjudged_with_the_first_line_of_why() -> None:
    """packaging shows the place in two further lines."""
    numpy, user = dist("numpy"), dist("user", requires=["numpy >="])
    (item,) = all_lost([numpy], numpy, user).unjudged
    assert item.subject == "user requires 'numpy >='"
    assert item.reason.startswith("Expected ")


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("leaf==2", True),
        ("Leaf>1", True),
        ("leaf==1.0", False),
        ("leaf", False),
        ("twig==2", False),
        ("leaf @ file:///leaf.whl", False),
        ("leaf==a", False),
        (f"leaf=={'1.' * LONGEST}1", False),
    ],
)
def test_another_version_of_what_is_there_is_asked_for(written: str, *, other: bool) -> None:
    assert asks_for_other(written, dist("leaf", version="1.0")) is other
