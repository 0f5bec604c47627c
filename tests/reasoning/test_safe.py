"""What a safe removal leaves and takes, on values."""

from __future__ import annotations

from safepip.model.change import Reach, Removal, Why
from safepip.model.environment import Claim, Distribution
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import SharedFile
from safepip.reasoning.changes.safe import spare
from support.environments import SITE, at, dist
from support.fake_world import FakeWorld

LEAVER = dist("leaver", ["pkg/a.py", "pkg/b.py", "pkg/sub/c.py"])
SURVIVOR = dist("survivor", ["pkg/a.py"])


def removal(
    *files: str, folders: tuple[str, ...] = ("pkg",), shared: tuple[str, ...] = ("pkg/a.py",)
) -> Removal:
    return Removal(
        leaving=(LEAVER,),
        files=tuple(sorted(map(at, files))),
        folders=tuple(map(at, folders)),
        shared=tuple(map(at, shared)),
    )


def share(
    digest: str,
    *,
    leaver: str = "sha256=leaver",
    survivor: str = "sha256=survivor",
    by: Distribution = SURVIVOR,
) -> SharedFile:
    claims = {LEAVER.key: Claim(leaver, 1), DistKey(by.key): Claim(survivor, 1)}
    return SharedFile(at("pkg/a.py"), (LEAVER, by), claims, 1, digest)


WORLD = FakeWorld({at(name): b"" for name in ("pkg/a.py", "pkg/b.py", "pkg/sub/c.py")})
PLAN = removal("pkg/a.py", "pkg/b.py", "pkg/sub/c.py")


def test_what_a_survivor_owns_stays_and_the_rest_goes() -> None:
    found = spare(PLAN, [share("sha256=survivor")], WORLD)
    assert found.removal == removal("pkg/b.py", "pkg/sub/c.py", folders=("pkg/sub",), shared=())
    assert (found.kept, found.owners, found.restored) == ((at("pkg/a.py"),), ("survivor",), ())


def test_the_leavers_bytes_are_replaced_by_what_the_survivor_recorded() -> None:
    (restored,) = spare(PLAN, [share("sha256=leaver")], WORLD).restored
    assert restored == (at("pkg/a.py"), SURVIVOR, Claim("sha256=survivor", 1))


def test_the_leavers_bytes_may_be_kept_where_that_is_asked_for() -> None:
    found = spare(PLAN, [share("sha256=leaver")], WORLD, keep_foreign=True)
    assert (found.restored, found.foreign) == ((), (at("pkg/a.py"),))


def test_bytes_that_no_owner_recorded_are_left_alone_and_named() -> None:
    found = spare(PLAN, [share("sha256=edited")], WORLD)
    assert (found.restored, found.odd) == ((), (at("pkg/a.py"),))


def test_where_the_leaver_recorded_no_digest_other_bytes_are_taken_for_its_own() -> None:
    assert len(spare(PLAN, [share("sha256=other", leaver="")], WORLD).restored) == 1


def test_a_survivor_that_recorded_no_digest_misses_nothing() -> None:
    found = spare(PLAN, [share("sha256=leaver", survivor="")], WORLD)
    assert (found.restored, found.odd) == ((), ())


def test_one_survivor_that_has_its_bytes_is_enough() -> None:
    other = dist("other", ["pkg/a.py"])
    item = share("sha256=survivor")
    both = SharedFile(
        item.path, (*item.owners, other), {**item.claims, other.key: Claim("sha256=third", 1)}, 1, item.digest
    )
    assert spare(PLAN, [both], WORLD).restored == ()


def test_what_reaches_beyond_is_left_with_all_in_it() -> None:
    plan = Removal(
        leaving=(LEAVER,),
        files=(at("foreign/x.py"), at("foreign/y.py"), at("pkg/b.py")),
        folders=(at("foreign"),),
        reaches=(Reach(at("foreign"), Why.FOREIGN, LEAVER, "other"),),
    )
    world = FakeWorld(dict.fromkeys(plan.files, b""))
    found = spare(plan, [], world)
    assert (found.removal.files, found.removal.folders) == ((at("pkg/b.py"),), ())
    assert found.kept == (at("foreign/x.py"), at("foreign/y.py"))


def test_a_folder_that_is_not_the_leavers_is_left_with_the_one_file_in_it_or_none() -> None:
    inside, empty = at("foreign/x.py"), at("empty")
    plan = Removal(
        leaving=(LEAVER,),
        files=(inside,),
        folders=(empty, at("foreign")),
        reaches=tuple(Reach(path, Why.UNRECORDED, LEAVER) for path in (empty, at("foreign"))),
    )
    found = spare(plan, [], FakeWorld({inside: b""}, folders=[empty]))
    assert (found.removal.files, found.removal.folders, found.kept) == ((), (), (inside,))


def test_byte_code_of_a_module_that_stays_stays() -> None:
    cache = "pkg/__pycache__/a.cpython-312.pyc"
    plan = removal("pkg/a.py", "pkg/b.py", cache, "pkg/__pycache__/b.cpython-312.pyc")
    found = spare(plan, [share("sha256=survivor")], FakeWorld(dict.fromkeys(plan.files, b"")))
    assert found.kept == (at(cache), at("pkg/a.py"))
    assert found.removal.files == (at("pkg/__pycache__/b.cpython-312.pyc"), at("pkg/b.py"))


def test_the_site_folder_itself_never_goes_with_the_last_leaver() -> None:
    plan = Removal(
        leaving=(LEAVER,), files=(at("one.py"), at("pkg/a.py")), folders=(SITE,), shared=(at("pkg/a.py"),)
    )
    world = FakeWorld(dict.fromkeys(plan.files, b""))
    assert spare(plan, [], world).removal.folders == ()
    assert isinstance(SITE, str)
    assert spare(plan, [], world).removal.files == (TargetPath(at("one.py")),)


def test_only_byte_code_of_modules_that_stay_stays() -> None:
    files = ("pkg/__pycache__/a.txt", "pkg/a.data", "pkg/__pycache__/a.data.cpython-312.pyc", "pkg/sub")
    plan = removal(*files, shared=("pkg/a.data",))
    assert spare(plan, [], FakeWorld(dict.fromkeys(plan.files, b""))).kept == (at("pkg/a.data"),)


def test_where_nobody_recorded_what_lies_there_a_claim_that_is_missing_says_nothing() -> None:
    item = SharedFile(
        at("pkg/a.py"), (LEAVER, SURVIVOR), {SURVIVOR.key: Claim("sha256=survivor", 1)}, 1, "sha256=other"
    )
    found = spare(PLAN, [item], WORLD)
    assert (len(found.restored), found.odd) == (1, ())
