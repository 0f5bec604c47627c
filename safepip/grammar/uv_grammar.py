"""`uv pip uninstall` and `uv pip install`, as far as a guard must understand them.

An option of a removal that is not known here ends the command; an install is judged by what it has done, so that only
what leads elsewhere must be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from safepip.errors import VALUE_MISSING, UsageError
from safepip.model.request import Uninstall

_FLAGS = frozenset(
    {
        "-q", "--quiet", "-v", "--verbose", "--no-config", "--offline", "--native-tls", "--no-progress", "--no-cache",
        "--break-system-packages", "--no-break-system-packages", "--system", "--no-python-downloads",
    }
)  # fmt: skip
_VALUES = frozenset(
    {"--color", "--config-file", "--cache-dir", "--directory", "--project", "--keyring-provider"}
)
_OWN = {
    "--dry-run": "dry_run",
    "--json": "json",
    "--force": "force",
    "--files": "files",
    "-y": "yes",
    "--yes": "yes",
}
_FILES = frozenset({"-r", "--requirement", "--requirements"})
_PYTHON = frozenset({"-p", "--python"})
_MOVES = frozenset({"--directory", "--project"})


_CHANGES = frozenset({"sync", "add", "remove", "run"})
_ELSEWHERE = (*_MOVES, "--target", "--prefix", "--root", "-t", "--dry-run", "-h", "--help")


class Install(NamedTuple):
    """`uv pip install`; `python` is what it names, python3 for `--system`."""

    words: tuple[str, ...]
    python: str | None
    json: bool
    rollback: bool


def is_removal(words: Sequence[str]) -> bool:
    """Whether `uv WORDS` is `uv pip uninstall`, its options not yet read."""
    return (
        "pip" in words
        and "uninstall" in words[words.index("pip") + 1 :]
        and "run" not in words[: words.index("pip")]
    )


def install(words: Sequence[str]) -> Install | None:
    """None where `uv WORDS` is no install into an environment."""
    place = words.index("pip") if "pip" in words else len(words)
    before, after = words[:place], words[place + 1 :]
    commands = [word for word in after if not word.startswith("-")]
    if commands[:1] != ["install"] or any(not word.startswith("-") for word in before):
        return None
    if any(word.partition("=")[0] in _ELSEWHERE for word in words):
        return None
    python = None
    for word, following in zip(words, (*words[1:], ""), strict=True):
        name, equals, value = word.partition("=")
        if name in _PYTHON:
            python = value if equals else following
        elif name.startswith("-p") and not name.startswith("--"):
            python = word[2:]
        elif name == "--system":
            python = "python3"
    kept = tuple(word for word in words if word not in {"--json", "--rollback"})
    return Install(kept, python, "--json" in words, "--rollback" in words)


def unguarded(words: Sequence[str]) -> str:
    """The command of `uv WORDS` that changes an environment and has no guard; "" where it is none of those."""
    commands = [word for word in words if not word.startswith("-")][:2]
    if commands[:1] == ["pip"]:
        return "uv pip sync" if commands[1:] == ["sync"] else ""
    return f"uv {commands[0]}" if commands[:1] and commands[0] in _CHANGES else ""


def parse(words: Sequence[str]) -> Uninstall:
    """The request that `uv WORDS` makes; for `--system` it names python3."""
    kept: list[str] = []
    names: list[str] = []
    files: list[str] = []
    python: str | None = None
    flags: dict[str, bool] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        takes = name in _VALUES or name in _FILES or name in _PYTHON
        if takes and not equals:
            if not left:
                raise UsageError(VALUE_MISSING, f"{name} option requires 1 argument")
            value = left.pop(0)
        if name in _OWN and not equals:
            flags[_OWN[name]] = True
            continue
        if name in _MOVES or (name.startswith("-") and not takes and (equals or name not in _FLAGS)):
            raise UsageError(
                "no-such-option", f"safepip does not follow uv's option {name}", "Call uv itself for that."
            )
        kept += [word] if equals or not takes else [word, value]
        if name in _PYTHON:
            python = value
        elif name in _FILES:
            files.append(value)
        elif not name.startswith("-"):
            names.append(word)
        elif name == "--system":
            python = "python3"
    names.remove("pip")
    names.remove("uninstall")
    return Uninstall(
        pip_arguments=tuple(kept),
        names=tuple(names),
        requirement_files=tuple(files),
        python=python,
        yes=True,
        quiet=kept.count("-q") + kept.count("--quiet"),
        dry_run="dry_run" in flags,
        json="json" in flags,
        force="force" in flags,
        files="files" in flags,
        of_uv=True,
    )
