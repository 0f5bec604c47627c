"""What is installed, in pip's order, and what is broken in it."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepip.model.environment import Distribution, EntryPoint, Fault, Install, Inventory, PipInUse, Unjudged
from safepip.model.paths import DistKey, TargetPath
from safepip.model.rows import Rows
from safepip.reading.sites import record
from safepip.reading.sites import site as sites
from safepip.reading.sites.installed import Folder
from safepip.reading.sites.metadata import canonical
from safepip.reading.sites.site import take_inventory
from support.environments import target
from support.wheels import install, metadata


def inventory(*sites: Path, pip: str = "26.3", version: str = "3.12.1") -> Inventory:
    return take_inventory(
        replace(
            target(),
            sites=tuple(TargetPath(str(site)) for site in sites),
            pip=PipInUse(pip, None),
            version=version,
        )
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "lib/site-packages"
    folder.mkdir(parents=True)
    return folder


def test_everything_that_a_wheel_says_of_itself(site: Path) -> None:
    info = install(
        site,
        "Foo.Bar",
        {"foo/__init__.py": "x = 1\n"},
        version="1.2",
        requires=["numpy>=2", "x; extra == 'y'"],
        entry_points="[console_scripts]\nfoo = foo:main\n",
    )
    (info / "REQUESTED").touch()
    assert inventory(site).distributions == (
        Distribution(
            DistKey("foo-bar"),
            "Foo.Bar",
            "1.2",
            TargetPath(str(site)),
            TargetPath(str(info)),
            Install.DIST_INFO,
            files=tuple(
                TargetPath(f"{site}/{name}")
                for name in (
                    "foo/__init__.py",
                    "Foo.Bar-1.2.dist-info/METADATA",
                    "Foo.Bar-1.2.dist-info/INSTALLER",
                    "Foo.Bar-1.2.dist-info/entry_points.txt",
                    "Foo.Bar-1.2.dist-info/RECORD",
                )
            ),
            requires=("numpy>=2", "x; extra == 'y'"),
            entry_points=(EntryPoint("console_scripts", "foo", "foo:main"),),
            installer="pip",
            requested=True,
        ),
    )


def test_the_order_of_a_real_environment_is_importlibs() -> None:
    sites = [Path(path) for path in sys.path if path.endswith("-packages")]
    found = inventory(*sites).distributions
    expected = [dist for site in sites for dist in importlib.metadata.distributions(path=[str(site)])]
    assert [dist.key for dist in found] == [canonical(dist.metadata["Name"]) for dist in expected]
    assert [dist.version for dist in found] == [dist.version for dist in expected]
    assert [len(dist.files or ()) for dist in found] == [len(_rows(dist)) for dist in expected]


def _rows(dist: importlib.metadata.Distribution) -> list[str]:
    return (dist.read_text("RECORD") or "").splitlines()


def test_a_folder_that_is_reached_twice_is_read_once(site: Path) -> None:
    install(site, "pkg", {"pkg.py": ""})
    os.symlink("lib", site.parent.parent / "lib64")
    found = inventory(site, site.parent.parent / "lib64/site-packages", site.parent / "nosuch")
    assert [dist.key for dist in found.distributions] == ["pkg"]


def test_a_row_has_the_path_of_the_folder_that_it_really_lies_in(site: Path) -> None:
    env = site.parent.parent
    (env / "real").mkdir()
    (site / "linked").symlink_to(env / "real")
    (env / "alias").symlink_to(env)
    install(site, "pkg", {"linked/x.so": "", "../../bin/cmd": "", "../../alias/share/y": "", "sub/./z": ""})
    (dist,) = inventory(env / "alias/lib/site-packages").distributions
    assert (dist.files or ())[:4] == (
        f"{env}/real/x.so",
        f"{env}/bin/cmd",
        f"{env}/share/y",
        f"{site}/sub/z",
    )
    assert (dist.as_written or ())[2] == f"{site}/../../alias/share/y"


def test_two_owners_of_a_file_are_both_found(site: Path) -> None:
    (site / "nv").mkdir()
    (site / "alias").symlink_to("nv")
    for name, row in (("a", "nv/x.so"), ("b", "alias/x.so"), ("c", "nv/../nv/x.so"), ("d", "other.so")):
        install(site, name, {row: ""})
    path = TargetPath(f"{site}/nv/x.so")
    owners = inventory(site).owners([path])
    assert {dist.key for dist in owners[path]} == {"a", "b", "c"}


def test_of_very_many_rows_none_of_the_later_is_kept_by_itself(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, row in (("a", "a/a.py"), ("b", "b/b.py"), ("c", "c//c.py")):
        install(site, name, {row: "", f"../../bin/{name}": ""})
    (site / "d-1.0.dist-info").mkdir()
    plain = inventory(site)
    monkeypatch.setattr(sites, "MOST_KEPT", 0)
    packed = inventory(site)
    assert packed == plain
    for before, after in zip(plain.distributions, packed.distributions, strict=True):
        assert before.heads(before.location) == after.heads(before.location)
        assert after.files is None or isinstance(after.files, Rows)


@given(
    st.lists(
        st.text("ab./~", min_size=1, max_size=8).filter(lambda row: row.strip("./") != ""),
        min_size=1,
        max_size=5,
    )
)
def test_rows_laid_as_one_text_are_the_rows_placed_one_by_one(rows: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        base = Path(place).resolve() / "v" / "site"
        (base / "a").mkdir(parents=True)
        (base / "b").symlink_to("a")
        folder = Folder(TargetPath(str(base)))
        text = "".join(f"{row},,\n" for row in rows)
        laid = folder.lay(record.plain(text) or "\n")
        if laid:
            listed = folder.place(list(dict.fromkeys(record.paths(text))))
            assert (tuple(laid), None) == (listed.files, listed.as_written)


def test_what_is_broken_is_said_and_the_rest_is_kept(site: Path) -> None:
    install(site, "good", {"good.py": ""})
    for name, file, data in (
        ("a", "RECORD", b"caf\xe9,,\n"),
        ("b", "RECORD", b"b.py,,\n\n"),
        ("c", "METADATA", metadata("c", "1.0").encode() + b"Author: caf\xe9\n"),
        ("d", "entry_points.txt", b"[console_scripts]\ngarbage\n"),
        ("e", "METADATA", b""),
        ("f", "RECORD", b'"f.py,,\nf-1.0.dist-info/RECORD,,\n'),
        ("g", "RECORD", b"g.py,,\n"),
        ("h", "RECORD", b"h.py,,\nh-1.0.dist-info/RECORD$,,\n"),
        ("i", "RECORD", b"i.py,,\ni-1.0.dist-info/METADATA,,4i-1.0.dist-info/RECORD,,\n"),
        ("j", "RECORD", b"j.py,,\n../../j-1.0.dist-info/RECORD,,\n"),
        ("l", "RECORD", b"l.py,,\nl-1.0.dist-info/RECORD,,\nl/mo"),
        ("k", "RECORD", b"k.py,,\n./k-1.0.dist-info/../k-1.0.dist-info/RECORD,,\n"),
    ):
        (install(site, name, {f"{name}.py": ""}) / file).write_bytes(data)
    found = {str(dist.key): dist for dist in inventory(site).distributions}
    assert {key: dist.faults for key, dist in found.items()} == {
        "good": (),
        "a": (Fault.RECORD_UNDECODABLE,),
        "b": (Fault.RECORD_BROKEN,),
        "c": (Fault.METADATA_UNDECODABLE,),
        "d": (Fault.ENTRY_POINTS_BROKEN,),
        "e": (Fault.METADATA_WITHOUT_NAME, Fault.METADATA_WITHOUT_VERSION),
        "f": (Fault.RECORD_SWALLOWS,),
        "g": (Fault.RECORD_CUT_OFF,),
        "h": (Fault.RECORD_CUT_OFF,),
        "i": (Fault.RECORD_CUT_OFF,),
        "j": (Fault.RECORD_CUT_OFF,),
        "k": (),
        "l": (Fault.RECORD_ENDS_EARLY,),
    }
    assert (found["a"].files, found["c"].version, found["e"].name) == (None, "1.0", "e")
    assert Unjudged(f"{site}/a-1.0.dist-info", "RECORD is not UTF-8") in inventory(site).unjudged


def test_an_odd_file_in_the_metadata_neither_blocks_nor_fails(site: Path) -> None:
    info = install(site, "pkg", {"pkg.py": ""})
    (info / "INSTALLER").unlink()
    os.mkfifo(info / "INSTALLER")
    (info / "entry_points.txt").mkdir()
    (dist,) = inventory(site).distributions
    assert (dist.installer, dist.entry_points, dist.damage) == ("", (), "")


def test_leftovers_of_a_killed_pip_are_no_distributions(site: Path) -> None:
    install(site, "~kg", {"pkg.py": ""})
    found = inventory(site)
    assert (found.distributions, found.leftovers) == ((), (f"{site}/~kg-1.0.dist-info",))


def test_what_an_old_pip_passes_over_is_unjudged(site: Path) -> None:
    (install(site, "pkg", {"pkg.py": ""}) / "METADATA").write_text("")
    assert [dist.key for dist in inventory(site).distributions] == ["pkg"]
    found = inventory(site, pip="24.1")
    assert (found.distributions, [one.subject for one in found.unjudged]) == (
        (),
        [f"{site}/pkg-1.0.dist-info"],
    )


def test_the_requirements_of_an_egg_info_folder(site: Path) -> None:
    info = site / "pkg-1.0-py3.12.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text(metadata("pkg", "1.0"))
    (info / "requires.txt").write_text("six\n\n[x]\nnumpy\n")
    (info / "installed-files.txt").write_text("../pkg.py\nPKG-INFO\n")
    (dist,) = inventory(site).distributions
    assert (dist.install, dist.requires, dist.extras) == (
        Install.EGG_INFO_FOLDER,
        ("six", 'numpy ; extra == "x"'),
        ("x",),
    )
    assert dist.files == (f"{site}/pkg.py", f"{info}/PKG-INFO")


def test_what_a_zip_file_on_the_path_says_of_itself_is_installed_and_its_scripts_are_pkg_resources_to_find(
    site: Path,
) -> None:
    egg = site / "pkg-1.0-py3.12.egg"
    with zipfile.ZipFile(egg, "w") as bundle:
        bundle.writestr("EGG-INFO/PKG-INFO", metadata("pkg", "1.0"))
        bundle.writestr("EGG-INFO/entry_points.txt", "[console_scripts]\ncmd = pkg:x\n")
        bundle.writestr("EGG-INFO/scripts/tool", "")
    path = TargetPath(str(egg))
    folder = TargetPath(str(site))
    here = replace(target(), sites=(folder,), path=(folder, path))
    seen = Distribution(
        key=DistKey("pkg"),
        name="pkg",
        version="1.0",
        location=path,
        info=TargetPath(f"{egg}/EGG-INFO"),
        install=Install.EGG,
        files=None,
        entry_points=(EntryPoint("console_scripts", "cmd", "pkg:x"),),
    )
    found = [
        take_inventory(replace(here, pip=PipInUse(pip, folder))).distributions for pip in ("25.1", "25.0")
    ]
    assert found == [(seen,), (replace(seen, packed_scripts=("tool",)), seen)]
