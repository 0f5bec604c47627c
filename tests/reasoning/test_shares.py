"""Co-owned files: whose bytes, and whether anybody misses them."""

from __future__ import annotations

import pytest

from safepip.model.environment import Claim, Distribution, EntryPoint
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import SharedFile
from safepip.reasoning.changes.shares import (
    Weight,
    bytes_of,
    only_comments,
    only_extends_path,
    side_folders,
    weigh,
)
from safepip.world import Changed
from support.environments import at, dist, inventory
from support.fake_world import Content, FakeWorld

DECLARES = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"


def shared(
    path: str, sizes: dict[str, int], size: int, text: str = "", digests: dict[str, str] | None = None
) -> SharedFile:
    owners = tuple(dist(name, [path]) for name in sizes)
    claims = {DistKey(name): Claim((digests or {}).get(name, name), size) for name, size in sizes.items()}
    return SharedFile(at(path), owners, claims, size, (digests or {}).get("disk", ""), text)


def weight(
    item: SharedFile,
    survivor: Distribution,
    stays: tuple[str, ...] = ("ns/other.py",),
    imported: frozenset[str] = frozenset(),
) -> Weight:
    contents: dict[str, Content] = {at(file): b"x" for file in stays}
    world = FakeWorld({**contents, item.path: b"x"})
    after = Changed(world, frozenset({item.path}))
    return weigh(item, survivor, inventory(*item.owners), after, imported)


def test_bytes_belong_to_the_owner_whose_recorded_size_they_have() -> None:
    item = shared("nvidia/cudnn/lib/libcudnn.so.9", {"cu12": 104664, "cu13": 125184}, 125184)
    assert bytes_of(item, []) == "cu13"


def test_bytes_of_equal_size_belong_to_the_owner_whose_digest_they_have() -> None:
    item = shared(
        "a.py", {"one": 10, "two": 10}, 10, digests={"one": "sha256=A", "two": "sha256=B", "disk": "sha256=B"}
    )
    assert bytes_of(item, []) == "two"


def test_bytes_that_both_promised_are_said_to_be_the_survivors() -> None:
    item = shared(
        "a.py", {"leaver": 10, "stayer": 10}, 10, digests={"leaver": "sha256=A", "stayer": "sha256=A"}
    )
    assert bytes_of(item, [item.owners[0]]) == "stayer"


def test_bytes_that_nobody_promised_belong_to_nobody() -> None:
    assert bytes_of(shared("a.py", {"one": 10, "two": 11}, 12), []) == ""


def test_an_empty_init_of_a_folder_that_stays_a_namespace_harms_nobody() -> None:
    item = shared("ns/__init__.py", {"cu12": 0, "cu13": 0}, 0)
    assert weight(item, item.owners[0]) is Weight.TRIVIAL


def test_an_empty_init_over_a_survivors_real_code_is_a_loss() -> None:
    """ffmpeg 1.4 blanks the file of which ffmpeg-python recorded 434 bytes."""
    item = shared("ns/__init__.py", {"ffmpeg-python": 434, "ffmpeg": 0}, 0)
    assert weight(item, item.owners[0]) is Weight.MATTERS


def test_an_init_whose_folder_is_emptied_is_a_loss() -> None:
    item = shared("ns/__init__.py", {"one": 0, "two": 0}, 0)
    assert weight(item, item.owners[0], stays=()) is Weight.MATTERS


def test_a_folder_that_is_emptied_is_no_namespace_whatever_lies_in_others() -> None:
    item = shared("ns/__init__.py", {"cu12": 0, "cu13": 0}, 0)
    assert weight(item, item.owners[0], stays=("nsx/other.py", "top.py")) is not Weight.TRIVIAL


