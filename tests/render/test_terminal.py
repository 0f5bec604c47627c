"""The report for people: golden text, bounds, and names that must not drive the terminal."""

from __future__ import annotations

from safepip.errors import SafepipError
from safepip.model.change import Halt, Removal
from safepip.model.elf import Rule, Step
from safepip.model.environment import Unjudged
from safepip.model.report import Consumer, Finding, FindingKind, Provider, Remedy, Severity, Summary, Verdict
from safepip.render.terminal import Style, headline, show, show_error, show_outcome
from support.environments import at, dist, target

CUDNN13 = dist("nvidia-cudnn-cu13", version="9.19.0.56")
LIB = at("nvidia/cudnn/lib/libcudnn.so.9")
STORY = Verdict(
    target(),
    Removal(leaving=(CUDNN13,), files=(LIB,)),
    findings=(
        Finding(
            FindingKind.LIBRARY_LOST,
            Severity.REFUSE,
            "torch",
            "torch could no longer be loaded",
            soname="libcudnn.so.9",
            provider=Provider(LIB, ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"), "nvidia-cudnn-cu13"),
            consumers=(
                Consumer(
                    at("torch/lib/libtorch_python.so"),
                    "torch",
                    ("import torch", "torch/_C.so", "libtorch_python.so", "libcudnn.so.9"),
                ),
            ),
            searched=(
                Step(Rule.RPATH, LIB, at("torch/lib/libtorch_python.so"), "$ORIGIN/../../nvidia/cudnn/lib"),
            ),
            proof=("readelf", "-d", "it's here"),
        ),
        Finding(
            FindingKind.LIBRARY_LOST,
            Severity.REFUSE,
            "torchvision",
            "torchvision could no longer be loaded",
            soname="libcudnn.so.9",
            consumers=(Consumer(at("torchvision/_C.so"), "torchvision", ("import torchvision",)),),
        ),
        Finding(
            FindingKind.SHARED_TRIVIAL,
            Severity.NOTE,
            "x",
            "1 co-owned file of no consequence would go as well (x)",
        ),
    ),
    remedies=(
        Remedy("Keep it"),
        Remedy(
            "Or replace it",
            (("safepip", "--python", "/env/bin/python", "install", "nvidia-cudnn-cu13==9.19.0.56"),),
        ),
    ),
)
TEXT = """\
safepip: REFUSED: removing nvidia-cudnn-cu13 9.19.0.56 would break torch,
  torchvision
  in /env (Python 3.12.1)

  library-lost: libcudnn.so.9, needed by torch (1), torchvision (1)
    import torch → torch/_C.so → libtorch_python.so → libcudnn.so.9
    now: nvidia/cudnn/lib/libcudnn.so.9, owned by nvidia-cudnn-cu12 and nvidia-
      cudnn-cu13, bytes of nvidia-cudnn-cu13
    then: the loader looks in 1 place (RPATH) and finds it in none
  note: 1 co-owned file of no consequence would go as well (x)

Safe ways
  1. Keep it
  2. Or replace it
     safepip --python /env/bin/python install nvidia-cudnn-cu13==9.19.0.56
"""


def test_a_refusal_reads_like_this() -> None:
    assert show(STORY, Style()) == TEXT.replace(
        "nvidia-\n      cudnn-cu13, bytes", "\n      nvidia-cudnn-cu13, bytes"
    ).replace(" and \n", " and\n")


def test_a_removal_at_which_pip_would_stop_is_not_said_to_break_what_it_keeps() -> None:
    halt = Halt("six", "pip cannot move /env/bin/six", 2, stuck=True)
    finding = Finding(FindingKind.CANNOT_TELL, Severity.REFUSE, "six", "pip would stop at six")
    verdict = Verdict(target(), Removal(halt=halt), findings=(finding,))
    assert headline(verdict) == "safepip: REFUSED: not removing six"


def test_libraries_that_the_same_survivors_lose_are_one_block_under_the_one_most_needed() -> None:
    def lost(soname: str, consumers: int) -> Finding:
        who = tuple(
            Consumer(at(f"PyQt6/{number}.so"), "PyQt6", ("import PyQt6", soname))
            for number in range(consumers)
        )
        return Finding(FindingKind.LIBRARY_LOST, Severity.REFUSE, "PyQt6", "", soname=soname, consumers=who)

    findings = (lost("libQt6Bluetooth.so.6", 1), lost("libQt6Core.so.6", 33), lost("libQt6Gui.so.6", 9))
    text = show(Verdict(target(), Removal(leaving=(CUDNN13,)), findings=findings), Style())
    assert "library-lost: libQt6Core.so.6 and 2 libraries more, needed by PyQt6 (33)" in text
    assert text.count("library-lost") == 1


def test_verbose_adds_the_places_tried_and_a_proof_that_can_be_pasted() -> None:
    text = show(STORY, Style(verbose=True))
    assert f"tried {LIB} (RPATH $ORIGIN/../../nvidia/cudnn/lib)" in text
    assert """proof: readelf -d 'it'"'"'s here'""" in text


def test_a_report_fits_a_terminal_of_24_lines_and_80_columns_commands_aside() -> None:
    many = tuple(
        Finding(
            FindingKind.FILE_LOST,
            Severity.REFUSE,
            f"survivor-number-{n}",
            f"survivor-number-{n} would lose " + "a/long/path " * 6,
        )
        for n in range(40)
    )
    ways = (*STORY.remedies, *STORY.remedies[1:] * 2)
    verdict = Verdict(target(), Removal(leaving=(CUDNN13,)), findings=many, remedies=ways)
    lines = show(verdict, Style()).splitlines()
    assert len(lines) <= 24
    assert [line for line in lines if line.startswith("  … and")] == [
        "  … and 37 more (-v shows all)",
        "  … and 1 more (-v shows all)",
    ]
    assert "more (-v" not in show(verdict, Style(verbose=True))
    assert max(len(line) for line in lines if not line.startswith("     safepip")) <= 80


def test_colour_is_put_on_only_where_it_is_asked_for() -> None:
    assert "\033" not in show(STORY, Style())
    assert "\033[31;1mlibrary-lost:\033[0m libcudnn.so.9" in show(STORY, Style(colour=True))


def test_control_characters_and_odd_bytes_of_names_are_escaped() -> None:
    evil = dist("evil\x1b[2J\udcff")
    text = show(Verdict(target(), Removal(leaving=(evil,))), Style(colour=True))
    assert "evil\\x1b[2J\\udcff 1.0" in text
    assert "\x1b" not in text


def test_what_could_not_be_read_is_counted_and_named_under_v() -> None:
    verdict = Verdict(target(), Removal(leaving=(CUDNN13,)), unjudged=(Unjudged("a.so", "file is cut off"),))
    assert "note: 1 thing could not be read (-v names them)" in show(verdict, Style())
    assert "unjudged: a.so: file is cut off" in show(verdict, Style(verbose=True))


def test_nothing_is_said_of_a_removal_that_went_as_planned() -> None:
    assert show_outcome(Summary(0, 3, (), ()), None, Style()) == ""


def test_what_went_otherwise_than_planned_is_said() -> None:
    text = show_outcome(Summary(0, 3, (at("left.py"),), (at("too.py"),)), None, Style(width=200))
    assert f"pip left 1 file that was to go: {at('left.py')}" in text
    assert f"pip also removed {at('too.py')}, which was not planned" in text


def test_an_error_says_the_way_out_below() -> None:
    assert show_error(SafepipError("x", "there is no interpreter /x", "Name a python."), Style()) == (
        "safepip: error: there is no interpreter /x\n  Name a python.\n"
    )
