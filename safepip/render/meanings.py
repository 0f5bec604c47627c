"""Of each kind of finding and each of the doctor's checks: meaning, example, what to do, and how to see it by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from safepip.model.diagnosis import Check
from safepip.model.report import FindingKind

# Commands that show a thing by hand, in site-packages; capitals stand for what the finding names.
DIGEST = "sha256sum PATH | cut -c-64 | tr a-f A-F | basenc -d --base16 | basenc -w0 --base64url"  # as RECORD has it
LOADER = "LD_DEBUG=libs python -c 'import NAME' 2>&1 | grep -F SONAME"  # where it looks, and what it comes to
LOADED = "LD_DEBUG=libs python -c 'import NAME' 2>&1 | grep 'calling init' | grep FAMILY"
ROWS = "grep '^PATH,' *.dist-info/RECORD"
THERE = "cut -d, -f1 NAME-*.dist-info/RECORD | xargs -d '\\n' ls -d >/dev/null"


class Explanation(NamedTuple):
    meaning: str
    example: str
    remedy: str
    proof: tuple[str, ...]  # commands of standard tools, one a line, to be given in site-packages


KINDS: Mapping[FindingKind, Explanation] = {
    FindingKind.LIBRARY_LOST: Explanation(
        "A shared library that something which stays needs would be found no more: its import, or a later load, would fail.",
        "torch 2.9 needs libcudnn.so.9. nvidia-cudnn-cu12 and nvidia-cudnn-cu13 both own that file, and removing either one deletes it.",
        "Keep the distribution, remove it with --safe so that co-owned files stay, or remove what needs it as well.",
        ("readelf -d CONSUMER | grep NEEDED", LOADER),
    ),
    FindingKind.SYMBOL_LOST: Explanation(
        "The library would still be found, as another file that lacks a version or a function which is bound.",
        "A module built against a newer libstdc++ would get the system's older one: version GLIBCXX_3.4.32 not found.",
        "Keep the distribution that brings the fitting library, or install a build that fits the other one.",
        (
            "nm -D --undefined-only CONSUMER | grep SYMBOL",
            "nm -D --defined-only OTHER | grep SYMBOL",
            "readelf -V OTHER | grep 'Name: VERSION'",
        ),
    ),
    FindingKind.FILE_LOST: Explanation(
        "A file that a distribution which stays lists as its own would be deleted: pip deletes what a RECORD lists, whoever else lists it.",
        "opencv-python and opencv-python-headless both own cv2/; removing one leaves the other without files.",
        "Remove it with --safe, or remove it and install the survivor anew at once.",
        (ROWS, DIGEST),
    ),
    FindingKind.IMPORT_LOST: Explanation(
        "An import on the surface of something that stays (its packages, commands, plugins) works now and would fail, or pick another file.",
        "requests imports urllib3 when it is imported itself; without urllib3 `import requests` ends with ModuleNotFoundError.",
        "Keep the distribution, or remove what imports it as well.",
        ("python -X importtime -c 'import NAME' 2>&1 | grep MODULE",),
    ),
    FindingKind.REACH_BEYOND: Explanation(
        "pip would delete something that is not the distribution's to delete: outside the environment, of the environment itself, of another distribution, or recorded by nobody in a folder that goes whole.",
        "A RECORD with the row ../../../../etc/hosts, or a launcher in bin/ that another distribution owns.",
        "Look at the rows of the RECORD. Install the distribution anew if they are damaged; report it to its makers if they are not.",
        ("grep -nF FILE NAME-*.dist-info/RECORD", "dpkg -S PATH"),
    ),
    FindingKind.SELF: Explanation(
        "The removal takes the environment's pip, or safepip itself.",
        "safepip uninstall pip",
        "To renew it: install --upgrade pip.",
        ("python -m pip --version",),
    ),
    FindingKind.PROTECTED: Explanation(
        "The configuration protects this name.",
        'protected = ["torch"] in the configuration',
        "Take the name out of `protected` in PREFIX/.safepip/config.toml or in your own configuration.",
        (
            "grep protected PREFIX/.safepip/config.toml ~/.config/safepip/config.toml /etc/safepip/config.toml",
        ),
    ),
    FindingKind.LAST_COPY: Explanation(
        "The loader does not find the library now either, but a file of that name is there; removing it takes the last copy.",
        "numba's tbbpool needs libtbb.so.12, which lies where only a program that knows the folder finds it.",
        "Keep it if you use that feature. Where the survivor requires the distribution it is refused, else it is a warning.",
        ("readelf -d CONSUMER | grep NEEDED", "find PREFIX -name SONAME"),
    ),
    FindingKind.REQUIREMENT_LOST: Explanation(
        "Something that stays requires the distribution, and its requirement is met now and would not be.",
        "pandas requires numpy.",
        "Keep it, or remove what requires it as well. Where code shows that importing goes on without it, it is a warning.",
        (
            "python -m pip show NAME | grep Required-by",
            "grep -iE '^Requires-Dist: NAME' *.dist-info/METADATA",
        ),
    ),
    FindingKind.EXTRA_LOST: Explanation(
        "Something that stays lists the distribution under an extra, and names its modules where a failure is caught, or nothing but that extra tells why it was installed.",
        "requests[socks] and PySocks.",
        "Keep it if you use that extra.",
        ("grep -iE '^Requires-Dist: NAME.*extra' *.dist-info/METADATA",),
    ),
    FindingKind.COMMAND_LOST: Explanation(
        "A command goes that an entry point of something which stays gives too.",
        "Two distributions give bin/foo; pip deletes it with the first.",
        "Install the survivor anew afterwards: that writes the command again.",
        ("grep '^COMMAND *=' *.dist-info/entry_points.txt",),
    ),
    FindingKind.FAMILY_SPLIT: Explanation(
        "Libraries that belong together would be bound from two places.",
        "libcudnn.so.9 from one distribution, libcudnn_ops.so.9 from another.",
        "Keep all members of the family in one version, from one distribution.",
        (LOADED,),
    ),
    FindingKind.PROVIDER_CHANGED: Explanation(
        "A need would be met by another file than now, and that file has what is bound.",
        "A module finds libomp beside itself now, and would find the system's.",
        "Nothing has to be done; test what depends on the exact build.",
        (LOADER,),
    ),
    FindingKind.ORDER_RELIANT: Explanation(
        "The loader finds the library itself now, and afterwards only if another import has loaded it before.",
        "torchvision works because torch was imported first.",
        "Import in that order, or keep the distribution.",
        ("readelf -d CONSUMER | grep -E 'RPATH|RUNPATH|NEEDED'",),
    ),
    FindingKind.DLOPEN_HINT: Explanation(
        "Something that stays names the library as text: it may open it at run time, which no NEEDED entry shows.",
        "xgboost opens libnccl.so.2 when a GPU is used.",
        "Keep it if you use that feature.",
        ("grep -aoF SONAME CONSUMER",),
    ),
    FindingKind.IN_USE: Explanation(
        "A running process has a file mapped that would go.",
        "A notebook kernel has torch loaded.",
        "End or restart that process first.",
        ("grep -l PATH /proc/[0-9]*/maps 2>/dev/null",),
    ),
    FindingKind.CANNOT_TELL: Explanation(
        "Something that decides cannot be read or understood: a file that goes, an object that may need it, a RECORD.",
        "A library that was cut off while it was copied; a RECORD that is no text.",
        "Mend or reinstall what cannot be read, then ask again. Unknown is never taken for safe.",
        ("readelf -d PATH", "tail -c 200 NAME-*.dist-info/RECORD"),
    ),
    FindingKind.OVERWRITES: Explanation(
        "An install writes its own bytes over a file that another distribution lists as its own, and that matters.",
        "xgboost brings nvidia-nccl-cu13, whose libnccl.so.2 lies where nvidia-nccl-cu12 has its own: torch runs on the other one from then on.",
        "Install only one of the two. To go back: safepip undo.",
        (ROWS, DIGEST),
    ),
    FindingKind.VARIANT_CHANGED: Explanation(
        "An install replaces one build of a distribution that nobody named by another: a different local version, or CUDA release.",
        "torch 2.9.1+cu128 becomes torch 2.9.1 from the index because something new requires torch>=2.9.1.",
        "Name the build that is wanted in the same command, or pin it in a constraints file.",
        (
            "python -m pip show NAME | grep Version",
            "python -m pip install --dry-run … | grep 'Would install'",
        ),
    ),
    FindingKind.ABI_PARTNER: Explanation(
        "Compiled modules that stay take C structures from a distribution of which another major version comes. Neither ELF headers nor files show it, so it is known from a table.",
        "h5py built for NumPy 1 cannot be imported with NumPy 2.",
        "Upgrade those who were built for the old version in the same command, or keep that version.",
        ("grep -aoF _multiarray_umath MODULE",),
    ),
    FindingKind.SHARED_TRIVIAL: Explanation(
        "Co-owned files go whose loss harms nobody: an empty __init__.py of a namespace, a licence, top-level tests.",
        "Eleven nvidia-*-cu12 wheels share one empty nvidia/__init__.py.",
        "Nothing.",
        (ROWS, "cat PATH"),
    ),
}

CHECKS: Mapping[Check, Explanation] = {
    Check.MISSING_LIBRARY: Explanation(
        "A shared library that an object needs is found nowhere.",
        "import torch: ImportError: libcudnn.so.9: cannot open shared object file",
        "Install anew what owns the library. It is an error where an import comes to it or the environment should have it, a warning where a module needs it that nothing shows to be imported, and a note for libraries that are opened later, if at all.",
        ("readelf -d OBJECT | grep NEEDED", LOADER),
    ),
    Check.MISSING_SYMBOL: Explanation(
        "The library is found, and lacks a version or function that is bound. Asked where there is reason to doubt the provider.",
        "undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
        "Install the version of the provider that is required.",
        ("nm -D --undefined-only OBJECT | grep SYMBOL", "nm -D --defined-only PROVIDER | grep SYMBOL"),
    ),
    Check.MISSING_MODULE: Explanation(
        "An import on the surface of a distribution fails, because a module on the way is not there.",
        "import requests: ModuleNotFoundError: No module named 'urllib3'",
        "Install what brings the module.",
        ("python -c 'import NAME'",),
    ),
    Check.FAILING_IMPORT: Explanation(
        "An import on the surface of a distribution raises though all that it imports is there: the module that it takes a name of does not have that name, or it refuses the version of another distribution.",
        "import pandas: ImportError: Please upgrade numpy to >= 2.0.2; from jinja2 import escape, under Jinja2 3.1.",
        "Install a version of the other distribution that fits, or another one of the importer.",
        ("python -c 'import NAME'",),
    ),
    Check.UNMET_REQUIREMENT: Explanation(
        "A distribution requires another that is not installed, is hollow, or has a version that does not fit.",
        "pandas requires numpy>=2, and 1.26 is installed.",
        "Install what is required.",
        ("python -m pip check",),
    ),
    Check.INCOMPLETE_EXTRA: Explanation(
        "Of what an extra lists most is installed, some of it for nothing else, and the rest is not: no metadata says that the extra was asked for, but this does. What opens those libraries at run time goes on without.",
        "tensorflow[and-cuda] after `pip uninstall nvidia-cudnn-cu12`: import tensorflow works, and it finds no GPU.",
        "Install what is lacking, or the extra anew: install 'NAME[EXTRA]'. pip check says nothing of extras.",
        ("grep -iE '^Requires-Dist: .*extra' *.dist-info/METADATA", "python -m pip list"),
    ),
    Check.HOLLOW: Explanation(
        "Metadata is there and none of the files: another distribution that owned the same files was removed.",
        "nvidia-cudnn-cu12 after `pip uninstall nvidia-cudnn-cu13`.",
        "Install it anew in its own version: install --no-deps --force-reinstall NAME==VERSION. pip alone says `already satisfied`.",
        (THERE,),
    ),
    Check.MISSING_FILE: Explanation(
        "Some files that a distribution lists are not there.",
        "A folder was deleted by hand to save space.",
        "Install it anew in its own version.",
        (THERE,),
    ),
    Check.OVERWRITTEN: Explanation(
        "Files that several distributions own hold the bytes of another owner.",
        "torch wants cuDNN 9.10 of nvidia-cudnn-cu12 and runs on 9.19 of nvidia-cudnn-cu13, which was installed later.",
        "Remove the intruder with uninstall --safe: the other owner gets its own bytes back. Where both are needed they cannot live together.",
        (ROWS, DIGEST),
    ),
    Check.DAMAGED_FILE: Explanation(
        "A file is not what its distribution recorded, and cannot be used: an object that is cut off or another's, or an empty file.",
        "A full disk or a crash cut numpy/_core/_multiarray_umath.cpython-312-x86_64-linux-gnu.so short: importing numpy fails.",
        "Install the distribution anew in its own version; look at the disk's room and health.",
        ("ls -l PATH", ROWS, DIGEST),
    ),
    Check.FOREIGN_BUILD: Explanation(
        "Compiled modules are built for another Python or machine, and this one has none of that name: importing them says that there is no such module.",
        "lxml/etree.cpython-311-x86_64-linux-gnu.so in an environment of Python 3.12: copied from another, or installed with --python-version and --target.",
        "Install the distribution anew: pip takes the build for this Python.",
        (
            "find . -name '*.so'",
            "python -c 'import sysconfig; print(sysconfig.get_config_var(\"EXT_SUFFIX\"))'",
        ),
    ),
    Check.ALTERED_FILE: Explanation(
        "A file is not what its distribution recorded, by size or, for small files, by digest.",
        "Somebody edited a module in site-packages.",
        "Keep the change elsewhere if it is wanted, then install the distribution anew.",
        (ROWS, DIGEST),
    ),
    Check.MIXED_FAMILY: Explanation(
        "Several builds of one runtime are there: CUDA, OpenMP, MKL, Qt, HDF5, OpenSSL. A note; a warning where somebody runs on one that took the place of its own.",
        "Each of scikit-learn, xgboost and torch carries a libgomp of its own.",
        "Often harmless. Look here first if processes crash or hang that load several of them.",
        (LOADED,),
    ),
    Check.DUPLICATE_METADATA: Explanation(
        "One distribution has several metadata folders in one site folder.",
        "An upgrade that was killed leaves numpy-1.26.4.dist-info beside numpy-2.1.0.dist-info.",
        "Install the version that pip does not see: install --no-deps --force-reinstall NAME==VERSION removes the one that it sees, and takes the place of the other.",
        ("ls -d NAME-*.dist-info",),
    ),
    Check.DAMAGED_METADATA: Explanation(
        "METADATA is missing or cannot be read, or RECORD is cut off or lacks rows: pip does not see the distribution, ends with an error over it, or leaves files of it behind.",
        "six-1.17.0.dist-info without METADATA: pip list does not show six, and import six works.",
        "Install it over itself in its own version: install --no-deps --ignore-installed NAME==VERSION. That writes both anew.",
        ("ls NAME-VERSION.dist-info", "tail -3 NAME-VERSION.dist-info/RECORD"),
    ),
    Check.NO_RECORD: Explanation(
        "A distribution has no list of its files: pip cannot remove or upgrade it.",
        "It was installed by a system's package manager, or RECORD was deleted.",
        "install --ignore-installed --no-deps NAME==VERSION writes one.",
        ("ls NAME-*.dist-info/RECORD",),
    ),
    Check.LEFTOVERS: Explanation(
        "pip moved folders aside (~name) to remove them, and was cut off.",
        "WARNING: Ignoring invalid distribution ~umpy",
        "safepip doctor --fix puts every file back whose place is empty, and lets go of the rest.",
        ("ls -d ./~*",),
    ),
    Check.REACH_BEYOND: Explanation(
        "Removing the distribution would delete what is not its own.",
        "A RECORD row that points out of the environment.",
        "Look at its RECORD. Nothing is deleted as long as it stays installed.",
        ("grep -nF FILE NAME-*.dist-info/RECORD", "dpkg -S PATH"),
    ),
    Check.ENV_RELIANT: Explanation(
        "A library is found through LD_LIBRARY_PATH only: in a process without that variable it would be missing.",
        "A service started by systemd does not see what the shell exports.",
        "Install the library into the environment, or set the variable wherever the program is started.",
        ("env -u LD_LIBRARY_PATH python -c 'import NAME'",),
    ),
    Check.LIB64_SPLIT: Explanation(
        "lib64 is a folder of its own beside lib, where a venv has a link.",
        "The environment was copied with links followed.",
        "Make the environment anew.",
        ("ls -ld PREFIX/lib64",),
    ),
}
