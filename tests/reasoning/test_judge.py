"""Evidence into findings, severities and ways out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepip.model.change import Halt, Reach, Removal, Why
from safepip.model.elf import Binding, Flaw, Rule, Step
from safepip.model.environment import Claim, Distribution
from safepip.model.paths import TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Decision, FindingKind, Remarks, Severity, Verdict
from safepip.model.survey import Answer, Need, Objects, SharedFile, Standing
from safepip.reasoning.libraries.losses import Grouped, Loss
from safepip.reasoning.requirements import Lost, LostRequirement
from safepip.reasoning.verdict.evidence import Evidence
from safepip.reasoning.verdict.finding import DEFAULT_SEVERITY
from safepip.reasoning.verdict.judge import judge
from support.environments import at, dist, inventory
from support.fake_world import FakeWorld

NUMPY, PANDAS = (
    dist("numpy", ["numpy/__init__.py"], version="2.5.5"),
    dist("pandas", requires=["numpy"], version="3.1.1"),
)


def evidence(leaving: Distribution, *everybody: Distribution) -> Evidence:
    removal = Removal(leaving=(leaving,), files=tuple(leaving.files or ()))
    return Evidence(removal, inventory(*everybody), FakeWorld({"/usr/bin/python3.12": b""}), Objects({}, {}))


def needing_numpy() -> Evidence:
    loss = LostRequirement(PANDAS, NUMPY, "numpy", extra=False)
    return replace(evidence(NUMPY, NUMPY, PANDAS), requirements=Lost((loss,), ()))


def summary(verdict: Verdict) -> list[tuple[str, str, str]]:
    return [(finding.kind.value, finding.severity.name, finding.distribution) for finding in verdict.findings]


def test_without_findings_a_removal_is_allowed_and_needs_no_way_out() -> None:
    verdict = judge(evidence(NUMPY, NUMPY), Policy())
    assert (verdict.decision, verdict.findings, verdict.remedies) == (Decision.ALLOW, (), ())


def test_a_lost_requirement_refuses_and_names_the_ways_out() -> None:
    verdict = judge(needing_numpy(), Policy())
    assert summary(verdict) == [("requirement-lost", "REFUSE", "pandas")]
    assert [remedy.title for remedy in verdict.remedies] == [
        "Keep numpy: pandas needs it",
        "Remove what needs it as well: pandas",
        "If it was to be installed anew: do that in one step",
    ]
    assert [command[3:] for remedy in verdict.remedies for command in remedy.commands] == [
        ("uninstall", "numpy", "pandas"),
        ("install", "--no-deps", "--force-reinstall", "numpy==2.5.5"),
    ]


def test_every_command_of_a_remedy_names_the_environment() -> None:
    commands = [
        command for remedy in judge(needing_numpy(), Policy()).remedies for command in remedy.commands
    ]
    assert {command[:3] for command in commands} == {("safepip", "--python", "/env/bin/python")}


def test_the_configuration_lowers_a_refusal_to_a_warning_and_never_to_silence() -> None:
    for configured in (Severity.WARN, Severity.NOTE):
        verdict = judge(needing_numpy(), Policy({FindingKind.REQUIREMENT_LOST: configured}))
        assert verdict.decision is Decision.WARN


def test_what_the_configuration_lowers_is_said_with_the_file_that_says_so() -> None:
    kind = FindingKind.REQUIREMENT_LOST
    verdict = judge(needing_numpy(), Policy({kind: Severity.WARN}, stated={kind: "/etc/x.toml"}))
    assert verdict.remarks.weakened == ("requirement-lost counts as a warning, by /etc/x.toml",)
    unstated = judge(needing_numpy(), Policy({kind: Severity.WARN}))
    assert unstated.remarks.weakened == ("requirement-lost counts as a warning, by configuration",)
    raised = judge(needing_numpy(), Policy({kind: Severity.REFUSE}, stated={kind: "/etc/x.toml"}))
    assert raised.remarks == Remarks()


def test_a_protected_name_refuses() -> None:
    verdict = judge(evidence(NUMPY, NUMPY), Policy(protected=frozenset({"numpy"})))
    assert summary(verdict) == [("protected", "REFUSE", "numpy")]


def test_the_targets_own_pip_and_safepip_refuse() -> None:
    for name in ("pip", "safepip"):
        itself = dist(name)
        assert summary(judge(evidence(itself, itself), Policy())) == [("self", "REFUSE", name)]


def test_a_name_over_which_pip_would_stop_refuses_before_the_first_one_goes() -> None:
    stopped = evidence(NUMPY, NUMPY)
    halt = Halt("bare", "it has no RECORD", 1)
    verdict = judge(replace(stopped, removal=replace(stopped.removal, halt=halt)), Policy())
    assert summary(verdict) == [("cannot-tell", "REFUSE", "bare")]
    assert (
        verdict.findings[0].message == "pip would stop at bare after it has removed numpy: it has no RECORD"
    )


def test_reaching_beyond_is_folded_by_owner() -> None:
    reaching = evidence(NUMPY, NUMPY, PANDAS)
    reaches = tuple(Reach(at(f"pandas/{name}.py"), Why.FOREIGN, NUMPY, "pandas") for name in "abc")
    verdict = judge(replace(reaching, removal=replace(reaching.removal, reaches=reaches)), Policy())
    assert summary(verdict) == [("reach-beyond", "REFUSE", "pandas")]
    assert (
        verdict.findings[0].message
        == "pip would also delete pandas/a.py and 2 more, which belongs to another distribution (pandas)"
    )


def shared_evidence(*items: SharedFile) -> Evidence:
    leaving, staying = items[0].owners
    return replace(evidence(leaving, leaving, staying), shares=items)


def share(path: str, leaver: Distribution, stayer: Distribution, size: int) -> SharedFile:
    claims = {leaver.key: Claim("sha256=L", 20), stayer.key: Claim("sha256=S", 10)}
    return SharedFile(at(path), (leaver, stayer), claims, size)


def test_thousands_of_lost_files_fold_into_one_finding_and_stubs_into_a_warning_of_their_own() -> None:
    old, new = dist("kafka-python"), dist("kafka-python-ng")
    items = [share(f"kafka/{number}.py", old, new, 10) for number in range(93)]
    verdict = judge(shared_evidence(*items, share("kafka/stub.pyi", old, new, 10)), Policy())
    assert summary(verdict) == [
        ("file-lost", "REFUSE", "kafka-python-ng"),
        ("file-lost", "WARN", "kafka-python-ng"),
    ]
    assert len(verdict.findings[0].paths) == 93


def test_for_a_co_owned_file_the_best_way_is_to_remove_it_safely() -> None:
    old, new = dist("kafka-python"), dist("kafka-python-ng", version="2.2.3")
    verdict = judge(shared_evidence(share("kafka/__init__.py", old, new, 10)), Policy())
    assert [[command[3:] for command in remedy.commands] for remedy in verdict.remedies] == [
        [("uninstall", "--safe", "-y", "kafka-python")],
        [],
        [
            ("uninstall", "--force", "-y", "kafka-python"),
            ("install", "--no-deps", "--force-reinstall", "kafka-python-ng==2.2.3"),
        ],
    ]


def test_removing_safely_is_no_way_out_of_a_lost_requirement() -> None:
    old, new = dist("kafka-python"), dist("kafka-python-ng", requires=["kafka-python"])
    found = shared_evidence(share("kafka/__init__.py", old, new, 10))
    lost = Lost((LostRequirement(new, old, "kafka-python", extra=False),), ())
    verdict = judge(replace(found, requirements=lost), Policy())
    assert verdict.remedies[0].title == "Keep kafka-python: kafka-python-ng needs it"
    assert not any("--safe" in command for remedy in verdict.remedies for command in remedy.commands)


def test_a_survivor_whose_file_carries_the_leavers_bytes_may_be_broken_already() -> None:
    serial, pyserial = dist("serial"), dist("pyserial")
    overwritten = judge(shared_evidence(share("serial/__init__.py", serial, pyserial, 20)), Policy())
    own = judge(shared_evidence(share("serial/__init__.py", serial, pyserial, 10)), Policy())
    assert (overwritten.findings[0].broken_before, own.findings[0].broken_before) == (True, False)


def library(kind: FindingKind, survivor: Distribution) -> Grouped:
    consumer, lost = at("app/_m.so"), at("dep/libdep.so.1")
    step = Step(Rule.RUNPATH, lost, consumer, "$ORIGIN/../dep")
    was = Answer(Standing.SEARCHED, Binding(consumer, "libdep.so.1", lost, step, ()), lost)
    now = Answer(Standing.MISSING, Binding(consumer, "libdep.so.1", None, None, (step,)))
    loss = Loss(
        kind,
        Need(consumer, consumer, "libdep.so.1"),
        was,
        now,
        survivor,
        ("import app", "app/_m.so", "libdep.so.1"),
        at_import=True,
    )
    return Grouped(kind, "libdep.so.1", survivor, (loss,))


def test_a_last_copy_refuses_only_where_the_survivor_requires_who_owns_it() -> None:
    """numba's tbbpool could not load before either, and numba does not require tbb: a warning."""
    dep = dist("dep", ["dep/libdep.so.1"])
    for requires, severity in (([], "WARN"), (["dep"], "REFUSE")):
        app = dist("app", ["app/_m.so"], requires=requires)
        found = replace(evidence(dep, dep, app), libraries=(library(FindingKind.LAST_COPY, app),))
        assert summary(judge(found, Policy())) == [("last-copy", severity, "app")]


