"""The environment markers of an interpreter (packaging's `default_environment`), from what is known of it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from safepip.model.elf import Elf
from safepip.reading import tree
from safepip.reading.elf_files import elf
from safepip.reading.pythons.layout import Layout

_NAMES = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalVM"}
_MACHINES = {  # uname's words for e_machine, bits and byte order
    (62, 64, True): "x86_64",
    (183, 64, True): "aarch64",
    (3, 32, True): "i686",
    (40, 32, True): "armv7l",
    (21, 64, True): "ppc64le",
    (21, 64, False): "ppc64",
    (22, 64, False): "s390x",
    (243, 64, True): "riscv64",
    (258, 64, True): "loongarch64",
}


def read(lies: Layout, program: str) -> Mapping[str, str]:
    return {
        "implementation_name": lies.implementation,
        "implementation_version": lies.version,
        "os_name": "posix",
        "platform_python_implementation": _NAMES.get(lies.implementation, lies.implementation),
        "python_full_version": lies.version,
        "python_version": ".".join(re.split(r"[^\d]", lies.version)[:2]),
        **(_of_this_machine() if tree.root() is None else _of_image(program)),
    }


def _of_this_machine() -> Mapping[str, str]:
    system, _, release, version, machine = os.uname() if hasattr(os, "uname") else _told_by_platform()
    return {
        "platform_machine": machine,
        "platform_release": release,
        "platform_system": system,
        "platform_version": version,
        "sys_platform": sys.platform,
    }


def _told_by_platform() -> tuple[str, str, str, str, str]:
    import platform  # it takes some milliseconds

    known = platform.uname()
    return known.system, known.node, known.release, known.version, known.machine


def _of_image(program: str) -> Mapping[str, str]:
    """Under which kernel it will run is not known."""
    found = elf.read(tree.realpath(program))
    abi = found.abi if isinstance(found, Elf) else None
    return {
        "platform_machine": _MACHINES.get((abi.machine, abi.bits, abi.little_endian), "") if abi else "",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "sys_platform": "linux",
    }
