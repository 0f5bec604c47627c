"""What distributions hold of their files: gone, overwritten, altered, recorded twice or nowhere, left over by pip."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from safepip.model.change import Reach
from safepip.model.diagnosis import Ailment, Check, Hollow, Level, Overwritten, Stash
from safepip.model.elf import Flaw
from safepip.model.environment import Distribution, Fault, Install, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import SharedFile
from safepip.reasoning.changes import shares as co_owned
from safepip.reasoning.changes.shares import Weight
from safepip.reasoning.libraries.losses import relative
from safepip.world import Kind, World

PASSED_OVER = "passes over it"  # what is said of metadata that this pip does not see
CACHED = "/__pycache__/"


def missing_files(dist: Distribution, world: World) -> tuple[TargetPath, ...]:
    """Rows of `dist` that are not there, or links that lead nowhere; byte code is made again where it is used."""
    by_folder: dict[str, list[TargetPath]] = {}
    for path in dist.files or ():
        if not path.endswith((".pyc", ".pyo")):
            by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    gone: list[TargetPath] = []
    for folder, paths in by_folder.items():
        kinds = {entry.name: entry.kind for entry in world.entries(TargetPath(folder or "/"))}
        for path in paths:
            kind = kinds.get(path.rpartition("/")[2]) or world.kind(path)  # some folders cannot be listed
            if kind is None or (kind is Kind.LINK and world.find(path) is Flaw.MISSING):
                gone.append(path)
    return tuple(sorted(gone))


def hollows(missing: Mapping[TargetPath, tuple[TargetPath, ...]], inventory: Inventory) -> Iterator[Hollow]:
    """Who lacks files beside its metadata; `missing` is by info."""
    for dist in inventory.distributions:
        own = [
            path
            for path in dist.files or ()
            if not path.startswith(f"{dist.info}/") and not path.endswith((".pyc", ".pyo"))
        ]
        gone = tuple(path for path in missing.get(dist.info, ()) if not path.startswith(f"{dist.info}/"))
        if gone:
            yield Hollow(dist, gone, len(own))


def of_hollows(found: Iterable[Hollow], inventory: Inventory) -> Iterator[Ailment]:
    for item in found:
        first = relative(item.missing[0], inventory)
        more = f" and {len(item.missing) - 1} more" if len(item.missing) > 1 else ""
        said = (
            f"{item.dist.name} {item.dist.version} has its metadata and {_none_of(item.of)}"
            if item.whole
            else f"{item.dist.name} lacks {first}{more}, of {item.of} files"
        )
        check = Check.HOLLOW if item.whole else Check.MISSING_FILE
        yield Ailment(
            check,
            Level.ERROR,
            item.dist.name,
            said,
            item.missing[0],
            paths=item.missing,
            mended_by=(item.dist.key,),
        )


def _none_of(count: int) -> str:
    return {1: "lacks its only file", 2: "neither of its two files"}.get(
        count, f"none of its {count:,} files"
    )


def overwritten(
    items: Iterable[SharedFile], inventory: Inventory, world: World
) -> Iterator[tuple[Distribution, Overwritten]]:
    """Each owner that has lost its own bytes at a co-owned path that matters to it."""
    for item in items:
        holder = co_owned.bytes_of(item, ())
        names = tuple(dist.name for dist in item.owners)
        for owner in item.owners:
            own = bool(co_owned.bytes_of(replace(item, owners=(owner,)), ()))
            weight = co_owned.weigh(item, owner, inventory, world, frozenset())
            if not own and weight is Weight.MATTERS:
                yield owner, Overwritten(item.path, names, holder)


def of_overwritten(
    found: Iterable[tuple[Distribution, Overwritten]],
    inventory: Inventory,
    using: Mapping[TargetPath, Collection[str]],
) -> Iterator[Ailment]:
    """Folded by owner and by whose bytes lie there. `using`: by path, who is bound to it."""
    groups: dict[tuple[TargetPath, str], list[Overwritten]] = {}
    owners: dict[TargetPath, Distribution] = {}
    for owner, item in found:
        owners[owner.info] = owner
        groups.setdefault((owner.info, item.bytes_of), []).append(item)
    for (info, holder), items in groups.items():
        owner = owners[info]
        first = relative(items[0].path, inventory)
        more = f" and {len(items) - 1} more" if len(items) > 1 else ""
        users = sorted({name for item in items for name in using.get(item.path, ())} - {holder, owner.name})
        holds = "hold" if more else "holds"
        using_it = f"{'use' if len(users) > 1 else 'uses'} {'them' if more else 'it'}"
        bound = f"; {', '.join(users[:3])} {using_it}" if users else ""
        yield Ailment(
            Check.OVERWRITTEN,
            Level.WARN,
            owner.name,
            f"{first}{more} of {owner.name} {owner.version} {holds} the bytes of {holder or 'nobody'}{bound}",
            items[0].path,
            paths=tuple(item.path for item in items),
            mended_by=(owner.key,),
        )


def damaged(
    found: Mapping[TargetPath, tuple[TargetPath, ...]], why: Mapping[TargetPath, str], inventory: Inventory
) -> Iterator[Ailment]:
    """Files that nobody can use as they are; `found` is by info. A source that cannot be parsed may be a person's
    work: that is an altered file.
    """
    for dist in inventory.distributions:
        paths = tuple(path for path in found.get(dist.info, ()) if _is_lost(path, why))
        if paths:
            more = f"; {len(paths) - 1} more of {dist.name} as well" if len(paths) > 1 else ""
            yield Ailment(
                Check.DAMAGED_FILE,
                Level.ERROR,
                dist.name,
                f"{relative(paths[0], inventory)} of {dist.name} {dist.version} cannot be used: {why[paths[0]]}{more}",
                paths[0],
                paths=paths,
                mended_by=(dist.key,),
            )


def altered(
    found: Mapping[TargetPath, tuple[TargetPath, ...]], why: Mapping[TargetPath, str], inventory: Inventory
) -> Iterator[Ailment]:
    """Files that are not what their only owner recorded, those that are damaged aside."""
    for dist in inventory.distributions:
        paths = tuple(path for path in found.get(dist.info, ()) if not _is_lost(path, why))
        if paths:
            first = next((path for path in paths if path in why), paths[0])
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            what = f"; {why[first]}" if first in why else ""
            yield Ailment(
                Check.ALTERED_FILE,
                Level.ERROR if what else Level.WARN,
                dist.name,
                f"{relative(first, inventory)}{more} is not what {dist.name} {dist.version} recorded{what}",
                first,
                paths=paths,
                mended_by=(dist.key,),
            )


def _is_lost(path: TargetPath, why: Mapping[TargetPath, str]) -> bool:
    return path in why and "parsed" not in why[path]


def duplicates(inventory: Inventory) -> Iterator[Ailment]:
    by_key: dict[tuple[DistKey, TargetPath], list[Distribution]] = {}
    for dist in inventory.distributions:
        by_key.setdefault((dist.key, dist.location), []).append(dist)
    for (key, _), dists in by_key.items():
        if len(dists) > 1:
            versions = " and ".join(dist.version for dist in dists)
            yield Ailment(
                Check.DUPLICATE_METADATA,
                Level.WARN,
                dists[0].name,
                f"{dists[0].name} has metadata of several versions: {versions}",
                dists[-1].info,
                paths=tuple(dist.info for dist in dists),
                mended_by=(key,),
            )


def damaged_metadata(inventory: Inventory, world: World) -> Iterator[Ailment]:
    """What pip stumbles over, and what it does not even see; who has no list of files at all is told by another check."""
    for dist in inventory.distributions:
        unlisted = _unlisted(dist, inventory, world)
        faults = [_in_words(dist.faults)] if dist.faults and dist.files is not None else []
        if unlisted:
            more = f" and {len(unlisted) - 1} more" if len(unlisted) > 1 else ""
            faults.append(
                f"RECORD lists the byte code of {relative(unlisted[0], inventory)}{more} and not the source"
            )
        if faults:
            found = _damaged_metadata(dist.name, dist.version, "; ".join(faults), dist.info)
            yield replace(found, mended_by=(dist.key,))
    for info in (item.subject for item in inventory.unjudged if PASSED_OVER in item.reason):
        name, _, version = info.rpartition("/")[2].removesuffix(".dist-info").partition("-")
        if version and info.endswith(".dist-info"):
            unseen = "pip does not see it: METADATA is missing"
            found = _damaged_metadata(name, version, unseen, TargetPath(info))
            yield replace(found, wants=f"{name}=={version}")


def _damaged_metadata(name: str, version: str, what: str, info: TargetPath) -> Ailment:
    said = f"the metadata of {name} {version} is damaged: {what}"
    return Ailment(Check.DAMAGED_METADATA, Level.WARN, name, said, info)


def _in_words(faults: Collection[Fault]) -> str:
    if {Fault.METADATA_WITHOUT_NAME, Fault.METADATA_WITHOUT_VERSION} <= {*faults}:
        return "METADATA is missing"
    return "; ".join(fault.value for fault in faults)


def _unlisted(dist: Distribution, inventory: Inventory, world: World) -> tuple[TargetPath, ...]:
    """Sources that lie there and that nobody lists, though their byte code is listed: pip lists both."""
    byte_code = [path for path in dist.files or () if path.endswith(".pyc") and CACHED in path]
    halves = (path.split(CACHED) for path in byte_code)
    sources = {TargetPath(f"{half[0]}/{half[-1].partition('.')[0]}.py") for half in halves}
    left = [path for path in sources.difference(dist.files or ()) if world.kind(path) is Kind.FILE]
    return tuple(sorted(set(left) - inventory.owners(left).keys()))


def without_record(inventory: Inventory) -> Iterator[Ailment]:
    for dist in inventory.distributions:
        if dist.files is None and dist.install in {Install.DIST_INFO, Install.EGG_INFO_FILE}:
            yield Ailment(
                Check.NO_RECORD,
                Level.WARN,
                dist.name,
                f"{dist.name} {dist.version} has no list of its files: pip can neither remove nor upgrade it",
                dist.info,
                mended_by=(dist.key,),
            )


def leftovers(stashes: Sequence[Stash]) -> Iterator[Ailment]:
    """pip's own wreckage, a distribution at a time: an error where the distribution is there no longer."""
    by_name: dict[str, list[Stash]] = {}
    for stash in stashes:
        by_name.setdefault(stash.distribution, []).append(stash)
    for name, items in by_name.items():
        lost = [item for item in items if not item.in_the_way]
        shown = ", ".join(item.path.rpartition("/")[2] for item in items[:3])
        said = (
            f"pip was cut off while it removed {name}: {shown} is what it had moved aside"
            if lost
            else f"{shown} is left of a removal of {name} that pip could not end"
        )
        yield Ailment(
            Check.LEFTOVERS,
            Level.ERROR if lost else Level.WARN,
            name,
            said,
            items[0].path,
            paths=tuple(item.path for item in items),
        )


def reaching(reaches: Iterable[Reach], inventory: Inventory) -> Iterator[Ailment]:
    groups: dict[tuple[str, str], list[Reach]] = {}
    for reach in reaches:
        groups.setdefault((reach.dist.name, reach.why.value), []).append(reach)
    for (name, why), items in groups.items():
        more = f" and {len(items) - 1} more" if len(items) > 1 else ""
        yield Ailment(
            Check.REACH_BEYOND,
            Level.WARN,
            name,
            f"removing {name} would delete {relative(items[0].path, inventory)}{more}, which {why}",
            items[0].path,
            paths=tuple(item.path for item in items),
        )
