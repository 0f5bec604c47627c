"""Extras that were asked for and lack something, told from those that are there by chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from safepip.model.diagnosis import Check, Level
from safepip.model.environment import Distribution
from safepip.reasoning.health.extras import incomplete
from support.environments import dist, inventory

ON_LINUX = 'nvidia-{}; (sys_platform == "linux") and extra == "and-cuda"'
TENSORFLOW = dist(
    "tensorflow",
    requires=[
        "numpy",
        ON_LINUX.format("cudnn-cu12 <10, >=9.3"),
        ON_LINUX.format("cupti-cu12<13"),
        ON_LINUX.format("nccl-cu12<3"),
        'windows-only; sys_platform == "win32" and extra == "and-cuda"',
        'not-here; extra == "gcs"',
    ],
    extras=["and-cuda", "gcs"],
)
NUMPY, CUPTI, NCCL = dist("numpy"), dist("nvidia-cupti-cu12"), dist("nvidia-nccl-cu12", version="2.27")
ASKED = replace(TENSORFLOW, requested=True)


def told(*dists: Distribution, hollow: tuple[Distribution, ...] = ()) -> Iterator[str]:
    for item in incomplete(inventory(*dists, *hollow), {one.info for one in hollow}):
        assert (item.check, item.level, item.distribution) == (
            Check.INCOMPLETE_EXTRA,
            Level.WARN,
            "tensorflow",
        )
        yield f"{item.message} | {item.wants}"


def test_what_is_lacking_of_an_extra_that_is_there_but_for_it_is_named_with_the_versions_that_fit() -> None:
    expected = (
        "tensorflow[and-cuda] requires nvidia-cudnn-cu12 <10, >=9.3, which is not installed; "
        "the other 2 that it lists are | nvidia-cudnn-cu12<10,>=9.3"
    )
    assert list(told(ASKED, NUMPY, CUPTI, NCCL)) == [expected]
    assert list(told(ASKED, NUMPY, CUPTI, NCCL, hollow=(dist("nvidia-cudnn-cu12", version="9.5"),))) == [
        expected
    ]


def test_a_whole_extra_and_one_of_which_little_is_there_are_passed_over() -> None:
    assert list(told(ASKED, NUMPY, CUPTI, NCCL, dist("nvidia-cudnn-cu12", version="9.5"))) == []
    assert list(told(ASKED, NUMPY, CUPTI)) == []
    assert list(told(ASKED, NUMPY)) == []


def test_members_that_something_else_explains_are_no_sign_of_an_extra() -> None:
    asked = [replace(one, requested=True) for one in (CUPTI, NCCL)]
    torch = dist("torch", requires=["nvidia-cupti-cu12", "nvidia-nccl-cu12"])
    assert list(told(ASKED, NUMPY, *asked)) == []
    assert list(told(ASKED, NUMPY, CUPTI, NCCL, torch)) == []


def test_where_nobody_wrote_down_what_was_asked_for_nothing_is_explained() -> None:
    assert list(told(TENSORFLOW, NUMPY, CUPTI, NCCL)) == []


def test_another_version_and_a_line_that_is_no_requirement_are_not_told_as_absent() -> None:
    odd = replace(ASKED, requires=(*ASKED.requires, '= ; extra == "and-cuda"'))
    other = dist("nvidia-cudnn-cu12", version="8.9")
    assert list(told(ASKED, NUMPY, CUPTI, NCCL, other)) == []
    assert len(list(told(odd, NUMPY, CUPTI, NCCL))) == 1
