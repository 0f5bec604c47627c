"""The target's standard library as one of those whose names are taken: `from collections import Mapping`.

Its sources are read as any other's. What is compiled or built in is silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from safepip.model.environment import Distribution, Install, Target
from safepip.model.imports import Gone
from safepip.model.paths import TargetPath
from safepip.reading import tree
from safepip.reading.sources.contents import readable
from safepip.reading.sources.modules import recorded_sources
from safepip.reasoning.health.failing_imports import PYTHON

Owner = Callable[[TargetPath], Distribution | None]

# Behind `def`, `class`, or before `=`, at the beginning of a line; of an import there every word.
_BOUND = re.compile(
    rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*(?::[^=\n]*)?=|(?:from|import)\b([^\n]*))",
    re.MULTILINE,
)
_NOT_ITS_OWN = re.compile(r"/(?:site-packages|dist-packages|distutils)/")
_CONSTANT = re.compile(r"[A-Z]+|[A-Z]+_\w+")
_DOOR = re.compile(rb"modules\[__name__\][ \t]*=|globals\(\)\.update\(")
_WORD = re.compile(rb"\w+")


def or_python(owner: Owner, target: Target) -> Owner:
    """`owner`, and Python for the sources of its own: not for distutils, which setuptools may bring another of."""
    home = tree.realpath(target.stdlib)

    def answer(path: TargetPath) -> Distribution | None:
        found = owner(path)
        if found is not None or not path.startswith(f"{home}/") or _NOT_ITS_OWN.search(path, len(home)):
            return found
        return _python(path, target)

    return answer


def plainly_bound(data: bytes) -> frozenset[bytes]:
    """Names that lines of their own bind: most of those that are asked for."""
    return frozenset(word for found in _BOUND.findall(data) for part in found for word in _WORD.findall(part))


def given(absent: Iterable[Gone], everybody: Iterable[Distribution]) -> frozenset[str]:
    """Those that may be there all the same: constants, which some modules take from tables (inspect's CO_NESTED); all
    of a module that is another's door; what somebody sets from outside, as some do for names of an earlier Python.
    """
    absent = tuple(absent)
    doors = {
        path
        for path, data in readable({item.was.path for item in absent if item.was.path})
        if _DOOR.search(data)
    }
    tails, found = dict[str, str](), set[str]()
    for item in absent:
        module, _, name = item.module.rpartition(".")
        if _CONSTANT.fullmatch(name) or item.was.path in doors:
            found.add(item.module)
        else:
            tails[f"{module.rpartition('.')[2]}.{name}"] = item.module
    for dist in everybody if tails else ():
        for _, data in readable(recorded_sources(dist)):
            found |= {name for tail, name in tails.items() if _is_set(tail, data)}
    return frozenset(found)


def _is_set(tail: str, data: bytes) -> bool:
    module, name = (part.encode() for part in tail.split("."))
    if module not in data or name not in data:
        return False
    return re.search(rb"%s(?:\.%s[ \t]*=(?!=)|,\s*[\"']%s[\"'])" % (module, name, name), data) is not None


def _python(path: TargetPath, target: Target) -> Distribution:
    """With the sources that may set a name of the module at `path`: those of the package that it begins."""
    folder, _, name = path.rpartition("/")
    beside = tree.listdir(folder) if name == "__init__.py" else [name]
    files = tuple(TargetPath(f"{folder}/{one}") for one in beside if one.endswith(".py"))
    home = target.stdlib
    info = TargetPath(f"{home}/{PYTHON}")
    return Distribution(PYTHON, "Python", target.version, home, info, Install.DIST_INFO, files)
