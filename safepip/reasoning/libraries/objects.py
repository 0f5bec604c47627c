"""Which files of an environment are ELF objects, which of them an import executes, and which of them a name can touch.

The names of needs span a graph that is drawn once: whatever a removal changes, it changes only for objects that
reach one of its names. All others need no second look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from safepip.model.elf import Abi, Elf, Flaw
from safepip.model.environment import Distribution, Target, Unjudged
from safepip.model.paths import TargetPath
from safepip.model.survey import Objects
from safepip.world import Kind, World

NO_OBJECT = frozenset({Flaw.NOT_ELF, Flaw.MISSING, Flaw.FOLDER, Flaw.NOT_REGULAR, Flaw.TOO_SHORT})


def gather(distributions: Iterable[Distribution], scripts: TargetPath, world: World) -> Objects:
    """Every ELF object that `distributions` own and that exists in `world`, with what lies beside by no RECORD."""
    owner: dict[TargetPath, Distribution] = {}
    elves: dict[TargetPath, Elf] = {}
    flaws: dict[TargetPath, Flaw] = {}

    def add(dist: Distribution, paths: Iterable[TargetPath]) -> None:
        for path in paths:
            if path in owner:
                continue
            elf = world.elf(path)
            if isinstance(elf, Elf):
                owner[path], elves[path] = dist, elf
            elif elf not in NO_OBJECT:
                owner[path], flaws[path] = dist, elf

    everybody = tuple(distributions)
    for dist in everybody:
        add(dist, _candidates(dist.used, scripts))
    prefix = scripts.rpartition("/")[0]
    for folder, dist in _homes(everybody, owner).items():
        if folder not in {scripts, f"{prefix}/lib"}:  # where much lies that no distribution brought
            add(dist, _beside(folder, world))
    return Objects(owner, elves, flaws)


def is_object_name(path: str) -> bool:
    """Whether a file is a shared object by its name: `libcudnn.so.9`, `_C.cpython-312-x86_64-linux-gnu.so`."""
    return path.endswith(".so") or ".so." in path.rpartition("/")[2]


def foreign(everybody: Objects, judged: Objects) -> Iterator[Unjudged]:
    """One for each machine whose loader is not here."""
    first: dict[Abi, list[TargetPath]] = {}
    for path, elf in everybody.elves.items():
        if path not in judged.elves:
            first.setdefault(elf.abi, []).append(path)
    for abi, paths in first.items():
        kind = f"{abi.bits}-bit {'little' if abi.little_endian else 'big'}-endian ELF machine {abi.machine}"
        more = f", and {len(paths) - 1} more like it" if len(paths) > 1 else ""
        yield Unjudged(paths[0], f"it is for {kind}, whose loader is not there{more}")


def module_name(path: TargetPath, target: Target) -> str:
    """The dotted name under which an import executes the extension module at `path`; "" where none does."""
    name = path.rpartition("/")[2]
    stem, _, suffix = name.partition(".")
    if f".{suffix}" not in target.suffixes or not stem.isidentifier():
        return ""
    if suffix == "so" and stem.startswith("lib"):
        return ""
    parts = [*target.below(path).split("/")[:-1], stem]
    return ".".join(parts) if target.below(path) and all(map(str.isidentifier, parts)) else ""


def names(path: TargetPath, elf: Elf) -> tuple[str, ...]:
    """The names by which a need can ask for the object at `path`."""
    base = path.rpartition("/")[2]
    return (base,) if elf.soname in (None, base) else (base, str(elf.soname))


def needing(objects: Objects) -> dict[str, list[TargetPath]]:
    """For each name, the objects that need it."""
    index: dict[str, list[TargetPath]] = {}
    for path, elf in objects.elves.items():
        for name in wanted(elf):
            index.setdefault(name.rpartition("/")[2], []).append(path)
    return index


def wanted(elf: Elf) -> Iterator[str]:
    yield from elf.needed
    yield from elf.filters
    yield from elf.auxiliaries


def reaching(
    sought: Iterable[str], objects: Objects, index: Mapping[str, Sequence[TargetPath]]
) -> frozenset[TargetPath]:
    """The objects whose load closure, taken by names alone, comes to one of the `sought` names."""
    pending = list(sought)
    seen = set(pending)
    reached: set[TargetPath] = set()
    while pending:
        for path in index.get(pending.pop(), ()):
            if path in reached or path not in objects.elves:
                continue
            reached.add(path)
            fresh = [name for name in names(path, objects.elves[path]) if name not in seen]
            seen.update(fresh)
            pending.extend(fresh)
    return frozenset(reached)


def taken_names(files: Iterable[TargetPath], scripts: TargetPath, world: World) -> frozenset[str]:
    """The names by which the loader could have found one of `files`.

    A file that is no object at all, such as a script, meets no need: whoever found it could not load before either.
    """
    taken: set[str] = set()
    for path in _candidates(files, scripts):
        elf = world.elf(path)
        if elf in NO_OBJECT:
            continue
        taken.add(path.rpartition("/")[2])
        if isinstance(elf, Elf) and elf.soname:
            taken.add(elf.soname)
    return frozenset(taken)


def unreadable(
    files: Iterable[TargetPath], scripts: TargetPath, world: World
) -> Iterator[tuple[TargetPath, Flaw]]:
    """Those of `files` that look like objects and cannot be read as one."""
    for path in _candidates(files, scripts):
        elf = world.elf(path)
        if isinstance(elf, Flaw) and elf not in NO_OBJECT:
            yield path, elf


def _homes(
    distributions: Sequence[Distribution], owner: Mapping[TargetPath, Distribution]
) -> dict[TargetPath, Distribution]:
    """Folders in which an object that nobody recorded is a distribution's by its place: compiled there later, or laid in.

    Those that hold a recorded object, and the topmost of each package; a walk through all would cost too much.
    """
    homes: dict[TargetPath, Distribution] = {}
    for path, dist in owner.items():
        homes.setdefault(TargetPath(path.rpartition("/")[0]), dist)
    for dist in distributions:
        for head in dist.heads(dist.location):
            if head.isidentifier():
                homes.setdefault(TargetPath(f"{dist.location}/{head}"), dist)
        homes.pop(dist.location, None)
    return homes


def _beside(folder: TargetPath, world: World) -> Iterator[TargetPath]:
    for entry in world.entries(folder):
        if entry.kind is not Kind.FOLDER and is_object_name(entry.name):
            yield TargetPath(f"{folder}/{entry.name}")


def _candidates(files: Iterable[TargetPath], scripts: TargetPath) -> Iterator[TargetPath]:
    """Shared objects by name, and programs by their folder; of tens of thousands of files a few hundred."""
    programs = f"{scripts}/"
    elsewhere = "/bin/" not in programs  # asked of every row of every RECORD: each test counts
    likely = [
        path
        for path in files
        if ".so" in path or "/bin/" in path or (elsewhere and path.startswith(programs))
    ]
    for path in likely:
        program = "/bin/" in path or path.startswith(programs)
        if is_object_name(path) or (program and "." not in path.rpartition("/")[2]):
            yield path
