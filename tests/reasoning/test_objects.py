"""Which files are objects, whose they are, and which of them a name can touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from safepip.model.elf import Abi, Flaw
from safepip.model.environment import Unjudged
from safepip.model.paths import TargetPath
from safepip.model.survey import Objects
from safepip.reasoning.libraries import objects
from support.environments import EXT, SITE, at, dist, target
from support.fake_world import X86_64, Broken, Content, FakeWorld, Link, lib, program

BIN = TargetPath("/env/bin")
ELSEWHERE = TargetPath("/env/Scripts")
CUT = Broken(b"\x7fELF", Flaw.CUT_OFF)


def gathered(contents: Mapping[str, Content], *rows: Sequence[str], scripts: TargetPath = BIN) -> Objects:
    dists = [dist(name, files) for name, files in zip(("one", "two"), rows, strict=False)]
    return objects.gather(dists, scripts, FakeWorld({at(path): what for path, what in contents.items()}))


def owned(found: Objects) -> dict[str, str]:
    return {path.removeprefix(f"{SITE}/"): owner.name for path, owner in found.owner.items()}


def test_objects_are_told_by_name_and_programs_by_their_folder() -> None:
    contents: dict[str, Content] = {
        f"one/_m{EXT}": lib(),
        "one/libx.so.1": lib(),
        "one/so.txt": lib(),
        "one.so.d/readme": lib(),
        "one/bin/tool": program(),
        "one/bin/tool.sh": program(),
        "/env/bin/cmd": program(),
        "/env/bin/script": b"#!/bin/sh",
    }
    assert owned(gathered(contents, [*contents])) == dict.fromkeys(
        [f"one/_m{EXT}", "one/libx.so.1", "one/bin/tool", "/env/bin/cmd"], "one"
    )


def test_the_scripts_folder_holds_programs_whatever_it_is_called() -> None:
    contents: dict[str, Content] = {"/env/Scripts/cmd": program(), "/env/Other/cmd": program()}
    assert owned(gathered(contents, [*contents], scripts=ELSEWHERE)) == {"/env/Scripts/cmd": "one"}


def test_a_file_of_two_owners_is_the_firsts_and_one_that_cannot_be_read_is_nobodys_object() -> None:
    contents: dict[str, Content] = {
        "x/lib.so": lib(),
        "x/cut.so": CUT,
        "x/text.so": b"text",
        "x/gone.so": Link("no"),
    }
    found = gathered(contents, [*contents], [*contents])
    assert owned(found) == {"x/lib.so": "one", "x/cut.so": "one"}
    assert (set(found.elves), found.flaws) == ({at("x/lib.so")}, {at("x/cut.so"): Flaw.CUT_OFF})


def test_what_lies_beside_a_recorded_object_or_in_a_packages_folder_belongs_to_it() -> None:
    """torch compiles extensions later, and some packages are laid in by hand."""
    contents: dict[str, Content] = {
        "pkg/deep/libx.so": lib(),
        "pkg/deep/libbuilt.so": lib(),
        "pkg/deep/notes.txt": b"",
        "pkg/deep/lib.so/inner.txt": b"",
        "pkg/made.so": lib(),
        "pkg/other/far.so": lib(),
        "top.so": lib(),
        "alone.so": lib(),
        "not-a-name/x.so": lib(),
        "plain/__init__.py": b"",
        "plain/made.so": lib(),
        "/env/lib/libown.so": lib(),
        "/env/lib/libothers.so": lib(),
        "/env/bin/cmd": program(),
        "/env/bin/libothers.so": lib(),
    }
    one = ["pkg/deep/libx.so", "pkg/a.py", "top.so", "not-a-name/x.txt", "/env/lib/libown.so", "/env/bin/cmd"]
    assert owned(gathered(contents, one, ["plain/__init__.py"])) == {
        "pkg/deep/libx.so": "one",
        "top.so": "one",
        "/env/lib/libown.so": "one",
        "/env/bin/cmd": "one",
        "pkg/deep/libbuilt.so": "one",
        "pkg/made.so": "one",
        "plain/made.so": "two",
    }


def test_objects_for_machines_whose_loader_is_not_there_are_told_one_for_each() -> None:
    big = Abi(64, little_endian=False, machine=22)
    arm = [at(f"a/{name}.so") for name in "xy"]
    whole = Objects(
        {},
        {
            at("a/own.so"): lib(),
            **{path: lib(abi=Abi(32, little_endian=True, machine=40)) for path in arm},
            at("z.so"): lib(abi=big),
        },
    )
    assert list(objects.foreign(whole, whole.only_of([X86_64]))) == [
        Unjudged(
            at("a/x.so"),
            "it is for 32-bit little-endian ELF machine 40, whose loader is not there, and 1 more like it",
        ),
        Unjudged(at("z.so"), "it is for 64-bit big-endian ELF machine 22, whose loader is not there"),
    ]
    assert list(objects.foreign(whole, whole)) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"torch/_C{EXT}", "torch._C"),
        ("torch/_C.abi3.so", "torch._C"),
        ("top.so", "top"),
        ("torch/libtorch.so", ""),
        ("torch/libtorch.abi3.so", "torch.libtorch"),
        ("torch/_C.cpython-311-x86_64-linux-gnu.so", ""),
        ("torch/libc10.so.1", ""),
        ("torch/a-b.so", ""),
        ("torch.libs/x.so", ""),
        ("/else/x.so", ""),
    ],
)
def test_a_module_is_what_an_import_executes(path: str, name: str) -> None:
    assert objects.module_name(at(path), target()) == name


def test_an_object_answers_to_its_file_and_its_soname() -> None:
    path = at("nv/libcudnn.so.9.1")
    assert objects.names(path, lib("libcudnn.so.9")) == ("libcudnn.so.9.1", "libcudnn.so.9")
    assert objects.names(path, lib("libcudnn.so.9.1")) == objects.names(path, lib()) == ("libcudnn.so.9.1",)


def test_what_reaches_a_name_reaches_it_through_others_and_what_has_gone_is_no_way() -> None:
    whole = Objects(
        {},
        {
            at("m.so"): lib(needs=["liba.so", "libz.so"]),
            at("a.so.1"): lib("liba.so", needs=["/opt/libb.so"]),
            at("gone.so"): lib("libgone.so", needs=["libb.so"]),
            at("late.so"): lib(needs=["libgone.so"]),
            at("circle.so"): lib("libz.so", needs=["libz.so"]),
        },
    )
    index = objects.needing(whole)
    assert objects.reaching(["libb.so"], whole, index) == {
        at("m.so"), at("a.so.1"), at("gone.so"), at("late.so"),
    }  # fmt: skip
    stays = whole.without(frozenset([at("gone.so")]))
    assert objects.reaching(["libb.so"], stays, index) == {at("m.so"), at("a.so.1")}
    assert objects.reaching(["libz.so"], whole, index) == {at("m.so"), at("circle.so")}


def test_a_name_is_taken_by_a_file_that_could_be_loaded_under_it() -> None:
    world = FakeWorld(
        {
            at("a.so.1"): lib("liba.so"),
            at("b.so"): lib(),
            at("cut.so"): CUT,
            at("x.so"): b"",
            at("y.txt"): lib(),
        }
    )
    paths = [at(name) for name in ("a.so.1", "b.so", "cut.so", "x.so", "y.txt", "gone.so")]
    assert objects.taken_names(paths, BIN, world) == {"a.so.1", "liba.so", "b.so", "cut.so"}
    assert list(objects.unreadable(paths, BIN, world)) == [(at("cut.so"), Flaw.CUT_OFF)]


def test_a_filter_is_a_need_and_so_is_an_auxiliary() -> None:
    elf = replace(lib(needs=["liba.so"]), filters=("/x/libf.so",), auxiliaries=("libx.so",))
    path = at("m.so")
    assert objects.needing(Objects({}, {path: elf})) == {
        "liba.so": [path],
        "libf.so": [path],
        "libx.so": [path],
    }
