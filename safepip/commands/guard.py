"""`safepip guard on|off|status`: one environment is guarded, whatever calls its pip."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from safepip.acting import intercept
from safepip.errors import SafepipError
from safepip.model import variables
from safepip.model.environment import Target
from safepip.model.guard import Entry, Guard, GuardState
from safepip.model.paths import TargetPath
from safepip.reading.pythons import interpreter

# What removes nothing: pip knows no --dry-run here and ends with 2; safepip knows no such distribution.
PROBE = ("uninstall", "--dry-run", "--json", "-y", "safepip-guard-probe")

_PATIENCE = 60  # seconds, for one call
_CALLS = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-m', 'pip', *sys.argv[1:]]))"


def on(target: Target) -> Guard:
    """Lay the hook down and see that it acts; where it does not, everything is as before."""
    interpreter.refuse_foreign_target(target)
    site = _site(target)
    if target.python < intercept.OLDEST:
        oldest = ".".join(map(str, intercept.OLDEST))
        raise SafepipError(
            "python-too-old", f"{target.executable} is older than {oldest}, which the guard needs"
        )
    before = intercept.state(site)
    intercept.lay_down(site)
    entries = tuple(_tried(command) for command in _module(target))
    if all(entry.guarded for entry in entries):
        return Guard(target.executable, site, GuardState.ON, entries)
    if before is GuardState.OFF:
        intercept.take_away(site)
    raise SafepipError(
        "guard-does-not-act",
        f"the guard was laid into {site}, and {' '.join(entries[0].command)} is not guarded; it was taken out again",
        "Does that Python start without its site-packages?",
    )


def off(target: Target) -> Guard:
    site = _site(target)
    intercept.take_away(site)
    return Guard(target.executable, site, GuardState.OFF)


def status(target: Target) -> Guard:
    """Each way of calling pip that is there is really called."""
    interpreter.refuse_foreign_target(target)
    site = _site(target)
    found = intercept.state(site)
    if found is GuardState.OFF:
        return Guard(target.executable, site, found)
    return Guard(target.executable, site, found, tuple(_tried(command) for command in _entries(target)))


def acts(target: Target) -> bool:
    """Whether the hook lies there as it should; nothing is called."""
    return intercept.state(_site(target)) is GuardState.ON


def _site(target: Target) -> TargetPath:
    """The first folder that this environment's Python reads at its start, and no other's."""
    inside = f"{os.path.realpath(target.prefix)}/"
    for site in target.sites:
        if site != target.user_site and os.path.realpath(site).startswith(inside):
            return site
    raise SafepipError("no-site-packages", f"{target.prefix} has no site-packages to lay the guard into")


def _module(target: Target) -> Iterator[tuple[str, ...]]:
    if target.pip.location is not None:
        yield (target.executable, "-m", "pip")
    else:
        yield (sys.executable, "-m", "pip", "--python", target.executable)


def _entries(target: Target) -> Iterator[tuple[str, ...]]:
    python = target.executable
    yield from _module(target)
    if target.pip.location is None:
        return
    scripts = sorted(name for name in os.listdir(target.scripts) if name.startswith("pip"))
    for path in (f"{target.scripts}/{name}" for name in scripts if not name[3:].strip(".0123456789")):
        if os.access(path, os.X_OK):
            yield (path,)
            yield (python, path)
    yield (python, "-I", "-m", "pip")
    yield (python, f"{target.pip.location}/pip")
    yield ("/bin/sh", "-c", f'exec "{python}" -m pip "$@"', "sh")
    yield ("/usr/bin/env", "-i", python, "-m", "pip")
    yield (python, "-c", _CALLS)
    yield (sys.executable, "-m", "pip", "--python", python)


def _tried(command: tuple[str, ...]) -> Entry:
    environ = {key: value for key, value in os.environ.items() if key != variables.RUNS_PIP}
    try:
        done = subprocess.run(
            [*command, *PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=environ,
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Entry(command, guarded=False)
    return Entry(command, guarded=done.stdout.startswith(b'{"schema"'))
