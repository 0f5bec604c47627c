"""`safepip audit`: what can go, what nobody needs, what is mixed, and which part of a named set may go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from support.sandbox import TAG, Environment, Run, library, module

REFUSED = 10
SHARED = {
    "cudnn": "libcudnn.so.9",
    "nccl": "libnccl.so.2",
    "cusparselt": "libcusparseLt.so.0",
    "nvshmem": "libnvshmem_host.so.3",
}
UNSUFFIXED = {
    "nvidia-cublas": "libcublas.so.13",
    "nvidia-cuda-runtime": "libcudart.so.13",
    "nvidia-cuda-nvrtc": "libnvrtc.so.13",
    "nvidia-cufft": "libcufft.so.12",
    "nvidia-cusparse": "libcusparse.so.12",
    "nvidia-nvjitlink": "libnvJitLink.so.13",
}
TEN = [*(f"nvidia-{part}-cu13" for part in SHARED), *UNSUFFIXED]


@pytest.fixture
def accident(environment: Environment) -> Environment:
    """CUDA 13's leftovers in an environment of CUDA 12: four of the ten lie in another's place."""
    for number in ("12", "13"):
        for part, soname in SHARED.items():
            requires = ["nvidia-cublas"] if (part, number) == ("cudnn", "13") else []
            environment.add(
                f"nvidia-{part}-cu{number}",
                {"nvidia/__init__.py": "", f"nvidia/{part}/lib/{soname}": library(soname) + number.encode()},
                version=f"9.{number}",
                requires=requires,
            )
    for name, soname in UNSUFFIXED.items():
        requires = {"nvidia-cufft": ["nvidia-nvjitlink"], "nvidia-cusparse": ["nvidia-nvjitlink"]}.get(
            name, []
        )
        environment.add(
            name,
            {"nvidia/__init__.py": "", f"nvidia/cu13/lib/{soname}": library(soname)},
            version="13.0",
            requires=requires,
        )
    runpath = ":".join(f"$ORIGIN/../nvidia/{part}/lib" for part in SHARED)
    environment.add(
        "torch",
        {"torch/__init__.py": "", f"torch/_C.{TAG}.so": module(*SHARED.values(), runpath=runpath)},
        version="2.9.1+cu128",
        requires=[f"nvidia-{part}-cu12==9.12" for part in SHARED],
    )
    return environment


def audit(environment: Environment, *arguments: str) -> dict[str, Any]:
    return environment.safepip("audit", "--json", *arguments).report


def of(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(item for item in report["distributions"] if item["name"] == name)


def test_each_distribution_has_a_verdict_and_its_users_strongest_reason_first(story: Environment) -> None:
    report = audit(story)
    assert (report["schema"], report["environment"]["prefix"]) == (1, str(story.prefix))
    twelve = of(report, "cudnn-cu12")
    assert twelve["verdict"] == "refuse"
    assert [(who["distribution"], who["kind"]) for who in twelve["needed_by"]] == [
        ("torch", "library-lost"),
        ("cudnn-cu13", "file-lost"),
    ]
    assert (of(report, "leaf")["verdict"], of(report, "leaf")["needed_by"]) == ("allow", [])


def test_an_audit_agrees_with_the_guard_on_every_distribution(accident: Environment) -> None:
    for item in audit(accident)["distributions"]:
        guard = accident.safepip("uninstall", "--dry-run", "--json", item["name"]).report
        assert (item["name"], item["verdict"]) == (item["name"], guard["verdict"])


def test_who_uses_whose_cudnn_is_said_in_one_sentence(accident: Environment) -> None:
    messages = [item["message"] for item in audit(accident)["mixed"]]
    assert messages == [
        "CUDA 12 (4 distributions) and CUDA 13 (10 distributions) side by side",
        "torch uses cuDNN 9.13 from nvidia-cudnn-cu13; its own nvidia-cudnn-cu12 9.12 was overwritten",
        "torch uses NCCL 9.13 from nvidia-nccl-cu13; its own nvidia-nccl-cu12 9.12 was overwritten",
    ]


def test_of_the_accidents_list_some_may_go_and_safe_gets_all_of_it_right(accident: Environment) -> None:
    answer = accident.safepip("audit", "--json", "--remove", *TEN)
    report = answer.report
    assert (answer.code, report["verdict"]) == (REFUSED, "refuse")
    assert sorted(item["name"] for item in report["may_go"]) == sorted(set(UNSUFFIXED) - {"nvidia-cublas"})
    assert sorted(item["name"] for item in report["must_stay"]) == sorted(
        [*(f"nvidia-{part}-cu13" for part in SHARED), "nvidia-cublas"]
    )
    start = ["safepip", "--python", str(accident.python), "uninstall"]
    assert report["commands"][0] == [*start, "--safe", *TEN]
    assert accident.safepip(*report["commands"][1][3:], "--dry-run").code == 0


def test_the_leftovers_of_another_cuda_are_proposed_by_themselves(accident: Environment) -> None:
    report = audit(accident)
    proposals = [item for item in report["unneeded"] if item["why"] == "cuda"]
    assert [sorted(item["names"]) for item in proposals] == [sorted(TEN)]
    assert proposals[0]["command"][3:5] == ["uninstall", "--safe"]
    shared = [accident.site / f"nvidia/{part}/lib/{soname}" for part, soname in SHARED.items()]
    stays = sum(path.stat().st_size for path in shared)
    assert proposals[0]["bytes"] == sum(of(report, name)["bytes"] for name in TEN) - stays


def test_what_nobody_needs_is_told_apart_from_what_was_asked_for_and_from_tools(
    environment: Environment,
) -> None:
    tool = "[console_scripts]\ntool = tool:main\n"
    for name, entry_points, asked in (("lib", "", False), ("app", "", True), ("tool", tool, False)):
        info = environment.add(
            name, {f"{name}.py": ""}, entry_points=entry_points, requires=["used"] if name == "app" else []
        )
        if asked:
            (info / "REQUESTED").touch()
    environment.add("used", {"used.py": ""})
    environment.add("plugin", {"plugin.py": "import lib\n"}, requires=["lib"])
    report = audit(environment)
    groups = {item["why"]: sorted(item["names"]) for item in report["unneeded"]}
    assert groups == {"leftover": ["lib", "plugin"], "asked_for": ["app"], "tool": ["tool"]}


def test_ones_own_code_counts_as_needing_what_it_imports(environment: Environment, tmp_path: Path) -> None:
    (environment.add("app", {"app.py": ""}) / "REQUESTED").touch()
    environment.add("lib", {"lib/__init__.py": ""})
    code = tmp_path / "code"
    code.mkdir()
    (code / "main.py").write_text("def main():\n    from lib import thing\n")
    assert [item["why"] for item in audit(environment)["unneeded"]] == ["leftover", "asked_for"]
    assert [item["why"] for item in audit(environment, "--code", str(code))["unneeded"]] == ["asked_for"]


def test_a_proposed_set_is_one_that_the_judge_allows(accident: Environment) -> None:
    for item in audit(accident)["unneeded"]:
        if item["command"] and "--safe" not in item["command"]:
            assert accident.safepip("uninstall", "--dry-run", *item["names"]).code == 0


def test_bytes_are_those_that_deleting_would_really_free(environment: Environment, tmp_path: Path) -> None:
    environment.add("big", {"big.bin": "x" * 5000})
    alone = of(audit(environment), "big")["bytes"]
    os.link(environment.site / "big.bin", tmp_path / "cache")
    assert alone - of(audit(environment), "big")["bytes"] == 5000


def test_two_builds_of_one_runtime_are_told_with_who_is_bound_to_which(environment: Environment) -> None:
    for name in ("sklearn", "xgboost"):
        runtime = f"libgomp-{name}.so.1"
        environment.add(
            name,
            {
                f"{name}/_m.{TAG}.so": module(runtime, runpath="$ORIGIN/libs"),
                f"{name}/libs/{runtime}": library(runtime),
            },
        )
    mixed = audit(environment)["mixed"]
    assert [(item["family"], item["message"]) for item in mixed] == [
        ("OpenMP", "2 builds of OpenMP, all in use")
    ]
    assert {(one["distribution"], one["bound_to"].rpartition("/")[2]) for one in mixed[0]["bound"]} == {
        ("sklearn", "libgomp-sklearn.so.1"),
        ("xgboost", "libgomp-xgboost.so.1"),
    }


def test_a_table_fits_80_columns(accident: Environment) -> None:
    answers: list[Run] = [
        accident.safepip("audit"),
        accident.safepip("audit", "--remove", "nvidia-cudnn-cu13"),
    ]
    for answer in answers:
        lines = [line for line in answer.out.splitlines() if "safepip --python" not in line]
        assert max(map(len, lines)) <= 80
        assert answer.err == ""


def test_a_name_that_is_not_installed_is_nowhere(environment: Environment) -> None:
    answer = environment.safepip("audit", "--remove", "nosuch", "nor-this")
    assert (answer.code, "nosuch, nor-this are not installed" in answer.err) == (1, True)
    environment.add("app", {"app.py": ""})
    assert "spelled like it: app" in environment.safepip("audit", "--remove", "ap").err


def test_packages_without_remove_are_wrong_usage(environment: Environment) -> None:
    assert environment.safepip("audit", "torch").code == 2
