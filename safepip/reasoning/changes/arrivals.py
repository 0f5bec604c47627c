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


def in_order(
    announced: Sequence[Announced], inventory: Inventory, *, dependencies: bool = True
) -> tuple[Announced, ...]:
    """The order in which pip installs: what others require first, by height; of one height by name, the last first."""
    graph = _graph(announced, inventory, dependencies=dependencies)
    heights: dict[str, int] = {}
    for item in announced:
        _height(item.key, graph, heights, ())
    return tuple(
        sorted(sorted(announced, key=lambda item: item.key, reverse=True), key=lambda item: heights[item.key])
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


def inventory_after(inventory: Inventory, laid: Laid, wheels: Iterable[Wheel]) -> Inventory:
    """Who is installed in the end; a file that the wheels lay over what another lists has both as owners."""
    staying = [dist for dist in inventory.distributions if dist not in laid.replaced]
    return replace(inventory, distributions=(*staying, *(wheel.dist for wheel in wheels)))


def _graph(
    announced: Sequence[Announced], inventory: Inventory, *, dependencies: bool
) -> Mapping[str, tuple[str, ...]]:
    """Whom each requires, among what comes and what is installed; an extra is a node between."""
    coming = {item.key: item for item in announced}
    graph: dict[str, tuple[str, ...]] = {}
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


def _height(
    node: str, graph: Mapping[str, tuple[str, ...]], heights: dict[str, int], above: tuple[str, ...]
) -> int:
    """How many layers of leaves pip peels off before this one; in a circle, where it was entered counts."""
    if node in above:
        return 0
    if node not in heights:
        below = [_height(inner, graph, heights, (*above, node)) for inner in graph.get(node, ())]
        heights[node] = 1 + max(below) if below else 0
    return heights[node]