def test_a_library_finding_carries_what_a_person_can_check_by_hand() -> None:
    dep, app = dist("dep", ["dep/libdep.so.1"]), dist("app", ["app/_m.so"])
    verdict = judge(
        replace(evidence(dep, dep, app), libraries=(library(FindingKind.LIBRARY_LOST, app),)), Policy()
    )
    finding = verdict.findings[0]
    assert (finding.soname, finding.paths) == ("libdep.so.1", (at("dep/libdep.so.1"),))
    assert finding.provider is not None
    assert (finding.provider.owners, finding.provider.how) == (
        ("dep",),
        Step(Rule.RUNPATH, at("dep/libdep.so.1"), at("app/_m.so"), "$ORIGIN/../dep"),
    )
    assert [step.path for step in finding.searched] == [at("dep/libdep.so.1")]
    assert finding.proof == ("readelf", "-d", at("app/_m.so"))


def test_what_goes_and_cannot_be_read_is_never_allowed() -> None:
    unread = replace(
        evidence(NUMPY, NUMPY), unreadable_going=((TargetPath("/env/lib/libx.so.1"), Flaw.CUT_OFF),)
    )
    assert judge(unread, Policy()).decision is Decision.REFUSE


def test_of_an_image_proofs_look_at_its_files_and_remedies_are_given_inside_it() -> None:
    file = TargetPath("/usr/lib/x.py")
    reach = Reach(file, Why.DPKG, NUMPY, "python3-numpy")
    seen = evidence(NUMPY, NUMPY, PANDAS)
    image = replace(seen.inventory, target=replace(seen.inventory.target, root="/mnt"))
    seen = replace(seen, inventory=image, removal=Removal(leaving=(NUMPY,), reaches=(reach,)))
    verdict = judge(replace(seen, unreadable_going=((file, Flaw.CUT_OFF),)), Policy())
    assert [finding.proof for finding in verdict.findings] == [
        ("dpkg", "--root=/mnt", "-S", "/usr/lib/x.py"),
        ("readelf", "-d", "/mnt/usr/lib/x.py"),
    ]
    assert verdict.remedies[0].commands == (("chroot", "/mnt", "apt", "remove", "python3-numpy"),)


@pytest.mark.parametrize("kind", FindingKind)
def test_every_kind_has_a_severity(kind: FindingKind) -> None:
    assert kind in DEFAULT_SEVERITY
