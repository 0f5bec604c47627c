"""Which environment a command acts on, with pip's settings and safepip's own for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from safepip.errors import UsageError
from safepip.model.environment import Target
from safepip.model.policy import Policy
from safepip.model.request import PipSettings
from safepip.reading import tree
from safepip.reading.pythons import calling, images, targets
from safepip.reading.settings import configuration, pip_settings
from safepip.reading.sites.homes import homes_of


@dataclass(frozen=True, slots=True)
class Found:
    """The environment, why it is this one, and what is configured for it."""

    target: Target
    reason: str
    settings: PipSettings
    policy: Policy


@contextmanager
def looked_at(root: str | None) -> Iterator[None]:
    """Everything that is looked at meanwhile lies in the image at `root`; None: on this machine."""
    if root is not None and not (os.path.isdir(root) and os.access(root, os.R_OK | os.X_OK)):
        raise UsageError(
            "no-such-root",
            f"--root: {root} is no folder that can be looked at",
            "An image, unpacked or mounted.",
        )
    with tree.entered(root):
        yield


def find(python: str | None, *, isolated: bool = False) -> Found:
    """The environment that `pip` would have acted on, called as safepip was called; that of an image that is looked at."""
    if tree.root() is not None:
        return _in_image(python, isolated=isolated)
    named = python or pip_settings.read(os.environ, None, isolated=isolated).python
    chosen = targets.choose(named, os.environ, sys.argv[0], running_as_module=calling.as_module())
    target = targets.read_target(chosen.executable, os.environ)
    settings = pip_settings.read(os.environ, target.prefix, isolated=isolated)
    why = chosen.reason if python or not named else "named by pip's own settings"
    return Found(target, _reason(why, target), settings, configuration.load(os.environ, target.prefix))


def meant(python: str | None, environ: Mapping[str, str]) -> Target:
    """The environment of a pip that another process would call with `environ`."""
    named = python or pip_settings.read(environ, None, isolated=False).python
    chosen = targets.choose(named, environ, "safepip", running_as_module=False)
    return targets.read_target(chosen.executable, environ)


def has_vault(target: Target) -> bool:
    """Whether an earlier change left anything; where none did there is nothing to end."""
    return any(tree.isdir(f"{home}/.safepip") for home in homes_of(target))


def _in_image(python: str | None, *, isolated: bool) -> Found:
    """Nothing of this machine counts: neither its variables nor its settings."""
    environ = tree.environ()
    named = python or pip_settings.read(environ, None, isolated=isolated).python
    chosen = images.choose(named)
    target = targets.read_target(chosen.executable, environ)
    settings = pip_settings.read(environ, target.prefix, isolated=isolated)
    return Found(target, chosen.reason, settings, configuration.load(environ, target.prefix))


def _reason(chosen: str, target: Target) -> str:
    """Why this environment, and that it is not safepip's own where somebody may have thought so."""
    own = os.path.realpath(sys.prefix)
    return chosen if own == os.path.realpath(target.prefix) else f"{chosen}; not safepip's own, {own}"
