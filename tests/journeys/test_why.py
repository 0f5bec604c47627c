"""`safepip why`: what matches, who needs it, by which rule, and who would bring what is missing."""

from __future__ import annotations

import json

from support.sandbox import TAG, Environment, library, module


def test_a_soname_is_answered_with_owners_bytes_consumers_and_rule(story: Environment) -> None:
    answer = story.safepip("why", "--json", "libcudnn.so.9")
    report = answer.report
    path = str(story.site / "cudnn/lib/libcudnn.so.9")
    consumer = f"_C.{TAG}.so"
    assert [(item["distribution"], item["names"]) for item in report["opened_by"]] == [
        ("torch", ["libcudnn.so.9"])
    ]
    assert (answer.code, report["schema"], report["query"]) == (0, 1, "libcudnn.so.9")
    assert report["matches"] == [
        {
            "soname": "libcudnn.so.9",
            "path": path,
            "owners": ["cudnn-cu12", "cudnn-cu13"],
            "bytes_of": "cudnn-cu13",
            "bytes": len(library("libcudnn.so.9") + b"thirteen"),
            "package": None,
        }
    ]
    assert report["needed_by"] == [
        {
            "path": str(story.site / "torch" / consumer),
            "distribution": "torch",
            "how": "searched",
            "bound_to": path,
            "rule": f"RUNPATH of {consumer}: $ORIGIN/../cudnn/lib",
            "wants": "libcudnn.so.9",
            "chain": ["import torch", f"torch/{consumer}", "libcudnn.so.9"],
        }
    ]


def test_a_part_of_a_name_a_pattern_and_a_path_find_the_same_file(story: Environment) -> None:
    expected = [str(story.site / "cudnn/lib/libcudnn.so.9")]
    for query in ("cudnn", "libcud*.so.?", "cudnn/lib/libcudnn.so.9", *expected):
        report = story.safepip("why", "--json", query).report
        assert [match["path"] for match in report["matches"]] == expected
        assert [use["distribution"] for use in report["needed_by"]] == ["torch"]


def test_a_missing_library_names_who_wants_it_every_place_tried_and_who_would_bring_it(
    story: Environment,
) -> None:
    (story.site / "cudnn/lib/libcudnn.so.9").unlink()
    report = story.safepip("why", "--json", "libcudnn.so.9").report
    tag = f"_C.{TAG}.so"
    assert (report["matches"], report["needed_by"][0]["how"], report["needed_by"][0]["bound_to"]) == (
        [],
        "missing",
        None,
    )
    assert report["searched"][0] == {
        "rule": f"RUNPATH of {tag}: $ORIGIN/../cudnn/lib",
        "path": str(story.site / "torch/../cudnn/lib/libcudnn.so.9"),
    }
    assert [item["distribution"] for item in report["brought_by"]] == ["cudnn-cu12 9.10", "cudnn-cu13 9.19"]
    assert report["brought_by"][0]["command"][3:] == [
        "install",
        "--no-deps",
        "--force-reinstall",
        "cudnn-cu12==9.10",
    ]


def test_what_was_removed_here_is_offered_from_history(story: Environment) -> None:
    story.safepip("uninstall", "-y", "--force", "cudnn-cu13")
    report = story.safepip("why", "--json", "libcudnn.so.9").report
    assert {
        "distribution": "cudnn-cu13 9.19",
        "because": "change 1 removed it, and it is kept",
        "command": ["safepip", "--python", str(story.python), "undo", "1"],
    } in report["brought_by"]


def test_a_requirement_that_is_not_installed_is_named_by_its_likeness_to_the_library(
    environment: Environment,
) -> None:
    environment.add(
        "torch", {f"torch/_C.{TAG}.so": module("libcudnn.so.9")}, requires=["nvidia-cudnn-cu12==9.10"]
    )
    report = environment.safepip("why", "--json", "libcudnn.so.9").report
    assert report["brought_by"] == [
        {
            "distribution": "nvidia-cudnn-cu12==9.10",
            "because": "torch requires it, and it is not installed",
            "command": [],
        }
    ]


