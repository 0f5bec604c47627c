"""In which order glibc or musl looks for a library, and what it makes of what lies there.

Two functions side by side, each one screen in the manual's order: `glibc` is `_dl_map_object`
(elf/dl-load.c, 2.36; 2.17 to 2.42 differ only where a version is named below), `musl` is `load_library`
(ldso/dynlink.c, 1.2). What is loaded already comes before any search and is `linking`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from safepip.model.elf import Elf, Flaw, LoaderConfig, Rule, Step, cache_key
from safepip.model.environment import Libc
from safepip.model.paths import TargetPath
from safepip.world import Kind, Place, World


class Mapped(NamedTuple):
    """An object in the process, and through whom it came there."""

    path: TargetPath  # as opened, links kept: its folder is $ORIGIN
    elf: Elf
    loader: Mapped | None  # whose need loaded it first; None: the program, or opened by dlopen

    @property
    def origin(self) -> str:
        return self.path.rpartition("/")[0] or "/"


class Fate(Enum):
    """What the loader does about a candidate that it cannot use."""

    GO_ON = "tries the next folder"
    END_LIST = "gives up the rest of this search list"
    END_SEARCH = "fails"


class Folder(NamedTuple):
    """One element of a search list, expanded."""

    rule: Rule
    path: TargetPath
    stated_by: TargetPath | None = None
    element: str = ""


@dataclass(frozen=True, slots=True)
class Folders:
    """What searches in one world and configuration work out once."""

    variants: dict[TargetPath, tuple[TargetPath, ...]] = field(
        default_factory=dict
    )  # a folder's subfolders for this processor that exist
    lists: dict[tuple[Rule, TargetPath], tuple[Folder, ...]] = field(
        default_factory=dict
    )  # by who states them


def search(  # noqa: PLR0913, PLR0917  the last one is for speed alone
    name: str,
    consumer: Mapped,
    main: Mapped,
    config: LoaderConfig,
    world: World,
    folders: Folders,
) -> Iterator[Step]:
    """Every file that the target's loader would try for `name`, in its order."""
    if config.libc is Libc.GLIBC:
        name = expand(name, consumer.origin, config)
    if "/" in name:
        yield Step(Rule.DIRECT, _absolute(name, config))
        return
    glibc_s = config.libc is Libc.GLIBC
    for folder in glibc(consumer, main, config, folders) if glibc_s else musl(consumer, main, config):
        if folder.rule is Rule.CACHE:
            yield from _cached(name, consumer, config)
            continue
        if folder.path not in folders.variants:
            folders.variants[folder.path] = _variants(folder.path, config, world)
        for variant in folders.variants[folder.path]:  # they come first, in each folder (open_path)
            yield _step(folder, f"{variant}/{name}")
        yield _step(folder, f"{folder.path}/{name}" if folder.path != "/" else f"/{name}")


def glibc(consumer: Mapped, main: Mapped, config: LoaderConfig, folders: Folders) -> Iterator[Folder]:
    """Where glibc looks for a name without a slash."""
    if consumer.elf.runpath is None:
        for holder in _ancestors(consumer, main):
            if holder.elf.runpath is None:  # both tags: DT_RPATH is dropped (elf_get_dynamic_info)
                yield from _listed(Rule.RPATH, holder.elf.rpath, holder, config, folders)
    yield from _listed(Rule.LIBRARY_PATH, config.library_path, main, config, folders)
    yield from _listed(Rule.RUNPATH, consumer.elf.runpath, consumer, config, folders)
    yield Folder(Rule.CACHE, TargetPath(""))
    if not consumer.elf.nodeflib:
        yield from (Folder(Rule.DEFAULT, folder) for folder in config.defaults)


def musl(consumer: Mapped, main: Mapped, config: LoaderConfig) -> Iterator[Folder]:
    """Where musl looks: RPATH and RUNPATH are one, both are inherited, and there is no cache.

    A list is expanded before it is split, so a folder whose own name has a colon is cut in two.
    """
    for element in _musl_elements(config.library_path):
        yield Folder(Rule.LIBRARY_PATH, _absolute(element, config), None, element)
    for holder in _ancestors(consumer, main):
        rule = Rule.RPATH if holder.elf.runpath is None else Rule.RUNPATH
        written = holder.elf.rpath if holder.elf.runpath is None else holder.elf.runpath
        if written and not _UNKNOWN_TO_MUSL.search(written):  # fixup_rpath: one bad `$` voids the list
            for element in _musl_elements(written):
                expanded = element.replace("${ORIGIN}", holder.origin).replace("$ORIGIN", holder.origin)
                for folder in _musl_elements(expanded):
                    yield Folder(rule, _absolute(folder, config), holder.path, element)
    yield from (Folder(Rule.DEFAULT, folder) for folder in config.defaults)


def holders(consumer: Mapped, main: Mapped, config: LoaderConfig) -> tuple[Mapped, ...]:
    """The consumer, and whose RPATH or RUNPATH counts for its needs beside its own."""
    if config.libc is Libc.GLIBC and consumer.elf.runpath is not None:
        return (consumer,)
    others = _ancestors(consumer, main)
    next(others)
    return (consumer, *(holder for holder in others if holder.elf.rpath or holder.elf.runpath))


