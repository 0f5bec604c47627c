"""A copy of the same project further back on sys.path: the user's own numpy in front of Debian's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.environment import Distribution
from safepip.model.imports import ImportLoss
from safepip.model.paths import TargetPath
from safepip.reasoning.code import copies
from support.code import Sources, environment, package
from support.environments import EXT, at

BELOW = "/usr/lib/python3/dist-packages"


def losses(
    user: Sources, below: str, name: str, modules: tuple[str, ...], *more: tuple[Distribution, Sources]
) -> list[ImportLoss]:
    """What is lost when numpy 1.26 goes from in front of a copy in the system's folder."""
    front = package("numpy", {"numpy/__init__.py": "", "numpy/strings.py": "", "numpy/linalg.py": ""})
    copy = package(name, {f"{BELOW}/numpy/{module}": "" for module in modules})
    here = environment(front, package("user", user), copy, *more)
    numpy, other, last, *rest = here.inventory.distributions
    last = replace(last, version=below, location=TargetPath(BELOW), info=TargetPath(f"{BELOW}/n.dist-info"))
    target = here.inventory.target
    inventory = replace(
        here.inventory,
        target=replace(target, path=(*target.path, TargetPath(BELOW))),
        distributions=(replace(numpy, version="1.26"), other, last, *rest),
    )
    return list(copies.weighed(here._replace(inventory=inventory).without("numpy")))


PLAIN = {"user/__init__.py": "import numpy\n"}
COMPILED = {**PLAIN, f"user/_c{EXT}": ""}
DEEPER = {"user/__init__.py": "import numpy\n", "user/deep.py": "import numpy.strings\n"}


@pytest.mark.parametrize(
    ("user", "below", "name", "modules", "made_up"),
    [
        (PLAIN, "1.24", "NumPy", ("__init__.py",), True),
        (PLAIN, "2.0", "NumPy", ("__init__.py",), True),
        (COMPILED, "1.24", "NumPy", ("__init__.py",), True),
        (COMPILED, "2.0", "NumPy", ("__init__.py",), False),
        (PLAIN, "1.24", "numpy-like", ("__init__.py",), False),
        (DEEPER, "1.24", "NumPy", ("__init__.py",), False),
        (DEEPER, "1.24", "NumPy", ("__init__.py", "strings.py"), True),
    ],
)
def test_a_copy_makes_up_for_what_goes_where_it_has_all_that_is_asked_of_it(
    user: Sources, below: str, name: str, modules: tuple[str, ...], *, made_up: bool
) -> None:
    (loss,) = losses(user, below, name, modules)
    assert (loss.instead, loss.made_up) == (f"{BELOW}/numpy/__init__.py", made_up)


def test_where_nothing_serves_instead_nothing_is_made_up() -> None:
    found = environment(package("numpy", {"numpy/__init__.py": ""}), package("user", PLAIN)).without("numpy")
    assert copies.weighed(found) == found.losses
    assert [loss.path for loss in found.losses] == [at("numpy/__init__.py")]


def test_pkg_resources_has_the_copies_that_setuptools_carries() -> None:
    carrying = {"setuptools/_vendor/packaging.py": "", "pkg_resources/__init__.py": "import packaging"}
    there = environment(package("packaging", {"packaging.py": ""}), package("setuptools", carrying))
    assert there.chains("packaging") == {}


def test_who_imports_it_by_way_of_a_compiled_one_may_get_another_structure_as_well() -> None:
    far = package("far", {"far/__init__.py": "import user"})
    found = losses(COMPILED, "2.0", "NumPy", ("__init__.py",), far)
    assert [(loss.survivor.name, loss.made_up) for loss in found] == [("user", False), ("far", False)]
