"""What reads one file: each kind of input with good examples of it, and what is done with a spoilt one."""

from __future__ import annotations

import csv
import email
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from safepip.acting import arriving
from safepip.errors import SafepipError
from safepip.model.arrival import Announced
from safepip.model.elf import Abi
from safepip.model.imports import Condition, Source
from safepip.model.paths import DistKey, TargetPath
from safepip.reading.elf_files import elf, elf_hints, elf_symbols, loader_cache
from safepip.reading.pythons import targets
from safepip.reading.settings import baseline, configuration, pip_settings
from safepip.reading.sites import metadata, pip_report, record, requested, wheel
from safepip.reading.sources.source import read_module
from safepip.reasoning.shell import shell_lines
from safepip.reasoning.shell.shell_words import UnclearError
from support.fuzzing import examples
from support.fuzzing.mutators import MOST
from support.fuzzing.place import SITE, Place
from support.fuzzing.watch import ViolatedError


class Subject(NamedTuple):
    """A file by its place below a worker's folder, what it may look like, and what safepip does with it."""

    name: str
    file: str
    seeds: Callable[[], list[bytes]]
    act: Callable[[Place, bytes], object]
    share: int = 1  # of the inputs
    ready: Callable[[Place], None] = lambda _: None  # before the file is laid
    may_change: tuple[str, ...] = ()  # below a worker's folder
    blocks_programs: bool = False
    after: Callable[[Place, Any], None] = lambda _, __: None  # looks at what `act` has answered, unwatched


def _elf(place: Place, _: bytes) -> None:
    path = str(place.input)
    elf.read(path)
    elf_symbols.read_undefined(path)
    elf_symbols.read_definitions(path, ("tf", "call", "PyInit_a"))
    elf_hints.read(path)


def _cache(place: Place, _: bytes) -> None:
    loader_cache.read(str(place.input), Abi(64, little_endian=True, machine=62), ("x86-64-v3", "x86-64-v2"))


def _record(_: Place, data: bytes) -> None:
    """The rows are those of pip's metadata/base.py, `_iter_declared_entries_from_record`."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    if len(text) > MOST:  # pip's own way takes longer than an input may
        with suppress(record.BrokenRecordError):
            record.paths(text)
        return
    try:
        expected = [str(PurePosixPath(row[0])) for row in csv.reader(text.splitlines())]
    except (IndexError, csv.Error):
        expected = None
    try:
        found = record.paths(text)
        for row in record.rows(text):
            record.claim(row)
    except record.BrokenRecordError:
        found = None
    if found != expected:
        raise ViolatedError("rows that pip does not read so")


def _metadata(_: Place, data: bytes) -> None:
    """The fields that the standard library's parser finds, which pip asks."""
    text = data.decode(errors="surrogateescape")
    head = metadata.head(text)
    metadata.egg_requirements(text)
    if not text.isascii() or len(text) > MOST:  # the parser makes headers of another kind of it
        return
    message = email.message_from_string(text)
    expected = [" ".join(str(value).split()) for value in message.get_all("Requires-Dist", [])]
    if [" ".join(value.split()) for value in head.requires] != expected:
        raise ViolatedError("requirements that pip does not read so")


def _entry_points(_: Place, data: bytes) -> None:
    text = data.decode(errors="surrogateescape")
    for strict in (False, True):
        try:
            metadata.entry_points(text, strict=strict)
        except metadata.BrokenEntryPointsError:
            continue


def _target(place: Place, _: bytes) -> None:
    try:
        targets.read_target(f"{place.env.prefix}/bin/python", place.environ)
    except SafepipError:
        return


def _virtual(place: Place) -> None:
    python = place.env.prefix / "bin/python"
    if not python.is_symlink():
        python.symlink_to(os.path.realpath(sys.executable))
    (place.env.prefix / "pyvenv.cfg").write_bytes(examples.pyvenv()[0])


def _source(_: Place, data: bytes) -> None:
    """What the cut file holds of imports is what the whole one does."""
    cut = read_module(data, "pkg.mod", is_package=False)
    if not isinstance(cut, Source):
        return
    whole = read_module(data, "pkg.mod", is_package=False, whole=True)
    if not isinstance(whole, Source):
        return
    wanted = {(item.module, item.line) for item in whole.imports if item.condition is Condition.UNCONDITIONAL}
    missed = wanted - {(item.module, item.line) for item in cut.imports}
    if missed:
        raise ViolatedError(f"an import is not seen in what is cut out of the file: {sorted(missed)[:2]}")


def _configuration(place: Place, _: bytes) -> None:
    try:
        configuration.load(place.environ, "/nonexistent")
    except SafepipError:
        return


def _pip_settings(place: Place, _: bytes) -> None:
    try:
        pip_settings.read(place.environ, None, isolated=False)
    except SafepipError:
        return


def _requirements(place: Place, _: bytes) -> None:
    try:
        requested.requested([], [str(place.input)], "26.3", str(place.root))
    except SafepipError:
        return


def _words(place: Place, data: bytes) -> None:
    """The same as an argument of the command line."""
    try:
        requested.requested([os.fsdecode(data.split(b"\0")[0])], [], "26.3", str(place.root))
    except SafepipError:
        return


def _report(place: Place, _: bytes) -> None:
    try:
        pip_report.read(str(place.input))
    except SafepipError:
        return


def _baseline(place: Place, _: bytes) -> None:
    try:
        baseline.read(str(place.input))
    except SafepipError:
        return


def _wheel(place: Place, _: bytes) -> None:
    announced = Announced(
        DistKey("pkg"),
        "pkg",
        "1.0",
        "file:///pkg.whl",
        "",
        requested=True,
        requires=(),
        requires_python=False,
    )
    home = TargetPath(str(place.env.site))
    path = str(place.root / "pkg-1.0-py3-none-any.whl")
    folder = place.root / "stage"
    folder.mkdir(exist_ok=True)
    try:
        opened = wheel.open_wheel(path, announced, place.env.target, home)
        arriving.unpack(path, opened.members, str(folder))
    except SafepipError:
        return


def _hook(_: Place, data: bytes) -> None:
    try:
        shell_lines.calls(os.fsdecode(data))
    except UnclearError:
        return


READERS: tuple[Subject, ...] = (
    Subject("elf", "input", examples.objects, _elf, 10),
    Subject("ld.so.cache", "input", examples.loader_caches, _cache, 4),
    Subject("record", "input", examples.records, _record, 8),
    Subject("metadata", "input", examples.metadata_files, _metadata, 8),
    Subject("entry points", "input", examples.entry_points, _entry_points, 4),
    Subject(
        "pyvenv.cfg", "a/b/c/env/pyvenv.cfg", examples.pyvenv, _target, 1, _virtual, blocks_programs=True
    ),
    Subject("pth", f"a/b/c/env/{SITE}/x.pth", examples.pth_files, _target, 1, _virtual, blocks_programs=True),
    Subject("source", "input", examples.sources, _source, 8),
    Subject("configuration", "home/config/safepip/config.toml", examples.configurations, _configuration, 4),
    Subject("pip.conf", "pip.conf", examples.pip_settings, _pip_settings, 3),
    Subject("requirements", "input", examples.requirement_files, _requirements, 3),
    Subject("argument", "input", examples.arguments, _words, 3),
    Subject("pip's report", "input", examples.pip_reports, _report, 3),
    Subject("baseline", "input", examples.pip_reports, _baseline, 1),
    Subject("wheel", "pkg-1.0-py3-none-any.whl", examples.wheels, _wheel, 4, may_change=("stage",)),
    Subject("shell line", "input", examples.shell_lines, _hook, 4),
)
