"""What is read beside an environment's own files: an agent's call, caches, where a wheel came from, a loader's files."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import NamedTuple

from safepip.acting import arriving, fetching
from safepip.commands import hook, means
from safepip.commands.scene import Scene
from safepip.errors import SafepipError
from safepip.model.paths import DistKey
from safepip.model.report import Verdict
from safepip.reading import tree
from safepip.reading.elf_files import ldconfig
from safepip.reading.sites import pip_report
from support.fuzzing import examples
from support.fuzzing.place import SITE, Place, place
from support.fuzzing.readers import Subject
from support.fuzzing.verdicts import Scenery, check_text
from support.fuzzing.watch import ViolatedError

_STORY = Scenery("import", "cached")
_CACHE = "home/cache/safepip/imports"
_KNOWN: dict[tuple[Path, str], Cached] = {}  # by the place and the kind
_INFO = f"a/b/c/env/{SITE}/odd-1.0.dist-info"


def _call(there: Place, data: bytes) -> None:
    """No program is started; whatever is not let through has its reason in print."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(data))
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            code = hook.answer([], there.environ)
    finally:
        sys.stdin = sys.__stdin__
    if code not in {hook.BLOCK, hook.LET_THROUGH}:
        raise ViolatedError(f"ended with {code}")
    odd = next((letter for letter in said.getvalue().replace("\n", "") if not letter.isprintable()), "")
    if odd:
        raise ViolatedError(f"{odd!r} is written to the terminal")


def _calls() -> list[bytes]:
    lines = [line.decode() for line in examples.shell_lines()]
    made = [{"tool_input": {"command": line}, "cwd": "/nonexistent"} for line in lines]
    words = {"tool_name": "shell", "tool_input": {"cmd": ["bash", "-lc", "pip uninstall -y torch"]}}
    return [json.dumps(call).encode() for call in (*made, words)]


def _environment(there: Place) -> None:
    if (there.env.site / "x.pth").exists() or not (there.root / _INFO).exists():  # of another subject
        there.anew()
        there.add("odd", {"odd.py": ""})


def _origin(there: Place, _: bytes) -> None:
    """Where doctor would have it come from, and what pip would be told to fetch."""
    scene = Scene(there.target, there.environ)
    url = means._url(DistKey("odd"), scene)  # noqa: SLF001  the whole answer asks for a sick environment
    dist = scene.inventory.find(DistKey("odd"))
    if dist is None or (url and not url.startswith("odd @ ")):
        raise ViolatedError(f"{url!r} would be installed")
    fetching._requirement(dist)  # noqa: SLF001


def _origins() -> list[bytes]:
    archive = {"url": "https://h/odd-1.0.zip", "archive_info": {"hash": "sha256=ab"}}
    repository = {
        "url": "https://h/odd",
        "vcs_info": {"vcs": "git", "commit_id": "ab12", "requested_revision": "main"},
    }
    return [
        json.dumps(origin).encode()
        for origin in (archive, repository, {"url": "file:///x", "dir_info": {"editable": True}})
    ]


def _announced(there: Place, _: bytes) -> None:
    """From pip's report to the wheels that it names; nothing is downloaded."""
    try:
        announced = pip_report.read(str(there.input))
        arriving.fetch(announced, there.target, there.environ, str(there.root))
    except (SafepipError, PermissionError):
        return


def _loader(there: Place, _: bytes) -> None:
    with tree.entered(str(there.root / "image")):
        ldconfig._preload_file()  # noqa: SLF001  the rest is read from a real loader's program
        ldconfig._musl_folders(b"/etc/ld-musl-any.path\0/lib:/usr/lib\0", "/lib/ld-musl-any.so.1")  # noqa: SLF001


def _image(there: Place) -> None:
    etc = there.root / "image/etc"
    if not etc.exists():
        etc.mkdir(parents=True)
        (etc / "ld-musl-any.path").symlink_to("ld.so.preload")


class Cached(NamedTuple):
    """One file of a cache as a run makes it. What is of its place alone has a name that stays as it is in each copy."""

    name: str
    text: bytes
    own: Mapping[bytes, bytes]  # by those names


def _cached(there: Place, kind: str) -> Cached:
    """A first run makes it; the identities of files and checksums are numbers of four digits and more."""
    shutil.rmtree(there.root / _CACHE, ignore_errors=True)
    _STORY.lay(there)
    _STORY.verdict(there, there.environ)
    (path,) = (there.root / _CACHE).glob(f"{kind}-*")
    text = path.read_bytes()
    shutil.rmtree(there.root / _CACHE)
    found = [os.fsencode(there.root), *re.findall(rb"\d+(?:,\d+){2,}", text)]
    own = {b"@%d@" % number: words for number, words in enumerate(dict.fromkeys(found))}
    for token, words in own.items():
        text = text.replace(words, token)
    return Cached(path.name, text, own)


def _prepared(kind: str, there: Place) -> None:
    if (there.root, kind) not in _KNOWN:
        _KNOWN[there.root, kind] = _cached(there, kind)


def _from_cache(kind: str, there: Place, data: bytes) -> Verdict:
    """Laid where this run looks for it, in a folder of one's own."""
    known = _KNOWN[there.root, kind]
    for token, words in known.own.items():
        data = data.replace(token, words)
    (there.root / _CACHE).mkdir(parents=True, mode=0o700)
    (there.root / _CACHE / known.name).write_bytes(data)
    verdict = _STORY.verdict(there, there.environ)
    check_text(verdict)
    return verdict


def _caches(kind: str) -> list[bytes]:
    made = place("seed")
    found = _cached(made, kind)
    made.remove()
    return [found.text]


def _cache(kind: str, share: int) -> Subject:
    prepared, act = partial(_prepared, kind), partial(_from_cache, kind)
    seeds = partial(_caches, kind)
    return Subject(f"cache of {kind}", "input", seeds, act, share, prepared, may_change=("home/cache",))


BESIDE: tuple[Subject, ...] = (
    Subject("tool call", "input", _calls, _call, 4, blocks_programs=True),
    Subject("direct_url.json", f"{_INFO}/direct_url.json", _origins, _origin, 2, _environment),
    Subject("pip's plan", "input", examples.pip_reports, _announced, 2, blocks_programs=True),
    Subject(
        "loader's files",
        "image/etc/ld.so.preload",
        lambda: [b"/lib/a.so:b.so # note\n", b"/lib\n/usr/lib:/x\n"],
        _loader,
        2,
        _image,
    ),
    _cache("sources", 2),
    _cache("names", 2),
    _cache("weighed", 2),
)
