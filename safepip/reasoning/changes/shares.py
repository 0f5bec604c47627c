"""Co-owned files that go: whose bytes they hold, and whether anybody will miss them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from safepip.model.environment import Distribution, Inventory
from safepip.model.paths import TargetPath
from safepip.model.survey import SharedFile
from safepip.world import World

if TYPE_CHECKING:
    import ast

NAMESPACE_BYTES = 250  # a declaration of a namespace is no longer; real code is
STUBS = (".pyi", "/py.typed", ".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".pxd")
PAPERS = (
    "license",
    "licence",
    "copying",
    "notice",
    "readme",
    "authors",
    "changelog",
    "changes",
    "history",
    "contributing",
)
PAPER_SUFFIXES = ("", ".txt", ".md", ".rst")
SIDE_FOLDERS = ("tests", "test", "docs", "doc", "examples", "example")
LAUNCHERS = frozenset({"console_scripts", "gui_scripts"})


class Weight(Enum):
    """What the loss of a co-owned file means for a surviving owner."""

    MATTERS = "matters"
    STUB = "stub"  # only type checkers and compilers read it
    COMMAND = "command"  # an entry-point launcher
    TRIVIAL = "trivial"


def bytes_of(shared: SharedFile, leaving: Sequence[Distribution]) -> str:
    """The owner whose promise the file keeps; a survivor first where several do; "" where nobody's."""
    keepers = [dist for dist in shared.owners if _keeps(shared, dist)]
    keepers.sort(key=lambda dist: dist in leaving)
    return keepers[0].name if keepers else ""


def weigh(
    shared: SharedFile,
    survivor: Distribution,
    inventory: Inventory,
    after: World,
    side_imports: frozenset[str],
) -> Weight:
    """What `survivor` loses with this file. `side_imports`: names of top-level tests or docs folders that code imports."""
    path = shared.path
    if _is_launcher(path, survivor, inventory):
        return Weight.COMMAND
    if _is_paper(path) or _is_byte_code(path) or _is_side_file(path, inventory, side_imports):
        return Weight.TRIVIAL
    if (
        path.endswith("/__init__.py")
        and _is_namespace_stub(shared, survivor)
        and _holds_something(path, after)
    ):
        return Weight.TRIVIAL
    return Weight.STUB if path.endswith(STUBS) else Weight.MATTERS


def side_folders(paths: Iterable[TargetPath], inventory: Inventory) -> frozenset[str]:
    """The top-level names among `paths` that are tests, docs or examples by their name."""
    tops = {_top_level(path, inventory) for path in paths}
    return frozenset(tops.intersection(SIDE_FOLDERS))


def _keeps(shared: SharedFile, dist: Distribution) -> bool:
    claim = shared.claims.get(dist.key)
    if claim is None or claim.size not in (None, shared.size):
        return False
    return not shared.digest or claim.digest in ("", shared.digest)


def _is_launcher(path: TargetPath, survivor: Distribution, inventory: Inventory) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == inventory.target.scripts and any(
        point.name == name and point.group in LAUNCHERS for point in survivor.entry_points
    )


def _is_paper(path: TargetPath) -> bool:
    stem, dot, suffix = path.rpartition("/")[2].lower().partition(".")
    return stem.startswith(PAPERS) and dot + suffix in PAPER_SUFFIXES


def _is_byte_code(path: TargetPath) -> bool:
    """Nothing imports from a cache folder without the source, whose own loss counts."""
    folder, _, name = path.rpartition("/")
    return name.endswith(".pyc") and folder.endswith("/__pycache__")


def _is_side_file(path: TargetPath, inventory: Inventory, imported: frozenset[str]) -> bool:
    top = _top_level(path, inventory)
    return top in SIDE_FOLDERS and top not in imported


def _top_level(path: TargetPath, inventory: Inventory) -> str:
    top, slash, _ = inventory.target.below(path).partition("/")
    return top if slash else ""


def _is_namespace_stub(shared: SharedFile, survivor: Distribution) -> bool:
    """Asked of what the survivor recorded: an empty file over a survivor's real code is a loss."""
    claim = shared.claims.get(survivor.key)
    if claim is None or claim.size is None:
        return False
    if claim.size == 0 or (_keeps(shared, survivor) and only_comments(shared.text)):
        return True
    return claim.size <= NAMESPACE_BYTES and only_extends_path(shared.text)


def only_comments(source: str) -> bool:
    """Whether a source that is not empty runs nothing: comments, and at most what it says of itself."""
    import ast

    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(source) and all(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body
    )


def only_extends_path(source: str) -> bool:
    """Whether an `__init__.py` does nothing but declare a namespace, in pkgutil's or setuptools' way."""
    import ast

    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(map(_declares, body)) and all(_declares(node) or _is_harmless(node) for node in body)


def _declares(node: ast.stmt) -> bool:
    import ast

    if isinstance(node, ast.Try):
        return any(map(_declares, node.body))
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] == [
            "__path__"
        ] and "extend_path" in ast.unparse(node.value)
    return isinstance(node, ast.Expr) and "declare_namespace(__name__)" in ast.unparse(node.value)


def _is_harmless(node: ast.stmt) -> bool:
    import ast

    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Import):
        return all(alias.name in {"pkg_resources", "pkgutil"} for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.module in {"__future__", "pkgutil"}


def _holds_something(path: TargetPath, after: World) -> bool:
    """A folder that a removal empties is no namespace package any more."""
    folder = TargetPath(path.rpartition("/")[0])
    pending = [folder]
    while pending:
        current = pending.pop()
        for entry in after.entries(current):
            if not entry.folder:
                return True
            if entry.name != "__pycache__":
                pending.append(TargetPath(f"{current}/{entry.name}"))
    return False
