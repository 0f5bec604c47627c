"""What is judged whole: a removal that is refused, with one of the files spoilt on which the refusal rests.

Where the verdict then is "allow" and nothing is said to be unjudged, the removal is really done, and what worked
before must work afterwards: the real loader and the real import system decide.
"""

from __future__ import annotations

import csv
import ctypes
import importlib
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from safepip.commands.examine import examine
from safepip.commands.scene import Scene
from safepip.model.environment import Target
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Decision, Verdict
from safepip.reasoning.verdict.judge import judge
from safepip.render import brief, document, terminal
from support.elves import write
from support.fake_world import lib
from support.fuzzing import examples
from support.fuzzing.place import Place, place
from support.fuzzing.readers import Subject
from support.fuzzing.watch import ViolatedError
from support.small import INSIDE, Small
from support.wheels import Contents, install

_COLOUR = re.compile(r"\033\[[\d;]*m")
_SECONDS = 5
_Story = Mapping[str, tuple[Contents, Sequence[str]]]

LIBRARY: _Story = {
    "provider": ({"provider/lib/libx.so.1": write(lib("libx.so.1"))}, ()),
    "survivor": (
        {"survivor/_C.so": write(lib(None, needs=["libx.so.1"], runpath="$ORIGIN/../provider/lib"))},
        (),
    ),
    "leaf": ({"leaf.py": "x = 1\n"}, ()),
}
IMPORT: _Story = {
    "provider": ({"provider/__init__.py": "value = 1\n", "provider/inner.py": ""}, ()),
    "survivor": ({"survivor/__init__.py": "import os\nimport provider.inner\n\n\ndef work():\n    return os.sep\n"},
                 ["provider>=1.0", 'leaf ; python_version < "3"']),
    "leaf": ({"leaf.py": "x = 1\n"}, ()),
}  # fmt: skip
SHARED: _Story = {
    "provider": ({"provider.py": "", "common/data.py": "value = 1\n"}, ()),
    "survivor": ({"survivor.py": "", "common/data.py": "value = 1\n"}, ()),
}
STORIES = {"library": LIBRARY, "import": IMPORT, "shared": SHARED}


class Scenery(NamedTuple):
    """A story in a folder of its own, in which one file is spoilt."""

    story: str
    file: str

    def environment(self, there: Place) -> Small:
        return Small(there.root / "a/b/c" / self.folder)

    @property
    def folder(self) -> str:
        return re.sub(r"\W", "-", f"{self.story}-{self.file}")

    def lay(self, there: Place) -> None:
        """Make it, if it is not there."""
        small = self.environment(there)
        if not (small.prefix / "bin").exists():
            (small.prefix / "bin").mkdir(parents=True)
            for name, (files, requires) in STORIES[self.story].items():
                install(small.site, name, files, requires=requires)

    def target(self, there: Place) -> Target:
        real = TargetPath(os.path.realpath(sys.executable))
        version = ".".join(map(str, sys.version_info[:3]))
        stdlib = TargetPath(os.path.dirname(os.__file__))
        small = self.environment(there).target
        path = (stdlib, *small.path)
        return replace(small, interpreter=real, version=version, stdlib=stdlib, path=path)

    def verdict(self, there: Place, environ: Mapping[str, str]) -> Verdict:
        scene = Scene(self.target(there), environ)
        return judge(examine([DistKey("provider")], scene).evidence, Policy())


def check_text(verdict: Verdict) -> None:
    """No name drives the terminal, and the JSON is JSON."""
    colour = terminal.Style(80, colour=True, verbose=True)
    texts = [terminal.show(verdict, colour), terminal.show(verdict, terminal.Style())]
    for text in (*texts, brief.show(verdict)) if verdict.findings else texts:
        plain = _COLOUR.sub("", text).replace("\n", "")
        if not plain.isprintable():
            odd = next(letter for letter in plain if not letter.isprintable())
            raise ViolatedError(f"{odd!r} is written to the terminal")
    json.loads(document.dump(verdict, files=True))


def check_paths(verdict: Verdict, prefix: Path) -> None:
    """What lies outside is planned only to be refused."""
    for path in (*verdict.removal.files, *verdict.removal.folders):
        if not path.startswith(f"{prefix}/") and verdict.decision is not Decision.REFUSE:
            raise ViolatedError(f"{path} would go")


def _act(scenery: Scenery, there: Place, _: bytes) -> Verdict:
    verdict = scenery.verdict(there, {"PATH": "/usr/bin"})
    check_text(verdict)
    return verdict


