"""Which modules are no longer found because of what comes: the order of importlib's PathFinder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.paths import TargetPath
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.shadows import shadowed
from support.environments import EXT, SITE, STDLIB, at, dist, files, inventory, target
from support.fake_world import FakeWorld


def over(there: tuple[str, ...], fresh: tuple[str, ...]) -> dict[str, str]:
    """Shadowed file to what is found in its place, both below site-packages."""
    library = {f"{STDLIB}/enum.py": b""}
    before = FakeWorld({**files(dict.fromkeys(there, b"")), **library})
    after = FakeWorld({**files(dict.fromkeys((*there, *fresh), b"")), **library})
    found = shadowed(
        tuple(map(at, fresh)),
        Finder(before, target()),
        Finder(after, target()),
        inventory(dist("there", there)),
    )
    return {
        path.removeprefix(f"{SITE}/"): instead.removeprefix(f"{SITE}/") for path, instead in found.items()
    }


@pytest.mark.parametrize(
    ("there", "fresh"),
    [
        ("x.py", "x/__init__.py"),
        ("x.py", f"x{EXT}"),
        ("a/x.py", "a/x/__init__.py"),
        ("a/x.py", f"a/x{EXT}"),
        ("x/inner.py", "x.py"),
    ],
)
def test_a_package_shadows_a_module_and_an_extension_a_source(there: str, fresh: str) -> None:
    assert over((there, "a/__init__.py"), (fresh,)) == {there: fresh}


@pytest.mark.parametrize(
    ("there", "fresh"),
    [("x/__init__.py", "x.py"), ("y.py", "x.py"), ("enum.py", "enum/__init__.py")],
)
def test_what_is_found_later_than_what_is_there_shadows_nothing(there: str, fresh: str) -> None:
    assert over((there,), (fresh, "README.txt")) == {}


def test_an_init_that_comes_into_a_namespace_hides_its_parts_in_other_folders_only() -> None:
    other = TargetPath("/usr/lib/python3/dist-packages")
    outer = dist("outer", (f"{other}/ns/far.py", f"{other}/nsx.py"))
    near = dist("near", ("ns/near.py",))
    wide = replace(target(), path=(*target().path, other))
    there = {**files({"ns/near.py": b""}), f"{other}/ns/far.py": b""}
    came = at("ns/__init__.py")
    found = shadowed(
        (came,),
        Finder(FakeWorld(there), wide),
        Finder(FakeWorld({**there, came: b""}), wide),
        inventory(near, outer),
    )
    assert found == {TargetPath(f"{other}/ns/far.py"): came}


def test_each_file_that_comes_is_looked_at_whatever_comes_before_it() -> None:
    there, fresh = ("a/__init__.py", "x.py", "z.py"), ("a/new.py", "b-c.py", "x/__init__.py", f"z{EXT}")
    assert over(there, fresh) == {"x.py": "x/__init__.py", "z.py": f"z{EXT}"}


def test_a_site_folder_in_another_folder_of_the_path_gives_no_name_through_that() -> None:
    outer = TargetPath(SITE.removesuffix("/site-packages"))
    nested = replace(target(), path=(outer, SITE))
    there = files({"x.py": b"", f"{outer}/x.py": b""})
    came = at("x/__init__.py")
    after = Finder(FakeWorld({**there, came: b""}), nested)
    assert shadowed((came,), Finder(FakeWorld(there), nested), after, inventory()) == {}
