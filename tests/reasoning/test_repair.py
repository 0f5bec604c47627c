"""From ailments to the fewest commands, in the right order."""

from __future__ import annotations

from dataclasses import replace

from safepip.model.change import Package, Why
from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.environment import Distribution
from safepip.model.paths import DistKey
from safepip.reasoning.health import undoing
from safepip.reasoning.health.repair import Means, plan
from safepip.reasoning.health.undoing import Kept
from support.environments import at, dist, inventory

TORCH = dist("torch", version="2.9.1+cu128")
CUDNN = dist("cudnn", ["cudnn/libcudnn.so.9"], version="9.10")
NUMPY = dist("numpy", ["numpy/a.py"], version="2.0")
HOLLOW = Ailment(
    Check.HOLLOW,
    Level.ERROR,
    "cudnn",
    "hollow",
    at("cudnn/libcudnn.so.9"),
    paths=(at("cudnn/libcudnn.so.9"),),
    mended_by=(CUDNN.key,),
)
LIBRARY = Ailment(
    Check.MISSING_LIBRARY,
    Level.ERROR,
    "torch",
    "missing",
    at("torch/_C.so"),
    "libcudnn.so.9",
    mended_by=(CUDNN.key,),
)


def lost(who: Distribution) -> Ailment:
    return Ailment(
        Check.MISSING_FILE, Level.ERROR, who.name, "lost", paths=tuple(who.files or ()), mended_by=(who.key,)
    )


def unmet(user: str, wants: str) -> Ailment:
    return Ailment(Check.UNMET_REQUIREMENT, Level.WARN, user, "unmet", wants=wants)


def steps(*ailments: Ailment, means: Means | None = None) -> list[tuple[str, ...]]:
    cures, _ = plan(ailments, inventory(TORCH, CUDNN, NUMPY), means or Means())
    return [cure.command[3:] for cure in cures]


def test_one_command_mends_a_hollow_distribution_and_all_that_hangs_on_it() -> None:
    cures, incurable = plan((LIBRARY, HOLLOW), inventory(TORCH, CUDNN), Means())
    assert [(cure.command[3:], cure.cures) for cure in cures] == [
        (("install", "--no-deps", "--force-reinstall", "cudnn==9.10"), (LIBRARY, HOLLOW))
    ]
    assert incurable == ()


def test_several_are_installed_anew_in_one_command_and_a_local_label_in_one_of_its_own() -> None:
    assert steps(lost(NUMPY), HOLLOW, lost(TORCH)) == [
        ("install", "--no-deps", "--force-reinstall", "numpy==2.0", "cudnn==9.10"),
        ("install", "--no-deps", "--force-reinstall", "torch==2.9.1+cu128"),
    ]


def test_what_was_installed_from_an_archive_comes_from_there_again() -> None:
    means = Means(urls={DistKey("torch"): "torch @ https://example.org/torch.whl"})
    assert steps(lost(TORCH), means=means) == [
        ("install", "--no-deps", "--force-reinstall", "torch @ https://example.org/torch.whl")
    ]


def test_what_is_kept_comes_before_what_must_be_fetched() -> None:
    kept = Kept(3, "removed cudnn-cu13", (HOLLOW, LIBRARY))
    assert steps(lost(NUMPY), HOLLOW, LIBRARY, means=Means((kept,))) == [
        ("undo", "3"),
        ("install", "--no-deps", "--force-reinstall", "numpy==2.0"),
    ]


def test_pips_wreckage_is_put_back_before_anything_else() -> None:
    left = Ailment(Check.LEFTOVERS, Level.ERROR, "numpy", "left over")
    assert steps(HOLLOW, lost(NUMPY), left) == [
        ("doctor", "--fix", "--only", "leftovers"),
        ("install", "--no-deps", "--force-reinstall", "cudnn==9.10"),
    ]


def test_all_that_is_said_of_one_requirement_is_asked_of_pip_at_once() -> None:
    assert steps(unmet("a", "lib>=1.2"), unmet("b", "Lib<2"), unmet("c", "lib"), unmet("d", "other[x]")) == [
        ("install", "lib>=1.2,<2", "other[x]")
    ]


def test_extras_and_versions_of_one_requirement_are_all_asked_for() -> None:
    assert steps(unmet("a", "lib"), unmet("b", "lib[x]>=2,<4"), unmet("c", "lib[y,x]<4,!=3")) == [
        ("install", "lib[x,y]>=2,<4,!=3")
    ]


