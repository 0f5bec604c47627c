"""The environment that is judged: an interpreter, its folders, and what is installed in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from safepip.model.paths import DistKey, TargetPath
from safepip.model.rows import Asked, Rows, names_in


class Libc(Enum):
    GLIBC = "glibc"
    MUSL = "musl"


class PipInUse(NamedTuple):
    """The pip that will do the removal; its version decides details of what goes."""

    version: str
    location: TargetPath | None  # None: safepip's own pip, run with --python
    backend: str = "importlib"  # or pkg_resources: which of two dist-infos, what is an error
    optimize: str = ""  # of PYTHONOPTIMIZE: "1" makes the byte code it looks for `.opt-1.pyc`
    pycache_prefix: TargetPath | None = None  # PYTHONPYCACHEPREFIX
    of_debian: bool = False  # patched: outside a venv only /usr/local is its own of what lies below /usr

    @property
    def release(self) -> tuple[int, ...]:
        """(26, 1, 2); without trailing zeros, so that 26.1 and 26.1.0 are one."""
        numbers = [int(part) for part in self.version.split(".") if part.isdecimal()]
        while numbers and not numbers[-1]:
            numbers.pop()
        return tuple(numbers)


class Mapped(NamedTuple):
    """A name that an import hook or a linked folder gives, apart from what lies in the folders of sys.path."""

    name: str  # dotted
    place: TargetPath  # the package's folder or the module's file, every link resolved
    by: TargetPath  # the hook's module, or the link
    builder: TargetPath | None = None  # the program that the hook starts at each import


@dataclass(frozen=True, slots=True)
class Target:
    """One Python environment, known from its files.

    `path` is sys.path of a program started by `executable`, in order. `sites` are those of its folders that
    hold distributions, in the same order; those inside `prefix` (or all, outside a venv) are pip's to change.
    """

    executable: TargetPath  # as called: a venv's bin/python, often a link
    interpreter: TargetPath  # the same with every link resolved: the ELF program itself
    version: str  # 3.12.1
    prefix: TargetPath
    base_prefix: TargetPath
    stdlib: TargetPath
    scripts: TargetPath
    sites: tuple[TargetPath, ...]
    path: tuple[TargetPath, ...]
    cache_tag: str  # cpython-312
    soabi: str  # cpython-312-x86_64-linux-gnu
    libc: Libc | None  # None: no ELF interpreter could be read; libraries are unjudged
    markers: Mapping[str, str]  # packaging's environment markers of this interpreter
    pip: PipInUse
    user_site: TargetPath | None = None  # None: not on sys.path
    user_scripts: TargetPath | None = None
    externally_managed: bool = False  # pip changes nothing here unless it is told to
    root: str | None = None  # where the image lies that all other paths are inside of; None: this machine
    real_sites: tuple[TargetPath, ...] = ()  # where those of `sites` lie that are reached through a link
    mapped: tuple[Mapped, ...] = ()  # known once the inventory is taken

    @property
    def python(self) -> tuple[int, int]:
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    @property
    def place(self) -> str:
        """The prefix as people are told it."""
        return self.prefix if self.root is None else f"{self.prefix} of the image {self.root}"

    def inside(self, *command: str) -> tuple[str, ...]:
        """`command` as it is to be given on this machine: of an image, inside it."""
        return command if self.root is None else ("chroot", self.root, *command)

    def outside(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """`command`, a look at files of the environment, by tools of this machine."""
        if self.root is None or not command:
            return command
        if command[0] == "dpkg":
            return (command[0], f"--root={self.root}", *command[1:])
        return tuple(f"{self.root}{word}" if word.startswith("/") else word for word in command)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What an extension module's file ends in. A build with assertions takes a plain build's as well (ALT_SOABI).

        `abi3` with a platform is CPython 3.15's, and that of Debian's earlier ones; `abi3t` is 3.15's (PEP 803).
        """
        if self.cache_tag.startswith("pypy"):
            return (f".{self.soabi}.so",)
        soabis = (self.soabi, self.soabi.replace(f"{self.cache_tag}d-", f"{self.cache_tag}-"))
        tagged = [f".{soabi}.so" for soabi in dict.fromkeys(soabis) if soabi]
        flags, _, platform = self.soabi.removeprefix(self.cache_tag).partition("-")
        stable = ["abi3", "abi3t"]["t" in flags :] if self.python >= (3, 15) else ["abi3"]
        return (*tagged, *(f".{abi}{end}.so" for abi in stable for end in (f"-{platform}", "")), ".so")

    @property
    def is_venv(self) -> bool:
        return self.prefix != self.base_prefix

    @property
    def site_folders(self) -> tuple[TargetPath, ...]:
        """Every name of a site folder below which a path may be written."""
        return (*self.sites, *self.real_sites)

    def may_take(self, path: TargetPath, prefix: TargetPath) -> bool:
        """pip's `is_local`. A test on text, without a separator at its end: /v2 lies in /v. `prefix` is the real one."""
        if self.is_venv:
            return path.startswith(prefix)
        return not (self.pip.of_debian and path.startswith("/usr")) or path.startswith("/usr/local")

    def below(self, path: TargetPath) -> str:
        """`path` as an import sees it, from a site folder on: `torch/_C.so`; "" where no import leads there."""
        deepest = 0  # an egg folder lies in a site folder and is one
        for site in self.site_folders:
            if len(site) > deepest and path.startswith(f"{site}/"):
                deepest = len(site)
        if deepest:
            return path[deepest + 1 :]
        for name, place, *_ in self.mapped:
            if path.startswith(f"{place}/"):
                return f"{name.replace('.', '/')}{path[len(place) :]}"
            if path == place:
                return f"{name.replace('.', '/')}.{path.rpartition('/')[2].partition('.')[2]}"
        return ""


