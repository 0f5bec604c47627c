"""Which environment a command acts on, with pip's settings and safepip's own for it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from safepip.model.environment import Target
from safepip.model.report import Policy
from safepip.model.request import PipSettings
from safepip.reading.pythons import calling, targets
from safepip.reading.settings import configuration, pip_settings
from safepip.reading.sites.homes import homes_of


@dataclass(frozen=True, slots=True)
class Found:
    """The environment, why it is this one, and what is configured for it."""

    target: Target
    reason: str
    settings: PipSettings
    policy: Policy


def find(python: str | None, *, isolated: bool = False) -> Found:
    """The environment that `pip` would have acted on, called as safepip was called."""
    named = python or pip_settings.read(os.environ, None, isolated=isolated).python
    chosen = targets.choose(named, os.environ, sys.argv[0], running_as_module=calling.as_module())
    target = targets.read_target(chosen.executable, os.environ)
    settings = pip_settings.read(os.environ, target.prefix, isolated=isolated)
    why = chosen.reason if python or not named else "named by pip's own settings"
    return Found(target, _reason(why, target), settings, configuration.load(os.environ, target.prefix))


def has_vault(target: Target) -> bool:
    """Whether an earlier change left anything; where none did there is nothing to end."""
    return any(os.path.isdir(f"{home}/.safepip") for home in homes_of(target))


def _reason(chosen: str, target: Target) -> str:
    """Why this environment, and that it is not safepip's own where somebody may have thought so."""
    own = os.path.realpath(sys.prefix)
    return chosen if own == os.path.realpath(target.prefix) else f"{chosen}; not safepip's own, {own}"
