"""The report for programs: its keys are a promise."""

from __future__ import annotations

import json

from safepip.errors import SafepipError
from safepip.model.change import Removal, Skip
from safepip.model.elf import Rule, Step
from safepip.model.report import (
    Consumer,
    Finding,
    FindingKind,
    Provider,
    Remedy,
    Severity,
    Shared,
    Summary,
    Verdict,
)
from safepip.render.document import dump, dump_error
from support.environments import at, dist, target

LIB = at("cudnn/lib/libcudnn.so.9")
VERDICT = Verdict(
    target(),
    Removal(
        leaving=(dist("cudnn", version="9.19"),), files=(LIB,), skipped=(Skip("nosuch", "not installed"),)
    ),
    findings=(
        Finding(
            FindingKind.LIBRARY_LOST,
            Severity.REFUSE,
            "torch",
            "torch could no longer be loaded",
            soname="libcudnn.so.9",
            paths=(LIB,),
            provider=Provider(LIB, ("cudnn",), "cudnn", Step(Rule.RPATH, LIB)),
            consumers=(
                Consumer(at("torch/_C.so"), "torch", ("import torch", "torch/_C.so", "libcudnn.so.9")),
            ),
            searched=(Step(Rule.RPATH, LIB, at("torch/_C.so"), "$ORIGIN"),),
            proof=("readelf", "-d", "x"),
        ),
    ),
    shared=(Shared(LIB, ("a", "b"), "b"),),
    remedies=(Remedy("Keep it"), Remedy("Replace it", (("safepip", "install", "x"),))),
    bytes=492,
)


def test_the_report_has_the_promised_keys_and_values() -> None:
    report = json.loads(dump(VERDICT))
    finding = report["findings"][0]
    assert (report["schema"], report["verdict"]) == (1, "refuse")
    assert report["environment"] == {
        "python": "/env/bin/python",
        "version": "3.12.1",
        "prefix": "/env",
        "root": None,
    }
    assert report["removing"] == [{"name": "cudnn", "version": "9.19"}]
    assert (report["removal"]["files"], report["removal"]["bytes"]) == (1, 492)
    assert report["removal"]["shared"] == [{"path": LIB, "owners": ["a", "b"], "bytes_of": "b"}]
    assert (finding["kind"], finding["severity"], finding["distribution"], finding["soname"]) == (
        "library-lost", "refuse", "torch", "libcudnn.so.9",
    )  # fmt: skip
    assert finding["provider"] == {"path": LIB, "owners": ["cudnn"], "bytes_of": "cudnn", "rule": "RPATH"}
    assert finding["consumers"] == [
        {
            "path": at("torch/_C.so"),
            "distribution": "torch",
            "chain": ["import torch", "torch/_C.so", "libcudnn.so.9"],
        }
    ]
    assert finding["proof"] == ["readelf", "-d", "x"]
    assert report["remedies"] == [
        {"title": "Keep it", "commands": []},
        {"title": "Replace it", "commands": [["safepip", "install", "x"]]},
    ]
    assert report["unjudged"] == []


def test_the_full_list_of_paths_is_there_only_where_it_was_asked_for() -> None:
    assert "paths" not in json.loads(dump(VERDICT))["removal"]
    assert json.loads(dump(VERDICT, files=True))["removal"]["paths"] == [LIB]


def test_what_pip_did_is_added_once_it_is_known() -> None:
    report = json.loads(dump(VERDICT, outcome=Summary(0, 1, (), ())))
    assert report["outcome"] == {"pip_exit_code": 0, "removed": 1, "remaining": [], "unplanned": []}


def test_names_in_no_encoding_are_escaped_and_the_text_stays_json() -> None:
    text = dump(Verdict(target(), Removal(leaving=(dist("odd\udcff"),))))
    assert json.loads(text)["removing"][0]["name"] == "odd\\xff"
    assert text.isascii()


def test_an_error_is_a_document_too() -> None:
    assert json.loads(dump_error(SafepipError("no-interpreter", "there is none", "name one"))) == {
        "schema": 1,
        "error": {"reference": "no-interpreter", "message": "there is none", "hint": "name one"},
    }