def test_what_no_name_can_be_made_of_is_not_said_to_be_mended() -> None:
    odd = unmet("a", "_odd")
    assert plan((odd,), inventory(), Means()) == ((), (odd,))


def test_pip_is_not_asked_for_what_is_no_name_or_no_version() -> None:
    cafe, shown, dated = dist("caf\udce9"), dist("-r", version="1"), dist("dated", version="1.\udce9 ")
    ailments = [*map(lost, (cafe, shown, dated)), unmet("torch", "na\udcefve>=2")]
    ailments += [replace(item, check=Check.NO_RECORD) for item in ailments[:3]]
    assert plan([*ailments, lost(NUMPY)], inventory(cafe, shown, dated, NUMPY), Means()) == (
        plan([lost(NUMPY)], inventory(NUMPY), Means())[0],
        tuple(ailments),
    )


def test_whom_nothing_needs_and_who_took_anothers_place_goes_safely() -> None:
    taken = Ailment(Check.OVERWRITTEN, Level.WARN, "cudnn", "of usurper", mended_by=(CUDNN.key,))
    own = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "usurper", "unmet", wants="none")
    usurper = dist("usurper")
    means = Means(removable={("usurper",): [CUDNN.key], ("gone",): [CUDNN.key]})
    mixed = Ailment(Check.MIXED_FAMILY, Level.WARN, "", "torch uses it", mended_by=(CUDNN.key,))
    cures, incurable = plan((taken, own, mixed), inventory(CUDNN, usurper), means)
    assert [(cure.title, cure.command[3:], cure.cures) for cure in cures] == [
        (
            "Remove usurper, which nothing needs, and give back the files that it took the place of",
            ("uninstall", "--safe", "-y", "usurper"),
            (taken, own, mixed),
        )
    ]
    assert incurable == ()
    other = replace(taken, mended_by=(CUDNN.key, NUMPY.key))
    assert plan((other,), inventory(CUDNN, usurper), means) == ((), (other,))


def test_pips_wreckage_brings_back_what_others_miss_of_it() -> None:
    left = Ailment(Check.LEFTOVERS, Level.ERROR, "numpy", "left over")
    in_the_way = replace(left, level=Level.WARN, distribution="cudnn")
    hangs, wants = lost(NUMPY), unmet("pandas", "numpy>=1")
    cures, _ = plan((left, in_the_way, hangs, wants, HOLLOW), inventory(NUMPY, CUDNN), Means())
    assert cures[0].cures == (left, in_the_way, hangs, wants)
    assert [cure.cures for cure in cures[1:]] == [(HOLLOW,)]


def test_bytes_of_nobody_are_laid_down_anew() -> None:
    nobodys = Ailment(
        Check.OVERWRITTEN, Level.WARN, "cudnn", "a.so hold the bytes of nobody", mended_by=(CUDNN.key,)
    )
    anothers = replace(nobodys, message="a.so hold the bytes of other")
    cures, incurable = plan((nobodys, anothers), inventory(NUMPY, CUDNN), Means())
    assert [(cure.command[3:], cure.cures) for cure in cures] == [
        (("install", "--no-deps", "--force-reinstall", "cudnn==9.10"), (nobodys,)),
    ]
    assert incurable == (anothers,)


BARE = Ailment(Check.NO_RECORD, Level.WARN, "numpy", "no list", mended_by=(NUMPY.key,))
UNSEEN = Ailment(Check.DAMAGED_METADATA, Level.WARN, "six", "no METADATA", wants="six==1.17.0")


def edited(who: Distribution, *paths: str) -> Ailment:
    return Ailment(
        Check.ALTERED_FILE, Level.WARN, who.name, "edited", paths=tuple(map(at, paths)), mended_by=(who.key,)
    )


def test_damaged_metadata_is_written_anew_by_laying_all_of_them_over_themselves() -> None:
    """pip's `--force-reinstall` ends with an error over some; `--ignore-installed` does not look at what is there."""
    gone, metadata = lost(NUMPY), edited(NUMPY, "numpy-2.0.dist-info/METADATA")
    wants, other = unmet("attrs", "six>=1"), unmet("attrs", "pytz")
    unknown = replace(BARE, mended_by=(DistKey("none"),))
    found = (BARE, UNSEEN, gone, metadata, wants, other, HOLLOW, unknown)
    cures, incurable = plan(found, inventory(NUMPY, CUDNN), Means())
    assert [(cure.command[3:], cure.cures, cure.loses_changes) for cure in cures] == [
        (
            ("install", "--no-deps", "--ignore-installed", "numpy==2.0", "six==1.17.0"),
            (BARE, UNSEEN, gone, metadata, wants),
            False,
        ),
        (("install", "--no-deps", "--force-reinstall", "cudnn==9.10"), (HOLLOW,), False),
        (("install", "pytz"), (other,), False),
    ]
    assert incurable == (unknown,)


