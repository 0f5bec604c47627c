"""ELF objects, the loader's configuration, and what the loader makes of a root."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from safepip.model.environment import Libc
from safepip.model.paths import TargetPath


class Abi(NamedTuple):
    """What must agree between an object and the process that loads it."""

    bits: int  # 32 or 64
    little_endian: bool
    machine: int  # e_machine: 62 is x86-64, 183 AArch64


class VersionNeed(NamedTuple):
    """One version that an object requires of a library (verneed)."""

    file: str  # libcudart.so.12
    version: str  # libcudart.so.12, GLIBC_2.34 …
    weak: bool


@dataclass(frozen=True, slots=True)
class Elf:
    """The dynamic section of one object. Search lists are as written: unexpanded, split at nothing."""

    abi: Abi
    type: int  # e_type: 2 ET_EXEC, 3 ET_DYN
    soname: str | None = None
    interpreter: str | None = None  # PT_INTERP
    needed: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    nodeflib: bool = False  # DF_1_NODEFLIB
    noopen: bool = False  # DF_1_NOOPEN
    pie: bool = False  # DF_1_PIE: a program
    dynamic: bool = True  # has a dynamic section
    filters: tuple[str, ...] = ()  # DT_FILTER
    auxiliaries: tuple[str, ...] = ()  # DT_AUXILIARY


class Symbol(NamedTuple):
    name: str
    version: str  # "" where the symbol has none


@dataclass(frozen=True, slots=True)
class Undefined:
    """What one object asks of others at binding."""

    symbols: frozenset[Symbol]  # without the weak ones, which may stay undefined
    versions: tuple[VersionNeed, ...] = ()


@dataclass(frozen=True, slots=True)
class Definitions:
    """What one object gives to others, as far as it was asked for by name."""

    symbols: frozenset[Symbol] = frozenset()
    hidden: frozenset[Symbol] = frozenset()  # not the default version of their name
    first_version: str = ""  # version index 2 (glibc gives it to a need without a version)
    versions: frozenset[str] | None = None  # None: no verdef table at all
    versioned: bool = False  # has a table of symbol versions (DT_VERSYM)


class Flaw(Enum):
    """Why a file is no usable object, in the loader's own distinctions."""

    MISSING = "No such file or directory"
    NO_ACCESS = "Permission denied"
    LOOP = "Too many levels of symbolic links"
    NOT_A_FOLDER = "Not a directory"
    NAME_TOO_LONG = "File name too long"
    FOLDER = "Is a directory"
    NOT_REGULAR = "not a regular file"
    TOO_SHORT = "file too short"
    NOT_ELF = "invalid ELF header"
    WRONG_CLASS = "wrong ELF class"
    WRONG_MACHINE = "wrong machine"
    WRONG_ORDER = "ELF file data encoding not little-endian"
    WRONG_ABI = "ELF file OS ABI invalid"
    WRONG_ABI_VERSION = "ELF file ABI version invalid"
    WRONG_TYPE = "only ET_DYN and ET_EXEC can be loaded"
    PROGRAM = "cannot dynamically load executable"
    PIE_PROGRAM = "cannot dynamically load position-independent executable"
    NO_DYNAMIC = "object file has no dynamic section"
    NOT_OPENABLE = "shared object cannot be dlopen()ed"
    CUT_OFF = "file is cut off"
    DAMAGED = "damaged ELF structure"


class Rule(Enum):
    """By which rule of the loader a name was looked for at a place, or met there."""

    LOADED = "already loaded"  # an object of that name is in the process
    DIRECT = "the path as written"  # the name has a slash
    RPATH = "RPATH"
    LIBRARY_PATH = "LD_LIBRARY_PATH"
    RUNPATH = "RUNPATH"
    CACHE = "loader cache"
    DEFAULT = "default folder"
    PRELOADED = "loaded by an earlier import"  # no search finds it


class Step(NamedTuple):
    """One place where the loader looks."""

    rule: Rule
    path: TargetPath  # the candidate file
    stated_by: TargetPath | None = None  # the object whose RPATH or RUNPATH says so
    element: str = ""  # the list element as written: $ORIGIN/../../nvidia/cudnn/lib


class Binding(NamedTuple):
    """One need of one loaded object, answered."""

    consumer: TargetPath
    wants: str
    provider: TargetPath | None  # as the loader opened it; None: not found, or found and unusable
    how: Step | None
    tried: tuple[Step, ...]  # in order, up to and without `how`
    flaw: Flaw | None = None  # what ended the search at the last of `tried`
    optional: bool = False  # DT_AUXILIARY: may be missing


class Loaded(NamedTuple):
    """One object in a load closure."""

    path: TargetPath  # as opened: its folder is $ORIGIN
    real: TargetPath  # every link resolved
    soname: str | None
    loader: TargetPath | None  # who loaded it first; None for the root


@dataclass(frozen=True, slots=True)
class Loading:
    """What happens when the loader opens `root` in a process of the target's interpreter."""

    root: TargetPath
    objects: tuple[Loaded, ...]  # breadth-first, the root first
    bindings: tuple[Binding, ...]
    flaw: Flaw | None = None  # the root itself is no usable object
    crossed: frozenset[TargetPath] = (
        frozenset()
    )  # every existing path, links on the way included, it depends on

    @property
    def missing(self) -> tuple[Binding, ...]:
        return tuple(b for b in self.bindings if b.provider is None and not b.optional)

    @property
    def loadable(self) -> bool:
        return self.flaw is None and not self.missing


@dataclass(frozen=True, slots=True)
class LoaderConfig:
    """How the loader of the target is configured, its process environment included."""

    libc: Libc
    abi: Abi
    main: TargetPath  # the interpreter program, links resolved
    library_path: str = ""  # LD_LIBRARY_PATH as written
    preload: tuple[str, ...] = ()  # LD_PRELOAD and /etc/ld.so.preload
    defaults: tuple[TargetPath, ...] = ()
    cache: Mapping[str, TargetPath] = field(
        default_factory=dict
    )  # the one entry that the loader would try, by `cache_key`
    hwcaps: tuple[str, ...] = ()  # subfolders tried in each folder, best first
    platform: str = "x86_64"  # $PLATFORM
    lib: str = "lib/x86_64-linux-gnu"  # $LIB
    version: tuple[int, int] = (0, 0)  # of the libc
    cwd: str = "/"
    others: Mapping[Abi, LoaderConfig] = field(
        default_factory=dict
    )  # of objects of other machines, as far as their loader lies here


def cache_key(name: str) -> str:
    """A name as the loader's cache compares it: digit runs are numbers (_dl_cache_libcmp)."""
    return _LEADING_ZEROS.sub("", name)


_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
