"""Which part of a set may go, and what is said of who needs whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from safepip.model.audit import Judged, Reason, Spare
from safepip.model.change import Removal, Skip
from safepip.model.environment import Distribution, EntryPoint
from safepip.model.paths import DistKey
from safepip.model.report import Finding, FindingKind, Severity, Shared, Verdict
from safepip.reasoning.health import audit
from support.environments import at, dist, inventory, target

A, B, C, D = dist("a"), dist("b"), dist("c"), dist("d")
BY_KEY: Mapping[str, Distribution] = {item.key: item for item in (A, B, C, D)}


def finding(who: str, kind: FindingKind = FindingKind.REQUIREMENT_LOST, *, warn: bool = False) -> Finding:
    return Finding(kind, Severity.WARN if warn else Severity.REFUSE, who, f"{who} loses")


class Needs:
    """A judge for whom each of a set is missed by its users that stay."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self.users = users
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, keys: Sequence[DistKey]) -> Verdict:
        self.asked.append(tuple(keys))
        lost = [finding(self.users[key]) for key in keys if self.users.get(key, key) not in keys]
        return Verdict(target(), Removal(leaving=tuple(BY_KEY[key] for key in keys)), tuple(lost))

    def alone(self) -> dict[DistKey, Verdict]:
        return {item.key: self([item.key]) for item in BY_KEY.values()}


def test_the_strongest_reason_of_each_user_is_told_strongest_first() -> None:
    verdict = Verdict(
        target(),
        Removal(),
        (
            finding("pandas", FindingKind.IMPORT_LOST),
            finding("pandas", FindingKind.REQUIREMENT_LOST),
            finding("xarray", FindingKind.EXTRA_LOST, warn=True),
            finding("torch", FindingKind.LIBRARY_LOST),
            finding("pip", FindingKind.SELF),
        ),
    )
    assert [(reason.distribution, reason.kind) for reason in audit.needed_by(verdict)] == [
        ("torch", FindingKind.LIBRARY_LOST),
        ("pandas", FindingKind.IMPORT_LOST),
        ("xarray", FindingKind.EXTRA_LOST),
    ]


def test_who_is_needed_only_inside_the_set_may_go_with_it() -> None:
    judge = Needs({"a": "b"})
    assert audit.splits((A.key, B.key), judge.alone(), judge) == ((A.key, B.key), ())


def test_who_is_needed_by_one_that_must_stay_must_stay_too() -> None:
    """cublas is required by cudnn-cu13, which torch needs."""
    judge = Needs({"a": "b", "b": "outside"})
    alone = judge.alone()
    alone[C.key] = replace(alone[C.key], findings=(finding("outside", warn=True),))
    judge.asked.clear()
    assert audit.splits((A.key, B.key, C.key), alone, judge) == ((C.key,), (A.key, B.key))
    assert judge.asked == [("a", "b", "c"), ("a", "c"), ("c",)]


def test_what_is_refused_only_together_is_split_by_asking_the_judge() -> None:
    def judge(keys: Sequence[DistKey]) -> Verdict:
        both = {A.key, B.key} <= set(keys)
        return Verdict(
            target(),
            Removal(leaving=tuple(BY_KEY[key] for key in keys)),
            (finding("user", FindingKind.LIBRARY_LOST),) if both else (),
        )

    alone = {key: judge([key]) for key in (A.key, B.key, C.key)}
    assert audit.splits((A.key, B.key, C.key), alone, judge) == ((A.key, C.key), (B.key,))


def test_safe_would_do_where_all_that_is_lost_are_co_owned_files() -> None:
    path = at("cudnn/libcudnn.so.9")
    library = Finding(FindingKind.LIBRARY_LOST, Severity.REFUSE, "torch", "", paths=(path,))
    required = finding("torch")
    shared = (Shared(path, ("a", "b")),)
    assert audit.safe_would_do(Verdict(target(), Removal(), (library,), shared))
    assert not audit.safe_would_do(Verdict(target(), Removal(), (library,)))
    assert not audit.safe_would_do(Verdict(target(), Removal(), (library, required), shared))
    assert not audit.safe_would_do(Verdict(target(), Removal()))


def test_cuda_is_told_by_the_suffix_or_by_the_folder() -> None:
    twelve = dist("nvidia-cudnn-cu12", ["nvidia/cudnn/lib/libcudnn.so.9"])
    unsuffixed = dist("nvidia-cufft", ["nvidia/cu13/lib/libcufft.so.12"], version="12.0")
    other = dist("nvidia-ml-py", ["pynvml.py"])
    assert audit.cuda_majors(inventory(twelve, unsuffixed, other)) == {12: (twelve,), 13: (unsuffixed,)}


def test_distributions_of_each_cuda_are_a_set_the_newest_first_and_no_leftovers() -> None:
    twelve, thirteen = dist("nvidia-cudnn-cu12"), dist("nvidia-cudnn-cu13")
    wanted = replace(A, requested=True)
    judged = [Judged(item, Verdict(target(), Removal()), (), 0) for item in (wanted, twelve, thirteen, B)]
    there = inventory(wanted, twelve, thirteen, B)
    assert list(audit.spare_sets(judged, there)) == [
        (Spare.CUDA, (thirteen,), "of CUDA 13"),
        (Spare.CUDA, (twelve,), "of CUDA 12"),
        (
            Spare.LEFTOVER,
            (B,),
            "installed for something that has gone",
        ),
    ]
    alone = [item for item in judged if item.dist is not thirteen]
    found = [(why, dists) for why, dists, _ in audit.spare_sets(alone, inventory(wanted, twelve, B))]
    assert found == [(Spare.LEFTOVER, (twelve, B))]


