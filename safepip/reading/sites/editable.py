"""Which folders and names the `.pth` files of an environment bring in: read from their text, none of it run.

The import hooks of editable installs are modules with their tables in them as literals: setuptools' MAPPING and
NAMESPACES, `map_module` calls of `editables`, calls of `install` or a finder by scikit-build-core and meson-python.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from safepip.model.environment import Mapped
from safepip.model.paths import TargetPath
from safepip.reading import plain_file, tree

if TYPE_CHECKING:
    import ast

_HOOK = re.compile(r"import\s+(_?_?editable_\w+|_editable_impl_\w+|_\w+_editable(?:_loader)?)\b")


class Brought(NamedTuple):
    """What one `.pth` file adds to what can be imported."""

    by: TargetPath  # the .pth file
    folders: tuple[TargetPath, ...] = ()
    mapped: tuple[Mapped, ...] = ()
    silent: tuple[TargetPath, ...] = ()  # hooks whose tables are not understood


def read(site: TargetPath, name: str) -> Brought:
    """What the `.pth` file `name` of `site` brings."""
    path = TargetPath(f"{site}/{name}")
    folders: list[TargetPath] = []
    mapped: list[Mapped] = []
    silent: list[TargetPath] = []
    for line in _text(path).splitlines():
        hook = _HOOK.search(line)
        if hook and line.startswith(("import ", "import\t")):
            module = TargetPath(f"{site}/{hook[1]}.py")
            found = tuple(_mapped(module))
            mapped += found
            silent += [] if found else [module]
        elif line.strip() and not line.startswith(("#", "import ", "import\t")):
            folder = os.path.join(site, line.rstrip())
            folders += [TargetPath(tree.realpath(folder))] if tree.isdir(folder) else []
    return Brought(path, tuple(folders), tuple(mapped), tuple(silent))


def _mapped(module: TargetPath) -> Iterator[Mapped]:
    import ast

    try:
        nodes = list(ast.walk(ast.parse(_text(module))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        for name, place in _tables(node):
            real = tree.realpath(place)
            folder, file = os.path.split(real)
            yield Mapped(name, TargetPath(folder if file == "__init__.py" else real), module, _builder(node))


def _builder(node: ast.AST) -> TargetPath | None:
    """meson-python's `MesonpyMetaFinder._rebuild` runs it before anything is imported."""
    import ast

    match node:
        case ast.Call(args=[_, _, _, ast.List(elts=[ast.Constant(value=str(program)), *_]), *_]):
            return TargetPath(tree.realpath(program)) if program.startswith("/") else None
        case _:
            return None


def _tables(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Dotted names and where they lie, of one statement or call."""
    import ast

    match node:
        case (
            ast.Assign(targets=[ast.Name(id=("MAPPING" | "NAMESPACES"))], value=value)
            | ast.AnnAssign(target=ast.Name(id=("MAPPING" | "NAMESPACES")), value=ast.expr() as value)
        ):
            yield from _pairs(_literal(value))
        case ast.Call(func=ast.Attribute(attr="map_module"), args=[*args]):
            name, place = [*map(_literal, args), None, None][:2]
            yield from _pairs({name: place} if isinstance(name, str) else None)
        case ast.Call(func=ast.Name(id="install"), args=[ast.Dict() as known, *_]):
            yield from _topmost(_pairs(_literal(known)))
        case ast.Call(
            func=ast.Name(id=("install" | "MesonpyMetaFinder")),
            args=[_, _, ast.Constant(value=str(build)), *_],
        ):
            yield from _planned(build)
        case _:
            return


def _pairs(table: object) -> Iterator[tuple[str, str]]:
    for name, places in table.items() if isinstance(table, dict) else ():
        for place in places if isinstance(places, list) else [places]:
            if isinstance(name, str) and isinstance(place, str) and place.startswith("/"):
                yield name, place


def _topmost(pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """A package stands for what lies below it."""
    packages: list[str] = []
    for name, place in sorted(pairs):
        if not any(name.startswith(f"{package}.") for package in packages):
            packages += [name] if place.endswith("/__init__.py") else []
            yield name, place


def _planned(build: str) -> Iterator[tuple[str, str]]:
    """meson's own account of what it would install, and where each file lies until then."""
    import json

    try:
        plan = json.loads(_text(TargetPath(f"{build}/meson-info/intro-install_plan.json")))
        files = [(place, item["destination"]) for kind in plan.values() for place, item in kind.items()]
    except (ValueError, TypeError, KeyError, AttributeError):
        return
    for place, destination in sorted(files):
        scheme, _, below = destination.partition("/")
        if scheme in {"{py_purelib}", "{py_platlib}"} and place.endswith((".py", ".so")):
            *folders, file = below.split("/")
            stem = file.partition(".")[0]
            name = ".".join(folders if stem == "__init__" else [*folders, stem])
            yield name, place


def _literal(node: ast.expr) -> object:
    import ast

    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _text(path: TargetPath) -> str:
    try:
        return plain_file.content(path).decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ""
