"""How an environment is guarded, for people and for programs."""

from __future__ import annotations

import json
import shlex

from safepip.errors import printable
from safepip.model.guard import Entry, Guard, GuardState
from safepip.render.document import SCHEMA

NOT_REACHED = (
    "python -S",
    "`import pip` inside a program",
    "uv, conda and other installers",
)


def show(guard: Guard) -> str:
    place = f"{guard.python} ({guard.site})"
    lines = {
        GuardState.ON: [f"safepip: guard on: {place}"],
        GuardState.OFF: [f"safepip: guard off: {place}"],
        GuardState.STALE: [
            f"safepip: guard of another safepip, or in part: {place}; safepip guard on renews it"
        ],
    }[guard.state]
    lines += [
        f"  {'guarded    ' if entry.guarded else 'NOT GUARDED'}  {_command(entry)}" for entry in guard.entries
    ]
    if guard.state is not GuardState.OFF:
        lines.append(f"  not reached: {'; '.join(NOT_REACHED)}")
    return "".join(f"{printable(line)}\n" for line in lines)


def dump(guard: Guard) -> str:
    return json.dumps(
        {
            "schema": SCHEMA,
            "guard": guard.state.value,
            "environment": {"python": guard.python},
            "site": guard.site,
            "entries": [{"command": entry.command, "guarded": entry.guarded} for entry in guard.entries],
            "not_reached": NOT_REACHED,
        }
    )


def _command(entry: Entry) -> str:
    return f"{shlex.join(entry.command)} uninstall …"
