"""One run of inputs: each made from its number alone, so that any can be made again."""

from __future__ import annotations

import shutil
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from support.fuzzing import watch
from support.fuzzing.beside import BESIDE
from support.fuzzing.mutators import spoil
from support.fuzzing.place import Place
from support.fuzzing.readers import READERS, Subject
from support.fuzzing.vaults import VAULTS
from support.fuzzing.verdicts import VERDICTS

SUBJECTS: tuple[Subject, ...] = (*READERS, *VERDICTS, *VAULTS, *BESIDE)
_TURN = tuple(subject for subject in SUBJECTS for _ in range(subject.share))


class Fault(NamedTuple):
    """An input over which a rule was broken."""

    number: int
    subject: str
    said: str
    data: bytes


class Campaign:
    """A worker's inputs, one after the other, in a folder of its own."""

    def __init__(self, place: Place, seed: str) -> None:
        self.counts: Counter[str] = Counter()
        self._place = place
        self._seed = seed
        self._seeds = {subject.name: subject.seeds() for subject in SUBJECTS}
        self._memory = watch.Memory()

    def run(self, numbers: Iterable[int]) -> list[Fault]:
        return [fault for number in numbers if (fault := self.one(number)) is not None]

    def one(self, number: int) -> Fault | None:
        subject = subject_of(number)
        data = self.data(number)
        self.counts[subject.name] += 1
        said = self.try_(subject, data)
        return Fault(number, subject.name, said, data) if said else None

    def data(self, number: int) -> bytes:
        random = Random(f"{self._seed}:{number}")
        seeds: Sequence[bytes] = self._seeds[subject_of(number).name]
        return spoil(random.choice(seeds), random, seeds)

    def try_(self, subject: Subject, data: bytes) -> str:
        """What went wrong; "" where nothing did."""
        place = self._place
        path = place.root / subject.file
        path.parent.mkdir(parents=True, exist_ok=True)
        subject.ready(place)
        path.write_bytes(data)
        may_change = tuple(f"{place.root}/{below}" for below in subject.may_change)
        self._memory.start()
        try:
            with watch.watched(
                may_change=may_change,
                foreign=str(place.env.prefix),
                blocks_programs=subject.blocks_programs,
            ):
                answer = subject.act(place, data)
            self._memory.check()
            subject.after(place, answer)
        except watch.ViolatedError as error:
            self._memory.forget()
            return f"{error}"
        except Exception as error:  # noqa: BLE001  each is what is looked for
            self._memory.forget()
            where = traceback.extract_tb(error.__traceback__)
            mine = [
                f"{step.filename.rpartition('/')[2]}:{step.lineno}"
                for step in where
                if "safepip" in step.filename
            ]
            return f"{type(error).__name__}: {str(error)[:120]} ({' '.join(mine[-3:])})"
        finally:
            for below in subject.may_change:
                shutil.rmtree(place.root / below, ignore_errors=True)
        return "" if place.kept.read_text() == "kept" else "a file outside the environment was changed"


def subject_of(number: int) -> Subject:
    return _TURN[number % len(_TURN)]
