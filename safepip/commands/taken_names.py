"""Names that are taken from a module which is there and does not bind them: `from module import name`, `module.name`.

Only what one distribution takes of another is asked: what belongs together is released together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from safepip.model.environment import Distribution
from safepip.model.imports import Gone, Reference
from safepip.model.paths import TargetPath
from safepip.reading.sources import compiled_names
from safepip.reading.sources.attribute_uses import uses
from safepip.reading.sources.bound_names import bound, is_plainly_bound
from safepip.reading.sources.contents import content
from safepip.reading.sources.modules import recorded_sources
from safepip.reading.sources.written_imports import asked
from safepip.reasoning.code.closure import Failing
from safepip.reasoning.code.finder import Finder

BY_TEXT = re.compile(
    rb"setattr\(|__dict__|\b(?:globals|locals|vars|exec)\(|\bmodules\b|^def __getattr__|[Ll]azy", re.MULTILINE
)


class Modules(NamedTuple):
    """One world's modules: how they are found, whose they are, where their bytes lie."""

    finder: Finder
    owner: Callable[[TargetPath], Distribution | None]
    lies: Callable[[TargetPath], TargetPath]


def absent(taken: Iterable[tuple[Distribution, Reference]], modules: Modules) -> dict[str, Gone]:
    """The dotted names, of those that distributions take of others, which no statement binds and no file gives."""
    takers: dict[str, list[tuple[Distribution, tuple[str, ...]]]] = {}
    for dist, reference in taken:
        takers.setdefault(reference.module, []).append((dist, reference.names))
    gone: dict[str, Gone] = {}
    for module, asking in takers.items():
        found = modules.finder.find(module)
        owner = modules.owner(found.path) if found and found.path else None
        names = {name for dist, wanted in asking if dist != owner for name in wanted}
        if found is not None and owner is not None and names:
            for name in sorted(_unbound(module, names, modules, frozenset())):
                if not _is_given(name, owner, modules):
                    gone[f"{module}.{name}"] = Gone(f"{module}.{name}", found, None, owner)
    return gone


def ending(
    sources: Iterable[tuple[TargetPath, bytes]], gone: Mapping[str, Gone]
) -> dict[TargetPath, Failing]:
    """The modules, by their source, that ask for one of the names `gone` as an attribute whenever they are imported."""
    tops = {name.partition(".")[0] for name in gone}
    found: dict[TargetPath, Failing] = {}
    for path, data in sources:
        written = (f"{item.module}.{name}" for item in asked(data, tops) for name in item.names)
        if not gone.keys().isdisjoint(written):  # parsing all that hold such a word would take a minute
            in_order = ((use.line, f"{use.module}.{use.name}") for use in uses(data))
            first = next(((line, name) for line, name in in_order if name in gone), None)
            if first is not None:
                found[path] = Failing(*first, gone[first[1]])
    return found


def _unbound(module: str, names: Collection[str], modules: Modules, before: frozenset[str]) -> frozenset[str]:
    """Those of `names` that `module`, and those of which it takes every name, surely do not have. `before`: on the way."""
    found = modules.finder.find(module)
    data = _content(found.path, modules) if found and found.path else None
    if found is None or data is None:
        return frozenset()
    left = frozenset(
        name
        for name in names
        if not is_plainly_bound(data, name.encode())
        and not (found.is_package and modules.finder.find(f"{module}.{name}"))
    )
    if not left:
        return left
    has = bound(data, module, is_package=found.is_package)
    left = _unwritten(left, found.path, modules) if has.is_open else left - has.names
    for star in has.stars:
        left = left and (left if star in before else _unbound(star, left, modules, before | {module}))
    return left


def _unwritten(names: frozenset[str], path: TargetPath | None, modules: Modules) -> frozenset[str]:
    """Those of which no source of the distribution that owns `path` holds the word, and nothing compiled of it."""
    owner = modules.owner(path) if path else None
    if owner is None:
        return frozenset()
    left = {name.encode(): name for name in names}
    for source in recorded_sources(owner):
        data = _content(source, modules) or b""
        left = {word: name for word, name in left.items() if word not in data}
    compiled = [modules.lies(file) for file in owner.used if file.endswith(".so")] if left else []
    return frozenset(name for name in left.values() if not any(compiled_names.naming(compiled, [name])))


def _is_given(name: str, owner: Distribution, modules: Modules) -> bool:
    """Whether a source of the same distribution may set it from outside: `package.name = …`, or by a text, where it
    sets anything so: the names of jinja2's filters are keys of a table.
    """
    set_there = re.compile(rb"\.%s[ \t]*=(?!=)" % name.encode())
    text = re.compile(rb"[\"']%s[\"']" % name.encode())
    for path in recorded_sources(owner):
        data = _content(path, modules) or b""
        if set_there.search(data) or (text.search(data) and BY_TEXT.search(data)):
            return True
    return False


def _content(path: TargetPath, modules: Modules) -> bytes | None:
    """None where it is no source, or nobody can tell."""
    if not path.endswith(".py"):
        return None
    try:
        return content(modules.lies(path))
    except OSError:
        return None
