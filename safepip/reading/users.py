"""Who runs safepip. Windows has no numbers for users: there nobody is root, and what others may do is not asked."""

from __future__ import annotations

import os

NOBODY = -1


def effective() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else NOBODY


def is_borrowed() -> bool:
    """Whether this process acts with the rights of another user or group than who started it."""
    return hasattr(os, "geteuid") and (os.geteuid() != os.getuid() or os.getegid() != os.getgid())
