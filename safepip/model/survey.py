"""What a world answers to the needs of those who stay: measured twice, judged by the difference."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

from safepip.model.elf import Abi, Binding, Elf, Flaw, Loading
from safepip.model.environment import Claim, Distribution
from safepip.model.paths import DistKey, TargetPath


class Standing(IntEnum):
    """How a need is met, the stronger the higher."""

    MISSING = 0
    ELSEWHERE = 1  # some object of the environment has that SONAME, and nothing shows it is loaded first
    PRELOADED = 2  # the search fails, and an earlier import or a known load has it in the process
    SEARCHED = 3  # the loader's own search finds it


class Need(NamedTuple):
    """One need of one object. The root belongs to it: reached from another root it may resolve otherwise."""

    root: TargetPath
    consumer: TargetPath  # every link resolved
    wants: str


class Answer(NamedTuple):
    standing: Standing
    binding: Binding
    provider: TargetPath | None = None  # the binding's, every link resolved but the one that is recorded
    preloader: TargetPath | None = None  # the root of the earlier import that has it loaded


@dataclass(frozen=True, slots=True)
class Survey:
    """The library needs of the roots that a removal can touch, as one world answers them."""

    answers: Mapping[Need, Answer]
    loadings: Mapping[TargetPath, Loading]

    def works(self, root: TargetPath) -> bool:
        """Whether `root` loads: every need searched or preloaded."""
        loading = self.loadings.get(root)
        return loading is not None and loading.loadable


@dataclass(frozen=True, slots=True)
class Objects:
    """The ELF files of an environment: who owns each, and what each says of itself."""

    owner: Mapping[TargetPath, Distribution]
    elves: Mapping[TargetPath, Elf]
    flaws: Mapping[TargetPath, Flaw] = field(default_factory=dict)

    def without(self, gone: frozenset[TargetPath]) -> Objects:
        """Those that stay once `gone` has gone."""
        return replace(self, elves={path: elf for path, elf in self.elves.items() if path not in gone})

    def only_of(self, abis: Container[Abi]) -> Objects:
        """The same where those of other machines are nothing that could be resolved."""
        strange = {path for path, elf in self.elves.items() if elf.abi not in abis}
        if not strange:
            return self
        flaws = {**self.flaws, **dict.fromkeys(strange, Flaw.WRONG_MACHINE)}
        return replace(self.without(frozenset(strange)), flaws=flaws)

    def owned_by(self, owners: Mapping[TargetPath, Distribution]) -> Objects:
        """The same with other owners named for some: a co-owned file counts as its survivor's."""
        return replace(self, owner={**self.owner, **owners})


class Mention(NamedTuple):
    """A name of a library where a program would find it to open at run time."""

    soname: str
    path: TargetPath  # the object or the source that holds it
    line: int = 0  # of a source


class Hint(NamedTuple):
    """A survivor names a library that goes, and nothing else answers to the name."""

    survivor: Distribution
    lost: Distribution
    path: TargetPath  # the file that goes
    mentions: tuple[Mention, ...]
    known: str = ""  # how a known load opens it


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A path that goes and that several distributions list, with what each promised and what lies there."""

    path: TargetPath
    owners: tuple[Distribution, ...]
    claims: Mapping[DistKey, Claim]  # by the owner's key
    size: int
    digest: str = ""  # read only where sizes do not tell whose bytes these are
    text: str = ""  # of a small __init__.py: what it does decides whether it matters


class Hidden(NamedTuple):
    """A survivor whose damaged RECORD may list what goes."""

    dist: Distribution
    top: str  # the first name of it that the RECORD may mean


class InUse(NamedTuple):
    """A running process that has a file mapped which is to go."""

    pid: int
    name: str
    path: TargetPath
