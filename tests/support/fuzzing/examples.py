"""Whole and right files of each kind, to be spoilt."""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
from pathlib import Path

from safepip.model.elf import Abi
from support.elves import write
from support.fake_world import lib
from support.fuzzing.place import real_objects
from support.wheels import make_wheel, metadata, record


@functools.cache
def _objects() -> tuple[bytes, ...]:
    made = [
        write(lib("libx.so.1", needs=["liby.so.2", "libc.so.6"], runpath="$ORIGIN/../lib")),
        write(lib(None, needs=["libz.so.1"], rpath="$ORIGIN:/opt/lib", nodeflib=True)),
        write(lib("libw.so", abi=Abi(32, little_endian=True, machine=3), needs=["libc.so.6"])),
        write(lib("libb.so", abi=Abi(64, little_endian=False, machine=22), needs=["libc.so.6"])),
    ]
    return (*made, *made, *real_objects())


def objects() -> list[bytes]:
    return list(_objects())


def loader_caches() -> list[bytes]:
    path = Path("/etc/ld.so.cache")
    return [path.read_bytes()[: 1 << 17] if path.exists() else b"glibc-ld.so.cache1.1" + bytes(60),
            b"ld.so-1.7.0\0" + (2).to_bytes(4, "little") + bytes(24) + b"libc.so.6\0/lib/libc.so.6\0"]  # fmt: skip


def records() -> list[bytes]:
    files = {"odd/__init__.py": "", "odd/a.py": "x", 'odd/q"u,ote.py': "", "../../../bin/odd": "#!"}
    return [record(files, "odd-1.0.dist-info").encode(), b"odd.py,,\r\nodd-1.0.dist-info/RECORD,,\r\n",
            b'"odd.py","sha256=abc",12\nodd/./b.py,,\nodd//c.py,,\n\xc3\xbc.py,,\n']  # fmt: skip


def metadata_files() -> list[bytes]:
    extras = (
        "Provides-Extra: x\nRequires-Dist: other ; extra == 'x'\n\nText with: a colon\nRequires-Dist: no\n"
    )
    return [(metadata("odd", "1.0", ["provider>=1", 'six ; python_version < "3"']) + extras).encode(),
            b"Name: odd\r\nVersion: 1\r\nRequires-Dist: a\r\n (>1)\r\nSummary: one\r\n\ttwo\r\n",
            b"six\n\n[extra:python_version<'3']\nother>=1\n[doc]\nsphinx\n"]  # fmt: skip


def entry_points() -> list[bytes]:
    return [
        b"[console_scripts]\nodd = odd:main\ntool=odd.tool:run [x]\n\n[pytest11]\nodd = odd.plugin\n# note\n"
    ]


def pyvenv() -> list[bytes]:
    home = os.path.dirname(os.path.realpath(sys.executable))
    version = ".".join(map(str, sys.version_info[:3]))
    return [f"home = {home}\ninclude-system-site-packages = false\nversion = {version}\nprompt = x\n".encode(),
            f"home = {home}\nimplementation = CPython\nuv = 0.9\nversion_info = {version}\n".encode()]  # fmt: skip


def pth_files() -> list[bytes]:
    return [b"import os; print('run')\n/usr/lib\n../lib\n# note\nodd\n", b"\xef\xbb\xbffolder\r\n/tmp\r\n"]


def sources() -> list[bytes]:
    return [
        _SOURCE,
        *(Path(path).read_bytes() for path in (os.__file__, functools.__file__, json.__file__)),
    ]


_SOURCE = b'''"""A module.

import not_this
"""
from __future__ import annotations
import os, provider.inner as inner
from . import sibling
from .sub import (a,
    b)
try:
    import fast
except ImportError:
    fast = None
if True:
    import always
NAMES = ("one", "two")
for name in NAMES:
    __import__(name)
class A:
    import inside
    def method(self):
        import late
@decorated("x")
def called():
    import by_call
called()
def never():
    import deferred
TEXT = \'\'\'
import in_text
\'\'\'
'''


_CONFIGURATION = b"""protected = ["torch"]
timeout = 30
code = ["/tmp"]
allow-force = false

[severity]
requirement-lost = "warn"

[[ignore]]
fingerprint = "0f3c"
reason = "no GPU"
until = 2027-03-31
"""


def configurations() -> list[bytes]:
    return [_CONFIGURATION, b"timeout = 1_0.5\nprotected = []\n"]


def pip_settings() -> list[bytes]:
    settings = b"python = /usr/bin/python3\nrequire-virtualenv = no\nverbose = 2\n"
    return [b"[global]\n" + settings + b"[uninstall]\nyes = true\nrequirement =\n  a.txt\n  b.txt\n"]


def requirement_files() -> list[bytes]:
    lines = b"six==1.0\n-r input\n-c other.txt\n-e git+https://h/x#egg=y\npkg[extra]>=1 ; python_version > '3' # no\n"
    return [lines + b"long \\\n  ==2\n${HOME}/x.whl\n--hash=sha256:abc\nx @ file:///tmp/x.whl\n",
            b"# -*- coding: latin-1 -*-\n\xe9t\xe9\n"]  # fmt: skip


def arguments() -> list[bytes]:
    return [b"six", b"Pkg.Name[extra]>=1.0,<2 ; python_version>'3'", b"./x-1.0-py3-none-any.whl", b"a @ https://h/a.zip",
            b"git+https://h/x#egg=y", b"pkg==1.0.*"]  # fmt: skip


def pip_reports() -> list[bytes]:
    entry = {
        "metadata": {"name": "pkg", "version": "1.0", "requires_dist": ["six"], "requires_python": ">=3"},
        "download_info": {"url": "file:///x/pkg-1.0-py3-none-any.whl", "archive_info": {"hash": "sha256=ab"}},
        "requested": True,
    }
    return [json.dumps({"version": "1", "install": [entry, entry]}).encode(),
            json.dumps({"findings": [{"fingerprint": "aa"}], "runs": [{"results": []}]}).encode()]  # fmt: skip


@functools.cache
def _wheels() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, str | bytes] = {"pkg/__init__.py": "import os\n", "pkg/x.so": objects()[0], "pkg-1.0.data/scripts/tool": "#!python\n",
                 "pkg-1.0.data/data/share/x": "x"}  # fmt: skip
        path = make_wheel(Path(folder), "pkg", files, entry_points="[console_scripts]\npkg = pkg:main\n")
        return (path.read_bytes(),)


def wheels() -> list[bytes]:
    return list(_wheels())


def shell_lines() -> list[bytes]:
    return [b'cd /x && pip uninstall -y torch; python3 -m pip uninstall "$(cat f)" | tee log',
            b"for p in a b; do pip uninstall -y $p; done", b"bash -c 'source env/bin/activate && pip uninstall x'",
            b"cat <<EOF | xargs pip uninstall -y\nnumpy\nEOF\n", b"uv pip uninstall --python .venv x # no"]  # fmt: skip
