"""The journal says which change is under way, so that the next run can end what this one could not."""

from __future__ import annotations

import json

from safepip.acting import files
from safepip.model.paths import TargetPath
from safepip.model.receipt import Entry


def begin(home: TargetPath, entry: Entry) -> None:
    """From here until `end` the environment may be between before and after."""
    text = json.dumps({"action": entry.action.value, "id": entry.id, "what": entry.what})
    files.write_over(_path(home), text.encode())


def end(home: TargetPath) -> None:
    """What was done before is on the disk when this returns: file systems keep the order of names."""
    files.unlink(_path(home))
    files.sync_folder(f"{home}/.safepip")


def _path(home: TargetPath) -> str:
    return f"{home}/.safepip/journal"
