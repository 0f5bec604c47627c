"""`safepip why`: what a name or a path is, who needs it, and what each of them is really bound to."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from safepip.commands.importers import importers
from safepip.commands.scene import Scene
from safepip.model.answers import Answered, Bringer, Looked, Match, Named, Use
from safepip.model.change import Removal
from safepip.model.elf import Elf, Flaw, cache_key
from safepip.model.environment import Distribution
from safepip.model.paths import TargetPath
from safepip.model.survey import Standing, Survey
from safepip.reading import tree
from safepip.reading.sites import metadata, packaged, receipts, shares
from safepip.reading.sites.homes import homes_of
from safepip.reasoning.changes import shares as co_owned
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.imports import module_of
from safepip.reasoning.code.surface import top_modules
from safepip.reasoning.health import questions
from safepip.reasoning.health.questions import Sought
from safepip.reasoning.libraries import objects as elf_objects
from safepip.reasoning.libraries.losses import relative
from safepip.reasoning.likeness import near
from safepip.reasoning.requirements import requirement_key


def why(query: str, scene: Scene) -> Answered:
    """Everything known of what `query` names: a soname, a path, a module, a distribution, or a part of one."""
    answered = _answer(query, scene)
    names = {match.soname or match.path.rpartition("/")[2] for match in answered.matches}
    names.update(use.wants for use in answered.needed_by)
    own = {item.name for item in answered.distributions}.union(*(match.owners for match in answered.matches))
    opened = questions.openers(names or {query}, scene.inventory, scene.known_loads)
    return replace(answered, opened_by=tuple(item for item in opened if item.distribution not in own))


def _answer(query: str, scene: Scene) -> Answered:
    path = _path(query, scene)
    if path is not None:
        return _of_path(query, path, scene)
    names = questions.library_names(scene.objects) | _recorded_libraries(scene)
    dist = scene.inventory.find(metadata.canonical(query))
    found = Finder(scene.disk, scene.target).find(query) if _is_dotted(query) else None
    if query in names or (dist is None and (found is None or found.path is None)):
        fits = questions.fitting(query, names)
        partial = _distributions(query, scene) if query not in names else ()
        if found and found.folders and not fits and not partial:
            return _of_namespace(query, found.folders, scene)
        answered = (
            _of_distributions(query, partial, scene)
            if partial and not fits
            else _of_names(query, fits, partial, scene)
        )
        return _with_likes(answered, names, scene)
    if dist is not None:
        return _of_distributions(query, (dist,), scene)
    return _of_path(query, TargetPath(str(found and found.path)), scene, module=query)


def _with_likes(answered: Answered, libraries: Collection[str], scene: Scene) -> Answered:
    """Names of all kinds that may have been meant, where there is nothing to tell."""
    if not answered.is_empty or answered.brought_by:
        return answered
    finder = Finder(scene.disk, scene.target)
    dists = scene.inventory.distributions
    modules = (name for dist in dists for name in top_modules(dist, scene.inventory, finder))
    return replace(answered, like=near(answered.query, {*(dist.key for dist in dists), *libraries, *modules}))


def _path(query: str, scene: Scene) -> TargetPath | None:
    """A query with a slash: as it stands, below a site folder or below the prefix."""
    if "/" not in query:
        return None
    bases = (tree.getcwd(), *scene.target.sites, scene.target.prefix)
    for base in bases:
        path = TargetPath(os.path.join(base, query))
        if scene.disk.kind(path) is not None:
            return scene.disk.real(TargetPath(tree.abspath(path)))
    tail = f"/{query.lstrip('/')}"
    recorded = (path for dist in scene.inventory.distributions for path in dist.files or ())
    fits = next((path for path in recorded if path.endswith(tail)), None)
    return fits or TargetPath(os.path.join(scene.target.sites[0], query))


def _is_dotted(query: str) -> bool:
    return all(part.isidentifier() for part in query.split("."))


def _recorded_libraries(scene: Scene) -> frozenset[str]:
    """Names of libraries that a RECORD lists, there or not."""
    return frozenset(
        path.rpartition("/")[2]
        for dist in scene.inventory.distributions
        for path in dist.files or ()
        if elf_objects.is_object_name(path)
    )


def _distributions(query: str, scene: Scene) -> tuple[Distribution, ...]:
    keys = questions.fitting(query, frozenset(dist.key for dist in scene.inventory.distributions))
    return tuple(dist for dist in scene.inventory.distributions if dist.key in keys)


def _of_names(query: str, names: frozenset[str], dists: Iterable[Distribution], scene: Scene) -> Answered:
    paths = questions.paths_named(names, scene.objects)
    uses = _uses(Sought(names, frozenset(paths)), scene)
    bound = tuple(use.bound_to for use in uses if use.bound_to)
    matches = _matches(dict.fromkeys((*paths, *bound)), scene)
    missing = {use.wants for use in uses if use.how < Standing.PRELOADED} or (
        set() if matches else set(names)
    )
    return Answered(
        query,
        scene.target,
        matches,
        uses,
        tuple(line for dist in dists for line in questions.declared(dist, scene.inventory)),
        elsewhere=tuple(_elsewhere(names, {match.path for match in matches}, scene)),
        brought_by=tuple(_bringers(missing, uses, scene)),
    )


def _of_distributions(query: str, dists: Sequence[Distribution], scene: Scene) -> Answered:
    files = [path for dist in dists for path in dist.files or ()]
    libraries = [path for path in files if path in scene.objects.elves]
    recorded = [path for path in files if elf_objects.is_object_name(path)]
    names = {path.rpartition("/")[2] for path in recorded}
    for path in libraries:
        names.update(elf_objects.names(path, scene.objects.elves[path]))
    asker = dists[0] if len(dists) == 1 else None
    uses = _uses(Sought(frozenset(names), frozenset(libraries), asker), scene)
    ours = tuple(use for use in uses if use.bound_to is None or use.bound_to in libraries)
    finder = Finder(scene.disk, scene.target)
    tops = [name for dist in dists for name in top_modules(dist, scene.inventory, finder)]
    lost = {path.rpartition("/")[2] for path in recorded if scene.disk.kind(path) is None}
    return Answered(
        query,
        scene.target,
        _matches(dict.fromkeys(libraries), scene),
        ours,
        tuple(line for dist in dists for line in questions.declared(dist, scene.inventory)),
        tuple(importers(tops, dists, scene)),
        brought_by=tuple(_bringers(lost, uses, scene)) if lost else (),
        distributions=tuple(Named(dist.name, dist.version) for dist in dists),
        unjudged=tuple(
            item
            for item in scene.inventory.unjudged
            if any(item.subject in {dist.location, dist.info} for dist in dists)
        ),
    )


def _of_namespace(query: str, folders: Sequence[TargetPath], scene: Scene) -> Answered:
    """A package without a file of its own, which several distributions may share."""
    inside = tuple(f"{folder}/" for folder in folders)
    dists = [
        dist for dist in scene.inventory.distributions if any(path.startswith(inside) for path in dist.used)
    ]
    named = tuple(sorted(Named(dist.name, dist.version) for dist in dists))
    imported = tuple(importers([query], dists, scene))
    return Answered(query, scene.target, imported_by=imported, distributions=named)


def _of_path(query: str, path: TargetPath, scene: Scene, module: str = "") -> Answered:
    elf = scene.disk.elf(path)
    owner = next(iter(scene.inventory.owners([path]).get(path, ())), None)
    module = module or module_of(path, scene.inventory)[0] or elf_objects.module_name(path, scene.target)
    uses: tuple[Use, ...] = ()
    if isinstance(elf, Elf) or elf_objects.is_object_name(path):
        names = elf_objects.names(path, elf) if isinstance(elf, Elf) else (path.rpartition("/")[2],)
        uses = _uses(Sought(frozenset(names), frozenset([path])), scene)
        uses = tuple(use for use in uses if use.bound_to in {None, path})
    exists = scene.disk.kind(path) is not None
    return Answered(
        query,
        scene.target,
        _matches([path], scene) if exists else (),
        uses,
        imported_by=tuple(importers([module], [owner] if owner else [], scene)) if module else (),
        brought_by=() if exists else tuple(_bringers({path.rpartition("/")[2]}, uses, scene)),
    )


def _uses(sought: Sought, scene: Scene) -> tuple[Use, ...]:
    if scene.surveyor is None:
        return ()
    roots = elf_objects.reaching(sought.names, scene.objects, scene.needing)
    survey: Survey = scene.surveyor.survey(roots)
    return questions.uses(sought, survey, scene.objects, scene.inventory)


def _matches(paths: Iterable[TargetPath], scene: Scene) -> tuple[Match, ...]:
    listed = tuple(paths)
    shared = {item.path: item for item in shares.read(Removal(shared=listed), scene.inventory)}
    kept = packaged.packages(frozenset(listed), scene.target)
    found = []
    for path in listed:
        elf = scene.disk.elf(path)
        item = shared.get(path)
        found.append(
            Match(
                path,
                _soname(path, elf),
                tuple(dist.name for dist in item.owners) if item else (),
                co_owned.bytes_of(item, ()) if item else "",
                scene.disk.size(path),
                kept.get(path),
            )
        )
    return tuple(found)


def _soname(path: TargetPath, elf: Elf | Flaw) -> str:
    if isinstance(elf, Flaw):
        return ""
    base = path.rpartition("/")[2]
    return elf.soname or (base if base.startswith("lib") else "")


def _elsewhere(names: Iterable[str], known: Collection[TargetPath], scene: Scene) -> Iterator[Looked]:
    """Files of these names that a loader outside the environment's own paths would come to."""
    config = scene.loader
    if config is None:
        return
    for name in sorted(names):
        places = [
            *(("LD_LIBRARY_PATH", f"{folder}/{name}") for folder in config.library_path.split(":") if folder),
            *(("loader cache", path) for path in [config.cache.get(cache_key(name))] if path),
            *(("default folder", f"{folder}/{name}") for folder in config.defaults),
            *(("the system's CUDA", f"{folder}/{name}") for folder in _cuda_folders(scene)),
        ]
        seen = set(known)
        for rule, place in places:
            found = scene.disk.find(TargetPath(place))
            if not isinstance(found, Flaw) and found.real not in seen:
                seen.add(found.real)
                yield Looked(rule, TargetPath(place))