def _after(scenery: Scenery, there: Place, verdict: Verdict) -> None:
    small = scenery.environment(there)
    check_paths(verdict, small.prefix)
    if verdict.decision is Decision.ALLOW and not verdict.unjudged:
        broken = _broken_by(verdict, small)
        if broken:
            raise ViolatedError(f"allowed, and really done it breaks {broken}")


def _broken_by(verdict: Verdict, small: Small) -> str:
    before = _working(small, _ATTEMPTS)
    if not before:
        return ""
    stash = small.prefix.parent / "stash"
    stash.mkdir(exist_ok=True)
    moved = []
    for number, path in enumerate(verdict.removal.files):
        if os.path.lexists(path):
            os.rename(path, stash / str(number))
            moved.append((path, stash / str(number)))
    try:
        lost = before - _working(small, before)
    finally:
        for path, kept in moved:
            os.rename(kept, path)
    return ", ".join(sorted(lost))


def _working(small: Small, asked: Collection[str]) -> set[str]:
    """What of `asked` works of the survivor, each tried in a process of its own: forking costs more than judging."""
    shared = small.site / "common/data.py"
    common = {"a file"} if shared.exists() and _may_claim(small, "common/data.py") else set()
    return common | {
        name
        for name, (file, attempt) in _ATTEMPTS.items()
        if name in asked and (small.site / file).exists() and _succeeds(partial(attempt, small.site))
    }


def _may_claim(small: Small, path: str) -> bool:
    """Whether the survivor's RECORD lists `path`, or is plainly not whole. A row of another path claims another."""
    info = small.site / "survivor-1.0.dist-info"
    try:
        rows = [
            str(PurePosixPath(row[0]))
            for row in csv.reader((info / "RECORD").read_text("utf-8").splitlines())
        ]
    except (UnicodeDecodeError, IndexError, csv.Error):
        return True
    return path in rows or f"{info.name}/RECORD" not in rows


def _opens(site: Path) -> None:
    ctypes.CDLL(str(site / "survivor/_C.so"))


def _imports(site: Path) -> None:
    sys.path.insert(0, str(site))
    sys.dont_write_bytecode = True
    importlib.import_module("survivor")


_ATTEMPTS: Mapping[str, tuple[str, Callable[[Path], None]]] = {
    "an object": ("survivor/_C.so", _opens),
    "an import": ("survivor/__init__.py", _imports),
}


def _succeeds(attempt: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        ending = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_SECONDS)
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            attempt()
            ending = 0
        finally:
            os._exit(ending)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _of(story: str, name: str, file: str, share: int = 1) -> Subject:
    """The file itself, as it is laid, is the example."""
    scenery = Scenery(story, file)

    def seeds() -> list[bytes]:
        made = place("seed")
        scenery.lay(made)
        data = (scenery.environment(made).site / file).read_bytes()
        made.remove()
        return [data, data, data, *extra]

    extra = examples.records() if file.endswith("RECORD") else []
    path = f"a/b/c/{scenery.folder}/{INSIDE}/{file}"
    after = partial(_after, scenery)
    return Subject(f"{name} ({story})", path, seeds, partial(_act, scenery), share, scenery.lay, after=after)


VERDICTS: tuple[Subject, ...] = (
    _of("library", "the survivor's object", "survivor/_C.so", 3),
    _of("library", "the library", "provider/lib/libx.so.1", 2),
    _of("library", "the leaver's RECORD", "provider-1.0.dist-info/RECORD"),
    _of("library", "the survivor's RECORD", "survivor-1.0.dist-info/RECORD"),
    _of("library", "the survivor's METADATA", "survivor-1.0.dist-info/METADATA"),
    _of("library", "the leaver's METADATA", "provider-1.0.dist-info/METADATA"),
    _of("import", "the survivor's source", "survivor/__init__.py", 2),
    _of("import", "the survivor's RECORD", "survivor-1.0.dist-info/RECORD"),
    _of("import", "the leaver's RECORD", "provider-1.0.dist-info/RECORD"),
    _of("import", "the survivor's METADATA", "survivor-1.0.dist-info/METADATA"),
    _of("import", "the leaver's source", "provider/__init__.py"),
    _of("shared", "the survivor's RECORD", "survivor-1.0.dist-info/RECORD"),
    _of("shared", "the leaver's RECORD", "provider-1.0.dist-info/RECORD"),
)
