"""Virtual environments on top of an interpreter that see its packages (`--system-site-packages`).

Nothing lists them, so they are looked for where tools and people put them; a walk through the disk would cost too much.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from safepip.errors import TargetError
from safepip.model.environment import Target
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.pythons import layout

MOST = 500  # folders that are asked for a pyvenv.cfg
# Folders of environments: of virtualenvwrapper, pipenv, poetry, hatch, pipx, uv's tools, pyenv, and by custom.
HOLDERS = (
    "~/.virtualenvs", "~/.venvs", "~/venvs", "~/envs", "~/.local/share/virtualenvs", "~/.cache/pypoetry/virtualenvs",
    "~/.local/share/hatch/env/virtual", "~/.local/share/pipx/venvs", "~/.local/pipx/venvs", "~/.local/share/uv/tools",
    "~/.pyenv/versions", "/opt", "/srv", "/opt/pipx/venvs", "/opt/venvs", "/srv/venvs", "/var/lib/venvs",
)  # fmt: skip
PLACES = (".", ".venv", "venv", "env", "~", "~/venv", "~/.venv", "/venv", "/.venv", "/app/.venv", "/app/venv")
INSIDE = ("", "/.venv", "/venv")  # a project's own


def of(target: Target, environ: Mapping[str, str]) -> tuple[TargetPath, ...]:
    """The pythons of those that can be found; in an image only its own variables count."""
    if target.is_venv:
        return ()
    environ = environ if tree.root() is None else tree.environ()
    found: dict[str, TargetPath] = {}
    for place in _places(target, environ):
        python = f"{place}/bin/python"
        real = tree.realpath(place)
        if real not in found and _sees(place, python, target):
            found[real] = TargetPath(python)
    return tuple(found.values())


def _places(target: Target, environ: Mapping[str, str]) -> Iterator[str]:
    active = environ.get("VIRTUAL_ENV")
    if active:
        yield active
    for place in PLACES:
        yield tree.abspath(tree.expanduser(place))
    holders = [environ.get("WORKON_HOME"), *map(tree.expanduser, HOLDERS), tree.expanduser("~")]
    left = MOST
    for holder in dict.fromkeys([*holders, f"{target.prefix}/envs", os.path.dirname(target.prefix)]):
        for name in _listed(holder) if holder else ():
            for inner in INSIDE:
                left -= 1
                if left < 0:
                    return
                yield f"{holder}/{name}{inner}"


def _sees(place: str, python: str, target: Target) -> bool:
    if not tree.exists(f"{place}/pyvenv.cfg"):
        return False
    try:
        venv = layout.read_venv(python)
    except (TargetError, OSError):
        return False
    if venv is None or not venv.system_site:
        return False
    homes = {tree.realpath(venv.home), tree.realpath(os.path.dirname(tree.realpath(python)))}
    return not homes.isdisjoint(
        {tree.realpath(f"{target.base_prefix}/bin"), os.path.dirname(target.interpreter)}
    )


def _listed(folder: str) -> list[str]:
    try:
        return sorted(tree.listdir(folder))
    except OSError:
        return []
