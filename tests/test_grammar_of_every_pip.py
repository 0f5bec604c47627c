"""The tables held against the option parsers of real pips."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from random import Random
from typing import Any

import pytest

from safepip.errors import UsageError
from safepip.grammar import pip_grammar
from safepip.grammar.options import OWN_FLAGS, OWN_VALUES
from safepip.model.request import Uninstall
from support.pips import Pip, runner

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"  # under which every one of these pips starts

NEWEST = "26.3"
EVERY = (
    "22.3.1", "23.0", "23.0.1", "23.1.2", "23.2.1", "23.3.2", "24.0", "24.1.2", "24.2", "24.3.1",
    "25.0.1", "25.1.1", "25.2", "25.3", "26.0.1", "26.1.2", "26.2.1", NEWEST,
)  # fmt: skip
FEW = ("22.3.1", "24.0", NEWEST)
VERSIONS = EVERY if os.environ.get("SAFEPIP_EVERY_PIP") else FEW

ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pip._internal.cli.main_parser import create_main_parser
from pip._internal.commands import create_command
told = []
for parser in (create_main_parser(), create_command("uninstall").parser):
    options = [*parser.option_list, *(o for group in parser.option_groups for o in group.option_list)]
    told.append({name: o.takes_value() for o in options for name in (*o._short_opts, *o._long_opts)})
print(json.dumps(told))
"""


def folder_of(version: str) -> str:
    """Where that pip lies: what imports it is put on sys.path."""
    return str(runner(Pip(version, OWN)).parent.parent)


def options_of(version: str) -> tuple[dict[str, bool], dict[str, bool]]:
    """The general and the uninstall options of a pip, each with whether it takes a value."""
    asked = subprocess.run(
        [sys.executable, "-I", "-c", ASK, folder_of(version)], check=True, capture_output=True, text=True
    )
    general, uninstall = json.loads(asked.stdout)
    return general, uninstall


def takes_value(options: pip_grammar.Options) -> dict[str, bool]:
    own = {*OWN_FLAGS, *OWN_VALUES}
    told = {**dict.fromkeys(options.flags, False), **dict.fromkeys(options.values, True)}
    return {name: value for name, value in told.items() if name not in own}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_option_of_pip_is_in_the_tables_and_takes_a_value_there_as_well(
    version: str,
) -> None:
    general, uninstall = options_of(version)
    assert general.items() <= takes_value(pip_grammar.GLOBAL).items()
    assert uninstall.items() <= takes_value(pip_grammar.UNINSTALL).items()


def test_the_tables_hold_nothing_that_no_pip_has() -> None:
    oldest, newest = options_of("22.3.1"), options_of(NEWEST)
    came_and_went = {"--resume-retries": True, "--keyring-provider": True, "--break-system-packages": False}
    for options, old, new in zip((pip_grammar.GLOBAL, pip_grammar.UNINSTALL), oldest, newest, strict=True):
        assert takes_value(options).items() <= {**old, **new, **came_and_went}.items()


COMMAND_LINES = [
    "uninstall -y six",
    "uninstall six -yv idna -qq",
    "uninstall -yr req.txt --requirement=b -rc",
    "-v uninstall --ye six",
    "uninstall -- -y six",
    "-- uninstall six",
    "uninstall - six --no-inp",
    "--log /dev/null uninstall six --log=/dev/null",
    "uninstall six --root-user-action ignore --requirem=x",
    "uninstall --yes=1 six",
    "uninstall --nope six",
    "uninstall -x six",
    "uninstall --re x six",
    "uninstall --require-venv --isolated six",
    "uninstall six -r",
    "uninstall --=x six",
    "uninstall --disable six",
    "uninstall --requirement -y six",
]
WORDS = [
    "six",
    "idna",
    "-y",
    "-v",
    "-q",
    "-r",
    "-rf",
    "-yr",
    "-vyq",
    "--",
    "-",
    "--yes",
    "--ye",
    "--requirement",
    "--requirement=x",
    "--req",
    "--require-venv",
    "--isolated",
    "--isol",
    "--log",
    "--log=x",
    "--lo",
    "--no-input",
    "--no-i",
    "--no-",
    "--proxy=",
    "--nope",
    "--yes=1",
    "-z",
    "--=",
    "-yx",
    "--break",
    "=",
    "-vr",
    "-ryy",
    "--debug",
]


def scrambled(count: int) -> list[str]:
    """Command lines that nobody would write, the same in every run."""
    chance = Random(22)
    return [" ".join(["uninstall", *chance.choices(WORDS, k=chance.randint(1, 6))]) for _ in range(count)]


PARSE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pip._internal.cli.main_parser import parse_command
from pip._internal.commands import create_command
told = []
for line in json.load(sys.stdin):
    try:
        name, arguments = parse_command(line.split())
        values, names = create_command(name).parse_args(arguments)
        told.append([names, values.requirements, bool(values.yes), values.verbose, values.quiet,
                     values.no_input, values.require_venv])
    except SystemExit as ended:
        told.append(ended.code)
print(json.dumps(told))
"""


def read(line: str) -> Any:
    try:
        request = pip_grammar.parse(line.split())
    except UsageError as error:
        return error.exit_code
    assert isinstance(request, Uninstall)
    return [
        list(request.names), list(request.requirement_files), request.yes, request.verbose, request.quiet,
        request.no_input, request.require_venv,
    ]  # fmt: skip


def test_command_lines_are_read_as_pips_own_parser_reads_them() -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    lines = [*COMMAND_LINES, *scrambled(1500)]
    told = subprocess.run(
        [sys.executable, "-c", PARSE, folder_of(NEWEST)],
        input=json.dumps(lines), env={**environ, "PIP_CONFIG_FILE": os.devnull},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    wrong = {
        line: (mine, pips)
        for line, pips in zip(lines, json.loads(told.stdout), strict=True)
        if (mine := read(line)) != pips
    }
    assert wrong == {}
