"""An environment of shared objects, looked through: what each need of theirs comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from safepip.model.environment import Distribution, Inventory
from safepip.model.known_loads import KnownLoad, Loads
from safepip.model.survey import Objects, Survey
from safepip.reasoning.libraries import objects
from safepip.reasoning.libraries.survey import Surveyor
from support.environments import PYTHON, files, inventory
from support.fake_world import Content, FakeWorld, glibc


class Surveyed(NamedTuple):
    inventory: Inventory
    world: FakeWorld
    objects: Objects
    survey: Survey


def surveyed(
    contents: Mapping[str, Content],
    *dists: Distribution,
    known: Sequence[KnownLoad] = (),
    library_path: str = "",
) -> Surveyed:
    """All objects among `contents`, which lie below the site folder."""
    world, site = FakeWorld(files(contents)), inventory(*dists)
    everybody = objects.gather(dists, site.target.scripts, world)
    surveyor = Surveyor(
        world, everybody, site, glibc(main=PYTHON, library_path=library_path), Loads(tuple(known))
    )
    return Surveyed(site, world, everybody, surveyor.survey(everybody.elves))
