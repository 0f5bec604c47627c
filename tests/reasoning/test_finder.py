"""What the import system picks: the order of importlib's PathFinder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.change import Removal
from safepip.model.environment import Mapped
from safepip.model.imports import Found
from safepip.model.paths import TargetPath
from safepip.reasoning.code import finder as finders
from safepip.reasoning.code.finder import DISTUTILS_HOOK, Finder, gone_names
from safepip.world import Changed
from support.environments import EXT, SITE, STDLIB, at, dist, files, target
from support.fake_world import FakeWorld, Link


def finder(*names: str, stdlib: tuple[str, ...] = ()) -> Finder:
    library = {f"{STDLIB}/{name}": b"" for name in stdlib}
    return Finder(FakeWorld({**files(dict.fromkeys(names, b"")), **library}), target())


@pytest.mark.parametrize(
    ("there", "picked"),
    [
        (("x.py", "x/__init__.py"), "x/__init__.py"),
        (("x.py", f"x{EXT}"), f"x{EXT}"),
        (("x.abi3.so", f"x{EXT}", "x.so"), f"x{EXT}"),
        (("x.so", "x.abi3.so"), "x.abi3.so"),
        (("x.py", "x/inner.py"), "x.py"),
        (("x/__init__.py", f"x/__init__{EXT}"), f"x/__init__{EXT}"),
    ],
)
def test_in_one_folder_a_package_comes_before_an_extension_before_a_source(
    there: tuple[str, ...], picked: str
) -> None:
    found = finder(*there).find("x")
    assert found is not None
    assert found.path == at(picked)


def test_the_standard_library_comes_before_site_packages() -> None:
    found = finder("enum/__init__.py", stdlib=("enum.py",)).find("enum")
    assert found == Found(TargetPath(f"{STDLIB}/enum.py"))


def test_a_name_built_into_the_interpreter_has_no_file() -> None:
    assert finder("sys.py").find("sys") == Found(None)


def test_a_folder_without_init_is_a_namespace_of_all_its_portions() -> None:
    there = files({"google/cloud/storage/__init__.py": b""})
    world = FakeWorld({**there, "/other/google/auth.py": b""})
    path = (SITE, TargetPath("/other"))
    look = Finder(world, replace(target(), path=path))
    assert look.find("google") == Found(None, (at("google"), TargetPath("/other/google")))
    assert look.find("google.auth") == Found(TargetPath("/other/google/auth.py"))
    assert look.find("google.cloud.storage") == Found(
        at("google/cloud/storage/__init__.py"), (at("google/cloud/storage"),)
    )


def test_an_empty_folder_is_no_namespace() -> None:
    world = FakeWorld(files({}), folders=(f"{SITE}/left/over",))
    assert Finder(world, target()).find("left") is None


def test_nothing_lies_below_a_module() -> None:
    assert finder("x.py", "x/y.py").find("x.y") is None


def test_setuptools_gives_distutils_where_the_standard_library_has_none() -> None:
    shim = (
        "distutils-precedence.pth",
        "setuptools/__init__.py",
        "setuptools/_distutils/__init__.py",
        "setuptools/_distutils/spawn.py",
    )
    assert finder(*shim).find("distutils.spawn") == Found(at("setuptools/_distutils/spawn.py"))
    assert finder(*shim[1:]).find("distutils") is None
    assert finder(*shim, stdlib=("distutils/__init__.py",)).find("distutils") == Found(
        TargetPath(f"{STDLIB}/distutils/__init__.py"), (TargetPath(f"{STDLIB}/distutils"),)
    )


def gone(
    leaver: tuple[str, ...],
    stays: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    empty: tuple[str, ...] = (),
) -> dict[str, str | None]:
    """Name that goes to the file that is picked afterwards."""
    world = FakeWorld(files({path: b"" if path in empty else b"x" for path in (*leaver, *stays)}))
    leaving = dist("leaver", leaver)
    removal = Removal(
        (leaving,), tuple(at(path) for path in leaver), shared=tuple(at(path) for path in shared)
    )
    finders = Finder(world, target()), Finder(Changed(world, removal.gone), target())
    found = gone_names(removal, *finders)
    return {name: one.now.path if one.now else None for name, one in found.items()}


def test_a_package_goes_by_its_top_name() -> None:
    assert gone(("x/__init__.py", "x/y.py", "_x.abi3.so")) == {"x": None, "_x": None}


def test_a_module_beside_a_package_takes_nothing_along() -> None:
    assert gone(("docx.py",), stays=("docx/__init__.py",)) == {}


def test_a_package_in_front_of_a_module_gives_way_to_it() -> None:
    assert gone(("docx/__init__.py", "docx/opc.py"), stays=("docx.py",)) == {"docx": at("docx.py")}


def test_in_a_namespace_only_what_the_distribution_owned_goes() -> None:
    left = ("google/protobuf/__init__.py", "google/cloud/_helpers/__init__.py")
    assert gone(("google/cloud/storage/__init__.py",), left) == {"google.cloud.storage": None}


def test_a_shared_init_alone_takes_no_name_along() -> None:
    init = "nvidia/__init__.py"
    leaver, stays = (init, "nvidia/nvtx/lib/libnvtx.so"), (init, "nvidia/cublas/lib/libcublas.so")
    assert gone(leaver, stays, shared=(init,)) == {"nvidia.nvtx": None}


def test_a_folder_from_a_pth_that_goes_is_no_longer_looked_into() -> None:
    world = FakeWorld({**files({"project.pth": b"/src\n"}), "/src/mine/__init__.py": b""})
    with_it = replace(target(), path=(SITE, TargetPath("/src")))
    removal = Removal((dist("mine", ("project.pth",)),), (at("project.pth"),))
    after = Finder(Changed(world, removal.gone), with_it, (SITE,))
    assert list(gone_names(removal, Finder(world, with_it), after)) == ["mine"]


def mapped(*items: tuple[str, str], there: tuple[str, ...]) -> Finder:
    hook = at("__editable___mine_finder.py")
    of = tuple(Mapped(name, TargetPath(place), hook) for name, place in items)
    world = FakeWorld({**files({}), **dict.fromkeys(there, b""), hook: b""})
    return Finder(world, replace(target(), mapped=of))


def test_a_hook_gives_a_module_or_a_package_or_the_portions_of_a_namespace() -> None:
    there = ("/src/one.py", "/src/two/__init__.py", "/src/two/inner.py", "/a/ns/x.py", "/b/ns/y.py")
    items = (
        ("one", "/src/one.py"),
        ("two", "/src/two"),
        ("ns", "/a/ns"),
        ("ns", "/b/ns"),
        ("gone", "/src/gone"),
    )
    look = mapped(*items, there=there)
    assert look.find("one") == Found(TargetPath("/src/one.py"))
    assert look.find("two") == Found(TargetPath("/src/two/__init__.py"), (TargetPath("/src/two"),))
    assert look.find("two.inner") == Found(TargetPath("/src/two/inner.py"))
    assert look.find("ns") == Found(None, (TargetPath("/a/ns"), TargetPath("/b/ns")))
    assert look.find("gone") is None


def test_a_folder_of_the_path_comes_before_a_hook() -> None:
    assert mapped(("one", "/src/one.py"), there=("/src/one.py", at("one.py"))).find("one") == Found(
        at("one.py")
    )


def test_a_name_inside_a_package_may_be_a_hooks_too() -> None:
    look = mapped(("pkg.part", "/src/part"), there=(at("pkg/__init__.py"), "/src/part/__init__.py"))
    assert look.find("pkg.part") == Found(TargetPath("/src/part/__init__.py"), (TargetPath("/src/part"),))


def test_what_a_hook_gives_goes_with_it() -> None:
    hook = at("__editable___mine_finder.py")
    items = (Mapped("mine", TargetPath("/src/mine"), hook), Mapped("ns.part", TargetPath("/src/part"), hook))
    with_it = replace(target(), mapped=items)
    sources = dict.fromkeys(("/src/mine/__init__.py", "/src/part/__init__.py", at("ns/other.py")), b"")
    world = FakeWorld({**files({}), **sources, hook: b""})
    mine = dist("mine", (hook,))
    removal = Removal((mine,), (hook,))
    finders = Finder(world, with_it), Finder(Changed(world, removal.gone), with_it)
    found = gone_names(removal, *finders)
    assert {name: (one.now, one.dist) for name, one in found.items()} == {
        "__editable___mine_finder": (None, mine), "mine": (None, mine), "ns.part": (None, mine),
    }  # fmt: skip


def test_distutils_goes_with_the_line_that_gives_it() -> None:
    own = (DISTUTILS_HOOK, "setuptools/__init__.py", "setuptools/_distutils/__init__.py")
    assert gone(own) == {"distutils": None, "setuptools": None}
    assert gone(own[:1], stays=own[1:]) == {"distutils": None}


def test_a_removal_of_nobody_takes_no_names() -> None:
    look = finder("x.py")
    assert gone_names(Removal(files=(at("x.py"),)), look, look) == {}


def test_a_file_outside_every_folder_of_the_path_or_of_no_name_takes_none() -> None:
    assert gone(("/env/bin/tool.py", "not-a-name.py", "x-1.0.dist-info/RECORD", "x.py")) == {"x": None}


def test_what_another_hook_gives_stays() -> None:
    look = mapped(("one", "/src/one.py"), there=("/src/one.py", at("x.py")))
    removal = Removal((dist("leaver", ("x.py",)),), (at("x.py"),))
    assert gone_names(removal, look, look) == {}


def test_a_package_that_a_link_leads_to_is_found_where_it_really_lies() -> None:
    there = {"real/__init__.py": b"", "real/inner.py": b"", "plain/__init__.py": b""}
    world = FakeWorld(
        {
            **files({}),
            **{at(name): data for name, data in there.items()},
            at("linked"): Link(at("real")),
            at("file.py"): Link(at("real/inner.py")),
        }
    )
    look = Finder(world, target())
    assert look.find("linked") == Found(at("real/__init__.py"), (at("real"),))
    assert look.find("linked.inner") == Found(at("real/inner.py"))
    assert look.find("plain") == Found(at("plain/__init__.py"), (at("plain"),))
    assert look.find("file") == Found(at("file.py"))


def test_byte_code_alone_is_a_module() -> None:
    assert finder("old.pyc").find("old") == Found(at("old.pyc"))


def test_folders_of_folders_are_empty_as_far_down_as_is_looked() -> None:
    for depth, expected in ((7, None), (12, Found(None, (at("deep"),)))):
        world = FakeWorld(files({}), folders=(f"{SITE}/deep/{'/'.join('x' * depth)}",))
        assert Finder(world, target()).find("deep") == expected
    held = FakeWorld(files({"deep/x/x/data": b""}))
    assert Finder(held, target()).find("deep") == Found(None, (at("deep"),))


def test_setuptools_in_one_of_several_sites_gives_distutils() -> None:
    shim = {DISTUTILS_HOOK: b"", "setuptools/__init__.py": b"", "setuptools/_distutils/__init__.py": b""}
    two = replace(target(), sites=(TargetPath("/second"), SITE))
    found = Finder(FakeWorld(files(shim)), two).find("distutils")
    assert found == Found(at("setuptools/_distutils/__init__.py"), (at("setuptools/_distutils"),))


def test_what_is_taken_by_nobodys_row_is_the_first_leavers() -> None:
    world = FakeWorld(files({"x.py": b""}))
    bare, second = replace(dist("bare"), files=None), dist("second", ("x.py",))
    for leaving, taker in (((bare, second), second), ((bare,), bare)):
        removal = Removal(leaving, (at("x.py"),))
        finders = Finder(world, target()), Finder(Changed(world, removal.gone), target())
        assert gone_names(removal, *finders)["x"].dist == taker


def test_a_shared_init_that_gives_way_to_a_module_is_a_loss_and_an_own_one_that_leaves_a_namespace_is() -> (
    None
):
    init = "x/__init__.py"
    assert gone((init,), stays=("x/y.py", "x.py"), shared=(init,)) == {"x": at("x.py")}
    assert gone((init,), stays=("x/y.py",)) == {"x": None}
    assert gone((init,), stays=("x/y.py",), shared=(init,)) == {}


def test_an_empty_init_that_leaves_a_namespace_is_no_loss() -> None:
    """What others have put into the package is imported as before."""
    init = "x/__init__.py"
    assert gone((init, "x/z.py"), stays=("x/y.py",), empty=(init,)) == {"x.z": None}
    assert gone((init,), stays=("x/__pycache__/y.pyc",), empty=(init,)) == {}
    assert gone((init,), empty=(init,)) == {"x": None}
    assert gone((init,), stays=("x.py",), empty=(init,)) == {"x": at("x.py")}


def test_a_namespace_that_becomes_a_module_is_another() -> None:
    assert gone(("x/y.py",), stays=("x.py",)) == {}
    assert gone(("ns/y.py",), stays=("ns/z.py",)) == {"ns.y": None}


def test_of_very_many_names_the_earlier_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finders, "MOST_NAMES", 2)
    world = FakeWorld({at(path): b"" for path in ("a/__init__.py", "a/m.py", "b/__init__.py", "b/n.py")})
    found = Finder(world, target())
    assert [item and item.path for item in map(found.find, ("a.m", "b.n", "b.m", "a.n"))] == [
        at("a/m.py"),
        at("b/n.py"),
        None,
        None,
    ]


def test_folders_of_byte_code_are_no_modules() -> None:
    assert gone(("six.py", "__pycache__/six.cpython-312.pyc")) == {"six": None}
    inside = ("pkg/x.py", "pkg/__pycache__/x.cpython-312.pyc")
    assert gone(inside, stays=("pkg/__init__.py",)) == {"pkg.x": None}


def test_the_name_of_a_file_that_no_import_can_write_stands_for_no_module() -> None:
    names = ("x.py", f"x{EXT}", "a-b.py", "x.txt")
    assert [finder().stem(name) for name in names] == ["x", "x", "", ""]


def test_a_hook_comes_into_its_own_where_the_folder_in_front_of_it_goes() -> None:
    hook = at("__editable___mine_finder.py")
    with_it = replace(target(), mapped=(Mapped("x", TargetPath("/src/x.py"), hook),))
    world = FakeWorld({**files({"x/data.txt": b""}), hook: b"", "/src/x.py": b""})
    removal = Removal((dist("leaver", ("x/data.txt",)),), (at("x/data.txt"),))
    after = Finder(Changed(world, removal.gone), with_it)
    found = gone_names(removal, Finder(world, with_it), after)
    assert {name: one.now for name, one in found.items()} == {"x": Found(TargetPath("/src/x.py"))}


def test_a_module_that_a_hook_gives_deep_inside_a_package_goes_by_its_whole_name() -> None:
    hook = at("__editable___mine_finder.py")
    with_it = replace(target(), mapped=(Mapped("pkg.inner.part", TargetPath("/src/part.py"), hook),))
    there = dict.fromkeys((at("pkg/inner/other.py"), "/src/part.py", hook), b"")
    world = FakeWorld({**files({}), **there})
    removal = Removal((dist("mine", (hook,)),), (hook,))
    found = gone_names(removal, Finder(world, with_it), Finder(Changed(world, removal.gone), with_it))
    assert list(found) == ["__editable___mine_finder", "pkg.inner.part"]


def test_a_name_of_more_parts_than_folders_nest_is_looked_for_without_recursion() -> None:
    deep = ".".join(["x"] * 20_000)
    assert finder("x/x/__init__.py").find(deep) is None
    assert finder("x/x/__init__.py").find("x.x") == Found(at("x/x/__init__.py"), (at("x/x"),))