def test_what_a_person_changed_is_not_laid_over_unless_asked_for() -> None:
    torch, source = (
        replace(BARE, mended_by=(TORCH.key,)),
        edited(TORCH, "torch-2.9.1.dist-info/METADATA", "torch/a.py"),
    )
    index = "pip must be shown the index that has the +cu128 builds (--index-url)"
    cures, _ = plan((torch, source, BARE), inventory(NUMPY, TORCH), Means())
    assert [(cure.title, cure.note, cure.cures, cure.loses_changes) for cure in cures] == [
        ("Install numpy==2.0 over itself: that writes its metadata anew", "", (BARE,), False),
        (
            "Install torch==2.9.1+cu128 over itself: that writes its metadata anew",
            f"the changes made there are lost, and --fix alone leaves it out; {index}",
            (torch, source),
            True,
        ),
    ]


def test_of_two_versions_of_one_name_the_one_that_pip_does_not_see_takes_the_place_of_the_other() -> None:
    old, new = dist("six", version="1.16"), dist("six", version="1.17")
    both = Ailment(
        Check.DUPLICATE_METADATA, Level.WARN, "six", "two", paths=(old.info, new.info), mended_by=(old.key,)
    )
    taken = Ailment(
        Check.OVERWRITTEN, Level.WARN, "six", "six.py holds the bytes of six", mended_by=(old.key,)
    )
    mixed = replace(taken, mended_by=(old.key, NUMPY.key))
    there = inventory(old, new, NUMPY)
    cures, incurable = plan((both, taken, mixed), there, Means(stale=[old.info]))
    assert [(cure.title, cure.command[3:], cure.cures) for cure in cures] == [
        (
            "Install six 1.17 in place of 1.16: that leaves one metadata folder",
            ("install", "--no-deps", "--force-reinstall", "six==1.17"),
            (both, taken),
        )
    ]
    assert incurable == (mixed,)
    cures, _ = plan((both,), there, Means(stale=[new.info]))
    assert [(cure.title, cure.command[3:], cure.cures, cure.follows) for cure in cures[1:]] == [
        ("Install six 1.16, whose files these were", ("install", "--no-deps", "six==1.16"), (), True)
    ]
    assert len(plan((both,), there, Means(stale=[old.info, new.info]))[0]) == 1
    third = replace(dist("six", version="1.18"), info=at("other/six.dist-info"))
    assert plan((both,), inventory(third, old, new), Means()) == ((), (both,))
    three = replace(both, paths=(old.info, new.info, third.info))
    assert plan((three,), inventory(old, new, third), Means()) == ((), (three,))


def test_what_conda_keeps_is_unpacked_anew_by_conda_and_what_pip_laid_beside_it_by_pip() -> None:
    means = Means(packages={NUMPY.key: Package(Why.CONDA, "numpy=2.0")})
    cures, _ = plan((lost(NUMPY), lost(TORCH)), inventory(NUMPY, TORCH), means)
    assert [(cure.command[-3:], cure.is_safepips) for cure in cures] == [
        (("--prefix", "/env", "numpy=2.0"), False),
        (("--no-deps", "--force-reinstall", "torch==2.9.1+cu128"), True),
    ]
    assert cures[0].command[:3] == ("conda", "install", "--force-reinstall")
    assert cures[0].note == "--fix leaves it to you, for conda keeps these files and no pip does"