def test_what_somebody_outside_requires_is_not_proposed_though_its_loss_is_only_a_warning() -> None:
    nvtx, runtime, thirteen = (
        dist(f"nvidia-{name}") for name in ("nvtx-cu12", "cuda-runtime-cu12", "nvtx-cu13")
    )
    required = Reason("a", FindingKind.REQUIREMENT_LOST, Severity.WARN, "a requires it")
    among = Reason(
        "nvidia-nvtx-cu12", FindingKind.REQUIREMENT_LOST, Severity.REFUSE, "so does one of the set"
    )
    reasons = {nvtx: (required,), runtime: (among,), thirteen: (required,)}
    judged = [Judged(item, Verdict(target(), Removal()), why, 0) for item, why in reasons.items()]
    proposed = audit.spare_sets(judged, inventory(nvtx, runtime, thirteen))
    assert [dists for _, dists, _ in proposed] == [(runtime,)]


def test_what_was_asked_for_or_gives_commands_is_needed_by_nobody_and_no_leftover() -> None:
    tool = replace(B, entry_points=(EntryPoint("console_scripts", "b", "b:main"),))
    wanted, basic = replace(A, requested=True), replace(dist("pip"), requested=True)
    refuses = Reason("c", FindingKind.REQUIREMENT_LOST, Severity.REFUSE, "")
    verdict = Verdict(target(), Removal())
    alone = {item.key: Judged(item, verdict, (), 0) for item in (wanted, tool, basic, C)}
    extra = refuses._replace(severity=Severity.WARN, kind=FindingKind.EXTRA_LOST)
    warned = replace(alone[A.key], needed_by=(extra,))
    required = replace(alone[A.key], needed_by=(refuses._replace(severity=Severity.WARN),))
    needed = replace(alone[A.key], needed_by=(refuses,))
    library = replace(alone[A.key], needed_by=(refuses._replace(kind=FindingKind.LIBRARY_LOST),))
    in_code = replace(alone[A.key], in_code=True)
    assert list(audit.leaves([*alone.values(), warned, required, needed, library, in_code])) == [
        (Spare.ASKED_FOR, alone[A.key]),
        (Spare.TOOL, alone[B.key]),
        (Spare.ASKED_FOR, warned),
    ]


def test_what_pip_leaves_alone_is_not_proposed() -> None:
    below = Verdict(target(), Removal(skipped=(Skip("b", "outside environment"),)))
    wanted = Judged(replace(A, requested=True), Verdict(target(), Removal(leaving=(A,))), (), 0)
    alone = [Judged(item, below, (), 0) for item in (replace(B, requested=True), C)]
    assert [item.left_alone for item in (wanted, *alone)] == ["", *["outside environment"] * 2]
    assert list(audit.leaves([wanted, *alone])) == [(Spare.ASKED_FOR, wanted)]
    assert list(audit.spare_sets([wanted, *alone], inventory(A, B, C))) == []


def test_without_any_marker_nothing_is_called_a_leftover() -> None:
    judged = [Judged(item, Verdict(target(), Removal(leaving=(item,))), (), 0) for item in (A, B)]
    assert list(audit.spare_sets(judged, inventory(A, B))) == []


def test_what_something_wanted_needs_is_no_leftover() -> None:
    wanted = replace(A, requested=True)
    needs = Reason("a", FindingKind.REQUIREMENT_LOST, Severity.REFUSE, "")
    judged = [
        Judged(wanted, Verdict(target(), Removal()), (), 0),
        Judged(B, Verdict(target(), Removal()), (needs,), 0),
        Judged(C, Verdict(target(), Removal()), (), 0),
    ]
    assert [(why, dists) for why, dists, _ in audit.spare_sets(judged, inventory(wanted, B, C))] == [
        (Spare.LEFTOVER, (C,))
    ]


def test_a_note_hides_no_reason_and_of_two_as_strong_the_first_is_told() -> None:
    note = replace(finding("pandas"), severity=Severity.NOTE)
    first = finding("pandas", FindingKind.IMPORT_LOST)
    second = replace(first, message="later")
    assert audit.needed_by(Verdict(target(), Removal(), (note, first, second))) == (
        Reason("pandas", FindingKind.IMPORT_LOST, Severity.REFUSE, "pandas loses"),
    )


def test_distributions_of_one_cuda_and_of_others_vendors_are_no_sets() -> None:
    twelve, other = dist("nvidia-cudnn-cu12"), dist("cupy-cu13")
    judged = [Judged(item, Verdict(target(), Removal()), (), 0) for item in (twelve, other)]
    assert list(audit.spare_sets(judged, inventory(twelve, other))) == []


def test_what_is_needed_by_what_something_wanted_needs_is_no_leftover() -> None:
    wanted = replace(A, requested=True)

    def needs(who: str) -> Reason:
        return Reason(who, FindingKind.REQUIREMENT_LOST, Severity.REFUSE, "")

    verdict = Verdict(target(), Removal())
    judged = [
        Judged(wanted, verdict, (), 0),
        Judged(B, verdict, (needs("a"),), 0),
        Judged(C, verdict, (needs("b"),), 0),
        Judged(D, verdict, (), 0),
    ]
    assert [dists for _, dists, _ in audit.spare_sets(judged, inventory(wanted, B, C, D))] == [(D,)]


def test_a_proposal_says_what_it_means_for_those_who_stay() -> None:
    said = [
        audit.title(why, "these", safe=safe) for why in (Spare.CUDA, Spare.LEFTOVER) for safe in (False, True)
    ]
    shared = "these, of which only files are used that others own too: --safe leaves those to them"
    assert said == [
        "these, to which nothing that stays is bound",
        shared,
        "these: nothing installed needs this, your own code may",
        shared,
    ]
