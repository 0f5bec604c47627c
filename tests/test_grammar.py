from __future__ import annotations

import pytest

from safepip.errors import UsageError
from safepip.grammar.pip_grammar import parse
from safepip.model.request import PassThrough, ShowHelp, ShowVersion, Uninstall, ValuePlace


def uninstall(*arguments: str) -> Uninstall:
    request = parse(arguments)
    assert isinstance(request, Uninstall)
    return request


def test_options_may_stand_before_between_and_after_names() -> None:
    assert uninstall("uninstall", "-y", "six", "-v", "idna", "-q") == Uninstall(
        pip_arguments=("uninstall", "-y", "six", "-v", "idna", "-q"),
        names=("six", "idna"),
        yes=True,
        verbose=1,
        quiet=1,
    )


def test_a_cluster_of_letters_ends_with_the_one_that_takes_a_value() -> None:
    assert uninstall("uninstall", "-yvvr", "one.txt", "-rtwo.txt", "-yrthree.txt") == Uninstall(
        pip_arguments=("uninstall", "-yvvr", "one.txt", "-rtwo.txt", "-yrthree.txt"),
        requirement_files=("one.txt", "two.txt", "three.txt"),
        requirement_places=(ValuePlace(2, 0), ValuePlace(3, 2), ValuePlace(4, 3)),
        yes=True,
        verbose=2,
    )


def test_a_long_option_takes_its_value_with_or_without_an_equals_sign_and_may_be_cut_short() -> None:
    assert uninstall(
        "uninstall", "--ye", "--requirement=a=b", "--requirement", "-c", "--requirem="
    ) == Uninstall(
        pip_arguments=("uninstall", "--ye", "--requirement=a=b", "--requirement", "-c", "--requirem="),
        requirement_files=("a=b", "-c", ""),
        requirement_places=(ValuePlace(2, 14), ValuePlace(4, 0), ValuePlace(5, 11)),
        yes=True,
    )


def test_two_dashes_end_the_options() -> None:
    assert uninstall("uninstall", "--", "-y", "--force") == Uninstall(
        pip_arguments=("uninstall", "--", "-y", "--force"), names=("-y", "--force")
    )


def test_a_single_dash_and_an_empty_word_are_names() -> None:
    assert uninstall("uninstall", "-", "").names == ("-", "")


def test_the_interpreter_is_told_apart_from_the_rest_of_the_global_options() -> None:
    assert uninstall("--isolated", "--python", ".venv", "-q", "uninstall", "six") == Uninstall(
        pip_arguments=("--isolated", "-q", "uninstall", "six"),
        names=("six",),
        python=".venv",
        isolated=True,
        quiet=1,
    )


def test_safepips_own_options_are_kept_from_pip() -> None:
    request = uninstall(
        "--json", "uninstall", "--dry-run", "-r", "a", "--force", "--fail-on", "warn", "x", "--fail-on=warn", "--files", "-rb"
    )  # fmt: skip
    assert request == Uninstall(
        pip_arguments=("uninstall", "-r", "a", "x", "-rb"),
        names=("x",),
        requirement_files=("a", "b"),
        requirement_places=(ValuePlace(2, 0), ValuePlace(4, 2)),
        dry_run=True,
        json=True,
        force=True,
        fail_on_warn=True,
        files=True,
    )


def test_an_own_option_that_stands_for_a_value_is_pips() -> None:
    request = uninstall("uninstall", "--log", "--force", "six")
    assert (request.force, request.pip_arguments) == (False, ("uninstall", "--log", "--force", "six"))


def test_an_abbreviation_that_pip_knows_means_what_it_means_to_pip() -> None:
    with pytest.raises(
        UsageError, match=r"ambiguous option: --d \(--debug, --default-timeout, --disable-pip"
    ):
        parse(["uninstall", "--d", "six"])
    with pytest.raises(UsageError, match="ambiguous option: --f"):
        parse(["uninstall", "--f", "six"])
    assert uninstall("uninstall", "--forc", "six").force


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["uninstall", "--user", "six"], "no such option: --user"),
        (["uninstall", "-yz", "six"], "no such option: -z"),
        (["--nonsense", "uninstall", "six"], "no such option: --nonsense"),
        (["uninstall", "six", "-r"], "-r option requires 1 argument"),
        (["uninstall", "six", "--requirement"], "--requirement option requires 1 argument"),
        (["uninstall", "six", "--yes=no"], "--yes option does not take a value"),
        (["uninstall", "six", "--fail-on", "note"], r"option --fail-on: invalid choice: 'note' \(choose from 'warn'\)"),
        (["uninstall", "--python", "x", "six"], "The --python option must be placed before the pip subcommand name"),
        (["--log", "uninstall", "uninstall", "x"], "the word uninstall stands for an option's value as well"),
        (["--lo", "x", "uninstall", "x"], r"ambiguous option: --lo \(--local-log, --log, --log-file\?\)"),
    ],
)  # fmt: skip
def test_what_pip_would_not_take_is_wrong_usage(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}") as caught:
        parse(arguments)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["install", "--dry-run", "six"],
        ["help", "install"],
        ["-qq", "install", "uninstall"],
        ["--option-of-a-later-pip", "list"],
        ["unins", "six"],
        ["--json", "list"],
    ],
)
def test_every_other_command_goes_to_pip_as_it_is(arguments: list[str]) -> None:
    assert parse(arguments) == PassThrough(tuple(arguments))


def test_a_pass_through_names_its_interpreter() -> None:
    assert parse(["-q", "--python=a", "--python", "b", "list", "--python", "c"]) == PassThrough(
        ("-q", "list", "--python", "c"), "b"
    )


def test_help_and_version_are_safepips_own() -> None:
    assert [parse(line.split()) for line in ("", "-h", "help", "-qh uninstall", "--help --nonsense")] == [
        ShowHelp()
    ] * 5
    assert [
        parse(line.split()) for line in ("uninstall --help", "help uninstall", "uninstall six -yh -z")
    ] == [ShowHelp("uninstall")] * 3
    assert [parse(line.split()) for line in ("--version", "-V", "--python x -V list")] == [
        ShowVersion(PassThrough(("--version",))),
        ShowVersion(PassThrough(("-V",))),
        ShowVersion(PassThrough(("-V", "list"), "x")),
    ]


def test_isolation_is_asked_for_by_that_very_word() -> None:
    assert uninstall("uninstall", "--isolated", "six").isolated
    assert not uninstall("uninstall", "--isola", "six").isolated
