"""The package's map, held by a machine: which part may know which, and which may touch the system."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "safepip"
MODULES = sorted(PACKAGE.rglob("*.py"))

MAY_IMPORT = {
    "model": {"model"},
    "errors": set[str](),
    "world": {"model"},
    "reasoning": {"reasoning", "world", "model", "errors"},
    "reading": {"reading", "world", "model", "errors"},
    "acting": {"acting", "world", "model", "errors", "watch"},
    "render": {"render", "model", "errors"},
    "grammar": {"grammar", "model", "errors"},
    "commands": {"commands", "grammar", "reasoning", "reading", "acting", "world", "model", "errors", ""},
    "startup": set[str](),
    "watch": set[str](),
    "cli": {"cli", "commands", "grammar", "reading", "acting", "render", "model", "errors", ""},
    "__init__": set[str](),
    "__main__": {"cli", "commands", "model"},
}
# Within a part, from what knows least: a group may know those above it, and the modules that lie beside the groups.
GROUPS = {
    "reasoning": ("libraries", "code", "changes", "verdict", "health", "shell"),
    "reading": ("elf_files", "settings", "sites", "sources", "pythons"),
}
TOUCHES_SYSTEM = {
    "os",
    "pathlib",
    "subprocess",
    "shutil",
    "tempfile",
    "time",
    "socket",
    "io",
    "mmap",
    "glob",
    "sys",
}
RUNS = {"subprocess", "shutil", "tempfile"}
WRITES = {
    "write", "write_text", "write_bytes", "mkdir", "makedirs", "remove", "unlink", "rename", "replace", "rmdir",
    "rmtree", "symlink", "link", "chmod", "chown", "truncate", "utime", "removedirs", "copyfile", "copy2", "move",
}  # fmt: skip
RUNS_INTERPRETER = {
    "reading/pythons/interpreter.py"
}  # asks a python for its layout where files do not settle it
LOOKS_HERE = {
    "reading/tree.py",  # the one that the others ask, and what it asks in its turn
    "reading/image.py",
    "reading/layer.py",
    "reading/processes.py",  # who runs here
    "reading/pythons/calling.py",  # how safepip was called
    "reading/pythons/children.py",  # of an interpreter of this machine
    "reading/pythons/interpreter.py",  # what may be run here
    "reading/pythons/uv_environment.py",  # uv acts on this machine alone, and so do undo and install:
    "reading/sites/standing.py",
    "reading/sites/pip_report.py",
    "reading/sites/wheel.py",
    "reading/settings/baseline.py",  # an earlier report
    "reading/sites/partners.py",  # tables of safepip's own:
    "reading/elf_files/known_loads.py",
    "reading/sources/weighed.py",  # whether safepip itself has changed
}
ASKS = {
    "stat", "lstat", "open", "listdir", "scandir", "walk", "readlink", "access", "getcwd",
    "exists", "lexists", "isfile", "isdir", "islink", "realpath", "expanduser", "getsize", "samefile",
}  # fmt: skip
WRITES_CACHE = {"reading/sources/import_cache.py"}  # keeps what sources import, in the user's cache folder


def part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def imports(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                f"{node.module}.{alias.name}" if node.module == "safepip" else str(node.module)
                for alias in node.names
            )


def calls(module: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
                yield f"{owner}.{node.func.attr}", node
            elif isinstance(node.func, ast.Name):
                yield node.func.id, node


def of(*parts: str) -> list[Path]:
    return [module for module in MODULES if part(module) in parts]


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_imports_point_one_way(module: Path) -> None:
    inside = {
        name.removeprefix("safepip").removeprefix(".").split(".")[0]
        for name in imports(module)
        if name.split(".")[0] == "safepip"
    }
    inside = {"" if name == "__version__" else name for name in inside}
    assert inside <= MAY_IMPORT[part(module)]


@pytest.mark.parametrize("module", of(*GROUPS), ids=name_of)
def test_the_groups_of_a_part_point_one_way_too(module: Path) -> None:
    groups = GROUPS[part(module)]
    own = module.relative_to(PACKAGE / part(module)).parts[0]
    known = {name.split(".")[2] for name in imports(module) if name.startswith(f"safepip.{part(module)}.")}
    later = groups[groups.index(own) + 1 :] if own in groups else ()
    assert not known & {*later}


@pytest.mark.parametrize(
    "module", of("model", "world", "errors", "reasoning", "render", "grammar"), ids=name_of
)
def test_what_decides_never_touches_the_system(module: Path) -> None:
    assert not {name.split(".")[0] for name in imports(module)} & TOUCHES_SYSTEM
    assert "open" not in {call for call, _ in calls(module)}


@pytest.mark.parametrize("module", of("reading"), ids=name_of)
def test_looking_never_changes_anything(module: Path) -> None:
    if name_of(module) not in RUNS_INTERPRETER:
        assert not {name.split(".")[0] for name in imports(module)} & RUNS
    if name_of(module) not in WRITES_CACHE:
        assert not {
            call
            for call, _ in calls(module)
            if call.startswith(("os.", "path.", "self._file.")) and call.split(".")[1] in WRITES
        }
        for call, node in calls(module):
            if call == "open":
                modes = [*node.args[1:2], *(key.value for key in node.keywords if key.arg == "mode")]
                assert all(isinstance(mode, ast.Constant) and mode.value in {"r", "rb"} for mode in modes)
            if call == "os.open":
                assert "O_RDONLY" in ast.unparse(node)


@pytest.mark.parametrize("module", of("reading"), ids=name_of)
def test_only_one_module_asks_the_system_for_files(module: Path) -> None:
    """So that nothing of this machine reaches what is said of an image."""
    if name_of(module) not in {*LOOKS_HERE, *WRITES_CACHE}:
        asked = {call for call, _ in calls(module)}
        assert not asked & {
            "open",
            *(f"os.{name}" for name in ASKS),
            *(f".{name}" for name in ASKS if name != "open"),
        }


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_pyelftools_is_known_to_one_module(module: Path) -> None:
    if name_of(module) != "reading/elf_files/elf_library.py":
        assert "elftools" not in {name.split(".")[0] for name in imports(module)}


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_only_the_command_line_prints(module: Path) -> None:
    if part(module) != "cli":
        assert "print" not in {call for call, _ in calls(module)}


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_says_what_it_knows_and_stays_readable(module: Path) -> None:
    tree = ast.parse(module.read_text())
    assert ast.get_docstring(tree)
    assert len(module.read_text().splitlines()) <= 300
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, node.name


def test_nothing_keeps_state_in_a_module() -> None:
    for module in MODULES:
        for node in ast.parse(module.read_text()).body:
            assert not (isinstance(node, ast.Assign) and ast.unparse(node.value) in {"[]", "{}", "set()"}), (
                module
            )
            assert not any(isinstance(inner, ast.Global) for inner in ast.walk(node)), module
