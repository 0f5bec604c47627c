"""What `pip install` makes of an environment, as a pure function of the wheels it announces.

Source: pip 22.3 to 26.3, commands/install.py, req/__init__.py (`install_given_reqs`) and
resolution/resolvelib/resolver.py (`get_topological_weights`). The distributions are taken one after the
other: the old version is removed by its own RECORD, then the new files are laid down. So the removal of a later
one takes what an earlier one has just brought to the same path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from safepip.model.arrival import Announced, Content, Laid, Wheel
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes import removal
from safepip.reasoning.requirements import requirement_key
from safepip.world import Arrived, Changed, Kind, World

_PYTHON = "<Python from Requires-Python>"  # a node of pip's graph like any other
_MOST_VISITS = 5  # of one node, before pip takes what it knows of its depth


def in_order(
    announced: Sequence[Announced], inventory: Inventory, *, dependencies: bool = True
) -> tuple[Announced, ...]:
    """The order in which pip installs: what others require first; of one rank by name, the last first."""
    graph = _graph(announced, inventory, dependencies=dependencies)
    ranks = _ranks(graph, sorted(announced, key=lambda item: not item.requested))
    return tuple(
        sorted(sorted(announced, key=lambda item: item.key, reverse=True), key=lambda item: ranks[item.key])
    )


def lay(wheels: Sequence[Wheel], inventory: Inventory, disk: World) -> Laid:
    """Install `wheels` in their order, on a world that each step leaves changed for the next."""
    gone: set[TargetPath] = set()
    contents: dict[TargetPath, Content] = {}
    taken: dict[TargetPath, Distribution] = {}
    replaced: list[Distribution] = []
    for wheel in wheels:
        world = Arrived(Changed(disk, frozenset(gone)), contents)
        step = removal.plan([wheel.dist.key], inventory, world)
        replaced += step.leaving
        gone.update(step.files, step.folders)
        for path in step.files:
            contents.pop(path, None)
            taken[path] = step.leaving[0]
        for path, content in wheel.contents.items():
            contents[path] = content
            if disk.kind(path) is Kind.LINK:  # pip unlinks what is in the way and writes a file
                gone.add(path)
    absent = {path: dist for path, dist in taken.items() if path not in contents}
    return Laid(tuple(replaced), frozenset(gone), absent, contents)


def inventory_after(inventory: Inventory, laid: Laid, wheels: Sequence[Wheel]) -> Inventory:
    """Who is installed in the end; a file that the wheels lay over what another lists has both as owners."""
    staying = [dist for dist in inventory.distributions if dist not in laid.replaced]
    folders = {wheel.dist.location for wheel in wheels}
    end = max((index + 1 for index, dist in enumerate(staying) if dist.location in folders), default=0)
    return replace(
        inventory, distributions=(*staying[:end], *(wheel.dist for wheel in wheels), *staying[end:])
    )


def _graph(
    announced: Sequence[Announced], inventory: Inventory, *, dependencies: bool
) -> Mapping[str, tuple[str, ...]]:
    """Whom each requires, among what comes and what is installed; an extra is a node between."""
    coming = {item.key: item for item in announced}
    graph: dict[str, tuple[str, ...]] = {_PYTHON: ()}
    pending: list[tuple[DistKey, str]] = [(item.key, "") for item in announced]
    while pending:
        key, extra = pending.pop()
        node = f"{key}[{extra}]" if extra else key
        if node in graph:
            continue
        item, dist = coming.get(key), inventory.find(key)
        requires = item.requires if item else dist.requires if dist else ()
        wanted = list(_required(requires, extra, inventory)) if dependencies else []
        known = [(name, inner) for name, inner in wanted if name in coming or inventory.find(name)]
        below = [f"{name}[{inner}]" if inner else str(name) for name, inner in known]
        own = [key] if extra else []
        python = [_PYTHON] if item is not None and item.requires_python else []
        graph[node] = (*below, *own, *python)
        pending += [*known, (key, "")]
    return graph


def _required(requires: Iterable[str], extra: str, inventory: Inventory) -> Iterator[tuple[DistKey, str]]:
    from packaging.requirements import InvalidRequirement, Requirement

    for written in requires:
        key = requirement_key(written)
        try:
            requirement = Requirement(written)
        except InvalidRequirement:
            continue
        marker, markers = requirement.marker, {**inventory.target.markers, "extra": extra}
        if key is not None and (marker is None or marker.evaluate(markers)):
            yield from ((key, name) for name in ("", *sorted(requirement.extras)))


def _ranks(graph: Mapping[str, tuple[str, ...]], roots: Iterable[Announced]) -> Mapping[str, int]:
    """Leaves are peeled off layer by layer; what lies in or above a circle follows, the farther from a root the earlier."""
    ranks: dict[str, int] = {}
    rest = dict(graph)
    layer = 0
    while leaves := [node for node, below in rest.items() if rest.keys().isdisjoint(below)]:
        for node in leaves:
            ranks[node] = layer
            del rest[node]
        layer += 1
    paths: dict[str, list[int]] = {node: [] for node in rest}
    for root in roots:
        if not paths.get(root.key, [0]):  # reached from none of the roots before it
            _follow(root.key, (), rest, paths)
    return {**ranks, **{node: layer + len(rest) - max(lengths) for node, lengths in paths.items()}}


def _follow(
    node: str, above: tuple[str, ...], graph: Mapping[str, tuple[str, ...]], paths: dict[str, list[int]]
) -> None:
    if node in above or len(paths[node]) >= _MOST_VISITS:
        return
    for inner in graph[node]:
        if inner in graph:
            _follow(inner, (*above, node), graph, paths)
    paths[node].append(len(above))
