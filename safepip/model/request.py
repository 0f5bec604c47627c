"""What is asked for: the parsed command line, and what pip's settings and safepip's own add to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from safepip.model.paths import DistKey, TargetPath


class ValuePlace(NamedTuple):
    """Where an option's value stands in a list of arguments: from `offset` to the end of one of them."""

    argument: int
    offset: int  # 0 in `-r FILE`, 2 in `-rFILE`, 14 in `--requirement=FILE`


class Safe(Enum):
    """What `--safe` does with co-owned files that hold the leaver's bytes."""

    OFF = "off"
    RESTORE = ""  # the survivor's own are fetched and take their place
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Uninstall:
    """`safepip uninstall`, as pip's own parser would read it.

    `pip_arguments` are the user's, in their order, without safepip's own options and without `--python`:
    whoever runs pip decides under which interpreter.
    """

    pip_arguments: tuple[str, ...]
    names: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    requirement_places: tuple[ValuePlace, ...] = ()  # of `requirement_files`, in `pip_arguments`
    python: str | None = None
    isolated: bool = False  # pip reads neither PIP_* nor the user's pip.conf
    yes: bool = False
    verbose: int = 0
    quiet: int = 0
    no_input: bool = False
    require_venv: bool = False
    break_system_packages: bool = False
    dry_run: bool = False
    json: bool = False
    format: str = "terminal"
    force: bool = False
    fail_on_warn: bool = False
    files: bool = False
    safe: Safe = Safe.OFF
    keep: bool = True  # what goes, so that it can be put back
    code: tuple[str, ...] = ()  # folders of one's own sources
    of_uv: bool = False  # uv does it, and is told `pip_arguments`
    root: str | None = None  # of an image that is only looked at
    baseline: str | None = None  # an earlier report: with dry_run, only what is new counts


@dataclass(frozen=True, slots=True)
class Undo:
    number: int | None = None  # None: the last change
    python: str | None = None
    json: bool = False


@dataclass(frozen=True, slots=True)
class History:
    python: str | None = None
    json: bool = False
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """One of the commands that only look (doctor's --fix aside), with its own options unread."""

    command: str
    arguments: tuple[str, ...]
    python: str | None = None
    root: str | None = None


@dataclass(frozen=True, slots=True)
class PassThrough:
    """Any other command of pip's: `arguments` are the user's without the `--python` before the command."""

    arguments: tuple[str, ...]
    python: str | None = None


@dataclass(frozen=True, slots=True)
class ShowHelp:
    command: str = ""  # "": of safepip as a whole


@dataclass(frozen=True, slots=True)
class ShowVersion:
    """pip's own, on standard output, and safepip's beside it."""

    of_pip: PassThrough


Request = Uninstall | Undo | History | Ask | PassThrough | ShowHelp | ShowVersion


@dataclass(frozen=True, slots=True)
class PipSettings:
    """What pip's configuration files and PIP_* variables say, as far as it decides what `uninstall` does."""

    python: str | None = None
    requirement_files: tuple[str, ...] = ()  # pip adds these to every uninstall
    yes: bool = False
    verbose: int = 0
    quiet: int = 0
    no_input: bool = False
    require_venv: bool = False
    break_system_packages: bool = False


class Chosen(NamedTuple):
    """The interpreter of the environment to act on, as it will be called, and why this one."""

    executable: TargetPath
    reason: str
    pip: TargetPath | None = None  # the `pip` on the PATH that it was read from


class Refused(NamedTuple):
    """An argument or requirement file over which pip ends the whole command before it touches anything."""

    message: str
    exit_code: int


class Requested(NamedTuple):
    """Whom the arguments and requirement files name, in pip's order, each once."""

    keys: tuple[DistKey, ...]
    warnings: tuple[str, ...] = ()
    refused: Refused | None = None