def _cuda_folders(scene: Scene) -> Iterator[str]:
    local = TargetPath("/usr/local")
    for entry in scene.disk.entries(local):
        if entry.folder and entry.name.startswith("cuda"):
            yield from (f"{local}/{entry.name}/{folder}" for folder in ("lib64", "targets/x86_64-linux/lib"))


def _bringers(missing: Collection[str], uses: Iterable[Use], scene: Scene) -> Iterator[Bringer]:
    """Who would bring the missing names: RECORD first, then what was removed here, then requirements by their names."""
    told = set()
    safepip = scene.target.inside("safepip", "--python", scene.target.executable)
    wanting = {use.distribution for use in uses if use.how < Standing.PRELOADED}
    users = [dist for dist in scene.inventory.distributions if dist.name in wanting]
    required = {requirement_key(written) for dist in users for written in dist.requires}
    recording = questions.recorders(missing, scene.inventory)
    for dist, path in sorted(recording, key=lambda row: (row[0].key not in required, row[0].key, row[1])):
        if dist.key not in told and scene.disk.kind(path) is None:
            told.add(dist.key)
            pinned = f"{dist.key}=={dist.version}"
            command = (*safepip, "install", "--no-deps", "--force-reinstall", pinned)
            listed = relative(path, scene.inventory)
            yield Bringer(
                f"{dist.name} {dist.version}", f"its RECORD lists {listed}, which is not there", command
            )
    for home in homes_of(scene.target):
        for held in receipts.held(home):
            if any(path.rpartition("/")[2] in missing for path in held.receipt.lost):
                what = ", ".join(f"{name} {version}" for name, version in held.receipt.leaving)
                undo = (*safepip, "undo", str(held.receipt.id))
                yield Bringer(what, f"change {held.receipt.id} removed it, and it is kept", undo)
    for dist in users:
        for name in missing:
            for written in questions.naming_stem(name, dist.requires):
                key = requirement_key(written)
                if key and key not in told and scene.inventory.find(key) is None:
                    told.add(key)
                    yield Bringer(written, f"{dist.name} requires it, and it is not installed")
