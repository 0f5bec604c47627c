"""One question asked of many, spread over processes: each is a copy of this one, with all that was looked at before.

A copy answers one question after the other, and at its end hands over what it found out for later runs. What a
copy still owes when it is gone is asked here.
"""

from __future__ import annotations

import os
import pickle
import selectors
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import Any, NamedTuple, TypeVar

from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath

MOST = 4  # copies: each may come to hold as much memory as this process
FEW = 24  # questions: fewer are answered sooner than copies are made
AHEAD = 2  # questions that a copy has, so that it never waits
NUMBER = 4  # bytes of a number and of a length
PIECE = 1 << 18
END = (1 << 32) - 1

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Findings(NamedTuple):
    """What is found out on the way and kept for later runs: a copy gives it, this process takes it."""

    give: Callable[[], Any]
    take: Callable[[Any], None]


NOTHING_KEPT = Findings(lambda: None, lambda _: None)


def spread(
    ask: Callable[[Question], Answer],
    questions: Sequence[Question],
    findings: Findings,
    known: Iterable[Distribution],
    progress: Callable[[int], None] = lambda _: None,
) -> list[Answer]:
    """The answers, in the order of `questions`. `known` are not sent, but named. `progress`: how many are answered."""
    if not questions:
        return []
    mail = _Mail(known)
    progress(0)
    answers = {0: ask(questions[0])}  # what all have in common is looked at before the copies

    def work(copy: _Desk) -> None:
        for number in copy.numbers():
            copy.send(mail.packed((number, ask(questions[number]))))
        copy.send(mail.packed((END, findings.give())))

    with _copies(_how_many(len(questions)), work) as copies:
        for number, found in _told(copies, range(1, len(questions)), mail):
            if number == END:
                findings.take(found)
            else:
                progress(len(answers))
                answers[number] = found
    for number, question in enumerate(questions):
        if number not in answers:
            progress(len(answers))
            answers[number] = ask(question)
    return [answers[number] for number in range(len(questions))]


def _how_many(questions: int) -> int:
    """Of one processor there is nothing to gain."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return 0 if questions < FEW or processors < 2 else min(MOST, processors)


class _Desk(NamedTuple):
    """Where a copy works: it reads numbers, and sends messages."""

    numbers_from: int
    messages_to: int

    def numbers(self) -> Iterator[int]:
        while (number := int.from_bytes(os.read(self.numbers_from, NUMBER) or b"\xff" * NUMBER)) != END:
            yield number

    def send(self, message: bytes) -> None:
        left = memoryview(len(message).to_bytes(NUMBER) + message)
        while left:
            left = left[os.write(self.messages_to, left) :]


class _Copy:
    """A copy at work, as this process sees it."""

    def __init__(self, process: int, numbers_to: int, messages_from: int) -> None:
        self.process = process
        self.numbers_to = numbers_to
        self.messages_from = messages_from
        self._came = bytearray()

    def give(self, number: int) -> None:
        with suppress(BrokenPipeError):  # it is gone: what it owes is asked here
            os.write(self.numbers_to, number.to_bytes(NUMBER))

    def messages(self) -> Iterator[bytes]:
        """Those that have come whole; EOFError where the copy is gone."""
        piece = os.read(self.messages_from, PIECE)
        if not piece:
            raise EOFError
        self._came += piece
        while len(self._came) >= NUMBER:
            end = NUMBER + int.from_bytes(self._came[:NUMBER])
            if len(self._came) < end:
                return
            yield bytes(self._came[NUMBER:end])
            del self._came[:end]

    def close(self) -> None:
        os.close(self.numbers_to)
        os.close(self.messages_from)


@contextmanager
def _copies(count: int, work: Callable[[_Desk], None]) -> Iterator[list[_Copy]]:
    """None of them outlives the block."""
    copies: list[_Copy] = []
    try:
        with suppress(OSError):  # no more processes than these
            for _ in range(count):
                copies.append(_started(work, copies))
        yield copies
    finally:
        for copy in copies:
            copy.close()
            with suppress(ProcessLookupError):
                os.kill(copy.process, signal.SIGKILL)
            os.waitpid(copy.process, 0)


def _started(work: Callable[[_Desk], None], others: Iterable[_Copy]) -> _Copy:
    numbers_from, numbers_to = os.pipe()
    messages_from, messages_to = os.pipe()
    process = os.fork()
    if process:
        os.close(numbers_from)
        os.close(messages_to)
        return _Copy(process, numbers_to, messages_from)
    try:
        for other in others:
            other.close()
        os.close(numbers_to)
        os.close(messages_from)
        work(_Desk(numbers_from, messages_to))
    finally:  # whatever went wrong is met again where the question is asked once more
        os._exit(0)


def _told(copies: Sequence[_Copy], questions: range, mail: _Mail) -> Iterator[tuple[int, Any]]:
    """Each answer with its number, and each copy's findings with END."""
    if not copies:
        return
    left = iter(questions)
    with selectors.DefaultSelector() as waiting:
        for copy in copies:
            waiting.register(copy.messages_from, selectors.EVENT_READ, copy)
            for _ in range(AHEAD):
                copy.give(next(left, END))
        while waiting.get_map():
            for key, _ in waiting.select():
                try:
                    for message in key.data.messages():
                        key.data.give(next(left, END))
                        yield mail.opened(message)
                except EOFError:
                    waiting.unregister(key.fileobj)


class _Mail:
    """Values as bytes. Distributions that both sides have are named by their metadata folder."""

    def __init__(self, known: Iterable[Distribution]) -> None:
        self._known = {dist.info: dist for dist in known}

    def packed(self, value: object) -> bytes:
        stream = BytesIO()
        pickler = pickle.Pickler(stream, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = {Distribution: self._reduced}
        pickler.dump(value)
        return stream.getvalue()

    def opened(self, message: bytes) -> Any:
        unpickler = _Unpickler(BytesIO(message))
        unpickler.named = self._known.__getitem__
        return unpickler.load()

    def _reduced(self, dist: Distribution) -> Any:
        if self._known.get(dist.info) is dist:
            return _named, (dist.info,)
        return dist.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def _named(info: TargetPath) -> Distribution:
    """Stands in a message for the distribution that this process has."""
    raise NotImplementedError(info)


class _Unpickler(pickle.Unpickler):
    """Opens what a copy of this process has packed, and nothing from elsewhere."""

    named: Callable[[TargetPath], Distribution]

    def find_class(self, module: str, name: str) -> Any:
        return (
            self.named if (module, name) == (__name__, _named.__name__) else super().find_class(module, name)
        )