def test_what_dpkg_keeps_is_unpacked_anew_by_apt_and_by_a_person() -> None:
    packages = {NUMPY.key: "python3-numpy", TORCH.key: "python3-torch"}
    means = Means(packages={key: Package(Why.DPKG, name) for key, name in packages.items()})
    gone, bare = lost(NUMPY), replace(BARE, mended_by=(CUDNN.key,))
    cures, incurable = plan((gone, lost(TORCH), HOLLOW, bare), inventory(NUMPY, TORCH, CUDNN), means)
    assert [(cure.title, cure.command, cure.cures, cure.is_safepips) for cure in cures] == [
        (
            "Unpack python3-numpy, python3-torch anew",
            ("apt-get", "install", "--reinstall", "python3-numpy", "python3-torch"),
            (gone, lost(TORCH)),
            False,
        ),
        (
            "Install cudnn==9.10 over itself: that writes its metadata anew",
            (
                "safepip",
                "--python",
                "/env/bin/python",
                "install",
                "--no-deps",
                "--ignore-installed",
                "cudnn==9.10",
            ),
            (HOLLOW, bare),
            True,
        ),
    ]
    assert incurable == ()


def test_the_index_of_a_local_label_is_asked_for_and_the_changes_of_a_person_are_said_to_be_lost() -> None:
    edited = Ailment(Check.ALTERED_FILE, Level.WARN, "torch", "edited", mended_by=(TORCH.key,))
    index = "pip must be shown the index that has the +cu128 builds (--index-url)"
    lose = "the changes made there are lost, and --fix alone leaves it out"
    cures, _ = plan((lost(TORCH),), inventory(TORCH), Means())
    assert [(cure.title, cure.note) for cure in cures] == [("Install torch 2.9.1+cu128 anew", index)]
    cures, _ = plan((edited,), inventory(TORCH), Means())
    assert [cure.note for cure in cures] == [f"{lose}; {index}"]


def test_the_latest_change_is_undone_first_and_one_that_mends_nothing_more_is_not() -> None:
    gone = lost(NUMPY)
    early, late = Kept(1, "removed both", (HOLLOW, gone)), Kept(2, "removed cudnn", (HOLLOW,))
    again = Kept(0, "removed cudnn", (HOLLOW,))
    cures, _ = plan((HOLLOW, gone), inventory(CUDNN, NUMPY), Means((again, early, late)))
    assert [(cure.title, cure.cures) for cure in cures] == [
        ("Undo change 2, which removed cudnn", (HOLLOW,)),
        ("Undo change 1, which removed both", (gone,)),
    ]


def test_a_note_needs_no_cure_and_what_no_command_mends_is_named() -> None:
    note = Ailment(Check.MISSING_LIBRARY, Level.NOTE, "numba", "tbb", soname="libtbb.so.12")
    system = Ailment(Check.MISSING_LIBRARY, Level.ERROR, "cv2", "libGL", soname="libGL.so.1")
    assert plan((note, system), inventory(TORCH), Means()) == ((), (system,))


def test_what_a_person_has_changed_comes_last_and_is_marked() -> None:
    edited = Ailment(Check.ALTERED_FILE, Level.WARN, "numpy", "edited", mended_by=(NUMPY.key,))
    cures, _ = plan((edited, HOLLOW), inventory(CUDNN, NUMPY), Means())
    assert [(cure.command[-1], cure.loses_changes) for cure in cures] == [
        ("cudnn==9.10", False),
        ("numpy==2.0", True),
    ]


def test_pips_wreckage_of_what_is_not_installed_any_more_is_known_by_its_name() -> None:
    left = Ailment(Check.LEFTOVERS, Level.ERROR, "Gone_pkg", "left over")
    wants = unmet("pandas", "gone-pkg>=1")
    odd = replace(dist("odd"), key=DistKey("by-key"))
    missing = replace(wants, wants="by-key")
    cures, _ = plan((left, wants), inventory(), Means())
    assert [(cure.title, cure.command, cure.cures) for cure in cures] == [
        (
            "Put back what pip had moved aside",
            ("safepip", "--python", "/env/bin/python", "doctor", "--fix", "--only", "leftovers"),
            (left, wants),
        )
    ]
    cures, _ = plan((replace(left, distribution="odd"), missing), inventory(odd), Means())
    assert cures[0].cures == (replace(left, distribution="odd"), missing)


def test_each_step_says_what_it_does() -> None:
    nobodys = Ailment(
        Check.OVERWRITTEN, Level.WARN, "cudnn", "hold the bytes of nobody", mended_by=(CUDNN.key,)
    )
    second = dist("second", version="3")
    hollow = replace(HOLLOW, mended_by=(second.key,))
    gone = lost(TORCH)
    system = Ailment(Check.NO_RECORD, Level.WARN, "x", "no list")
    found = plan(
        (
            system,
            hollow,
            replace(gone, mended_by=(TORCH.key,)),
            unmet("a", "lib"),
            unmet("a", "other"),
            BARE,
            nobodys,
        ),
        inventory(NUMPY, CUDNN, second, replace(TORCH, version="2.9")),
        Means(),
    )
    assert [(cure.title, cure.note) for cure in found[0]] == [
        ("Install numpy==2.0 over itself: that writes its metadata anew", ""),
        ("Install second 3, torch 2.9 anew", ""),
        ("Install what is required: lib, other", ""),
        ("Install cudnn 9.10 anew", ""),
    ]


