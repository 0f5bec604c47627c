"""Questions spread over copies of the process: the answers are those of one process, whatever becomes of a copy."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from safepip.commands import audit, spread
from safepip.commands.scene import Scene
from safepip.model.audit import Audit
from safepip.model.policy import Policy
from support.environments import dist
from support.small import Small, small

QUESTIONS = range(40)
NOTHING = spread.NOTHING_KEPT


@pytest.fixture
def processors(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """So many, whatever this machine has."""
    return lambda number: monkeypatch.setattr(
        os, "sched_getaffinity", lambda _: set(range(number)), raising=False
    )


@pytest.fixture(autouse=True)
def three(processors: Callable[[int], None]) -> None:
    processors(3)


def asked_by(question: int) -> tuple[int, int]:
    return question, os.getpid()


def test_each_question_is_answered_once_and_in_order_by_several_processes() -> None:
    told: list[int] = []
    answers = spread.spread(asked_by, QUESTIONS, NOTHING, [], told.append)
    assert [question for question, _ in answers] == [*QUESTIONS]
    assert answers[0][1] == os.getpid() not in {process for _, process in answers[1:]}
    assert told == [0, *range(1, len(QUESTIONS))]


def test_no_copy_outlives_the_answers() -> None:
    spread.spread(asked_by, QUESTIONS, NOTHING, [])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize(("available", "questions"), [(1, 40), (8, spread.FEW - 1), (8, 0)])
def test_one_processor_or_few_questions_make_no_copy(
    available: int, questions: int, processors: Callable[[int], None]
) -> None:
    processors(available)
    answers = spread.spread(asked_by, range(questions), NOTHING, [])
    assert answers == [(question, os.getpid()) for question in range(questions)]


def test_what_a_killed_copy_owes_is_asked_here() -> None:
    here = os.getpid()

    def ask(question: int) -> int:
        if question == 7 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return question * question

    assert spread.spread(ask, QUESTIONS, NOTHING, []) == [number * number for number in QUESTIONS]


def test_an_error_in_a_copy_is_raised_here() -> None:
    def ask(question: int) -> int:
        return 1 // (question - 31)

    with pytest.raises(ZeroDivisionError):
        spread.spread(ask, QUESTIONS, NOTHING, [])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_answer_that_cannot_be_sent_is_worked_out_here() -> None:
    answers = spread.spread(lambda number: (number for _ in "once"), QUESTIONS, NOTHING, [])
    assert [next(answer) for answer in answers] == [*QUESTIONS]


def test_what_copies_found_out_is_handed_over() -> None:
    found: list[int] = []
    here = os.getpid()

    def take(others: list[int]) -> None:
        found.extend(others)

    def ask(question: int) -> None:
        if os.getpid() != here:
            found.append(question)

    spread.spread(ask, QUESTIONS, spread.Findings(lambda: found, take), [])
    assert sorted(found) == [*QUESTIONS][1:]


def test_a_distribution_of_this_process_comes_back_as_itself_and_another_as_its_like() -> None:
    known = [dist(f"d{number}", []) for number in QUESTIONS]
    other = dist("other", ["other/__init__.py"])
    answers = spread.spread(lambda one: (one, other), known, NOTHING, known)
    assert all(answer[0] is one for answer, one in zip(answers, known, strict=True))
    assert all(answer[1] == other for answer in answers)
    assert answers[-1][1] is not other


def test_large_answers_come_whole() -> None:
    answers = spread.spread(lambda number: bytes([number]) * 300_000, QUESTIONS, NOTHING, [])
    assert answers == [bytes([number]) * 300_000 for number in QUESTIONS]


def full(folder: Path) -> Small:
    """Thirty distributions that import one another in a line, one of them under a guard."""
    there = small(folder)
    for number in range(30):
        needs = (
            f"import m{number + 1}\n"
            if number % 3
            else f"try:\n    import m{number + 1}\nexcept ImportError:\n    pass\n"
        )
        there.add(
            f"m{number}",
            {f"m{number}/__init__.py": needs if number < 29 else "", f"m{number}/more.py": "import ctypes\n"},
        )
    return there


def hits(kept: Any) -> Any:
    """Without the names that were looked for in vain: the one that came first is noted."""
    if isinstance(kept, dict):
        return {key: hits(value) for key, value in kept.items() if value != []}
    return [hits(value) for value in kept] if isinstance(kept, list) else kept


def test_an_audit_in_copies_says_and_keeps_what_one_in_a_single_process_does(
    tmp_path: Path, processors: Callable[[int], None]
) -> None:
    there = full(tmp_path)

    def audited(number: int) -> tuple[Audit, dict[str, object]]:
        processors(number)
        home = tmp_path / f"cache{number}"
        scene = Scene(there.target, {"XDG_CACHE_HOME": str(home)})
        found = audit.audit(scene, Policy(), (), lambda *_: None)
        return found, {path.name: hits(json.loads(path.read_text())) for path in home.rglob("*.json")}

    (alone, kept), (spread_out, also_kept) = audited(1), audited(4)
    assert spread_out == alone
    assert [item.verdict.decision.value for item in alone.judged].count("refuse") == 19
    assert also_kept == kept
