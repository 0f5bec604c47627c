"""The folders of an environment that may hold a `.safepip` of its own."""

from __future__ import annotations

import os

from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.reading import tree


def homes_of(target: Target) -> tuple[TargetPath, ...]:
    """Where a vault of this environment can lie: its prefix, and the user's own where that is on sys.path."""
    prefix = TargetPath(tree.realpath(target.prefix))
    if target.user_site is None or target.user_scripts is None:
        return (prefix,)
    return TargetPath(tree.realpath(os.path.dirname(target.user_scripts))), prefix
