"""`safepip uninstall` from the command line to the disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.sandbox import TAG, Environment, library, module, run

REFUSED, WARNED, BROKE, COULD_NOT = 10, 11, 13, 12


def kinds(report: dict[str, object]) -> list[tuple[str, str, str | None]]:
    return [(finding["kind"], finding["distribution"], finding["soname"]) for finding in report["findings"]]  # type: ignore[attr-defined]


def test_the_accident_is_refused_and_nothing_is_touched(story: Environment) -> None:
    before = story.tree()
    answer = story.safepip("uninstall", "-y", "cudnn-cu13")
    assert answer.code == REFUSED
    assert answer.err.splitlines()[0].startswith(
        "safepip: REFUSED: removing cudnn-cu13 9.19 would break torch"
    )
    assert "import torch → torch/_C" in answer.err
    assert answer.out == ""
    assert story.tree() == before


def test_the_report_names_the_chain_the_owners_and_whose_bytes_lie_there(story: Environment) -> None:
    report = story.safepip("uninstall", "--dry-run", "--json", "cudnn-cu13").report
    path = str(story.site / "cudnn/lib/libcudnn.so.9")
    assert report["verdict"] == "refuse"
    assert kinds(report) == [("library-lost", "torch", "libcudnn.so.9"), ("file-lost", "cudnn-cu12", None)]
    assert report["findings"][0]["consumers"] == [
        {
            "path": str(story.site / f"torch/_C.{TAG}.so"),
            "distribution": "torch",
            "chain": ["import torch", f"torch/_C.{TAG}.so", "libcudnn.so.9"],
        }
    ]
    assert report["findings"][0]["provider"]["bytes_of"] == "cudnn-cu13"
    assert report["removal"]["shared"] == [
        {"path": path, "owners": ["cudnn-cu12", "cudnn-cu13"], "bytes_of": "cudnn-cu13"}
    ]
    assert report["environment"]["prefix"] == str(story.prefix)
    assert report["removing"] == [{"name": "cudnn-cu13", "version": "9.19"}]


def test_what_nobody_needs_goes_through_pip(story: Environment) -> None:
    answer = story.safepip("uninstall", "-y", "leaf")
    assert answer.code == 0
    assert "Successfully uninstalled leaf-1.0" in answer.out
    assert not (story.site / "leaf.py").exists()


def test_removing_the_consumers_as_well_is_clean(story: Environment) -> None:
    answer = story.safepip("uninstall", "-y", "torch", "cudnn-cu12", "cudnn-cu13")
    assert (answer.code, (story.site / "cudnn/lib/libcudnn.so.9").exists()) == (0, False)


def test_force_goes_on_and_says_loudly_what_broke_and_how_to_mend_it(story: Environment) -> None:
    answer = story.safepip("uninstall", "--force", "-y", "cudnn-cu13")
    assert answer.code == BROKE
    assert "Successfully uninstalled cudnn-cu13-9.19" in answer.out
    assert "BROKEN NOW: torch, cudnn-cu12" in answer.err
    assert "install --no-deps --force-reinstall cudnn-cu12==9.10" in answer.err


def test_a_dry_run_touches_nothing_and_ends_with_0_where_all_is_well(story: Environment) -> None:
    before = story.tree()
    answer = story.safepip("uninstall", "--dry-run", "leaf")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("safepip: ok to remove leaf 1.0")
    assert story.tree() == before


def test_a_name_that_is_not_installed_ends_as_with_pip(story: Environment) -> None:
    answer = story.safepip("uninstall", "-y", "nosuch")
    pip = run([str(story.python), "-m", "pip", "uninstall", "-y", "nosuch"])
    assert answer.code == pip.code
    assert "Skipping nosuch as it is not installed" in answer.err
    slip = story.safepip("uninstall", "--dry-run", "laef")
    assert (slip.code, "pip leaves alone laef, not installed (leaf is)" in slip.out) == (0, True)
    story.add("pillow", {"PIL/__init__.py": ""})
    module = story.safepip("uninstall", "--dry-run", "--json", "PIL")
    assert (module.code, module.report["skipped"]) == (
        0,
        [{"name": "pil", "reason": "not installed", "like": ["pillow"], "module": "PIL"}],
    )
    assert "pil, not installed (PIL is a module of pillow)" in " ".join(
        story.safepip("uninstall", "--dry-run", "PIL").out.split()
    )


def test_a_lost_requirement_refuses(environment: Environment) -> None:
    environment.add("numpy", {"numpy/__init__.py": ""})
    environment.add("pandas", {"pandas/__init__.py": "import numpy\n"}, requires=["numpy"])
    report = environment.safepip("uninstall", "--dry-run", "--json", "numpy").report
    assert ("requirement-lost", "pandas", None) in kinds(report)
    assert report["verdict"] == "refuse"


def test_an_empty_init_that_many_share_is_one_note(environment: Environment) -> None:
    for name in ("nvidia-a", "nvidia-b", "nvidia-c"):
        environment.add(name, {"nvidia/__init__.py": "", f"nvidia/{name[-1]}/lib.py": "x"})
    report = environment.safepip("uninstall", "--dry-run", "--json", "nvidia-a").report
    assert (report["verdict"], [finding["kind"] for finding in report["findings"]]) == (
        "allow",
        ["shared-trivial"],
    )


def test_removing_the_targets_pip_is_refused(environment: Environment) -> None:
    report = environment.safepip("uninstall", "--dry-run", "--json", "pip").report
    assert (report["verdict"], kinds(report)) == ("refuse", [("self", "pip", None)])


def test_a_protected_distribution_is_refused_and_a_refusal_can_be_lowered_to_a_warning(
    story: Environment,
) -> None:
    (story.prefix / ".safepip").mkdir()
    config = story.prefix / ".safepip" / "config.toml"
    config.write_text('protected = ["leaf"]\n')
    assert story.safepip("uninstall", "-y", "leaf").code == REFUSED
    config.write_text('protected = ["leaf"]\n[severity]\nprotected = "warn"\n')
    assert story.safepip("uninstall", "--dry-run", "leaf").code == 0
    assert story.safepip("uninstall", "--dry-run", "--fail-on", "warn", "leaf").code == WARNED


def test_a_distribution_without_record_is_refused_before_the_names_ahead_of_it_go(story: Environment) -> None:
    info = story.add("bare", {"bare.py": ""})
    (info / "RECORD").unlink()
    answer = story.safepip("uninstall", "-y", "leaf", "bare")
    assert answer.code == REFUSED
    assert "bare" in answer.err
    assert (story.site / "leaf.py").exists()


def test_a_one_shot_requirement_file_is_judged_and_handed_over(story: Environment) -> None:
    answer = story.safepip("uninstall", "-y", "-r", "/dev/stdin", stdin="leaf\n")
    assert (answer.code, (story.site / "leaf.py").exists()) == (0, False)


def test_an_option_that_pip_does_not_know_is_wrong_usage(story: Environment) -> None:
    answer = story.safepip("uninstall", "--nonsense", "leaf")
    assert answer.code == 2
    assert "--nonsense" in answer.err


def test_an_interpreter_that_does_not_exist_is_named(tmp_path: Path) -> None:
    answer = run([sys.executable, "-m", "safepip", "--python", str(tmp_path / "nowhere"), "uninstall", "x"])
    assert answer.code == COULD_NOT
    assert str(tmp_path / "nowhere") in answer.err


def test_errors_are_json_where_json_was_asked_for(tmp_path: Path) -> None:
    answer = run(
        [sys.executable, "-m", "safepip", "--python", str(tmp_path / "nowhere"), "uninstall", "--json", "x"]
    )
    assert (answer.code, sorted(answer.report["error"])) == (COULD_NOT, ["hint", "message", "reference"])


def test_names_with_escape_sequences_do_not_reach_the_terminal(environment: Environment) -> None:
    environment.add("evil", {"a\x1b[2Jb.py": "x"})
    environment.add("user", {"a\x1b[2Jb.py": "x"})
    answer = environment.safepip("uninstall", "--dry-run", "evil")
    assert "\x1b" not in answer.out + answer.err
    assert "a\\x1b[2Jb.py" in answer.out


def test_an_object_that_needs_a_lost_name_and_cannot_be_read_is_never_passed_over(story: Environment) -> None:
    """Its header is whole, its dynamic section is cut away, and the lost name stands in it."""
    cut = module("libcudnn.so.9")[:200] + b"libcudnn.so.9"
    story.add("odd", {f"odd.{TAG}.so": cut})
    report = story.safepip("uninstall", "--dry-run", "--json", "cudnn-cu13").report
    assert ("cannot-tell", "odd", None) in kinds(report)


def test_pip_hears_exactly_the_users_words(story: Environment) -> None:
    answer = story.safepip("uninstall", "leaf", "--yes", "-v")
    assert answer.code == 0
    assert "Removing file or directory" in answer.out


def test_json_has_standard_output_for_itself_when_pip_runs(story: Environment) -> None:
    answer = story.safepip("uninstall", "-y", "--json", "leaf")
    assert (answer.code, answer.report["verdict"], answer.report["outcome"]["remaining"]) == (0, "allow", [])
    assert "Successfully uninstalled" in answer.err


def test_what_the_systems_package_manager_keeps_is_refused_in_a_dry_run_as_well(story: Environment) -> None:
    """pip ends with 3 where a virtual environment is required and there is none, whatever is named."""
    environment = {"PIP_REQUIRE_VIRTUALENV": "1"}
    assert story.safepip("uninstall", "--dry-run", "leaf", env=environment).code == 0
    base = [
        sys.executable,
        "-m",
        "safepip",
        "--python",
        str(story.python.resolve()),
        "uninstall",
        "--dry-run",
        "nosuch",
    ]
    assert run(base, env=environment).code == 3


def test_a_python_that_pips_settings_name_is_the_one_acted_on(story: Environment) -> None:
    command = [sys.executable, "-m", "safepip", "uninstall", "--dry-run", "leaf"]
    answer = run(command, env={"PIP_PYTHON": str(story.python)})
    assert answer.code == 0
    assert f"in {story.prefix} " in " ".join(answer.out.split())
    assert "pip's own settings" in " ".join(answer.out.split())


def test_an_owner_can_forbid_force_and_then_no_remedy_speaks_of_it(story: Environment) -> None:
    (story.prefix / ".safepip").mkdir()
    (story.prefix / ".safepip/config.toml").write_text("allow-force = false\n")
    before = story.tree()
    answer = story.safepip("uninstall", "--force", "-y", "cudnn-cu13")
    said = f"--force is forbidden for {story.prefix} by {story.prefix}/.safepip/config.toml;"
    assert (answer.code, said in " ".join(answer.err.split())) == (REFUSED, True)
    assert story.tree() == before
    told = story.safepip("uninstall", "--json", "-y", "cudnn-cu13").report["remedies"]
    assert [remedy for remedy in told if any("--force" in command for command in remedy["commands"])] == []


def test_a_process_that_has_a_library_mapped_is_named(story: Environment) -> None:
    path = (
        story.add("alone", {"alone/libalone.so.1": library("libalone.so.1")}).parent
        / "alone"
        / "libalone.so.1"
    )
    code = (
        f"import mmap, time; f = open({str(path)!r}, 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)"
    )
    code += "; print(1, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        report = story.safepip("uninstall", "--dry-run", "--json", "alone").report
    finally:
        process.kill()
        process.wait()
    assert report["verdict"] == "warn"
    assert [
        (finding["kind"], f"process {process.pid} " in finding["message"]) for finding in report["findings"]
    ] == [("in-use", True)]


def test_a_shared_tests_folder_matters_only_where_code_outside_imports_it(environment: Environment) -> None:
    environment.add(
        "one", {"tests/__init__.py": "A = 1\n", "one.py": 'NAME = "tests"  # imported from nowhere\n'}
    )
    environment.add("two", {"tests/__init__.py": ""})
    report = environment.safepip("uninstall", "--dry-run", "--json", "two").report
    assert (report["verdict"], [finding["kind"] for finding in report["findings"]]) == (
        "allow",
        ["shared-trivial"],
    )
    environment.add("three", {"three.py": "def run():\n    from tests import A\n"})
    assert environment.safepip("uninstall", "--dry-run", "--json", "two").report["verdict"] == "refuse"


@pytest.mark.parametrize("words", [(), ("--json",), ("--no-input",)])
def test_where_nobody_can_answer_pips_question_it_is_not_asked(
    story: Environment, words: tuple[str, ...]
) -> None:
    """pip itself would end with a traceback of an EOFError, and with 2 as well."""
    before = story.tree()
    answer = story.safepip("uninstall", *words, "leaf")
    said = answer.report["error"]["hint"] if "--json" in words else answer.err
    assert (answer.code, "Add -y." in said, "Traceback" in answer.err) == (2, True, False)
    assert story.tree() == before
    assert story.safepip("uninstall", "leaf", stdin="y\n").code == 0


def test_the_first_line_says_what_force_does(story: Environment) -> None:
    answer = story.safepip("uninstall", "--dry-run", "--force", "cudnn-cu13")
    assert (answer.code, answer.out.split(":")[1]) == (0, " WOULD GO ON (--force)")
    answer = story.safepip("uninstall", "-y", "--force", "cudnn-cu13")
    assert (answer.code, answer.err.split(":")[1]) == (BROKE, " GOING ON (--force)")


def test_the_first_line_says_that_a_baseline_knows_it_all(story: Environment, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(story.safepip("uninstall", "--dry-run", "--json", "cudnn-cu13").out)
    words = ("uninstall", "--dry-run", "--baseline", str(tmp_path / "known.json"), "cudnn-cu13")
    answer = story.safepip(*words)
    assert (answer.code, answer.out.split(":")[1]) == (0, " LET PASS (all of it is known)")


def test_safe_says_where_it_cannot_help(story: Environment) -> None:
    story.add("user", {"user.py": "import leaf\n"})
    answer = story.safepip("uninstall", "-y", "--safe", "leaf")
    said = "nobody else owns a file of this: the refusal stays"
    assert (answer.code, said in " ".join(answer.err.split())) == (REFUSED, True), answer.err


def test_a_version_that_is_not_there_is_named_since_pip_takes_no_heed_of_it(story: Environment) -> None:
    answer = story.safepip("uninstall", "--dry-run", "leaf==7")
    said = "pip takes no heed of the version in leaf==7: it is leaf 1.0 that goes"
    assert (answer.code, said in " ".join(answer.out.split())) == (0, True), answer.out
    assert "takes no heed" not in story.safepip("uninstall", "--dry-run", "leaf>=1").out
