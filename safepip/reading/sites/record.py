"""RECORD, and its forerunner installed-files.txt, read as pip reads them; and what its rows promise."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

from safepip.model.environment import Claim, Distribution
from safepip.model.paths import TargetPath
from safepip.reading import plain_file, tree

_LONGEST_FIELD = 131_072  # csv.field_size_limit()
_CHUNK = 1 << 16
_DIGITS = 20  # no file's size has more; int() gives up over some thousand
_PROMISE = r",(?:sha256=[^,]{43})?,[0-9]*"
_ENDS = {
    False: re.compile(_PROMISE + r"\n"),
    True: re.compile(_PROMISE + r"\r\n"),
}  # by whether rows end as csv's
_NEVER = ('"', "\v", "\f", "\x1c", "\x1d", "\x1e", "\0")  # in what an installer writes
_ODD_START = ("", ".", "/", '"', ",")
_ODD = (
    "//",
    "/.",
    "/,",
    "/\n",
    '/"',
    "\n.",
    "\n/",
    "\n,",
    '"',
    "\r",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
)


class BrokenRecordError(ValueError):
    """pip ends with a traceback over such a RECORD."""


def paths(text: str) -> list[str]:
    """The first cell of each row, folded as pathlib folds it (pip: `str(Path(row[0]))`)."""
    lines = text.splitlines()
    _check(lines)
    cells = [row[0] for row in _rows(lines)] if '"' in text else [line.partition(",")[0] for line in lines]
    if text[:1] not in _ODD_START and text[-1:] != "/" and not any(mark in text for mark in _ODD):
        return cells  # so it is for nearly every RECORD, and asking the whole text is quicker than each row
    odd = [
        i
        for i, cell in enumerate(cells)
        if cell[:1] in "./" or "/." in cell or "//" in cell or cell[-1:] == "/"
    ]
    for index in odd:
        cells[index] = folded(cells[index])
    return cells


def plain(text: str) -> str | None:
    """The first cells, a line for each between two ends, of a RECORD as every installer writes it; else None.

    Then no quotes, blank lines or odd ends of lines stand in it; most of all RECORDs are so, and it costs a third.
    """
    lines = text.count("\n")
    returns = text.count("\r")
    if not text.isascii() or returns not in {0, lines} or any(mark in text for mark in _NEVER):
        return None
    cells, rows = _ENDS[returns > 0].subn("\n", text)
    if rows != lines or text[-1:] != "\n" or "," in cells or _is_long(text):
        return None
    cells = f"\n{cells}"
    return None if any(mark in cells for mark in ("\n\n", "//", "/\n")) else cells


def _is_long(text: str) -> bool:
    return len(text) > _LONGEST_FIELD and max(map(len, text.split("\n"))) > _LONGEST_FIELD


def installed_files(text: str, info: str) -> list[str]:
    """The lines of installed-files.txt, made relative to the folder that `info` lies in.

    pip's metadata/base.py, `_convert_installed_files_path`: links are not followed.
    """
    return [_from_info(folded(line).split("/"), info) for line in text.splitlines() if line]


def claims(dist: Distribution, wanted: Collection[TargetPath]) -> dict[TargetPath, Claim]:
    """What `dist` recorded of those of `wanted` that it lists; RECORD is read again for it."""
    if not wanted or not dist.files:
        return {}
    try:
        text = plain_file.content(f"{dist.info}/RECORD").decode()
        found = dict(zip(paths(text), rows(text), strict=True))
    except (OSError, ValueError):
        return {}
    if len(found) != len(dist.files):  # changed since the inventory was taken, or no RECORD was read then
        return {}
    wanted = frozenset(wanted)
    return {path: claim(row) for path, row in zip(dist.files, found.values(), strict=True) if path in wanted}


def rows(text: str) -> list[list[str]]:
    """The cells of each row, unfolded: of a wheel, whose paths are relative."""
    return _rows(text.splitlines())


def claim(row: Sequence[str]) -> Claim:
    """What one row promises."""
    size = row[2] if len(row) > 2 else ""
    is_size = size.isdecimal() and len(size) < _DIGITS
    return Claim(row[1] if len(row) > 1 else "", int(size) if is_size else None)


def digest(path: TargetPath, like: str = "sha256") -> str:
    """The file's digest in RECORD's form, by the algorithm of `like`, a claim's digest; "" where it cannot be made."""
    import base64
    import hashlib

    algorithm = like.partition("=")[0] or "sha256"
    try:
        state = hashlib.new(algorithm)
        handle = tree.handle(path)  # 30,000 small files are digested at a time: no stream around each
        try:
            while chunk := os.read(handle, _CHUNK):
                state.update(chunk)
        finally:
            os.close(handle)
    except (OSError, ValueError, TypeError):  # a NUL in the algorithm's name is a TypeError
        return ""
    return f"{algorithm}={base64.urlsafe_b64encode(state.digest()).decode().rstrip('=')}"


def _check(lines: Sequence[str]) -> None:
    if max(map(len, lines), default=0) > _LONGEST_FIELD:
        _rows(lines)
    if "" in lines and any(not row for row in _rows(lines)):
        raise BrokenRecordError("blank line")


def _rows(lines: Sequence[str]) -> list[list[str]]:
    import csv

    try:
        return list(csv.reader(lines))
    except csv.Error as error:
        raise BrokenRecordError(str(error)) from error


def folded(cell: str) -> str:
    root = "" if cell[:1] != "/" else "//" if cell[:2] == "//" and cell[2:3] != "/" else "/"
    return root + "/".join([part for part in cell.split("/") if part not in {"", "."}]) or "."


def _from_info(entry: list[str], info: str) -> str:
    if entry[0] == "":
        return "/".join(entry)
    parts = [os.path.basename(info)]
    while entry and entry[0] == "..":
        parts = [*parts, ".."] if not parts or parts[-1] == ".." else parts[:-1]
        entry = entry[1:]
    return "/".join([*parts, *entry]) or "."
