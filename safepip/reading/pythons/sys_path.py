"""sys.path as the target's own site.py would make it, without running a line of it.

site.py itself is read for two things on which distributors and releases differ: Debian's dist-packages, and
whether a hidden `.pth` file counts. Lines of `.pth` files that are code are left out: what they would add is
not known from files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from safepip.reading import plain_file, tree, users
from safepip.reading.pythons.layout import Layout, VenvConfig


class SysPath(NamedTuple):
    folders: tuple[str, ...]
    user_base: str
    user_site: str | None  # below `user_base`, where it is in force
    debian: bool  # dist-packages, and scripts in /usr/local/bin


class _Habits(NamedTuple):
    """What this release's site.py does."""

    debian: bool
    skips_hidden: bool
    reads_mark: bool  # a byte order mark is skipped


def make(layout: Layout, venv: VenvConfig | None, environ: Mapping[str, str]) -> SysPath:
    """sys.path of a program that `layout`'s interpreter starts, `python -m pip` for one."""
    habits = _habits(layout.stdlib)
    known: dict[str, None] = {}
    for folder in (*_python_path(environ), *layout.path):
        known.setdefault(tree.abspath(folder))
    prefixes = [layout.base_prefix] if venv is None else []
    if venv is not None:
        _add_sites(known, venv.prefix, layout, habits, in_venv=True)
        prefixes = [venv.prefix, layout.base_prefix] if venv.system_site else []
    user_base = environ.get("PYTHONUSERBASE") or tree.expanduser("~/.local")
    user_site = _user_site(user_base, layout, environ) if prefixes else None
    if user_site:
        _add_site(known, user_site, habits)
    for prefix in prefixes:
        _add_sites(known, prefix, layout, habits, in_venv=venv is not None)
    return SysPath(tuple(known), user_base, user_site, habits.debian)


def _habits(stdlib: str) -> _Habits:
    try:
        source = plain_file.content(f"{stdlib}/site.py")
    except OSError:
        source = b""
    return _Habits(
        b"dist-packages" in source, b"startswith('.')" in source.replace(b'"', b"'"), b"utf-8-sig" in source
    )


def _python_path(environ: Mapping[str, str]) -> Iterator[str]:
    """An empty part is the current folder."""
    if environ.get("PYTHONPATH"):
        yield from environ["PYTHONPATH"].split(":")


def _user_site(base: str, layout: Layout, environ: Mapping[str, str]) -> str | None:
    """The user's own site folder, where it exists and is allowed (site.py:check_enableusersite)."""
    if environ.get("PYTHONNOUSERSITE") or users.is_borrowed():
        return None
    folder = f"{base}/lib/{os.path.basename(layout.stdlib)}/site-packages"
    return folder if tree.isdir(folder) else None


def _add_sites(
    known: dict[str, None], prefix: str, layout: Layout, habits: _Habits, *, in_venv: bool
) -> None:
    """site.py:getsitepackages and addsitepackages, Debian's version of them too."""
    python = os.path.basename(layout.stdlib)
    libs = dict.fromkeys((os.path.basename(os.path.dirname(layout.stdlib)), "lib"))
    folders = [f"{lib}/{python}/site-packages" for lib in libs]
    if habits.debian:
        folders = [f"lib/{python}/site-packages"] if in_venv else []
        folders += [f"local/lib/{python}/dist-packages", "lib/python3/dist-packages"]
        folders += [f"{lib}/{python}/dist-packages" for lib in libs]
    for folder in folders:
        if tree.isdir(f"{prefix}/{folder}"):
            _add_site(known, tree.abspath(f"{prefix}/{folder}"), habits)


def _add_site(known: dict[str, None], folder: str, habits: _Habits) -> None:
    """site.py:addsitedir and addpackage."""
    known.setdefault(folder)
    try:
        names = sorted(name for name in tree.listdir(folder) if name.endswith(".pth"))
    except OSError:
        return
    for name in names:
        if not (habits.skips_hidden and name.startswith(".")):
            for line in dict.fromkeys(_lines(f"{folder}/{name}", habits)):
                path = tree.abspath(os.path.join(folder, line))
                if path not in known and tree.exists(path):
                    known.setdefault(path)


def _lines(path: str, habits: _Habits) -> Iterator[str]:
    """The lines that name a folder, up to one over which site.py would give up."""
    try:
        data = plain_file.content(path)
    except OSError:
        return
    text = data.decode("utf-8-sig" if habits.reads_mark else "utf-8", "surrogateescape")
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if "\0" in line:
            return
        if line.strip() and not line.startswith(("#", "import ", "import\t")):
            yield line.rstrip()
