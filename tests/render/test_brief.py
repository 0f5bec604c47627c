"""What a program is told of a refusal: golden text and bounds."""

from __future__ import annotations

from dataclasses import replace

from render.test_terminal import STORY

from safepip.model.report import Remedy
from safepip.render.brief import MOST, show

GOLDEN = """\
safepip: REFUSED: removing nvidia-cudnn-cu13 9.19.0.56 would break torch, torchvision: torch could no longer be \
loaded; nothing was touched
environment: /env/bin/python
library-lost: torch could no longer be loaded [import torch → torch/_C.so → libtorch_python.so → libcudnn.so.9]
library-lost: torchvision could no longer be loaded [import torchvision]
Run instead: nothing. Keep it. Or replace it: safepip --python /env/bin/python install nvidia-cudnn-cu13==9.19.0.56
"""


def test_the_first_line_says_what_and_why_and_the_last_what_to_run() -> None:
    assert show(STORY) == GOLDEN


def test_several_commands_are_one_line_that_can_be_pasted() -> None:
    remedy = Remedy("x", (("safepip", "uninstall", "a b"), ("safepip", "install", "c")))
    assert show(replace(STORY, remedies=(remedy,))).splitlines()[-1] == (
        "Run instead: safepip uninstall 'a b' && safepip install c"
    )


def test_where_there_is_nothing_to_run_it_says_so() -> None:
    assert show(replace(STORY, remedies=(Remedy("Keep it: torch needs it"),))).splitlines()[-1] == (
        "Run instead: nothing. Keep it: torch needs it"
    )


def test_where_no_way_is_known_the_command_that_a_person_may_allow_can_be_pasted() -> None:
    command = "safepip --python /env/bin/python uninstall --force nvidia-cudnn-cu13"
    assert show(replace(STORY, remedies=())).splitlines()[-1] == (
        f"Run instead: nothing, or `{command}` on a person's word"
    )


def test_a_program_is_not_told_to_remove_more_than_it_wanted_where_keeping_is_best() -> None:
    keep, more = Remedy("Keep it: app needs it"), Remedy("More", (("safepip", "uninstall", "it", "app"),))
    renew = Remedy("Renew it", (("safepip", "install", "it==1"),))
    ways = {
        (keep, more): "nothing. Keep it: app needs it",
        (keep, more, renew): "nothing. Keep it: app needs it. Renew it: safepip install it==1",
    }
    for remedies, last in ways.items():
        told = show(replace(STORY, remedies=remedies)).splitlines()[-1]
        assert told == f"Run instead: {last}"


def test_however_much_would_break_it_stays_short_and_tells_that_there_is_more() -> None:
    first = STORY.findings[0]
    many = tuple(
        replace(first, distribution=f"d{number}", message=f"d{number} {'x' * 900}") for number in range(50)
    )
    text = show(replace(STORY, findings=many))
    assert len(text) <= MOST
    assert text.splitlines()[-2].endswith(" more: add --json")
    assert text.splitlines()[-1].startswith("Run instead: ")


def test_names_do_not_drive_a_terminal() -> None:
    evil = replace(STORY.findings[0], message="a\x1b[2Jb")
    assert "\x1b" not in show(replace(STORY, findings=(evil,)))
