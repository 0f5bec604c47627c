"""What pip's configuration files and PIP_* variables say for `uninstall` (pip's configuration.py, cli/parser.py).

Later wins: the system's files, the user's, the environment's, the one named by PIP_CONFIG_FILE, the variables;
across them the section [uninstall] beats [global]. A value that pip would not take ends the command here too.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping

from safepip.errors import UsageError
from safepip.model.request import PipSettings
from safepip.reading import plain_file, tree

_BOOLEANS = {
    "yes": "yes",
    "no-input": "no_input",
    "require-virtualenv": "require_venv",
    "require-venv": "require_venv",
    "break-system-packages": "break_system_packages",
}
_COUNTS = {"verbose": "verbose", "quiet": "quiet"}
_TRUE = {"y", "yes", "t", "true", "on", "1"}
_FALSE = {"n", "no", "f", "false", "off", "0"}
_MOST = 1 << 16  # bytes
_BLANKS = re.compile(r"[^\S\n]{256}")
_SECTIONS = ("global", "uninstall", ":env:")


def read(environ: Mapping[str, str], prefix: str | None, *, isolated: bool) -> PipSettings:
    """The settings in force for a pip that runs in `prefix` (None: not known yet).

    `isolated` leaves out the user's files and the variables. A setting's `python` is read without it, as
    pip looks for that one before it has seen the command.
    """
    settings: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    outer: dict[str, str] = {}
    for path, of_user in _files(environ, prefix):
        for section, values in _parsed(path).items():
            if section in settings and not (of_user and isolated):
                settings[section].update(values)
            if section == "global":
                outer.update(values)
    variables = dict(_variables(environ))
    if not isolated:
        settings[":env:"] = variables
    merged: dict[str, object] = {}
    for section in _SECTIONS:
        for key, value in settings[section].items():
            if value:
                merged.update(_read(key, value))
    return PipSettings(python=_last(outer, variables, "python"), **merged)  # type: ignore[arg-type]


def _last(outer: Mapping[str, str], variables: Mapping[str, str], key: str) -> str | None:
    return variables.get(key) or outer.get(key) or None


def _files(environ: Mapping[str, str], prefix: str | None) -> Iterator[tuple[str, bool]]:
    """The files in order, each with whether it is the user's (configuration.py:iter_config_files)."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    system = environ.get("XDG_CONFIG_DIRS", "").strip() or "/etc/xdg"
    for folder in system.split(":"):
        yield f"{tree.expanduser(folder)}/pip/pip.conf", False
    yield "/etc/pip.conf", False
    if not (named and tree.exists(named)):
        home = tree.expanduser("~")
        yield f"{home}/.pip/pip.conf", True
        yield f"{environ.get('XDG_CONFIG_HOME', '').strip() or f'{home}/.config'}/pip/pip.conf", True
    if prefix:
        yield f"{prefix}/pip.conf", False
    if named:
        yield named, False


def _parsed(path: str) -> dict[str, dict[str, str]]:
    """The sections of one file; none where it is absent or unreadable, which pip passes over as well."""
    if not tree.isfile(path):
        return {}
    import configparser

    _refuse_endless(path)
    parser = configparser.RawConfigParser()
    parser.optionxform = _normal  # type: ignore[method-assign,assignment]
    try:
        with tree.open(path, encoding="utf-8" if sys.flags.utf8_mode else plain_file.encoding()) as file:
            parser.read_file(file, path)
    except OSError:  # as ConfigParser.read passes over it
        return {}
    except (configparser.Error, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(
            "pip-configuration", f"pip's configuration file {path} cannot be read: {reason}"
        ) from error
    return {section: dict(parser.items(section)) for section in parser.sections()}


def _refuse_endless(path: str) -> None:
    """The standard library's parser takes the square of the blanks in a line."""
    try:
        data = plain_file.start(path, _MOST + 1)
    except OSError:
        return
    if len(data) > _MOST or _BLANKS.search(data.decode(errors="replace")):
        raise UsageError(
            "pip-configuration",
            f"pip's configuration file {path} cannot be read: more than {_MOST >> 10} KiB, or 256 blanks in a row",
        )


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in environ.items():
        if name.startswith("PIP_"):
            yield _normal(name[4:]), value


def _read(key: str, value: str) -> Mapping[str, object]:
    """One setting as a field of PipSettings; nothing where the guard need not know it."""
    if key in _BOOLEANS:
        return {_BOOLEANS[key]: _boolean(key, value)}
    if key in _COUNTS:
        return {_COUNTS[key]: _count(key, value)}
    return {"requirement_files": tuple(value.split())} if key == "requirement" else {}


def _boolean(key: str, value: str) -> bool:
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise _refused(key, value, "yes/no, true/false or 1/0")


def _count(key: str, value: str) -> int:
    if value.lower() in _TRUE | _FALSE:
        return int(value.lower() in _TRUE)
    try:
        number = int(value)
    except ValueError:
        number = -1
    if number < 0:
        raise _refused(key, value, "a number, or yes/no")
    return number


def _refused(key: str, value: str, wanted: str) -> UsageError:
    return UsageError(
        "pip-setting",
        f"{value} is not a valid value for pip's {key} option",
        f"Mend pip's configuration or PIP_{key.upper().replace('-', '_')}: {wanted}.",
    )
