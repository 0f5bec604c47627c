"""What a shell completes: every option that a command of safepip's own has, and no other."""

from __future__ import annotations

import click
import pytest

from safepip.cli.asking.audits import audit
from safepip.cli.asking.doctors import doctor
from safepip.cli.asking.questions import explain, why
from safepip.grammar.options import OWN_FLAGS, OWN_VALUES
from safepip.model.report import FindingKind
from safepip.render.completion import COMMANDS, OPTIONS, asked, own_words


@pytest.mark.parametrize("command", [why, audit, doctor, explain], ids=lambda command: command.name)
def test_each_option_of_a_look_is_completed(command: click.Command) -> None:
    options = [item for item in command.params if isinstance(item, click.Option)]
    assert set(OPTIONS[command.name or ""]) == {
        name for item in options for name in item.opts if name.startswith("--")
    }


def test_each_option_of_uninstall_that_is_not_pips_is_completed() -> None:
    assert set(OPTIONS["uninstall"]) == {*OWN_FLAGS, *OWN_VALUES}


def test_words_are_completed_by_where_they_stand() -> None:
    def completed(line: str) -> list[str]:
        words = line.split(" ")
        return own_words(asked(line, str(len(words) - 1)), [kind.value for kind in FindingKind])

    assert completed("safepip a") == ["audit"]
    assert completed("safepip audit --ht") == ["--html"]
    assert completed("safepip init z") == ["zsh"]
    assert completed("safepip explain library-") == ["library-lost"]
    assert set(completed("safepip help ")) == set(COMMANDS)