def test_a_distribution_is_answered_with_who_requires_and_who_imports_it(environment: Environment) -> None:
    environment.add("numpy", {"numpy/__init__.py": ""})
    environment.add(
        "pandas",
        {"pandas/__init__.py": "\nimport numpy.linalg\n"},
        requires=["numpy>=1", 'numpy>=9; python_version < "3"'],
    )
    environment.add(
        "tool",
        {"tool.py": "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n"},
        requires=['numpy; extra == "fast"'],
    )
    report = environment.safepip("why", "--json", "numpy").report
    assert report["required_by"] == [{"distribution": "pandas", "requirement": "numpy>=1", "extra": False}]
    assert report["imported_by"] == [
        {
            "distribution": "pandas",
            "path": str(environment.site / "pandas/__init__.py"),
            "line": 2,
            "guarded": False,
        },
        {"distribution": "tool", "path": str(environment.site / "tool.py"), "line": 2, "guarded": True},
    ]


def test_a_module_is_answered_with_the_file_that_an_import_picks(environment: Environment) -> None:
    environment.add("docx", {"docx.py": ""})
    environment.add("python-docx", {"docx/__init__.py": "", "docx/shared.py": ""})
    report = environment.safepip("why", "--json", "docx.shared").report
    assert [(match["path"], match["owners"]) for match in report["matches"]] == [
        (str(environment.site / "docx/shared.py"), ["python-docx"])
    ]


def test_objects_of_one_distribution_that_get_the_same_are_told_once_and_where_it_lies_once_for_all(
    environment: Environment,
) -> None:
    environment.add("base", {"base/libbase.so.1": library("libbase.so.1")})
    for name in ("one", "two"):
        files = {
            f"{name}/{part}.{TAG}.so": module("libbase.so.1", runpath="$ORIGIN/../base") for part in "abc"
        }
        environment.add(name, files | {f"{name}/__init__.py": ""})
    said = " ".join(environment.safepip("why", "libbase.so.1").out.split())
    assert (said.count("and 2 more objects of it"), said.count("searched:")) == (2, 1)
    assert environment.safepip("why", "-v", "libbase.so.1").out.count("searched:") == 6


def test_a_name_that_nothing_matches_ends_with_1(environment: Environment) -> None:
    answer = environment.safepip("why", "nosuchlibrary")
    assert (answer.code, answer.out.splitlines()[0][:19]) == (1, "safepip: nothing in")


def test_a_part_of_several_distributions_is_answered_for_all_and_a_slip_of_the_hand_names_what_is_like_it(
    story: Environment,
) -> None:
    answer = story.safepip("why", "--json", "cudnn-cu").report
    assert [match["owners"] for match in answer["matches"]] == [["cudnn-cu12", "cudnn-cu13"]]
    assert [line["distribution"] for line in answer["required_by"]] == ["torch"]
    assert story.safepip("why", "--json", "libcudnn.so.8").report["like"] == ["libcudnn.so.9"]
    assert "like it: torch" in story.safepip("why", "troch").out


def test_the_answer_fits_80_columns_and_names_cannot_drive_the_terminal(environment: Environment) -> None:
    environment.add("evil", {"evil/lib\x1b[2J/libevil.so.1": library("libevil.so.1")})
    environment.add("user", {f"user.{TAG}.so": module("libevil.so.1", runpath="$ORIGIN/evil/lib\x1b[2J")})
    out = environment.safepip("why", "libevil.so.1").out
    assert "\x1b" not in out
    assert "evil/lib\\x1b[2J/libevil.so.1" in out
    assert max(map(len, out.splitlines())) <= 80


def test_wrong_usage_ends_with_2_and_as_json_where_json_was_asked_for(environment: Environment) -> None:
    answer = environment.safepip("why", "--json", "--nonsense", "x")
    assert (answer.code, json.loads(answer.out)["error"]["reference"]) == (2, "wrong-arguments")


def test_what_is_installed_is_never_said_to_match_nothing_though_nothing_needs_it(
    environment: Environment,
) -> None:
    """A distribution without libraries and without users, and a namespace that two of them share."""
    environment.add("ns-one", {"space/one/__init__.py": ""})
    environment.add("ns-two", {"space/two/__init__.py": ""})
    answers = [environment.safepip("why", "--json", query) for query in ("ns-one", "space", "ns-three")]
    one, two = ({"name": name, "version": "1.0"} for name in ("ns-one", "ns-two"))
    told = [(answer.code, answer.report["distributions"]) for answer in answers]
    assert told == [(0, [one]), (0, [one, two]), (1, [])]
    said = environment.safepip("why", "ns-one").out
    assert said == (
        "ns-one\n  ns-one 1.0, without a library that an object could need\n\n"
        "nothing that is installed needs it\n"
    )
