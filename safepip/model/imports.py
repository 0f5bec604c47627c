"""What Python source says it imports, and what that comes to when modules go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

from safepip.model.environment import Distribution, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.report import Severity


class Condition(IntEnum):
    """How an import stands, the surer the higher."""

    DEFERRED = 0  # in a function that nothing calls while the module is imported
    GUARDED = (
        1  # a failure is caught and importing goes on, or it stands under an `if` that cannot be decided
    )
    UNCONDITIONAL = 2


class Reference(NamedTuple):
    """`import module`, or `from module import names`."""

    module: str  # absolute
    names: tuple[str, ...] = ()


class Import(NamedTuple):
    module: str  # absolute
    names: tuple[str, ...]
    line: int
    condition: Condition
    otherwise: tuple[Reference, ...] = ()  # what the handler of its `try` imports in its place
    instead_of: tuple[Reference, ...] = ()  # it stands in a handler: what failed before it is reached
    after: tuple[Reference, ...] = ()  # it stands in an `else`: what worked where it is reached
    given: str = ""  # the module of the same package that set a name which must not be None


class Choice(NamedTuple):
    """Several ways of which one must work: where the last has failed, the module raises."""

    line: int  # that raises
    ways: tuple[tuple[Reference, ...], ...]


class VersionCheck(NamedTuple):
    """A comparison at module level over which the module raises where it holds: `if Version(numpy.__version__) < …`."""

    line: int
    module: str  # whose version
    operator: str  # as it is written
    than: str


class Way(Enum):
    """How a name that no import statement holds is used."""

    IMPORT = "imported by name"
    VERSION = "version checked"
    LAZY = "named for loading on demand"
    LIBRARY = "opened by ctypes"


class Dynamic(NamedTuple):
    way: Way
    name: str
    line: int
    condition: Condition


OF_STUB = frozenset({"sys", "pkg_resources", "imp", "importlib.util", "importlib.machinery"})


@dataclass(frozen=True, slots=True)
class Source:
    """One module's imports. `dynamics` and what functions import are there only when it was read whole."""

    imports: tuple[Import, ...] = ()
    dynamics: tuple[Dynamic, ...] = ()
    on_demand: tuple[Import, ...] = ()  # names that a module `__getattr__` imports when they are asked for
    choices: tuple[Choice, ...] = ()

    @property
    def is_stub(self) -> bool:
        """What setuptools lays beside a compiled module in an egg, for a zipped one to load it (bdist_egg.py:write_stub)."""
        imported = {item.module for item in self.imports}
        return "pkg_resources" in imported and imported <= OF_STUB


class Unread(NamedTuple):
    reason: str


class Found(NamedTuple):
    """What the import system picks for a name."""

    path: TargetPath | None  # the file that is run; None: a namespace package, or built into the interpreter
    folders: tuple[TargetPath, ...] = ()  # a package's __path__

    @property
    def is_package(self) -> bool:
        return bool(self.folders)


class Gone(NamedTuple):
    """A name that is imported from another file afterwards, or from none; so is all below it."""

    module: str
    was: Found
    now: Found | None
    dist: Distribution  # whose removal takes it


@dataclass(frozen=True, slots=True)
class ImportLoss:
    """An import on a survivor's surface that works now and would fail, or take another file."""

    survivor: Distribution
    lost: Distribution
    module: str
    path: TargetPath  # the file that it is imported from now
    chain: tuple[str, ...]
    importer: TargetPath  # the file whose statement fails
    line: int
    host: bool = False  # `survivor` does not import it: it loads the plugin that does
    absent: bool = False  # `module` is nowhere: nobody takes it, a new version asks for it
    instead: TargetPath | None = None  # the file that would be taken
    made_up: bool = False  # that is of the same project, and has all that is asked of it


class Basis(Enum):
    """What decided how a lost requirement is graded: a clause about the place that `Grade` names."""

    REACHED = "is imported when it starts"
    MODULE_LEVEL = "is imported at module level"
    BY_NAME = "is imported by name"
    VERSION = "has its version checked"
    LAZY = "is named for loading on demand"
    COMPILED = "is named in a compiled module"
    LIBRARIES = "holds libraries, which are opened without an import"
    HOOK = "answers for imports of others' modules by a hook"
    KNOWN_LOAD = "is known to be opened at run time"
    OPTIONAL_LOAD = "is opened at run time where it is there"
    GUARDED = "is imported where a failure is caught"
    DEFERRED = "is imported only when needed"
    NOWHERE = "is imported nowhere"
    FOR_EXTRA = "was installed for nothing else"


@dataclass(frozen=True, slots=True)
class Grade:
    """How much a lost requirement weighs, and what shows it."""

    severity: Severity
    basis: Basis
    path: TargetPath | None = None  # the file that shows it
    line: int = 0
    module: str = ""  # as it is named there


@dataclass(frozen=True, slots=True)
class Weighed:
    """All that the code of those who stay says about one removal."""

    losses: tuple[ImportLoss, ...] = ()
    grades: Mapping[tuple[TargetPath, DistKey], Grade] = field(
        default_factory=dict
    )  # by survivor's info and lost
    sides: frozenset[str] = frozenset()  # top-level tests or docs folders that code imports
    unjudged: tuple[Unjudged, ...] = ()
