"""What distributions hold of their files, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from safepip.model.change import Reach, Why
from safepip.model.diagnosis import Ailment, Check, Hollow, Level, Overwritten, Stash
from safepip.model.environment import Claim, Distribution, Fault, Install, Unjudged
from safepip.model.paths import TargetPath
from safepip.model.survey import SharedFile
from safepip.reasoning.health import holdings
from support.environments import at, dist, inventory
from support.fake_world import FakeWorld, Link, empty

PKG = dist("pkg", ["pkg/a.py", "pkg/b.py", "pkg/c.pyc", "/x"])
A, B, RECORD = at("pkg/a.py"), at("pkg/b.py"), at("pkg-1.0.dist-info/RECORD")


def test_rows_that_are_not_there_are_missing_and_byte_code_is_not() -> None:
    assert holdings.missing_files(PKG, FakeWorld(empty(B, RECORD))) == (A, "/x")
    assert holdings.missing_files(PKG, FakeWorld(empty(A, B, RECORD, "/x"))) == ()
    assert holdings.missing_files(replace(PKG, files=None), FakeWorld({})) == ()


def test_a_link_that_leads_nowhere_is_missing() -> None:
    """uv can fill an environment with links into its cache, which people clear."""
    world = FakeWorld({**empty(B, RECORD, "/x"), A: Link("nowhere")})
    assert holdings.missing_files(PKG, world) == (A,)
    assert holdings.missing_files(PKG, FakeWorld({**empty(B, RECORD, "/x"), A: Link("b.py")})) == ()


def test_in_a_folder_that_cannot_be_listed_each_file_is_asked_for() -> None:
    class Unlisted(FakeWorld):
        def entries(self, _: TargetPath) -> tuple[()]:
            return ()

    assert holdings.missing_files(PKG, Unlisted(empty(B, RECORD, "/x"))) == (A,)


def hollow(*missing: TargetPath) -> list[Hollow]:
    return list(holdings.hollows({PKG.info: missing}, inventory(PKG, dist("other"))))


def test_who_lacks_more_than_metadata_is_hollow_by_as_much() -> None:
    assert hollow(A, RECORD) == [Hollow(PKG, (A,), 3)]
    assert hollow(RECORD) == []
    assert hollow() == []


def test_a_hollow_distribution_is_told_by_how_much_of_it_is_there() -> None:
    dists = inventory(PKG)
    whole, some, one, single, many = holdings.of_hollows(
        [
            Hollow(PKG, (A, B), 2),
            Hollow(PKG, (A, B), 3),
            Hollow(PKG, (A,), 3),
            Hollow(PKG, (A,), 1),
            Hollow(PKG, (A, B, RECORD), 3),
        ],
        dists,
    )
    assert whole == Ailment(
        Check.HOLLOW,
        Level.ERROR,
        "pkg",
        "pkg 1.0 has its metadata and neither of its two files",
        A,
        paths=(A, B),
        mended_by=(PKG.key,),
    )
    assert (some.check, some.message) == (Check.MISSING_FILE, "pkg lacks pkg/a.py and 1 more, of 3 files")
    assert one.message == "pkg lacks pkg/a.py, of 3 files"
    assert single.message == "pkg 1.0 has its metadata and lacks its only file"
    assert many.message == "pkg 1.0 has its metadata and none of its 3 files"


OLD, NEW, THIRD = dist("old", version="9.10"), dist("new"), dist("third")


def shared(path: str, sizes: Mapping[Distribution, int], size: int) -> SharedFile:
    claims = {who.key: Claim(f"sha256={who.name}", size) for who, size in sizes.items()}
    return SharedFile(at(path), tuple(sizes), claims, size)


def test_each_owner_that_lost_its_own_bytes_is_overwritten_where_they_matter() -> None:
    world = FakeWorld(empty(at("nv/lib.so"), at("nv/LICENSE")))
    items = [shared("nv/lib.so", {OLD: 1, NEW: 2}, 2), shared("nv/LICENSE", {OLD: 1, NEW: 2}, 2)]
    there = inventory(OLD, NEW)
    assert list(holdings.overwritten(items, there, world)) == [
        (OLD, Overwritten(at("nv/lib.so"), ("old", "new"), "new"))
    ]
    nobodys = holdings.overwritten([shared("nv/lib.so", {OLD: 1, NEW: 2}, 3)], there, world)
    assert [(who.name, item.bytes_of) for who, item in nobodys] == [("old", ""), ("new", "")]


def overwrite(path: str, by: str) -> tuple[Distribution, Overwritten]:
    return OLD, Overwritten(at(path), ("old", by or "new"), by)


def test_overwritten_files_fold_by_owner_and_by_whose_bytes_lie_there() -> None:
    found = [overwrite("nv/a.so", "new"), overwrite("nv/b.so", "new"), overwrite("nv/c.so", "")]
    using = {at("nv/a.so"): ["torch", "new"], at("nv/b.so"): ["old", "torch", "vision", "a", "b"]}
    first, second = holdings.of_overwritten(found, inventory(OLD), using)
    assert first == Ailment(
        Check.OVERWRITTEN,
        Level.WARN,
        "old",
        "nv/a.so and 1 more of old 9.10 hold the bytes of new; a, b, torch use them",
        at("nv/a.so"),
        paths=(at("nv/a.so"), at("nv/b.so")),
        mended_by=(OLD.key,),
    )
    assert second.message == "nv/c.so of old 9.10 holds the bytes of nobody"
    (one,) = holdings.of_overwritten(found[:1], inventory(OLD), using)
    assert one.message == "nv/a.so of old 9.10 holds the bytes of new; torch uses it"


def test_files_that_are_not_what_was_recorded_are_told_by_owner() -> None:
    more, one = holdings.altered({PKG.info: (A, B), NEW.info: (at("new.py"),)}, {}, inventory(PKG, OLD, NEW))
    assert more == Ailment(
        Check.ALTERED_FILE,
        Level.WARN,
        "pkg",
        "pkg/a.py and 1 more is not what pkg 1.0 recorded",
        A,
        paths=(A, B),
        mended_by=(PKG.key,),
    )
    assert one.message == "new.py is not what new 1.0 recorded"


def test_metadata_of_several_versions_in_one_folder_is_told_and_in_two_folders_is_not() -> None:
    second = replace(dist("pkg", version="2.0"))
    elsewhere = replace(second, location=TargetPath("/second"))
    assert list(holdings.duplicates(inventory(PKG, OLD, second))) == [
        Ailment(
            Check.DUPLICATE_METADATA,
            Level.WARN,
            "pkg",
            "pkg has metadata of several versions: 1.0 and 2.0",
            second.info,
            paths=(PKG.info, second.info),
            mended_by=(PKG.key,),
        )
    ]
    assert list(holdings.duplicates(inventory(PKG, elsewhere))) == []


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (Install.DIST_INFO, True),
        (Install.EGG_INFO_FILE, True),
        (Install.EGG_INFO_FOLDER, False),
        (Install.EGG_LINK, False),
    ],
)
def test_without_a_list_of_its_files_pip_cannot_remove_it(form: Install, told: bool) -> None:  # noqa: FBT001
    bare = replace(OLD, install=form, files=None)
    expected = Ailment(
        Check.NO_RECORD,
        Level.WARN,
        "old",
        "old 9.10 has no list of its files: pip can neither remove nor upgrade it",
        OLD.info,
        mended_by=(OLD.key,),
    )
    assert list(holdings.without_record(inventory(bare, NEW))) == ([expected] if told else [])


def test_metadata_that_pip_stumbles_over_or_does_not_see_is_damaged() -> None:
    def told(*faults: Fault) -> list[str]:
        found = holdings.damaged_metadata(inventory(replace(OLD, faults=faults), NEW), FakeWorld({}))
        return [item.message.partition(" is damaged: ")[2] for item in found]

    nameless, unversioned = Fault.METADATA_WITHOUT_NAME, Fault.METADATA_WITHOUT_VERSION
    assert told() == []
    assert told(nameless, unversioned) == ["METADATA is missing"]
    assert told(unversioned, Fault.RECORD_SWALLOWS) == [f"{unversioned.value}; {Fault.RECORD_SWALLOWS.value}"]
    bare = replace(OLD, faults=(Fault.RECORD_BROKEN,), files=None)
    assert list(holdings.damaged_metadata(inventory(bare), FakeWorld({}))) == []

    over = "pip 23.2 passes over it: METADATA is missing or has no Name"
    unseen = Unjudged(at("six-1.17.0.dist-info"), over)
    others = [Unjudged(at("six.egg-info"), over), Unjudged(at("six.dist-info"), over), Unjudged(A, "odd")]
    there = replace(inventory(OLD), unjudged=(unseen, *others))
    assert list(holdings.damaged_metadata(there, FakeWorld({}))) == [
        Ailment(
            Check.DAMAGED_METADATA,
            Level.WARN,
            "six",
            "the metadata of six 1.17.0 is damaged: pip does not see it: METADATA is missing",
            at("six-1.17.0.dist-info"),
            wants="six==1.17.0",
        )
    ]


def test_a_source_that_is_there_and_whose_byte_code_alone_is_listed_was_taken_out_of_record() -> None:
    cache = "pkg/__pycache__"
    rows = [f"{cache}/{name}.cpython-312.pyc" for name in ("a", "b", "c", "d", "e")] + [
        "pkg/b.py",
        "pkg/a.pyc",
    ]
    pkg, other = dist("pkg", rows), dist("other", ["pkg/e.py"])
    c, d, e = at("pkg/c.py"), at("pkg/d.py"), at("pkg/e.py")
    (found,) = holdings.damaged_metadata(inventory(pkg, other), FakeWorld(empty(B, c, d, e)))
    assert found == Ailment(
        Check.DAMAGED_METADATA,
        Level.WARN,
        "pkg",
        "the metadata of pkg 1.0 is damaged: RECORD lists the byte code of pkg/c.py and 1 more and not the source",
        pkg.info,
        mended_by=(pkg.key,),
    )
    cut = replace(pkg, faults=(Fault.METADATA_WITHOUT_VERSION,))
    (both,) = holdings.damaged_metadata(inventory(cut, other), FakeWorld(empty(c)))
    assert f"is damaged: {Fault.METADATA_WITHOUT_VERSION.value}; RECORD lists" in both.message
    (found,) = holdings.damaged_metadata(inventory(pkg, other), FakeWorld(empty(c)))
    assert "of pkg/c.py and not the source" in found.message
    assert list(holdings.damaged_metadata(inventory(pkg, other), FakeWorld(empty(B, e)))) == []


def stash(name: str, dist_name: str = "numpy", *, in_the_way: bool = False) -> Stash:
    return Stash(at(f"~{name}"), at(name), dist_name, in_the_way)


def test_what_pip_moved_aside_is_an_error_where_nothing_has_taken_its_place() -> None:
    lost = [stash(name) for name in ("umpy", "umpy.libs", "umpy-1.dist-info", "x")]
    cut_off, left = holdings.leftovers([*lost, stash("ip", "pip", in_the_way=True)])
    assert cut_off == Ailment(
        Check.LEFTOVERS,
        Level.ERROR,
        "numpy",
        "pip was cut off while it removed numpy: ~umpy, ~umpy.libs, ~umpy-1.dist-info is what it had moved aside",
        at("~umpy"),
        paths=tuple(item.path for item in lost),
    )
    assert (left.level, left.message) == (
        Level.WARN,
        "~ip is left of a removal of pip that pip could not end",
    )
    assert [item.level for item in holdings.leftovers([stash("a", in_the_way=True), lost[0]])] == [
        Level.ERROR
    ]


def test_what_a_removal_would_take_beyond_is_folded_by_its_reason() -> None:
    beyond = [Reach(TargetPath(f"/etc/{name}"), Why.OUTSIDE, PKG) for name in "ab"]
    folded, single = holdings.reaching([*beyond, Reach(A, Why.FOREIGN, PKG, "other")], inventory())
    assert folded == Ailment(
        Check.REACH_BEYOND,
        Level.WARN,
        "pkg",
        "removing pkg would delete /etc/a and 1 more, which lies outside the environment",
        TargetPath("/etc/a"),
        paths=(TargetPath("/etc/a"), TargetPath("/etc/b")),
    )
    assert single.message == "removing pkg would delete pkg/a.py, which belongs to another distribution"


def test_metadata_is_what_lies_in_its_own_folder() -> None:
    beside = dist("pkg", ["pkg-1.0.dist-info-extra/x", "a.py"])
    gone = at("pkg-1.0.dist-info-extra/x")
    assert list(holdings.hollows({beside.info: (gone,)}, inventory(beside))) == [Hollow(beside, (gone,), 2)]


def test_each_owner_is_told_of_its_own_files() -> None:
    mine, theirs = overwrite("nv/a.so", "new"), (THIRD, Overwritten(at("t/b.so"), ("third", "new"), "new"))
    told = holdings.of_overwritten([mine, theirs], inventory(OLD, THIRD), {})
    assert [(item.distribution, item.mended_by) for item in told] == [
        ("old", (OLD.key,)),
        ("third", (THIRD.key,)),
    ]


def test_one_file_that_is_altered_is_the_one_that_is_told() -> None:
    (one,) = holdings.altered({PKG.info: (A, B)}, {}, inventory(NEW, PKG))
    assert (one.path, one.distribution) == (A, "pkg")


def test_what_is_altered_and_cannot_be_used_is_told_by_itself_a_persons_half_edit_aside() -> None:
    found, there = {PKG.info: (A, B, at("pkg/c.so"))}, inventory(PKG, OLD)
    why = {A: "it cannot be parsed: line 3", at("pkg/c.so"): "file too short"}
    (damaged,) = holdings.damaged(found, why, there)
    (altered,) = holdings.altered(found, why, there)
    version = PKG.version
    assert (damaged.level, damaged.paths, damaged.message) == (
        Level.ERROR,
        (at("pkg/c.so"),),
        f"pkg/c.so of {PKG.name} {version} cannot be used: file too short",
    )
    assert (altered.level, altered.paths, altered.mended_by) == (Level.ERROR, (A, B), (PKG.key,))
    assert altered.message.endswith(f"recorded; {why[A]}")
    (both,) = holdings.damaged(found, {A: "it is empty", B: "it is empty"}, there)
    assert both.message.endswith(f"cannot be used: it is empty; 1 more of {PKG.name} as well")
    assert list(holdings.damaged({}, {}, there)) == []
    assert [item.level for item in holdings.altered(found, {at("pkg/c.so"): "cut"}, there)] == [Level.WARN]