class Install(Enum):
    """How a distribution lies there, which decides how pip removes it."""

    DIST_INFO = "dist-info"
    EGG_INFO_FOLDER = "egg-info folder"
    EGG_INFO_FILE = "egg-info file"
    EGG = "egg"
    EGG_LINK = "egg-link"
    OTHER = "no form that pip knows how to remove"  # PKG-1.0.DIST-INFO
    UNRECORDED = "no distribution: laid in by hand"


class Fault(Enum):
    """What pip stumbles over when it is asked to remove a distribution."""

    METADATA_UNDECODABLE = "METADATA is not UTF-8"
    METADATA_WITHOUT_NAME = "METADATA is missing or has no Name"
    METADATA_WITHOUT_VERSION = "METADATA is missing or has no Version"
    RECORD_UNREADABLE = "RECORD cannot be read"
    RECORD_UNDECODABLE = "RECORD is not UTF-8"
    RECORD_BROKEN = "RECORD has a line that is no row"
    RECORD_CUT_OFF = "RECORD does not list itself, as every installer writes it: it may be cut off"
    RECORD_ENDS_EARLY = "RECORD ends within a line, as no installer writes it: it may be cut off"
    RECORD_SWALLOWS = "RECORD has a quote that makes one row of several lines"
    ENTRY_POINTS_UNDECODABLE = "entry_points.txt is not UTF-8"
    ENTRY_POINTS_BROKEN = "entry_points.txt has a line without ="


RECORD_FAULTS = frozenset(
    {
        Fault.RECORD_UNREADABLE,
        Fault.RECORD_UNDECODABLE,
        Fault.RECORD_BROKEN,
        Fault.RECORD_CUT_OFF,
        Fault.RECORD_ENDS_EARLY,
        Fault.RECORD_SWALLOWS,
    }
)  # what a distribution owns is not known whole


class EntryPoint(NamedTuple):
    group: str
    name: str
    value: str


class Claim(NamedTuple):
    """What a RECORD row promises of a file."""

    digest: str  # `sha256=…` in urlsafe base64 without padding, as recorded; "" where the row has none
    size: int | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution. Two may share a key: they are told apart by `info`."""

    key: DistKey
    name: str
    version: str
    location: TargetPath  # the folder that `info` lies in, every link resolved: a site, or a project's source
    info: TargetPath  # its dist-info or egg-info
    install: Install
    files: Sequence[TargetPath] | None  # what RECORD lists, joined to location; None: no RECORD
    requires: tuple[str, ...] = ()  # Requires-Dist, as written
    extras: tuple[str, ...] = ()  # Provides-Extra
    entry_points: tuple[EntryPoint, ...] = ()
    installer: str = ""
    requested: bool = False
    damage: str = ""  # why what stands here is incomplete (METADATA unreadable …)
    faults: tuple[Fault, ...] = ()
    top_level: tuple[str, ...] | None = (
        None  # top_level.txt without namespace packages; egg-info folders only
    )
    as_written: tuple[TargetPath, ...] | None = None  # `files` unresolved, where a row leads through a link
    egg_link: TargetPath | None = None  # the file in the site that points to `location`
    sources: tuple[
        TargetPath, ...
    ] = ()  # used and recorded nowhere: a project's own folder, a package without RECORD
    packed_scripts: tuple[
        str, ...
    ] = ()  # of a distribution in a zip file: distutils' scripts that pip finds in it

    @property
    def used(self) -> Sequence[TargetPath]:
        """What an import or the loader may come to: wider than what a removal takes."""
        return (*(self.files or ()), *self.sources) if self.sources else self.files or ()

    def heads(self, site: TargetPath) -> frozenset[str]:
        """The names in the folder `site` that its recorded paths begin with."""
        return self.files.names(site) if isinstance(self.files, Rows) else names_in(site, self.files or ())

    def __hash__(self) -> int:
        return hash(self.info)


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Something that could not be read or parsed: never the same as fine."""

    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is installed in a target, in the order in which pip would find it."""

    target: Target
    distributions: tuple[Distribution, ...]
    unjudged: tuple[Unjudged, ...] = ()
    leftovers: tuple[TargetPath, ...] = ()  # pip's `~name` folders
    loose: tuple[Distribution, ...] = ()  # code in the environment that belongs to no distribution
    index: Mapping[TargetPath, tuple[Distribution, ...]] | None = field(
        default=None, compare=False, repr=False
    )  # owners by path, where that is worth its memory

    @property
    def everybody(self) -> tuple[Distribution, ...]:
        """Whoever has code here, known to pip or not."""
        return (*self.distributions, *self.loose)

    def find(self, key: DistKey) -> Distribution | None:
        """The one that pip would take for this name: the first along sys.path."""
        return next((dist for dist in self.distributions if dist.key == key), None)

    def indexed(self) -> Inventory:
        """The same for who asks for owners again and again."""
        index: dict[TargetPath, tuple[Distribution, ...]] = {}
        for dist in self.distributions:
            for path in dict.fromkeys(dist.files or ()):
                index[path] = (*index.get(path, ()), dist)
        return replace(self, index=index)

    def owners(self, paths: Iterable[TargetPath]) -> dict[TargetPath, tuple[Distribution, ...]]:
        """Who lists each of `paths`; paths without an owner are left out."""
        wanted = frozenset(paths)
        if not wanted:  # or every row would be gone through all the same
            return {}
        if self.index is not None:
            return {path: self.index[path] for path in wanted if path in self.index}
        found: dict[TargetPath, tuple[Distribution, ...]] = {}
        asked = Asked(wanted)
        for dist in self.distributions:
            for path in asked.rows_of(dist.files or ()):
                found[path] = (*found.get(path, ()), dist)
        return found
