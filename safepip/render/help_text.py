"""What `--help` says."""

from __future__ import annotations

OVERVIEW = """\
safepip stands in pip's place and refuses to remove what the rest of an environment still needs.

Usage:
  safepip uninstall [options] PACKAGE …    pip's uninstall behind the guard
  safepip uninstall [options] -r FILE …
  safepip install [options] PACKAGE …      pip's install, judged when it is done, with a way back;
                                           --dry-run judges before, --rollback goes back by itself
  safepip why NAME                         what a library, module or distribution is, and who needs it
  safepip audit                            what can go, and what each removal would break
  safepip guard on|off|status              guard one environment, whatever calls its pip
  safepip init bash|zsh|fish               shell code by which pip means safepip
  safepip hook                             answer a coding agent's tool call
  safepip uv pip uninstall|install …       uv's, behind the guard
  safepip doctor [--fix]                   what is broken now, and the commands that mend it
  safepip undo [ID]                        take back a removal or an install
  safepip history [--drop]                 what is kept for that, and let it go
  safepip explain [KIND]                   what a finding or a check means, and what to do
  safepip COMMAND …                        any other command goes to pip unchanged

Which environment: --python PATH (a python or an environment's folder) decides; else the environment that
the `pip` on the PATH acts on; `python -m safepip` acts on that python's own.
An image that is unpacked or mounted: --root DIR, with audit, doctor, why and uninstall --dry-run.

Help:
  safepip uninstall --help    the guard's options and pip's
  safepip help                pip's own overview
  safepip --version
"""

UNINSTALL = """\
Usage:
  safepip uninstall [options] PACKAGE …
  safepip uninstall [options] -r FILE …

Simulates the removal, looks at what those who stay would lose, and hands over to pip only what harms nobody.

The guard's own options:
  --dry-run         report and verdict only, nothing is touched
  --json            the report as JSON on standard output (--format json; with --dry-run sarif and markdown too)
  --files           with --json: the full list of paths that would go
  --safe            what a survivor owns as well stays, with its own bytes: fetched where the leaver's lie there
                    (--safe=keep leaves those); all or nothing
  --no-keep         keep nothing for `safepip undo`
  --force           go on in spite of a refusal
  --fail-on warn    end with 11 instead of going on where there are warnings
  --baseline FILE   with --dry-run: an earlier report, JSON or SARIF; the exit code is for what is new
  --root DIR        with --dry-run: look at the image unpacked or mounted at DIR; all paths are inside it,
                    nothing of it runs and nothing of this machine counts
  --code FOLDER     your own sources: they need what they import (may be given several times)

All of pip's options for uninstall and all of its global options work as with pip; those used most:
  -y, --yes         answers pip's question, never the guard's
  -r, --requirement FILE
  -v, --verbose     every consumer, every place that the loader would look at, and a proof for each loss
  --python PATH     the environment to act on: a python, or the folder of a venv
  The rest: safepip help uninstall

Exit codes:
  pip's own where pip ran; 0 allowed (--dry-run); 10 refused, nothing touched; 11 warnings under --fail-on warn;
  12 could not judge, nothing touched; 13 done, and something broke; 2 wrong usage

Example:
  safepip uninstall --dry-run nvidia-cudnn-cu13
"""

WAY_BACK = """\
Usage:
  safepip undo [ID] [--json]
  safepip history [--drop] [--json]

`undo` puts back what the last change took, or the one numbered ID: paths, bytes, modes, times, links and metadata;
of an install it takes away what came as well.
Where something has taken a place since, nothing is touched and it is named (10). Where a module that is back does
not find a library any more that it found before, that is said (13).

`history` lists what is kept, the newest first: 5 changes at most, and 2 GiB that nothing else holds. It lies in
.safepip/ of the environment, as second names for the same files. `--drop` lets all of it go and frees the space;
`safepip uninstall --no-keep` keeps nothing in the first place.
"""


def show(command: str) -> str:
    """The text for a command, or the overview for "" and for what safepip has no help of its own for."""
    return {"uninstall": UNINSTALL, "undo": WAY_BACK, "history": WAY_BACK}.get(command, OVERVIEW)
