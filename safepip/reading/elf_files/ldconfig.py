"""How the target's loader is configured: its own defaults, its cache or path file, its variables.

The loader's file is asked first: default folders, processor variants and the version stand in it as text,
and differ by distribution. `ldconfig -p` and `ld.so --list-diagnostics` would tell the same and are not run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from itertools import compress, product
from typing import NamedTuple

from safepip.model.elf import Abi, Elf, LoaderConfig
from safepip.model.environment import Libc, Target
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.elf_files import elf, loader_cache

_MOST = 8 << 20  # bytes of a loader that are read; glibc's has 0.2 MB, musl's is the whole libc
_FOLDER_RUN = re.compile(rb"\0((?:/[\x21-\x39\x3b-\x7e]*/\0){2,16})")
_GLIBC_VERSION = re.compile(rb"release version (\d+)\.(\d+)")
_MUSL_VERSION = re.compile(rb"\0(\d+)\.(\d+)\.\d+\0")
_MUSL_DEFAULT = re.compile(rb"\0(/lib:/[\x21-\x7e]*)\0")
_MUSL_PATH_FILE = re.compile(rb"%\.\*s(/etc/ld-musl-[\x21-\x7e]+\.path)\0")
_VARIANTS = re.compile(rb"\0(x86-64-v\d(?::x86-64-v\d)*)\0")
_X86_64 = 62
_PLATFORMS = {3: "i686", 40: "v7l", 62: "x86_64", 183: "aarch64", 243: "riscv64"}  # AT_PLATFORM
_LOADERS = {  # glibc's shlib-versions and the psABIs: bits, byte order, e_machine
    (32, True, 3): "/lib/ld-linux.so.2",
    (64, True, 62): "/lib64/ld-linux-x86-64.so.2",
    (32, True, 40): "/lib/ld-linux-armhf.so.3",
    (64, True, 183): "/lib/ld-linux-aarch64.so.1",
    (64, True, 21): "/lib64/ld64.so.2",
    (64, False, 21): "/lib64/ld64.so.1",
    (64, False, 22): "/lib/ld64.so.1",
    (64, True, 243): "/lib/ld-linux-riscv64-lp64d.so.1",
}
_LEVELS = {  # what /proc/cpuinfo must list (sysdeps/x86/get-isa-level.h), each level the one before it too
    "x86-64-v2": frozenset(["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"]),
    "x86-64-v3": frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"]),
    "x86-64-v4": frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
}
_HASWELL = frozenset(["avx2", "bmi1", "bmi2", "abm", "movbe", "popcnt", "fma"])
_AVX512_1 = frozenset(["avx512cd", "avx512bw", "avx512dq", "avx512vl"])


class _Processor(NamedTuple):
    intel: bool
    flags: frozenset[str]


def load(target: Target, environ: Mapping[str, str]) -> LoaderConfig | None:
    """The configuration of a process of the target's interpreter started with `environ`.

    None: there is no dynamic loader to speak of. The working folder is taken to be this process's own.
    """
    program = elf.read(target.interpreter)
    if target.libc is None or not isinstance(program, Elf) or program.interpreter is None:
        return None
    loader_for = _glibc if target.libc is Libc.GLIBC else _musl
    return loader_for(target.interpreter, program.abi, program.interpreter, environ)


def others(
    abis: Iterable[Abi], programs: Iterable[Elf], environ: Mapping[str, str]
) -> dict[Abi, LoaderConfig]:
    """The configurations of loaders of other machines, as far as they lie here.

    Which one is told by a program for that machine, else by the name that its ABI gives it.
    """
    told = {item.abi: item.interpreter for item in programs if item.interpreter}
    known = {}
    for abi in abis:
        interpreter = told.get(abi) or _LOADERS.get(abi[:3], "")
        if isinstance(elf.read(interpreter), Elf):
            loader_for = _musl if interpreter.rpartition("/")[2].startswith("ld-musl") else _glibc
            known[abi] = loader_for(TargetPath(interpreter), abi, interpreter, environ)
    return known


def _glibc(main: TargetPath, abi: Abi, interpreter: str, environ: Mapping[str, str]) -> LoaderConfig:
    code = _bytes(interpreter)
    version = _version(_GLIBC_VERSION, code)
    defaults = _default_folders(code)
    processor = _processor() if abi.machine == _X86_64 else _Processor(intel=False, flags=frozenset())
    variants = _variants(code, processor)
    old_ways = abi.machine == _X86_64 and version < (2, 37)
    return LoaderConfig(
        Libc.GLIBC,
        abi,
        main,
        library_path=environ.get("LD_LIBRARY_PATH", ""),
        preload=(*_preloads(environ), *_preload_file()),
        defaults=defaults,
        cache=loader_cache.read("/etc/ld.so.cache", abi, variants),
        hwcaps=(*(f"glibc-hwcaps/{name}" for name in variants), *(_legacy(processor) if old_ways else ())),
        platform="haswell" if old_ways and _is_haswell(processor) else _PLATFORMS.get(abi.machine, ""),
        lib=_lib(code, defaults),
        version=version,
        cwd=_working_folder(),
    )


def _musl(main: TargetPath, abi: Abi, interpreter: str, environ: Mapping[str, str]) -> LoaderConfig:
    code = _bytes(interpreter)
    return LoaderConfig(
        Libc.MUSL,
        abi,
        main,
        library_path=environ.get("LD_LIBRARY_PATH", ""),
        preload=_preloads(environ),
        defaults=_musl_folders(code, interpreter),
        version=_version(_MUSL_VERSION, code),
        cwd=_working_folder(),
    )


def _bytes(path: str, most: int = _MOST) -> bytes:
    try:
        handle = tree.handle(path)
    except (OSError, ValueError):
        return b""
    try:
        return os.pread(handle, most, 0)
    except OSError:
        return b""
    finally:
        os.close(handle)


def _version(pattern: re.Pattern[bytes], code: bytes) -> tuple[int, int]:
    found = pattern.search(code)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _default_folders(code: bytes) -> tuple[TargetPath, ...]:
    """The strings of system_dirs (elf/dl-load.c), one after the other in the loader's read-only data."""
    found = _FOLDER_RUN.search(code)
    folders = found[1].split(b"\0")[:-1] if found else []
    return tuple(TargetPath(os.fsdecode(folder.rstrip(b"/") or b"/")) for folder in folders)


