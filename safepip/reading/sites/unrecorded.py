"""Who uses an environment without a RECORD that says so: editable projects, old forms, code laid in by hand.

A RECORD tells what a removal takes. What breaks by it may be a project's own folder, a package whose
distribution has no list of files, or a module that no distribution knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from safepip.model.environment import Distribution, Install, Inventory, Mapped, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.reading import plain_file, tree
from safepip.reading.sites import editable, metadata

MOST_FILES = 20_000  # of one environment; more is said to be unjudged
MOST_FOLDERS = 10_000  # the same: a .pth may name any folder
APART = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})
TESTS = frozenset({"test", "tests", "testing"})
NO_CODE = frozenset({"test", "tests", "doc", "docs", "example", "examples", "benchmark", "benchmarks"})
OF_PROJECT = frozenset({"setup.py", "conftest.py", "noxfile.py", "tasks.py", "_virtualenv.py"})
OWN = "_safepip"  # what a guard lays in


def completed(inventory: Inventory) -> Inventory:
    """`inventory` with the sources that no RECORD lists, each with the distribution that it belongs to."""
    look = _Look(inventory)
    for site in look.homes:
        look.at_site(site)
    for folder in inventory.target.path:
        look.at_archive(folder)
    for link in (dist for dist in inventory.distributions if dist.egg_link):
        look.at_project(TargetPath(tree.realpath(link.location)), link)
    if not look.sources and not look.loose and not look.mapped and not look.unjudged:
        return inventory
    return Inventory(
        replace(inventory.target, mapped=tuple(look.mapped)),
        tuple(
            replace(dist, sources=tuple(dict.fromkeys(look.sources[dist.info])))
            if dist.info in look.sources
            else dist
            for dist in inventory.distributions
        ),
        (*inventory.unjudged, *look.unjudged),
        inventory.leftovers,
        tuple(look.loose),
    )


class _Look:
    """One look around, with what it has found so far."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.sources: dict[TargetPath, list[TargetPath]] = {}  # by the owner's info
        self.loose: list[Distribution] = []
        self.mapped: list[Mapped] = []
        self.unjudged: list[Unjudged] = []
        self._left = MOST_FILES
        self._folders = MOST_FOLDERS
        self._walked: set[tuple[TargetPath, TargetPath]] = set()  # that a .pth names, by the owner's info
        target = inventory.target
        inside = tuple(f"{prefix}/" for prefix in {target.prefix, target.base_prefix})
        self.homes = dict.fromkeys(
            TargetPath(tree.realpath(site))
            for site in target.sites
            if site.startswith(inside) or site == target.user_site
        )

    def at_site(self, site: TargetPath) -> None:
        names = _listed(site)
        known = set[str]().union(*(dist.heads(site) for dist in self.inventory.distributions))
        self._claim(site, [name for name in names if name not in known and _is_module(site, name)])
        for name in names:
            if name.endswith(".pth") and not name.startswith("."):
                self._brought(editable.read(site, name), name)

    def at_archive(self, path: TargetPath) -> None:
        """Packages are imported from zip files too; the standard library's own is part of the interpreter."""
        if path.endswith((".egg", ".zip", ".whl", ".pyz")) and tree.isfile(path):
            real = tree.realpath(path)
            self.unjudged.append(Unjudged(real, "what is packed in it and who imports it is not looked into"))

    def at_project(self, folder: TargetPath, owner: Distribution) -> None:
        """The importable part of a project's folder: what is named after the project, else all that is no side matter."""
        names = [name for name in _listed(folder) if _is_module(folder, name) and name not in OF_PROJECT]
        named = [name for name in names if name.removesuffix(".py") in (owner.top_level or ())]
        named = named or [name for name in names if metadata.canonical(name.removesuffix(".py")) == owner.key]
        for name in named or [name for name in names if name not in NO_CODE and name not in APART]:
            self._give(owner, TargetPath(f"{folder}/{name}"))

    def _claim(self, site: TargetPath, names: Sequence[str]) -> None:
        """Each of `names` is a distribution's that has no list of files, or nobody's."""
        listless = [
            dist for dist in self.inventory.distributions if dist.files is None and dist.location == site
        ]
        tops = {top: dist for dist in reversed(listless) for top in (dist.key, *_top_level(dist))}
        for name in names:
            path = TargetPath(f"{site}/{name}")
            stem = name.partition(".")[0]
            owner = tops.get(stem) or tops.get(metadata.canonical(stem))
            if owner is not None:
                self._give(owner, path)
            elif self._is_written(path):
                self.mapped.append(Mapped(stem, TargetPath(tree.realpath(path)), path))
            else:
                self._add_loose(path)

    def _is_written(self, link: TargetPath) -> bool:
        """Whether a RECORD has rows that lead through `link`."""
        dists = (dist for dist in self.inventory.distributions if dist.as_written)
        return any(path.startswith(f"{link}/") for dist in dists for path in dist.as_written or ())

    def _brought(self, brought: editable.Brought, name: str) -> None:
        owner = next((dist for dist in self.inventory.distributions if _lists(dist, brought.by)), None)
        for hook in brought.silent:
            reason = "the import hook of an editable install is not understood"
            self.unjudged.append(Unjudged(hook, reason))
        self.mapped += brought.mapped
        for item in brought.mapped if owner else ():
            self._give(owner, item.place)
        for folder in dict.fromkeys(brought.folders) if name != "easy-install.pth" else ():
            whose = (owner.info if owner else TargetPath(""), folder)
            if folder in self.homes or whose in self._walked:
                continue
            self._walked.add(whose)
            if owner is not None:
                self.at_project(folder, owner)
            else:
                for inside in _listed(folder):
                    if _is_module(folder, inside) and inside not in OF_PROJECT | NO_CODE | APART:
                        self._add_loose(TargetPath(f"{folder}/{inside}"))

    def _give(self, owner: Distribution | None, path: TargetPath) -> None:
        if owner is not None:
            self.sources.setdefault(owner.info, []).extend(self._below(path))

    def _add_loose(self, path: TargetPath) -> None:
        site, _, name = path.rpartition("/")
        stem = name.partition(".")[0]
        found = tuple(self._below(path))
        if not found:
            return
        if tree.islink(path):
            self.mapped.append(Mapped(stem, TargetPath(tree.realpath(path)), path))
        self.loose.append(
            Distribution(
                DistKey(stem), stem, "", TargetPath(site), path, Install.UNRECORDED, None, sources=found
            )
        )

    def _below(self, path: TargetPath) -> Iterator[TargetPath]:
        """The modules and libraries at `path` and below it, tests left out."""
        if not tree.isdir(path):
            yield path
            return
        for here, below, names in tree.walk(tree.realpath(path)) if self._folders > 0 else ():
            self._folders -= 1
            if self._folders == 0:
                reason = f"more than {MOST_FOLDERS} folders that no RECORD lists; the rest was not looked at"
                self.unjudged.append(Unjudged(path, reason))
                return
            below[:] = sorted(
                name for name in below if name[:1] != "." and name not in APART and name not in TESTS
            )
            if "pyvenv.cfg" in names:
                below.clear()
                continue
            for name in sorted(names):
                if _is_code(name):
                    if self._left == 0:
                        self._left = -1
                        reason = (
                            f"more than {MOST_FILES} files that no RECORD lists; the rest was not looked at"
                        )
                        self.unjudged.append(Unjudged(path, reason))
                    if self._left < 0:
                        return
                    self._left -= 1
                    yield TargetPath(f"{here}/{name}")


def _listed(folder: TargetPath) -> list[str]:
    try:
        return sorted(tree.listdir(folder))
    except OSError:
        return []


def _is_module(folder: TargetPath, name: str) -> bool:
    """Whether an import could lead to `name`, going by its form."""
    stem, dot, _ = name.partition(".")
    if not stem.isidentifier() or stem in {"__pycache__", OWN}:
        return False
    return _is_code(name) if dot else tree.isdir(f"{folder}/{name}")


def _is_code(name: str) -> bool:
    if name.endswith(".py"):
        return not (name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py")
    return name.endswith(".so") or ".so." in name


def _lists(dist: Distribution, path: TargetPath) -> bool:
    return path.startswith(f"{dist.location}/") and path in (dist.files or ())


def _top_level(dist: Distribution) -> tuple[str, ...]:
    if dist.top_level is not None:
        return dist.top_level
    try:
        return tuple(plain_file.content(f"{dist.info}/top_level.txt").decode(errors="replace").split())
    except OSError:
        return ()