def fate(flaw: Flaw, step: Step, config: LoaderConfig, world: World) -> Fate:
    """Whether the search goes on after a candidate with `flaw`."""
    if config.libc is Libc.MUSL:  # path_open
        return Fate.GO_ON if flaw in _MUSL_GOES_ON else Fate.END_SEARCH
    if flaw in _GLIBC_GOES_ON:
        return Fate.GO_ON
    if flaw in _ENDS_LIST:  # open_path: matters only where the folder itself is one
        folder = world.find(TargetPath(step.path.rpartition("/")[0] or "/"))
        relative = not step.element.startswith(("/", "$ORIGIN", "${ORIGIN}")) and step.element != ""
        by_folder = isinstance(folder, Place) and folder.kind is Kind.FOLDER
        by_file = relative and isinstance(folder, Place) and config.version < (2, 39)
        return Fate.END_LIST if by_folder or by_file else Fate.GO_ON
    return Fate.END_SEARCH


def misfit(elf: Elf, config: LoaderConfig, *, opened: bool = True) -> Flaw | None:
    """Why a well-formed object cannot be loaded into the target's process; `opened`: by dlopen."""
    checked = config.libc is Libc.GLIBC  # musl maps whatever reads as a header of its own (map_library)
    if elf.abi.bits != config.abi.bits or (not checked and elf.abi[:2] != config.abi[:2]):
        return Flaw.WRONG_CLASS
    if checked and elf.abi != config.abi:  # the machine's number in another byte order is another number
        return Flaw.WRONG_MACHINE
    if not elf.dynamic:
        return Flaw.NO_DYNAMIC
    if checked and (elf.type != 3 or elf.pie):
        return Flaw.PIE_PROGRAM if elf.pie else Flaw.PROGRAM
    if checked and elf.noopen and opened:
        return Flaw.NOT_OPENABLE
    return None


def is_libc_itself(name: str, config: LoaderConfig) -> bool:
    """Whether musl's libc answers to the name, whatever follows, and no file is looked at (load_library)."""
    return config.libc is Libc.MUSL and name.startswith(_MUSL_RESERVED)


def expand(text: str, origin: str, config: LoaderConfig) -> str:
    """Replace the tokens glibc knows (_dl_dst_substitute). A name that merely starts so is no token."""
    if "$" not in text:
        return text
    values = {"ORIGIN": origin, "LIB": config.lib, "PLATFORM": config.platform}
    return _TOKEN.sub(lambda token: values[token[1] or token[2]], text)


_TOKEN = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?![A-Za-z0-9_]))")
_UNKNOWN_TO_MUSL = re.compile(r"\$(?!ORIGIN|\{ORIGIN\})")
_MUSL_RESERVED = ("libc.", "libpthread.", "librt.", "libm.", "libdl.", "libutil.", "libxnet.")
_MUSL_GOES_ON = frozenset({Flaw.MISSING, Flaw.NO_ACCESS, Flaw.NOT_A_FOLDER, Flaw.NAME_TOO_LONG})
_GLIBC_GOES_ON = frozenset({Flaw.MISSING, Flaw.NO_ACCESS, Flaw.WRONG_CLASS, Flaw.WRONG_MACHINE})
_ENDS_LIST = frozenset({Flaw.LOOP, Flaw.NAME_TOO_LONG, Flaw.NOT_A_FOLDER})


def _variants(folder: TargetPath, config: LoaderConfig, world: World) -> tuple[TargetPath, ...]:
    paths = [TargetPath(f"{folder}/{hwcaps}") for hwcaps in config.hwcaps]
    if not paths or not isinstance(world.find(folder), Place):
        return ()
    return tuple([path for path in paths if isinstance(world.find(path), Place)])


def _step(folder: Folder, path: str) -> Step:
    return Step(folder.rule, TargetPath(path), folder.stated_by, folder.element)


def _ancestors(consumer: Mapped, main: Mapped) -> Iterator[Mapped]:
    """The consumer, who loaded it, and so on; the program comes last even where dlopen cut the chain."""
    holder: Mapped | None = consumer
    while holder is not None:
        yield holder
        if holder is main:
            return
        holder = holder.loader
    yield main


def _listed(
    rule: Rule, written: str | None, holder: Mapped, config: LoaderConfig, folders: Folders
) -> tuple[Folder, ...]:
    if not written:
        return ()
    key = (rule, holder.path)
    if key not in folders.lists:
        folders.lists[key] = tuple(_split(rule, written, holder, config))
    return folders.lists[key]


def _split(rule: Rule, written: str, holder: Mapped, config: LoaderConfig) -> Iterator[Folder]:
    """One search list (fillin_rpath): split before it is expanded, and what stands twice is tried once."""
    seen = set[str]()
    by = None if rule is Rule.LIBRARY_PATH else holder.path
    separators = "[:;]" if rule is Rule.LIBRARY_PATH else ":"
    for element in re.split(separators, written):
        folder = _absolute(expand(element, holder.origin, config), config)
        if folder not in seen:
            seen.add(folder)
            yield Folder(rule, folder, by, element)


def _cached(name: str, consumer: Mapped, config: LoaderConfig) -> Iterator[Step]:
    """The cache's one entry; under DF_1_NODEFLIB none that lies below a default folder."""
    entry = config.cache.get(cache_key(name))
    if entry and not (consumer.elf.nodeflib and entry.startswith(tuple(f"{d}/" for d in config.defaults))):
        yield Step(Rule.CACHE, entry)


def _absolute(text: str, config: LoaderConfig) -> TargetPath:
    """An empty element is the working folder. `..` stays: the kernel resolves it, text would not."""
    text = text.rstrip("/") if text.strip("/") else text[:1]
    if text.startswith("/"):
        return TargetPath(text)
    return TargetPath(f"{config.cwd.rstrip('/')}/{text}" if text else config.cwd)


def _musl_elements(written: str) -> list[str]:
    return [element for element in re.split("[:\n]", written) if element]
