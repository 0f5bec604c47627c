"""The two strings that must not mix with others."""

from __future__ import annotations

from typing import NewType

TargetPath = NewType("TargetPath", str)
"""An absolute path as the target process sees it, never with an image's root in front.

Undecodable bytes are surrogate escapes, as `os.fsdecode` makes them. `..` is kept: folding it as text
would leave the kernel's way through links.
"""

DistKey = NewType("DistKey", str)
"""A distribution's name in canonical form (PEP 503): `nvidia-cudnn-cu12`."""
