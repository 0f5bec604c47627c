"""What ends a command without a verdict, and how a text that others wrote is shown. A refusal is a result and never
an error.
"""

from __future__ import annotations


class SafepipError(Exception):
    """Could not judge: `reference` is a stable kebab-case name, `hint` the way out."""

    exit_code = 12

    def __init__(self, reference: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.reference = reference
        self.message = message
        self.hint = hint


VALUE_MISSING = "value-missing"  # of an option


class UsageError(SafepipError):
    """The command line is wrong; pip would end with 2 as well."""

    exit_code = 2


class TargetError(SafepipError):
    """No environment to act on, or one that cannot be read."""


class NotThereError(SafepipError):
    """What was asked for by its name or number is nowhere; `pip show` ends with 1 as well."""

    exit_code = 1


class OutOfTimeError(SafepipError):
    """Judging took longer than the configured bound."""


class ForbiddenError(SafepipError):
    """The configuration does not allow it, whatever the verdict."""

    exit_code = 10


class RefusedByPipError(SafepipError):
    """Pip itself ends over an argument or a requirement file before it touches anything."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__("refused-by-pip", message)
        self.exit_code = exit_code


def printable(text: str) -> str:
    """Control characters and undecodable bytes as escapes: a name must not drive the terminal."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