def test_byte_code_alone_is_nothing_that_a_namespace_could_hold_and_a_deeper_file_is() -> None:
    item = shared("ns/__init__.py", {"one": 0, "two": 0}, 0)
    cache = "ns/__pycache__/__init__.cpython-312.pyc"
    assert weight(item, item.owners[0], stays=(cache,)) is Weight.MATTERS
    assert weight(item, item.owners[0], stays=(cache, "ns/inner/deep/a.py")) is Weight.TRIVIAL


def test_of_a_survivor_that_recorded_no_size_nothing_is_taken_to_be_empty() -> None:
    owner = dist("one", ["ns/__init__.py"])
    for claims in ({}, {owner.key: Claim("sha256=A", None)}):
        item = SharedFile(at("ns/__init__.py"), (owner, dist("two")), claims, 0)
        assert weight(item, owner) is Weight.MATTERS


def test_an_init_that_only_extends_its_path_harms_nobody() -> None:
    item = shared("ns/__init__.py", {"backports.weakref": 75, "backports.csv": 121}, 65, DECLARES)
    assert weight(item, item.owners[0]) is Weight.TRIVIAL


def test_a_namespace_declaration_over_a_longer_file_of_the_survivors_is_a_loss() -> None:
    item = shared("ns/__init__.py", {"big": 3212, "small": 65}, 65, DECLARES)
    assert weight(item, item.owners[0]) is Weight.MATTERS


@pytest.mark.parametrize(
    "source",
    [
        DECLARES,
        "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n",
        "__import__('pkg_resources').declare_namespace(__name__)\n",
        "import pkg_resources\npkg_resources.declare_namespace(__name__)\n",
        (
            "'''A namespace.'''\ntry:\n    import pkg_resources\n    pkg_resources.declare_namespace(__name__)\n"
            "except ImportError:\n    import pkgutil\n    __path__ = pkgutil.extend_path(__path__, __name__)\n"
        ),
    ],
)
def test_a_namespace_is_declared_in_these_ways(source: str) -> None:
    assert only_extends_path(source)


@pytest.mark.parametrize(
    "source", ["", "x = 1\n", DECLARES + "from .core import run\n", "def broken(:\n", "\0"]
)
def test_what_does_more_or_nothing_or_cannot_be_parsed_is_no_mere_declaration(source: str) -> None:
    assert not only_extends_path(source)


COMMENTS = "# Copyright (c) Somebody\n'''The ns family.'''\n"


def test_an_init_of_comments_alone_harms_nobody_who_recorded_just_that() -> None:
    item = shared("ns/__init__.py", {"one": 45, "other": 45, "code": 900}, 45, COMMENTS)
    one, other, code = item.owners
    assert [weight(item, owner) for owner in (one, other, code)] == [Weight.TRIVIAL] * 2 + [Weight.MATTERS]
    assert weight(item, one, stays=()) is Weight.MATTERS


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (COMMENTS, True),
        ("\n", True),
        ("", False),
        ("x = 1\n", False),
        ("print(1)\n", False),
        ("def broken(:\n", False),
    ],
)
def test_comments_are_what_runs_nothing(source: str, expected: bool) -> None:  # noqa: FBT001
    assert only_comments(source) is expected


@pytest.mark.parametrize("path", ["LICENSE", "README.md", "pkg/LICENSE.txt", "CHANGELOG.rst"])
def test_papers_harm_nobody(path: str) -> None:
    item = shared(path, {"one": 1, "two": 2}, 2)
    assert weight(item, item.owners[0]) is Weight.TRIVIAL


def test_a_module_that_is_called_readme_is_code() -> None:
    item = shared("readme.py", {"one": 1, "two": 2}, 2)
    assert weight(item, item.owners[0]) is Weight.MATTERS


def test_stubs_and_headers_are_only_warned_of() -> None:
    for path in ("PySide6/QtCore.pyi", "nvidia/cudnn/include/cudnn.h"):
        item = shared(path, {"one": 1, "two": 2}, 2)
        assert weight(item, item.owners[0]) is Weight.STUB


