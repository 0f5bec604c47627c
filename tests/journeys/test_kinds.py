"""`safepip uninstall --dry-run` in every kind of environment: nothing that breaks is overlooked for its kind."""

from __future__ import annotations

import sys

import pytest

from support.sandbox import TAG, Environment, Run, library, module, run


def found(answer: Run) -> list[tuple[str, str, str]]:
    return sorted(
        (item["kind"], item["severity"], item["distribution"]) for item in answer.report["findings"]
    )


@pytest.fixture
def users(environment: Environment) -> Environment:
    """`need` has a library and `plain` a module that `user` cannot do without."""
    environment.add("need", {"need/libneed.so.1": library("libneed.so.1")})
    environment.add("plain", {"plain.py": ""})
    environment.add(
        "user",
        {
            "user/__init__.py": "import plain\nfrom user import _c\n",
            f"user/_c.{TAG}.so": module("libneed.so.1", runpath="$ORIGIN/../need"),
        },
    )
    return environment


LIBRARY_LOST = [("library-lost", "refuse", "user")]
IMPORT_LOST = [("import-lost", "refuse", "user")]


def test_an_environment_reached_through_a_link_is_judged_as_by_its_own_name(users: Environment) -> None:
    link = users.prefix.parent / "link"
    link.symlink_to("env")
    for python in (users.python, link / "bin/python"):
        command = [
            sys.executable,
            "-m",
            "safepip",
            "--python",
            str(python),
            "uninstall",
            "--dry-run",
            "--json",
        ]
        answers = [run([*command, name]) for name in ("need", "plain")]
        assert [found(answer) for answer in answers] == [LIBRARY_LOST, IMPORT_LOST]
        consumer = answers[0].report["findings"][0]["consumers"][0]
        assert consumer["chain"] == ["import user", f"user/_c.{TAG}.so", "libneed.so.1"]
