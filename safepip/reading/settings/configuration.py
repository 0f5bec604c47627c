"""safepip's own settings: the machine's file, the user's, the environment's; the later wins where two speak of one thing.

    protected = ["torch"]           # both lists count
    timeout = 30                    # seconds
    code = ["/home/me/app"]         # folders of your own sources: they need what they import
    rollback = true                 # an install that breaks something is taken back unasked
    allow-force = false             # nobody may use --force; true elsewhere does not lift it

    [severity]
    requirement-lost = "warn"

    [[ignore]]                      # uninstall --dry-run, audit and doctor do not fail on it
    fingerprint = "0f3c…"           # as their JSON reports have it
    reason = "no GPU here"
    until = 2027-03-31              # optional: its last day; then it counts again, and the report says so

A word that is not understood ends the command: a guard whose settings were half read guards something else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from safepip.errors import SafepipError
from safepip.model.policy import Known, Policy
from safepip.model.report import FindingKind, Severity
from safepip.reading import plain_file, tree

_SEVERITIES = {"refuse": Severity.REFUSE, "warn": Severity.WARN, "note": Severity.NOTE}
_LONGEST = 86_400
_MOST_BYTES = 1 << 50
_MOST_DAYS = 36_500
_LONGEST_LINE = 4096  # tomllib takes a time that grows with the square of a dotted key's length
_MACHINE = "/etc/safepip/config.toml"  # by no variable: who is bound by it must not be able to lead past it
_MAY_BE_NOTES = frozenset(
    {
        FindingKind.EXTRA_LOST, FindingKind.COMMAND_LOST, FindingKind.FAMILY_SPLIT, FindingKind.PROVIDER_CHANGED,
        FindingKind.ORDER_RELIANT, FindingKind.DLOPEN_HINT, FindingKind.IN_USE, FindingKind.SHARED_TRIVIAL,
    }
)  # fmt: skip


def load(environ: Mapping[str, str], prefix: str) -> Policy:
    """The policy for the environment at `prefix`."""
    return reduce(_with_file, _files(environ, prefix), Policy())


def _files(environ: Mapping[str, str], prefix: str) -> Iterator[str]:
    yield _MACHINE
    home = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(home):  # the XDG base directory specification has such a value ignored
        home = tree.expanduser("~/.config")
    yield f"{home}/safepip/config.toml"
    yield f"{prefix}/.safepip/config.toml"


def _with_file(policy: Policy, path: str) -> Policy:
    for key, value in _read(path).items():
        match key:
            case "severity":
                severity = dict(_severities(value, path))
                stated = {**policy.stated, **dict.fromkeys(severity, path)}
                policy = replace(policy, severity={**policy.severity, **severity}, stated=stated)
            case "protected":
                policy = replace(policy, protected=policy.protected | _protected(value, path))
            case "timeout":
                policy = replace(policy, timeout=_timeout(value, path))
            case "code":
                policy = replace(policy, code=(*policy.code, *_code(value, path)))
            case "ignore":
                policy = _with_ignored(policy, tuple(_ignored(value, path)))
            case "allow-force":
                forbids = "" if _flag(value, key, path) else path
                policy = replace(policy, forbids_force=policy.forbids_force or forbids)
            case "vault":
                policy = replace(policy, keeps=policy.keeps._replace(**dict(_bounds(value, path))))
            case "rollback":
                policy = replace(policy, rollback=_flag(value, key, path))
            case _:
                raise _wrong(
                    path,
                    f"there is no setting {key!r}",
                    "severity, protected, timeout, code, rollback, allow-force, vault and ignore",
                )
    return policy


def _read(path: str) -> Mapping[str, Any]:
    try:
        data = plain_file.content(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        way = (
            ""
            if path == _MACHINE or path.endswith("/.safepip/config.toml")
            else ", or lead XDG_CONFIG_HOME to settings that may be"
        )
        hint = f"Make it readable for this user{way}."
        raise SafepipError("configuration", f"{path}: it cannot be read: {error.strerror}", hint) from error
    import tomllib

    if max(map(len, data.splitlines()), default=0) > _LONGEST_LINE:
        raise _wrong(path, f"it has a line of more than {_LONGEST_LINE} bytes", "")
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise _wrong(path, f"it is no TOML: {error}", "") from error


def _severities(value: object, path: str) -> Iterator[tuple[FindingKind, Severity]]:
    kinds = {kind.value: kind for kind in FindingKind}
    if not isinstance(value, dict):
        raise _wrong(path, "severity is no table", "a table of kinds")
    for name, level in value.items():
        if name not in kinds:
            raise _wrong(path, f"severity.{name} names no kind of finding", ", ".join(kinds))
        kind = kinds[name]
        allowed = [word for word in _SEVERITIES if word != "note" or kind in _MAY_BE_NOTES]
        if level not in allowed:
            raise _wrong(path, f"severity.{name} is {level!r}", " or ".join(allowed))
        yield kind, _SEVERITIES[level]


def _protected(value: object, path: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _wrong(path, f"protected is {value!r}", "a list of names")
    return frozenset(re.sub(r"[-_.]+", "-", name).lower() for name in value)


def _code(value: object, path: str) -> Iterator[str]:
    for folder in value if isinstance(value, list) else [None]:
        full = tree.expanduser(folder) if isinstance(folder, str) else ""
        if not os.path.isabs(full):
            raise _wrong(path, f"code has {folder!r}", "a list of folders, each from / or ~ on")
        if not tree.isdir(full):
            raise _wrong(path, f"code: there is no folder {full}", "")
        yield full


def _timeout(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST:
        raise _wrong(path, f"timeout is {value!r}", f"seconds, more than 0 and at most {_LONGEST}")
    return float(value)


def _with_ignored(policy: Policy, entries: Iterable[tuple[str, Known]]) -> Policy:
    """Of two entries for one fingerprint the one that still holds counts."""
    from datetime import UTC, datetime

    today = datetime.now(UTC).date().isoformat()
    ended = {mark: entry for mark, entry in entries if entry.until and entry.until < today}
    ignored = {mark: entry for mark, entry in entries if not entry.until or entry.until >= today}
    return replace(policy, ignored={**policy.ignored, **ignored}, ended={**policy.ended, **ended})


def _ignored(value: object, path: str) -> Iterator[tuple[str, Known]]:
    """Each entry says why: nobody remembers otherwise."""
    from datetime import date

    for entry in value if isinstance(value, list) else [None]:
        said = entry if isinstance(entry, dict) else {}
        fingerprint, reason, until = (said.get(key) for key in ("fingerprint", "reason", "until"))
        dated = until is None or type(until) is date
        if not (isinstance(fingerprint, str) and isinstance(reason, str) and reason and dated):
            raise _wrong(
                path, f"ignore has {entry!r}", "tables of fingerprint, reason and perhaps until, a date"
            )
        yield fingerprint, Known(path, reason=reason, until=until.isoformat() if until else "")


def _bounds(value: object, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise _wrong(path, "vault is no table", "a table of changes, bytes and days")
    for name, number in value.items():
        whole = isinstance(number, int) and not isinstance(number, bool)
        fits = whole and 0 <= number <= _MOST_BYTES
        if name == "days":
            fits = whole and 0 < number <= _MOST_DAYS
        elif name not in {"changes", "bytes"}:
            raise _wrong(path, f"there is no setting vault.{name}", "changes, bytes and days")
        if not fits:
            raise _wrong(
                path, f"vault.{name} is {number!r}", "a whole number" + (" above 0" * (name == "days"))
            )
        yield name, number


def _flag(value: object, key: str, path: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(path, f"{key} is {value!r}", "true or false")
    return value


def _wrong(path: str, what: str, allowed: str) -> SafepipError:
    return SafepipError("configuration", f"{path}: {what}", f"Allowed: {allowed}." if allowed else "")
