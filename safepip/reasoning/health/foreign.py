"""Extension modules that are built for another Python or machine, where this one has none of that name.

Their names tell (PEP 3149): `etree.cpython-311-x86_64-linux-gnu.so` is nothing to CPython 3.12, and `_rust.abi3.so`
nothing to PyPy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.libraries.losses import relative

FOREIGN = "foreign"  # ends the info of the phantom that they are put as
_TAG = re.compile(r"\.((?:cpython|pypy|abi3)[\w-]*)\.so$")


class Foreign(NamedTuple):
    dist: Distribution
    sought: Mapping[TargetPath, TargetPath]  # by file that is there: the one that this Python would load


def find(inventory: Inventory, finder: Finder) -> Iterator[Foreign]:
    """A source beside it is as good, and slower."""
    suffixes = inventory.target.suffixes
    for dist in inventory.distributions:
        sought = {}
        for path in dist.used:
            tag = _TAG.search(path) if path.endswith(".so") else None
            if tag is None or f".{tag[1]}.so" in suffixes:
                continue
            folder, _, name = path.rpartition("/")
            names, stem = finder.names(TargetPath(folder)), name.partition(".")[0]
            if name in names and not any(f"{stem}{suffix}" in names for suffix in (*suffixes, ".py")):
                sought[path] = TargetPath(f"{folder}/{stem}{suffixes[0]}")
        if sought:
            yield Foreign(dist, sought)


def ailments(
    found: Collection[Foreign], failing: Collection[DistKey], inventory: Inventory
) -> Iterator[Ailment]:
    """`failing`: the distributions whose modules of this kind an import misses."""
    for dist, sought in found:
        first = next(iter(sought))
        more = f" and {len(sought) - 1} more" if len(sought) > 1 else ""
        verb = "are" if more else "is"
        tag = inventory.target.soabi
        yield Ailment(
            Check.FOREIGN_BUILD,
            Level.ERROR if dist.key in failing else Level.WARN,
            dist.name,
            f"{relative(first, inventory)}{more} of {dist.name} {dist.version} {verb} for another Python or machine:"
            f" this one loads {tag}",
            first,
            paths=tuple(sought),
            mended_by=(dist.key,),
        )
