"""What a removal takes beyond its own: the plan shows it, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from safepip.model.change import Why
from safepip.model.environment import Distribution, EntryPoint, Install, Inventory, PipInUse
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.changes.removal import plan
from support.environments import PREFIX, SITE, STDLIB, at, dist, inventory, target
from support.fake_world import Content, FakeWorld, Link

COMMAND = EntryPoint("console_scripts", "cmd", "pkg:main")


def world(
    *dists: Distribution, more: dict[str, Content] | None = None, folders: Sequence[str] = ()
) -> FakeWorld:
    """Every recorded file, and `more`."""
    files: dict[str, Content] = {path: b"" for one in dists for path in one.files or ()}
    files.update({f"{one.info}/METADATA": b"" for one in dists})
    files.update({f"{one.info}/entry_points.txt": b"" for one in dists if one.entry_points})
    files.update({f"{PREFIX}/pyvenv.cfg": b"", f"{PREFIX}/bin/python": Link("/usr/bin/python3.12")})
    files.update({"/usr/bin/python3.12": b"", f"{STDLIB}/os.py": b"", f"{SITE}/other.py": b""})
    return FakeWorld({**files, **(more or {})}, folders=folders)


def complete(one: Distribution, *rows: str) -> Distribution:
    """With a RECORD that lists the metadata too, and `rows` as they are."""
    own = ["METADATA", *(["entry_points.txt"] if one.entry_points else [])]
    listed = [TargetPath(f"{one.info}/{name}") for name in own]
    return replace(one, files=(*(one.files or ()), *listed, *map(TargetPath, rows)))


def found(env: Inventory, disk: FakeWorld, *names: str) -> set[tuple[str, Why, str]]:
    removal = plan([DistKey(name) for name in names], env, disk)
    return {(reach.path.removeprefix(f"{SITE}/"), reach.why, reach.owner) for reach in removal.reaches}


def test_an_ordinary_wheel_reaches_nothing_beyond() -> None:
    rows = [
        f"{PREFIX}/{path}" for path in ("bin/cmd", "share/man/man1/x.1", "etc/x.conf", "include/x.h", "man/x")
    ]
    pkg = complete(dist("pkg", ["pkg/__init__.py", "pkg/lib/x.so"], entry_points=[COMMAND]), *rows)
    more: dict[str, Content] = {at("pkg/__pycache__/__init__.cpython-312.pyc"): b""}
    assert found(inventory(pkg), world(pkg, more=more, folders=[at("pkg/empty")]), "pkg") == set()


def test_what_lies_deeper_than_any_path_goes_unseen_with_its_folder_and_is_nobodys() -> None:
    """os.walk does not come to it, so pip takes the folder for its own; shutil.rmtree deletes it all the same."""
    pkg = complete(dist("pkg", ["pkg/__init__.py"]))
    name = "é" * 120
    last, too_deep = ("/".join(["pkg", *[name] * levels]) for levels in (16, 17))
    assert len(at(last).encode()) <= 4095 < len(at(too_deep).encode())
    disk = world(pkg, folders=[at(f"{too_deep}/{name}/{name}")])
    assert found(inventory(pkg), disk, "pkg") == {(too_deep, Why.UNRECORDED, "")}


def test_an_own_launcher_without_a_row_is_its_own() -> None:
    pkg = complete(dist("pkg", ["pkg.py"], entry_points=[COMMAND]))
    assert found(inventory(pkg), world(pkg, more={f"{PREFIX}/bin/cmd": b""}), "pkg") == set()


def test_a_launcher_that_another_recorded_is_not() -> None:
    pkg = complete(dist("pkg", ["pkg.py"], entry_points=[COMMAND]))
    other = complete(dist("other", ["other_.py"], entry_points=[COMMAND]), f"{PREFIX}/bin/cmd")
    reaches = found(inventory(pkg, other), world(pkg, other), "pkg")
    assert reaches == {(f"{PREFIX}/bin/cmd", Why.LAUNCHER, "other")}


def test_the_environments_own_files_are_nobodys_to_take() -> None:
    rows = [f"{PREFIX}/{path}" for path in ("pyvenv.cfg", "bin/activate.fish", "bin/python")]
    pkg = complete(dist("pkg", ["pkg.py"]), *rows)
    reaches = found(
        inventory(pkg), world(pkg, more={f"{PREFIX}/bin/python": Link("/usr/bin/python3.12")}), "pkg"
    )
    assert reaches == {(row, Why.ENVIRONMENT, "") for row in rows}


def test_a_folder_beside_the_environment_with_a_like_name_is_outside() -> None:
    pkg = complete(dist("pkg", ["pkg.py"]), "/env2/precious.txt")
    disk = world(pkg, more={"/env2/keep.txt": b""})
    assert found(inventory(pkg), disk, "pkg") == {("/env2/precious.txt", Why.OUTSIDE, "")}


def test_without_a_venv_everything_beyond_the_prefix_is_outside_and_the_standard_library_the_environments() -> (
    None
):
    lib = TargetPath("/usr/lib/python3.12/site-packages")
    system = replace(target(), prefix=TargetPath("/usr"), scripts=TargetPath("/usr/bin"), sites=(lib,))
    info = TargetPath(f"{lib}/pkg-1.0.dist-info")
    rows = (f"{lib}/pkg.py", f"{info}/RECORD", f"{STDLIB}/os.py", "/home/me/notes.txt", "/usr/bin/cmd")
    pkg = replace(dist("pkg"), location=lib, info=info, files=tuple(TargetPath(row) for row in rows))
    disk = world(
        pkg, more={f"{lib}/keep.py": b"", "/home/me/keep": b"", f"{STDLIB}/re.py": b"", "/usr/bin/x": b""}
    )
    assert found(Inventory(system, (pkg,)), disk, "pkg") == {
        (f"{STDLIB}/os.py", Why.ENVIRONMENT, ""),
        ("/home/me/notes.txt", Why.OUTSIDE, ""),
    }


def test_another_distributions_metadata_is_foreign_though_a_row_lists_it() -> None:
    other = complete(dist("other", ["other_.py"]))
    pkg = complete(dist("pkg", ["pkg.py"]), f"{other.info}/METADATA")
    reaches = found(inventory(pkg, other), world(pkg, other), "pkg")
    assert reaches == {("other-1.0.dist-info/METADATA", Why.FOREIGN, "other")}


def test_a_folder_row_takes_what_others_own_and_what_nobody_recorded() -> None:
    other = complete(dist("other", ["ns/other.py"]))
    pkg = complete(dist("pkg", ["pkg.py"]), at("ns"))
    cached = at("ns/__pycache__/other.cpython-312.pyc")
    more: dict[str, Content] = {at("ns/notes.txt"): b"", at("ns/old.pyc"): b"", cached: b""}
    disk = world(replace(pkg, files=(pkg.files or ())[:-1]), other, more=more)
    assert found(inventory(pkg, other), disk, "pkg") == {
        ("ns/other.py", Why.FOREIGN, "other"),
        ("ns/notes.txt", Why.UNRECORDED, ""),
        ("ns/old.pyc", Why.UNRECORDED, ""),  # a module of its own, which nothing makes again
    }


def test_what_leaves_together_owns_together() -> None:
    other = complete(dist("other", ["ns/other.py"]))
    pkg = complete(dist("pkg", ["pkg.py"]), at("ns"))
    disk = world(replace(pkg, files=(pkg.files or ())[:-1]), other)
    assert found(inventory(pkg, other), disk, "pkg", "other") == set()


def test_a_link_to_a_folder_that_nobody_recorded_is_shown() -> None:
    pkg = complete(dist("pkg", ["pkg/__init__.py"]))
    disk = world(pkg, more={at("pkg/mine"): Link("/home/me"), "/home/me/notes.txt": b""})
    assert found(inventory(pkg), disk, "pkg") == {("pkg/mine", Why.UNRECORDED, "")}


def test_a_co_owned_file_is_shared_and_no_reach() -> None:
    pkg, other = complete(dist("pkg", ["nv/x.so"])), complete(dist("other", ["nv/x.so"]))
    env = inventory(pkg, other)
    removal = plan([DistKey("pkg")], env, world(pkg, other))
    assert (removal.shared, removal.reaches) == ((at("nv/x.so"),), ())


def test_byte_code_that_pip_26_1_takes_along_is_made_again() -> None:
    pkg, other = complete(dist("pkg", ["pkg.py"])), complete(dist("other", ["other_.py"]))
    pyc = at("__pycache__/other_.cpython-312.pyc")
    env = Inventory(replace(target(), pip=PipInUse("26.1", None)), (pkg, other))
    removal = plan([DistKey("pkg")], env, world(pkg, other, more={pyc: b""}))
    assert (pyc in removal.files, removal.reaches) == (True, ())


def test_an_old_egg_info_owns_its_top_level_packages_but_not_what_others_recorded() -> None:
    info = at("pkg-1.0.egg-info")
    pkg = replace(
        dist("pkg"), info=info, install=Install.EGG_INFO_FOLDER, files=None, top_level=("pkg", "ns", ".")
    )
    other = complete(dist("other", ["ns/other.py"]))
    more: dict[str, Content] = {f"{info}/PKG-INFO": b"", at("pkg/mod.py"): b"", at("ns/mine.py"): b""}
    removal = plan([DistKey("pkg")], inventory(pkg, other), world(other, more=more))
    assert {(reach.path, reach.why, reach.owner) for reach in removal.reaches} == set()
    assert removal.halt is not None  # over the dot
    sane = replace(pkg, top_level=("pkg", "ns"))
    assert found(inventory(sane, other), world(other, more=more), "pkg") == {
        ("ns/other.py", Why.FOREIGN, "other")
    }


def test_nobody_can_tell_what_in_an_egg_or_in_a_listed_folder_came_later() -> None:
    egg = TargetPath(f"{SITE}/pkg-1.0-py3.12.egg")
    pkg = replace(
        dist("pkg"), location=egg, info=TargetPath(f"{egg}/EGG-INFO"), install=Install.EGG, files=None
    )
    inside: dict[str, Content] = {f"{egg}/pkg/a.py": b"", f"{egg}/own.cfg": b""}
    assert found(inventory(pkg), world(pkg, more=inside), "pkg") == set()


def test_what_a_user_site_may_take_lies_in_the_users_folders_too() -> None:
    home = "/home/me/.local"
    user_site = TargetPath(f"{home}/lib/python3.12/site-packages")
    rows = [f"{home}/bin/tool", f"{home}/share/x", "/home/me/other"]
    user = replace(
        target(),
        prefix=TargetPath("/usr"),
        base_prefix=TargetPath("/usr"),
        user_site=user_site,
        user_scripts=TargetPath(f"{home}/bin"),
    )
    for site, beyond in ((user_site, rows[2:]), (SITE, rows)):
        info = TargetPath(f"{site}/pkg-1.0.dist-info")
        listed = tuple(map(TargetPath, (*rows, f"{info}/RECORD")))
        pkg = replace(dist("pkg"), location=site, info=info, files=listed)
        kept: dict[str, Content] = {
            f"{folder}/keep": b"" for folder in ("/home/me", f"{home}/bin", f"{home}/share")
        }
        reaches = plan([pkg.key], Inventory(user, (pkg,)), world(pkg, more=kept)).reaches
        assert [(reach.path, reach.why) for reach in reaches] == [
            (row, Why.OUTSIDE) for row in sorted(beyond)
        ]


def test_the_interpreters_library_and_its_standard_library_are_the_environments() -> None:
    inside = [
        f"{PREFIX}/lib/libpython3.12.so.1.0",
        f"{PREFIX}/lib/other.txt",
        f"{PREFIX}/share/libpython.txt",
    ]
    pkg = complete(dist("pkg", ["pkg.py"]), *inside)
    assert found(
        inventory(pkg), world(pkg, more={f"{PREFIX}/lib/keep": b"", f"{PREFIX}/share/keep": b""}), "pkg"
    ) == {(f"{PREFIX}/lib/libpython3.12.so.1.0", Why.ENVIRONMENT, "")}


def test_byte_code_that_nobody_recorded_goes_unsaid_and_anything_else_in_a_cache_does_not() -> None:
    pkg = complete(dist("pkg", ["pkg/a.py"]))
    more: dict[str, Content] = {
        at("pkg/__pycache__/a.cpython-311.pyc"): b"",
    }
    assert found(inventory(pkg), world(pkg, more=more), "pkg") == set()


def beyond(*rows: str, of: Inventory | None = None, more: dict[str, Content] | None = None) -> dict[str, Why]:
    pkg = complete(dist("pkg", ["pkg.py"]), *rows)
    there = replace(of or inventory(), distributions=(pkg,))
    kept = {f"{row.rpartition('/')[0]}/keep": b"" for row in rows}
    reaches = plan([pkg.key], there, world(pkg, more={**kept, **(more or {})})).reaches
    return {reach.path: reach.why for reach in reaches}


def test_the_program_that_stands_for_python_is_the_environments_whatever_it_is_called() -> None:
    called = Inventory(replace(target(), executable=TargetPath("/env/own/interp")), ())
    assert beyond("/env/own/interp", "/env/own/other", of=called) == {"/env/own/interp": Why.ENVIRONMENT}


def test_the_standard_library_is_the_environments_and_the_site_in_it_is_not() -> None:
    site = TargetPath(f"{STDLIB}/site-packages")
    system = replace(
        target(), prefix=TargetPath("/usr"), base_prefix=TargetPath("/usr"), sites=(SITE, site, STDLIB)
    )
    rows = (f"{STDLIB}/os2.py", f"{site}/x.txt", f"{STDLIB}-extra/x.txt", f"{STDLIB}/site-packages2/x.txt")
    assert beyond(*rows, of=Inventory(system, ())) == {rows[0]: Why.ENVIRONMENT, rows[3]: Why.ENVIRONMENT}


def test_metadata_in_capitals_is_anothers_too() -> None:
    other = replace(dist("other"), info=at("OTHER-1.0.DIST-INFO"), files=None)
    pkg = complete(dist("pkg", ["pkg.py"]), at("OTHER-1.0.DIST-INFO/METADATA"))
    disk = world(pkg, more={at("OTHER-1.0.DIST-INFO/keep"): b""})
    assert found(inventory(pkg, other), disk, "pkg") == {
        ("OTHER-1.0.DIST-INFO/METADATA", Why.FOREIGN, "other")
    }


def test_byte_code_goes_unsaid_in_its_own_folder_only() -> None:
    """pip 26.1 takes the folder whole."""
    pkg = complete(dist("pkg", ["pkg/a.py"]))
    older = Inventory(replace(target(), pip=PipInUse("26.1", None)), (pkg,))
    strays: dict[str, Content] = {
        at("pkg/__pycache__/stray.txt"): b"",
        at("pkg/__pycache__/b.cpython-311.pyc"): b"",
    }
    assert found(older, world(pkg, more=strays), "pkg") == {("pkg/__pycache__/stray.txt", Why.UNRECORDED, "")}


def test_a_top_level_name_that_leads_out_of_the_site_is_nobodys_folder() -> None:
    info = at("pkg-1.0.egg-info")
    for name, unrecorded in (("pkg", set[str]()), ("sub/pkg", {"sub/pkg/a.txt"})):
        old = replace(dist("pkg"), info=info, install=Install.EGG_INFO_FOLDER, files=None, top_level=(name,))
        disk = world(more={f"{info}/PKG-INFO": b"", at(f"{name}/a.txt"): b"", at("sub/keep"): b""})
        assert {path for path, _, _ in found(inventory(old), disk, "pkg")} == unrecorded


def test_a_folder_ends_where_its_name_does() -> None:
    """pip takes /environment for a part of /env: its test is one on text."""
    assert beyond("/environment/x.txt", "/env/share/x.txt") == {"/environment/x.txt": Why.OUTSIDE}
    stdlib = TargetPath("/env/lib/python3.12")
    home_built = Inventory(replace(target(), base_prefix=TargetPath("/other"), stdlib=stdlib), ())
    inside, beside = f"{stdlib}/x.txt", f"{stdlib}/site-packages-old/x.txt"
    assert beyond(inside, beside, at("own/x.txt"), of=home_built) == {
        inside: Why.ENVIRONMENT,
        beside: Why.ENVIRONMENT,
    }
    kept = ("/env/conda-meta/x.json", "/env/.safepip/x", "/env/pyvenv.cfg/x", "/env/conda-metadata/x")
    assert beyond(*kept) == {kept[0]: Why.ENVIRONMENT, kept[1]: Why.ENVIRONMENT}


def test_metadata_beside_anothers_is_not_anothers() -> None:
    other = complete(dist("other", ["other.py"]))
    pkg = complete(dist("pkg", ["pkg.py"]), f"{other.info}2/x.txt")
    disk = world(pkg, other, more={f"{other.info}2/keep": b""})
    assert found(inventory(pkg, other), disk, "pkg") == set()
