"""What the import system of the target would pick for a dotted name, in one world, and what a removal changes in that.

It follows importlib's PathFinder: folders of sys.path in order; in one folder a package before a module, an
extension before a source; a folder without `__init__` only where no folder of the path has more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from safepip.model.change import Removal
from safepip.model.environment import Distribution, Target
from safepip.model.imports import Found, Gone
from safepip.model.paths import TargetPath
from safepip.world import Kind, World

# In every CPython; what some builds link in besides lies in lib-dynload elsewhere.
BUILT_IN = frozenset(
    [
        "_abc",
        "_ast",
        "_codecs",
        "_collections",
        "_functools",
        "_imp",
        "_io",
        "_locale",
        "_operator",
        "_signal",
        "_sre",
        "_stat",
        "_string",
        "_suggestions",
        "_symtable",
        "_sysconfig",
        "_thread",
        "_tokenize",
        "_tracemalloc",
        "_types",
        "_typing",
        "_warnings",
        "_weakref",
        "atexit",
        "builtins",
        "errno",
        "faulthandler",
        "gc",
        "itertools",
        "marshal",
        "posix",
        "pwd",
        "sys",
        "time",
        "_bisect",
        "_blake2",
        "_csv",
        "_datetime",
        "_elementtree",
        "_heapq",
        "_md5",
        "_opcode",
        "_pickle",
        "_posixsubprocess",
        "_random",
        "_sha1",
        "_sha2",
        "_sha256",
        "_sha3",
        "_sha512",
        "_socket",
        "_statistics",
        "_struct",
        "array",
        "binascii",
        "cmath",
        "fcntl",
        "grp",
        "math",
        "pyexpat",
        "select",
        "syslog",
        "unicodedata",
        "zlib",
        "_frozen_importlib",
        "_frozen_importlib_external",
    ]
)
# setuptools gives the name distutils to a Python without it, by code in a .pth (its _distutils_hack).
DISTUTILS_HOOK = "distutils-precedence.pth"
DISTUTILS = "setuptools._distutils"
MOST_EMPTY_LEVELS = 8
MOST_NAMES = 100_000  # in folders, remembered at once


class Finder:
    """Each folder is listed once, each name looked up once. Links to folders are resolved, as in what owners list."""

    def __init__(self, world: World, target: Target, path: Sequence[TargetPath] | None = None) -> None:
        self._world = world
        self._target = target
        self.mapped = tuple(item for item in target.mapped if world.kind(item.by) is not None)
        self.path = tuple(map(world.real, target.path if path is None else path))
        self._found: dict[str, Found | None] = {}
        self._names: dict[TargetPath, dict[str, bool]] = {}
        self._known = 0  # in all of them
        self._links: set[TargetPath] = set()
        extensions = target.suffixes
        self._suffixes = (*extensions, ".py", ".pyc")

    def find(self, name: str) -> Found | None:
        """The file that `import name` runs last, or None where it finds nothing."""
        if name not in self._found:
            self._found[name] = self._walk(name)
        return self._found[name]

    def names(self, folder: TargetPath) -> Mapping[str, bool]:
        """What lies in `folder`, each with whether it is a folder."""
        if folder not in self._names:
            entries = self._world.entries(folder)
            self._known += len(entries)
            if self._known > MOST_NAMES:
                self._names.clear()
                self._known = len(entries)
            self._names[folder] = {entry.name: entry.folder for entry in entries}
            links = (entry.name for entry in entries if entry.folder and entry.kind is Kind.LINK)
            self._links.update(TargetPath(f"{folder}/{name}") for name in links)
        return self._names[folder]

    def is_empty(self, path: TargetPath) -> bool:
        """Whether a file that is run does nothing: a package with such an `__init__` is as good without it."""
        return self._world.size(path) == 0

    def stem(self, file_name: str) -> str:
        """The module name that a file stands for in its folder; "" where it is no module."""
        for suffix in self._suffixes:
            if file_name.endswith(suffix):
                stem = file_name.removesuffix(suffix)
                return stem if stem.isidentifier() else ""
        return ""

    def _walk(self, name: str) -> Found | None:
        """From the outermost package inwards, as far as there is one: a name may have more parts than folders nest."""
        for end in (index for index, char in enumerate(name) if char == "." and index):
            head = name[:end]
            if head not in self._found:
                self._found[head] = self._look(head)
            if self._found[head] is None and not any(
                item.name.startswith(f"{head}.") for item in self.mapped
            ):
                return None
        return self._look(name)

    def _look(self, name: str) -> Found | None:
        """The packages above it have been looked for."""
        head, _, tail = name.rpartition(".")
        if head:
            parent = self._found[head]
            below = self._search(tail, parent.folders) if parent else None
            return below or self._by_hook(name)
        if name in BUILT_IN:
            return Found(None)
        found = self._search(name, self.path) or self._by_hook(name)
        return self._distutils() if name == "distutils" and found is None else found

    def _by_hook(self, name: str) -> Found | None:
        """Editable installs append their finders to sys.meta_path: asked where no folder has the name."""
        portions = []
        for place in (item.place for item in self.mapped if item.name == name):
            folder, _, file_name = place.rpartition("/")
            if self.names(TargetPath(folder)).get(file_name) is False:
                return Found(place)
            inside = self.names(place)
            for suffix in self._suffixes:
                if f"__init__{suffix}" in inside:
                    return Found(TargetPath(f"{place}/__init__{suffix}"), (place,))
            portions += [place] if inside else []
        return Found(None, tuple(portions)) if portions else None

    def _search(self, tail: str, folders: Iterable[TargetPath]) -> Found | None:
        portions: list[TargetPath] = []
        for folder in folders:
            names = self.names(folder)
            inner = TargetPath(f"{folder}/{tail}")
            inner = self._world.real(inner) if inner in self._links else inner
            if names.get(tail):
                inside = self.names(inner)
                for suffix in self._suffixes:
                    if f"__init__{suffix}" in inside:
                        return Found(TargetPath(f"{inner}/__init__{suffix}"), (inner,))
            for suffix in self._suffixes:
                if names.get(tail + suffix) is False:
                    return Found(TargetPath(f"{folder}/{tail}{suffix}"))
            if names.get(tail) and self._holds_files(inner, MOST_EMPTY_LEVELS):
                portions.append(inner)
        return Found(None, tuple(portions)) if portions else None

    def _holds_files(self, folder: TargetPath, levels: int) -> bool:
        """A folder that only held what went is left over for a moment at most."""
        names = self.names(folder)
        if not all(names.values()) or levels == 0:
            return True
        return any(self._holds_files(TargetPath(f"{folder}/{name}"), levels - 1) for name in names)

    def _distutils(self) -> Found | None:
        hooked = any(DISTUTILS_HOOK in self.names(site) for site in self._target.sites)
        return self.find(DISTUTILS) if hooked else None


def gone_names(removal: Removal, before: Finder, after: Finder) -> dict[str, Gone]:
    """The topmost names for which `after` picks another file than `before`, or none, with who takes them."""
    found: dict[str, Gone] = {}
    if removal.leaving:
        owner = {path: dist for dist in reversed(removal.leaving) for path in dist.files or ()}
        roots = [(folder, folder in after.path) for folder in before.path]
        tops = _grouped((below, path) for path in removal.files for below in _below(path, roots))
        for root, (_, stays) in zip(before.path, roots, strict=True):
            for name in () if stays else before.names(root):
                tops.setdefault(before.stem(name) or name, []).append(("", removal.leaving[0].info))
        for item in before.mapped:
            if item not in after.mapped:
                top, _, rest = item.name.partition(".")
                tops.setdefault(top, []).append((rest.replace(".", "/"), item.by))
        comparison = _Comparison(before, after, owner, removal, found)
        for name, paths in tops.items():
            comparison.descend(before.stem(name) or name, paths)
    return found


def is_gone(name: str, gone: Mapping[str, Gone]) -> Gone | None:
    """Whether `name`, or a package that it lies in, is among the names that go."""
    while name:
        if name in gone:
            return gone[name]
        name = name.rpartition(".")[0]
    return None


Below = tuple[str, TargetPath]  # what follows the folder in question, and the whole path


def _below(path: TargetPath, roots: Iterable[tuple[TargetPath, bool]]) -> Iterable[str]:
    if path.endswith(f"/{DISTUTILS_HOOK}"):
        yield "distutils/"
    for root, _ in roots:
        if path.startswith(f"{root}/"):
            yield path[len(root) + 1 :]


def _grouped(paths: Iterable[Below]) -> dict[str, list[Below]]:
    groups: dict[str, list[Below]] = {}
    for below, path in paths:
        first, _, rest = below.partition("/")
        if first:
            groups.setdefault(first, []).append((rest, path))
    return groups


class _Comparison(NamedTuple):
    before: Finder
    after: Finder
    owner: Mapping[TargetPath, Distribution]
    removal: Removal
    found: dict[str, Gone]

    def descend(self, name: str, paths: Sequence[Below]) -> None:
        """Note `name` if it goes; where it stays, look at what goes from inside it."""
        tail = name.rpartition(".")[2]
        if not tail.isidentifier() or tail in {"__init__", "__pycache__"}:
            return
        was = self.before.find(name)
        if was is None or (was.path is None and not was.folders):
            return
        now = self.after.find(name)
        if self._differs(was, now):
            takers = (self.owner[path] for _, path in paths if path in self.owner)
            self.found[name] = Gone(name, was, now, next(takers, self.removal.leaving[0]))
            return
        for inner, deeper in _grouped(paths).items():
            if was.folders:
                self.descend(f"{name}.{self.before.stem(inner) or inner}", deeper)

    def _differs(self, was: Found, now: Found | None) -> bool:
        if now is None:
            return True
        if was.path is None:
            return now.path is not None and not now.is_package  # of a package what lay there is asked each
        if now.path is None and was.path in self.removal.shared:
            return False  # what the lost __init__ was worth is asked where co-owned files are weighed
        return was.path != now.path and not (now.path is None and self.before.is_empty(was.path))