def _lib(code: bytes, defaults: tuple[TargetPath, ...]) -> str:
    """$LIB (DL_DST_LIB): the library folder below a prefix, which the defaults name too."""
    names = (folder.removeprefix("/usr").strip("/") for folder in defaults)
    return next((name for name in names if b"\0" + os.fsencode(name) + b"\0" in code), "lib")


def _musl_folders(code: bytes, interpreter: str) -> tuple[TargetPath, ...]:
    """The path file takes the place of the defaults; an empty one means nowhere (ldso/dynlink.c)."""
    name = _MUSL_PATH_FILE.search(code)
    prefix = interpreter.rsplit("/", 2)[0]
    if name:
        path = prefix + os.fsdecode(name[1])
        if tree.exists(path):
            return _elements(os.fsdecode(_bytes(path)))
    found = _MUSL_DEFAULT.search(code)
    return _elements(os.fsdecode(found[1])) if found else ()


def _elements(text: str) -> tuple[TargetPath, ...]:
    return tuple(TargetPath(part.rstrip("/") or "/") for part in re.split("[:\n]", text) if part)


def _preloads(environ: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(environ.get("LD_PRELOAD", "").replace(":", " ").split())


def _preload_file() -> tuple[str, ...]:
    text = os.fsdecode(_bytes("/etc/ld.so.preload"))
    return tuple(re.sub("#.*", "", text).replace(":", " ").split())


def _processor() -> _Processor:
    """The first processor's flags; the file is read no further, for each one costs the kernel time."""
    text = _bytes("/proc/cpuinfo", 8192).decode("ascii", "replace")
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return _Processor("GenuineIntel" in text, frozenset(found[1].split() if found else ()))


def _variants(code: bytes, processor: _Processor) -> tuple[str, ...]:
    """The folders below glibc-hwcaps that this loader knows and this processor may use, best first."""
    usable = set[str]()
    for level, needs in _LEVELS.items():
        if not needs <= processor.flags:
            break
        usable.add(level)
    known = _VARIANTS.search(code)
    return tuple(name for name in (known[1].decode().split(":") if known else ()) if name in usable)


def _is_haswell(processor: _Processor) -> bool:
    return processor.intel and processor.flags >= _HASWELL


def _legacy(processor: _Processor) -> tuple[str, ...]:
    """The subfolders of glibc before 2.37: every subset of the names, most names first (_dl_important_hwcaps)."""
    platform = "haswell" if _is_haswell(processor) else "x86_64"
    names = ["tls", platform, "x86_64"]
    if processor.intel and processor.flags >= _AVX512_1:
        names.insert(2, "avx512_1")
    choices = product((True, False), repeat=len(names))
    subsets = ("/".join(compress(names, chosen)) for chosen in choices)
    return tuple(dict.fromkeys(subset for subset in subsets if subset))


def _working_folder() -> str:
    try:
        return tree.getcwd()
    except OSError:
        return "/"
