"""The lines of requirement files that name something, as `pip uninstall -r` reads them (pip's req/req_file.py).

Nested files count, constraint files too; options are stepped over. No network: a file behind a URL ends the
command, as does one that could be read only once, since pip will read it again.
"""

from __future__ import annotations

import codecs
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from errno import EFBIG, EINVAL
from typing import NamedTuple, NoReturn

from safepip.errors import SafepipError
from safepip.reading import plain_file, tree

_SCHEME = re.compile(r"^(http|https|file):", re.IGNORECASE)
_COMMENT = re.compile(r"(^|\s+)#.*$")
_VARIABLE = re.compile(r"(\$\{([A-Z0-9_]+)\})")
_CODING = re.compile(rb"coding[:=]\s*([-\w.]+)")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
_FLAGS = ("--no-index", "--prefer-binary", "--require-hashes", "--no-require-hashes", "--pre")
_VALUES = (
    ("-i", "--index-url", "--pypi-url"), ("--extra-index-url",), ("-f", "--find-links"), ("--no-binary",),
    ("--only-binary",), ("--all-releases",), ("--only-final",), ("--trusted-host",), ("--use-feature",), ("--hash",),
    ("-C", "--config-setting", "--config-settings"),
)  # fmt: skip
_OLD_VALUES = (("--install-option",), ("--global-option",))  # until pip 23.1
_MOST = 1 << 26


class RefusedError(Exception):
    """pip ends here, before it touches anything."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class Line(NamedTuple):
    requirement: str
    editable: bool
    constraint: bool
    source: str  # `line 3 of req.txt`


class _Options(NamedTuple):
    requirement: str | None
    constraint: str | None
    editable: str | None


class _Reader(NamedTuple):
    cwd: str
    environ: Mapping[str, str]
    release: tuple[int, ...]  # of the pip that will read the files


def read(path: str, cwd: str, environ: Mapping[str, str], release: tuple[int, ...]) -> Iterator[Line]:
    """What the file names, in order. RefusedError where pip would give up."""
    reader = _Reader(cwd, environ, release)
    return _read(path, (tree.abspath(os.path.join(cwd, path)),), reader, constraint=False)


def _read(path: str, within: tuple[str, ...], reader: _Reader, *, constraint: bool) -> Iterator[Line]:
    kind = "constraint" if constraint else "requirements"
    for number, line in _lines(_content(path, reader.cwd, kind), reader.environ):
        words, options = _parsed(line, reader.release)
        nested = options.requirement or options.constraint
        if words or options.editable:
            yield Line(words or options.editable or "", not words, constraint, f"line {number} of {path}")
        elif nested:
            target = _nested_path(path, nested, reader.cwd)
            if target in within:
                code = 1 if reader.release >= (24, 3) else 2  # older ones recurse until Python stops them
                raise RefusedError(f"{target} recursively references itself in {path}", code)
            yield from _read(target, (*within, target), reader, constraint=not options.requirement)


def _nested_path(path: str, nested: str, cwd: str) -> str:
    if _SCHEME.match(path):
        from urllib.parse import urljoin

        return urljoin(path, nested)
    if _SCHEME.match(nested):
        return nested
    return tree.abspath(os.path.join(cwd, os.path.dirname(path), nested))


def _content(path: str, cwd: str, kind: str) -> str:
    scheme = path.partition(":")[0].lower()
    if scheme in {"http", "https"}:
        raise SafepipError(
            "requirements-behind-url",
            f"{path} would have to be fetched before it can be judged",
            "Download the file and name the copy.",
        )
    if scheme == "file":
        from urllib.request import url2pathname

        path = url2pathname("/" + path.partition(":")[2].removeprefix("//localhost").lstrip("/"))
    try:
        data = plain_file.content(os.path.join(cwd, path), _MOST)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == EINVAL:
            hint = "Name it by -r itself, or name a plain file."
            raise SafepipError("requirements-once", f"{path} can be read only once", hint) from error
        if isinstance(error, OSError) and error.errno == EFBIG:
            raise SafepipError("requirements-too-long", f"{path} holds more than {_MOST} bytes") from error
        raise RefusedError(f"Could not open {kind} file: {error}") from error
    return _decoded(data, path)


def _decoded(data: bytes, path: str) -> str:
    try:
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return data[len(mark) :].decode(encoding)
        for line in data.split(b"\n")[:2]:
            coding = _CODING.search(line) if line.startswith(b"#") else None
            if coding:
                return data.decode(coding[1].decode("ascii"))
        return data.decode()
    except (UnicodeDecodeError, LookupError) as error:
        return _by_locale(data, path, error)


def _by_locale(data: bytes, path: str, error: Exception) -> str:
    """What is no UTF-8 and says nothing of another encoding is read by the locale's."""
    declared = data.startswith(tuple(mark for mark, _ in _MARKS)) or any(
        line.startswith(b"#") and _CODING.search(line) for line in data.split(b"\n")[:2]
    )
    try:
        if not declared:
            return data.decode(plain_file.encoding())
    except (UnicodeDecodeError, LookupError):
        pass
    raise RefusedError(f"{path}: {error}", 2) from error


def _lines(content: str, environ: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Joined where they end in a backslash, without comments, variables put in."""
    for number, joined in _joined(content.splitlines()):
        line = _COMMENT.sub("", joined).strip()
        for written, name in _VARIABLE.findall(line):
            line = line.replace(written, environ.get(name) or written)
        if line:
            yield number, line


def _joined(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """req_file.py:join_lines. A comment ends a joined line; the blank before it keeps it a comment."""
    pieces: list[str] = []
    first = 0
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.match(line)
        if line.endswith("\\") and not comment:
            first = first if pieces else number
            pieces.append(line.strip("\\"))
            continue
        pieces.append(f" {line}" if comment else line)
        yield (first if len(pieces) > 1 else number), "".join(pieces)
        pieces = []
    if pieces:
        yield first, "".join(pieces)


def _parsed(line: str, release: tuple[int, ...]) -> tuple[str, _Options]:
    """The words before the first option, and the options that name something."""
    words = line.split(" ")
    first = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    if first == len(words):
        return line, _Options(None, None, None)
    try:
        options = shlex.split(" ".join(words[first:]))
    except ValueError as error:
        raise RefusedError(f"Invalid requirement: {line}: could not split its options") from error
    return " ".join(words[:first]), _options(options, line, release)


def _options(options: list[str], line: str, release: tuple[int, ...]) -> _Options:
    from optparse import OptionParser

    class Parser(OptionParser):
        def error(self, msg: str) -> NoReturn:
            raise RefusedError(f"Invalid requirement: {line}: {msg}")

    parser = Parser(add_help_option=False)
    for flag in _FLAGS:
        parser.add_option(flag, action="store_true")
    for names in (*_VALUES, *(_OLD_VALUES if release < (23, 1) else ())):
        parser.add_option(*names, action="append")
    parser.add_option("-r", "--requirement", action="append", dest="requirement")
    parser.add_option("-c", "--constraint", action="append", dest="constraint")
    parser.add_option("-e", "--editable", action="append", dest="editable")
    found, _ = parser.parse_args(options)
    return _Options(*((getattr(found, name) or [None])[0] for name in _Options._fields))