def test_a_top_level_tests_folder_is_trivial_until_code_imports_it() -> None:
    item = shared("tests/__init__.py", {"pybtex": 1103, "django-pwa": 0}, 0)
    assert weight(item, item.owners[0]) is Weight.TRIVIAL
    assert weight(item, item.owners[0], imported=frozenset({"tests"})) is Weight.MATTERS


def test_tests_inside_a_package_are_code() -> None:
    item = shared("numpy/tests/__init__.py", {"one": 3, "two": 4}, 4)
    assert weight(item, item.owners[0]) is Weight.MATTERS


def test_a_launcher_of_the_survivors_own_entry_points_is_a_command() -> None:
    one = dist("one", ["/env/bin/tool"], entry_points=[EntryPoint("console_scripts", "tool", "one:main")])
    two = dist("two", ["/env/bin/tool"])
    item = SharedFile(TargetPath("/env/bin/tool"), (one, two), {}, 10)
    world = FakeWorld({"/env/bin/tool": b"#!"})
    assert weigh(item, one, inventory(one, two), world, frozenset()) is Weight.COMMAND
    assert weigh(item, two, inventory(one, two), world, frozenset()) is Weight.MATTERS


def test_byte_code_in_a_cache_folder_harms_nobody_and_beside_a_source_is_code() -> None:
    for path, expected in (("a/__pycache__/b.cpython-312.pyc", Weight.TRIVIAL), ("a/b.pyc", Weight.MATTERS)):
        item = shared(path, {"one": 1, "two": 2}, 2)
        assert weight(item, item.owners[0]) is expected


def test_side_folders_are_the_top_level_names_that_tests_and_docs_have() -> None:
    paths = [
        at("tests/a.py"),
        at("docs/x/b.py"),
        at("pkg/tests/c.py"),
        at("test.py"),
        TargetPath("/else/examples/d.py"),
    ]
    assert side_folders(paths, inventory()) == {"tests", "docs"}


def test_only_an_init_can_be_a_namespaces() -> None:
    item = shared("ns/data.bin", {"one": 0, "two": 0}, 0)
    assert weight(item, item.owners[0]) is Weight.MATTERS


def test_a_launcher_is_one_by_its_name_and_by_its_group() -> None:
    for point in (
        EntryPoint("plugins", "tool", "one:main"),
        EntryPoint("console_scripts", "other", "one:main"),
    ):
        one, two = dist("one", ["/env/bin/tool"], entry_points=[point]), dist("two", ["/env/bin/tool"])
        item = SharedFile(TargetPath("/env/bin/tool"), (one, two), {}, 10)
        world = FakeWorld({"/env/bin/tool": b"#!"})
        assert weigh(item, one, inventory(one, two), world, frozenset()) is Weight.MATTERS


def test_in_a_cache_folder_only_byte_code_is_made_again() -> None:
    item = shared("a/__pycache__/data.bin", {"one": 1, "two": 2}, 2)
    assert weight(item, item.owners[0]) is Weight.MATTERS


def test_a_declaration_of_as_many_bytes_as_one_can_have_is_one() -> None:
    for size, expected in ((250, Weight.TRIVIAL), (251, Weight.MATTERS)):
        item = shared("ns/__init__.py", {"one": size, "two": size}, size, DECLARES)
        assert weight(item, item.owners[0]) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (DECLARES + "from __future__ import annotations\n", True),
        (DECLARES + "import pkgutil\n", True),
        (DECLARES + "import pkgutil, os\n", False),
        ("__path__ = ['here']\n", False),
        ("path = extend_path(__path__, __name__)\n", False),
        (DECLARES + "register(__name__)\n", False),
        ("register(__name__)\n", False),
    ],
)
def test_a_mere_declaration_imports_what_declares_it_and_nothing_else(source: str, expected: bool) -> None:  # noqa: FBT001
    assert only_extends_path(source) is expected