def test_those_who_can_go_together_go_by_one_command() -> None:
    taken = Ailment(Check.OVERWRITTEN, Level.WARN, "cudnn", "of usurper", mended_by=(CUDNN.key,))
    means = Means(removable={("usurper", "other"): [CUDNN.key]})
    cures, incurable = plan((taken,), inventory(CUDNN, dist("usurper"), dist("other")), means)
    assert [(cure.title, cure.command[3:]) for cure in cures] == [
        (
            "Remove usurper, other, which nothing needs, and give back the files that they took the place of",
            ("uninstall", "--safe", "-y", "usurper", "other"),
        )
    ]
    assert incurable == ()


def test_what_is_laid_over_itself_mends_what_hangs_on_it_and_nothing_else() -> None:
    bare, source = replace(BARE, mended_by=(NUMPY.key,)), edited(NUMPY, "numpy/a.py")
    newer, both = unmet("pandas", "numpy>=3"), replace(lost(NUMPY), mended_by=(NUMPY.key, CUDNN.key))
    mixed = Ailment(Check.MIXED_FAMILY, Level.WARN, "", "two", mended_by=(NUMPY.key,))
    cures, _ = plan((both, UNSEEN, bare, source, newer, mixed), inventory(NUMPY, CUDNN), Means())
    assert [(cure.title, cure.cures) for cure in cures if "over itself" in cure.title] == [
        ("Install six==1.17.0 over itself: that writes its metadata anew", (UNSEEN,)),
        ("Install numpy==2.0 over itself: that writes its metadata anew", (bare, source)),
    ]


def test_several_are_laid_over_themselves_and_unpacked_by_one_command() -> None:
    bare = replace(BARE, mended_by=(CUDNN.key,))
    cures, _ = plan((BARE, bare), inventory(NUMPY, CUDNN), Means())
    assert [cure.title for cure in cures] == [
        "Install numpy==2.0, cudnn==9.10 over itself: that writes its metadata anew"
    ]
    packages = {NUMPY.key: Package(Why.DPKG, "python3-numpy")}
    (cure,) = plan((lost(NUMPY),), inventory(NUMPY), Means(packages=packages))[0]
    assert cure.note == "as root; --fix leaves it to you, for dpkg keeps these files and no pip does"


def test_two_versions_of_a_name_are_seen_beside_what_else_is_wrong() -> None:
    old, new, third = (dist("six", version=version) for version in ("1.16", "1.17", "1.18"))
    both = Ailment(
        Check.DUPLICATE_METADATA, Level.WARN, "six", "two", paths=(old.info, new.info), mended_by=(old.key,)
    )
    pairs = dist("attrs", version="1"), dist("attrs", version="2")
    others = replace(both, paths=tuple(one.info for one in pairs), mended_by=(pairs[0].key,))
    cures, incurable = plan((HOLLOW, both, others), inventory(third, old, new, *pairs, CUDNN), Means())
    assert [cure.command[-1] for cure in cures] == ["attrs==2", "cudnn==9.10"]
    assert incurable == (both,)


def test_who_is_not_there_is_not_removed() -> None:
    taken = Ailment(Check.OVERWRITTEN, Level.WARN, "cudnn", "of usurper", mended_by=(CUDNN.key,))
    means = Means(removable={("gone",): [CUDNN.key], ("usurper",): [NUMPY.key]})
    assert plan((taken,), inventory(CUDNN, dist("usurper")), means) == ((), (taken,))


def test_a_prerelease_is_a_version_that_fits_and_what_is_no_version_or_another_name_does_not() -> None:
    lib = DistKey("lib")
    assert undoing.fits("lib>=1", lib, "2.0rc1")
    assert not undoing.fits("lib>=1", lib, "0.9")
    assert not undoing.fits("lib>=1", lib, "odd")
    assert not undoing.fits("lib>=!", lib, "1.0")
    assert not undoing.fits("other", lib, "1.0")
