"""One report in several forms, and what a baseline and the configuration make of its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.sandbox import Environment

REFUSED, WARNED = 10, 11


def broken(environment: Environment) -> Environment:
    """One error and one warning."""
    environment.add("hollow", {"hollow.py": ""})
    (environment.site / "hollow.py").unlink()
    (environment.add("bare", {"bare.py": ""}) / "RECORD").unlink()
    return environment


def results(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["runs"][0]["results"]
    return found


def test_sarif_names_rule_level_place_and_fingerprint(environment: Environment) -> None:
    answer = broken(environment).safepip("doctor", "--format", "sarif")
    log = json.loads(answer.out)
    assert (answer.code, log["version"]) == (REFUSED, "2.1.0")
    run = log["runs"][0]
    assert run["originalUriBaseIds"] == {"PREFIX": {"uri": f"file://{environment.prefix}/"}}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["hollow", "no-record"]
    assert [(item["ruleId"], item["ruleIndex"], item["level"]) for item in run["results"]] == [
        ("hollow", 0, "error"),
        ("no-record", 1, "warning"),
    ]
    site = environment.site.relative_to(environment.prefix)
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": f"{site}/hollow.py",
        "uriBaseId": "PREFIX",
    }
    assert len(run["results"][0]["partialFingerprints"]["safepip/v1"]) == 20


def test_markdown_is_a_table_in_which_no_name_is_markup(environment: Environment) -> None:
    environment.add("user", {"a|b`c.py": "x"})
    (environment.site / "a|b`c.py").unlink()
    answer = environment.safepip("doctor", "--format", "markdown")
    row = next(line for line in answer.out.splitlines() if line.startswith("| **error**"))
    assert "a\\|b\\`c.py" in row or "hollow" in row
    assert "```sh\nsafepip --python" in answer.out


def test_a_baseline_fails_only_on_what_is_new(environment: Environment, tmp_path: Path) -> None:
    broken(environment)
    baseline = tmp_path / "baseline"
    for kind in ("json", "sarif"):
        baseline.write_text(environment.safepip("doctor", "--format", kind).out)
        assert environment.safepip("doctor", "--baseline", str(baseline)).code == 0
    environment.add("more", {"more.py": ""})
    (environment.site / "more.py").unlink()
    answer = environment.safepip("doctor", "--format", "sarif", "--baseline", str(baseline))
    assert answer.code == REFUSED
    assert sorted((item["ruleId"], item["baselineState"]) for item in results(answer.out)) == [
        ("hollow", "new"),
        ("hollow", "unchanged"),
        ("no-record", "unchanged"),
    ]


def test_a_fingerprint_is_the_same_in_another_place_and_version(
    environment: Environment, template: Path, tmp_path: Path
) -> None:
    import os
    import shutil

    shutil.copytree(template, tmp_path / "other", symlinks=True, copy_function=os.link)
    other = Environment(tmp_path / "other")
    marks = []
    for place, version in ((environment, "1.0"), (other, "2.0")):
        place.add("hollow", {"hollow.py": ""}, version=version)
        (place.site / "hollow.py").unlink()
        marks.append([item["fingerprint"] for item in place.safepip("doctor", "--json").report["broken"]])
    assert marks[0] == marks[1]


def test_what_the_configuration_ignores_counts_until_its_last_day_is_over(environment: Environment) -> None:
    broken(environment)
    mark = environment.safepip("doctor", "--json").report["broken"][0]["fingerprint"]
    config = environment.prefix / ".safepip" / "config.toml"
    config.parent.mkdir()
    entry = f'[[ignore]]\nfingerprint = "{mark}"\nreason = "known"\n'
    for until, code in (("", 0), ("until = 2999-12-31\n", 0), ("until = 2001-01-01\n", REFUSED)):
        config.write_text(entry + until)
        assert environment.safepip("doctor").code == code
    said = f"hollow of hollow counts again since 2001-01-01 is over: {config} ignored it (known)"
    assert environment.safepip("doctor", "--json").report["ended"] == [said]
    assert "no longer ignored" in environment.safepip("doctor", "--format", "markdown").out
    config.write_text(f'[[ignore]]\nfingerprint = "{mark}"\n')
    assert "ignore has" in environment.safepip("doctor").err


def test_warnings_fail_where_that_is_asked_for(environment: Environment) -> None:
    (environment.add("bare", {"bare.py": ""}) / "RECORD").unlink()
    assert environment.safepip("doctor").code == 0
    assert environment.safepip("doctor", "--fail-on", "warn").code == WARNED


def test_an_audit_is_told_in_each_form(environment: Environment) -> None:
    (environment.add("app", {"app.py": ""}) / "REQUESTED").touch()
    environment.add("lib", {"lib.py": ""})
    sarif = environment.safepip("audit", "--format", "sarif").out
    assert [(item["ruleId"], item["level"]) for item in results(sarif)] == [("unneeded", "note")]
    markdown = environment.safepip("audit", "--format", "markdown").out
    assert "uninstall lib\n```" in markdown


def test_a_dry_run_is_told_in_each_form(story: Environment) -> None:
    for kind in ("sarif", "markdown"):
        answer = story.safepip("uninstall", "--dry-run", "--format", kind, "cudnn-cu13")
        assert answer.code == REFUSED
        assert "library-lost" in answer.out
    report = story.safepip("uninstall", "--dry-run", "--format", "json", "cudnn-cu13").report
    assert all(len(finding["fingerprint"]) == 20 for finding in report["findings"])
    assert story.safepip("uninstall", "-y", "--format", "sarif", "leaf").code == 2


def test_what_is_worse_than_in_the_baseline_is_new(environment: Environment, tmp_path: Path) -> None:
    broken(environment)
    earlier = environment.safepip("doctor", "--json").report
    for item in earlier["broken"]:
        item["severity"] = "note"
    (tmp_path / "baseline").write_text(json.dumps(earlier))
    answer = environment.safepip("doctor", "--format", "sarif", "--baseline", str(tmp_path / "baseline"))
    assert answer.code == REFUSED
    assert [item["baselineState"] for item in results(answer.out)] == ["updated", "updated"]


def test_a_dry_run_fails_only_on_what_is_new_and_its_verdict_stays(
    story: Environment, tmp_path: Path
) -> None:
    look = ("uninstall", "--dry-run", "--json", "cudnn-cu13")
    baseline, config = tmp_path / "baseline", story.prefix / ".safepip" / "config.toml"
    baseline.write_text(story.safepip(*look).out)
    answer = story.safepip(*look, "--baseline", str(baseline))
    count = sum(item["severity"] != "note" for item in answer.report["findings"])
    assert (answer.code, answer.report["verdict"]) == (0, "refuse")
    assert answer.report["weakened"] == [f"{count} of these do not count, by {baseline}"]
    assert story.safepip("uninstall", "--dry-run", "cudnn-cu12", "--baseline", str(baseline)).code == REFUSED
    assert story.safepip("uninstall", "-y", "cudnn-cu13", "--baseline", str(baseline)).code == 2
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        "".join(
            f'[[ignore]]\nfingerprint = "{item["fingerprint"]}"\nreason = "no GPU here"\n'
            for item in answer.report["findings"]
        )
    )
    sarif = story.safepip("uninstall", "--dry-run", "--format", "sarif", "cudnn-cu13")
    assert sarif.code == 0
    assert {item["suppressions"][0]["justification"] for item in results(sarif.out)} == {"no GPU here"}
    assert story.safepip("uninstall", "-y", "cudnn-cu13").code == REFUSED


def test_a_baseline_that_is_no_report_is_named(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("no")
    answer = environment.safepip("doctor", "--baseline", str(tmp_path / "no.json"))
    assert answer.code == 12
    assert "is no report" in " ".join(answer.err.split())
