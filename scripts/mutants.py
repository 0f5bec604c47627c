"""Change the code of `safepip/reasoning/` in one place at a time, and name the changes that no test notices.

    python scripts/mutants.py                              all of it
    python scripts/mutants.py safepip/reasoning/verdict    some of it

A comparison is turned round, a constant is another, a statement is left out, nothing is returned, and so on. The
tests are collected once in this process; each change is made in a fork of it, to a function's code in place, and only
the tests that reach its line are run, the quickest first, up to the first that fails. What survives is either a test
that is missing or a change that makes no difference. Needs `coverage` and `pytest`.
"""

from __future__ import annotations

import ast
import inspect
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import _lru_cache_wrapper, cache, cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
REASONING = "safepip/reasoning"
TESTS = ("tests/reasoning", "tests/rules/test_loader_rules.py::test_the_rule_holds_on_values")
SLOWEST = 5  # seconds; what runs longer for a change has noticed it
FLIPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
OPPOSITES = {"any": "all", "all": "any", "min": "max", "max": "min"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mutant(NamedTuple):
    path: Path
    function: str  # Class.method
    lines: range  # of the statement that is changed
    said: str
    code: CodeType  # of the whole module


class Place(NamedTuple):
    """Where one node hangs: a field of `parent`, or an item of a list in it."""

    parent: ast.AST
    field: str
    number: int | None

    def put(self, node: ast.AST) -> None:
        if self.number is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.number] = node


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of the functions in the file at `path`."""
    tree = ast.parse(path.read_text())
    for name, function in functions(tree):
        for statement, place, node in nodes(function):
            for said, changed in changes(node):
                place.put(ast.fix_missing_locations(ast.copy_location(changed, node)))
                last = statement.end_lineno or statement.lineno
                lines = range(statement.lineno, max(last, statement.lineno) + 1)
                yield Mutant(path, name, lines, f"{node.lineno}: {said}", compile(tree, str(path), "exec"))  # type: ignore[attr-defined]
                place.put(node)


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            methods = (inner for inner in node.body if isinstance(inner, Function))
            yield from ((f"{node.name}.{method.name}", method) for method in methods)


def nodes(function: Function) -> Iterator[tuple[ast.stmt | ast.expr, Place, ast.AST]]:
    """What may be changed in the body, each with the statement (or the head of one) that it is a part of."""
    pending: list[tuple[ast.AST, ast.stmt | ast.expr]] = []
    for index, statement in enumerate(function.body):
        if not _is_text(statement):
            yield statement, Place(function, "body", index), statement
            pending.append((statement, statement))
    while pending:
        parent, within = pending.pop()
        for field, value in ast.iter_fields(parent):
            if field in {"annotation", "returns", "format_spec"}:
                continue
            listed = enumerate(value) if isinstance(value, list) else [(None, value)]
            for number, node in listed:
                if isinstance(node, ast.AST) and not _is_text(node):
                    inside = node if isinstance(node, ast.stmt) else within
                    if isinstance(parent, ast.If | ast.While | ast.For) and isinstance(node, ast.expr):
                        inside = node
                    if hasattr(node, "lineno"):
                        yield inside, Place(parent, field, number), node
                    pending.append((node, inside))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What `node` is changed to, each in words."""
    shown = ast.unparse(node).partition("\n")[0]
    match node:
        case ast.Compare(left, [operator], comparators):
            yield _turned(shown, ast.Compare(left, [_flip(operator)], comparators))  # type: ignore[list-item]
        case ast.BoolOp(operator, values):
            yield _turned(shown, ast.BoolOp(_flip(operator), values))  # type: ignore[arg-type]
        case ast.BinOp(left, operator, right) if type(operator) in FLIPPED:
            yield _turned(shown, ast.BinOp(left, _flip(operator), right))  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not(), operand):
            yield _turned(shown, operand)
        case ast.Constant(bool(value)):
            yield _turned(shown, ast.Constant(not value))
        case ast.Constant(int(value)):
            yield _turned(shown, ast.Constant(value + 1))
        case ast.Constant(str(value)):
            yield _turned(shown, ast.Constant("" if value else "XX"))
        case ast.Call(ast.Name(name), arguments, keywords) if name in OPPOSITES:
            yield _turned(shown, ast.Call(ast.Name(OPPOSITES[name], ast.Load()), arguments, keywords))
        case ast.If(test) | ast.IfExp(test) | ast.While(test) if not isinstance(test, ast.Compare):
            changed = ast.UnaryOp(ast.Not(), test)
            fields = {name: value for name, value in ast.iter_fields(node) if name != "test"}
            yield f"{shown} → not", type(node)(test=changed, **fields)
        case ast.Return(value) if value is not None and not _is_nothing(value):
            yield f"{shown} → None", ast.Return(ast.Constant(None))
        case ast.Continue():
            yield "continue → break", ast.Break()
        case ast.Break():
            yield "break → continue", ast.Continue()
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise():
            yield f"{shown} → left out", ast.Pass()
        case _:
            pass


def _turned(shown: str, changed: ast.expr) -> tuple[str, ast.expr]:
    return f"{shown} → {ast.unparse(changed)}", changed


def _flip(operator: ast.AST) -> ast.AST:
    return FLIPPED[type(operator)]()


def _is_nothing(node: ast.expr) -> bool:
    """To whoever asks, None says the same."""
    return isinstance(node, ast.Constant) and not node.value


class Watch:
    """Stands in for pytest's own loop: every test once, by the lines that it runs, then each change."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.failed = ""  # a test
        self.survivors: list[Mutant] = []
        self.counts = Counter[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        reaching = self.measure(session.items)
        for path in files(self.paths):
            for mutant in mutants(path):
                tests = dict.fromkeys(item for line in mutant.lines for item in reaching[str(path), line])
                fate = self.tried(mutant, sorted(tests, key=self.took.__getitem__))
                self.counts[fate] += 1
                if fate in {"survived", "reached by no test"}:
                    self.survivors.append(mutant)
                    print(f"{path.relative_to(ROOT)}:{mutant.said} ({fate})", flush=True)
        print(", ".join(f"{count} {fate}" for fate, count in sorted(self.counts.items())), flush=True)
        return True

    def measure(self, items: Sequence[pytest.Item]) -> dict[tuple[str, int], list[pytest.Item]]:
        """By file and line: the tests that run it."""
        measured = coverage.Coverage(data_file=None, source=[str(ROOT / REASONING)])
        measured.start()
        self.took: dict[pytest.Item, float] = {}
        for item in items:
            measured.switch_context(item.nodeid)
            begin = time.perf_counter()
            run(item)
            self.took[item] = time.perf_counter() - begin
        measured.stop()
        if self.failed:
            print(f"{self.failed} fails without any change", flush=True)
            pytest.exit("nothing was changed", 2)
        by_name = {item.nodeid: item for item in items}
        reaching: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
        data = measured.get_data()
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                reaching[file, line] = [by_name[name] for name in contexts if name in by_name]
        return reaching

    def tried(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> str:
        if not tests:
            return "reached by no test"
        child = os.fork()
        if not child:
            self.die_of(mutant, tests)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return "ran too long"
        return "killed" if os.waitstatus_to_exitcode(status) else "survived"

    def die_of(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> None:
        signal.alarm(SLOWEST)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        put(mutant)
        for item in tests:
            run(item)
            if self.failed:
                os._exit(1)
        os._exit(0)


def run(item: pytest.Item) -> None:
    for remembering in remembered():
        remembering.cache_clear()  # or what an earlier test has asked runs no line of it, and no changed one
    item.ihook.pytest_runtest_protocol(item=item, nextitem=None)


@cache
def remembered() -> list[_lru_cache_wrapper[object]]:
    modules = [module for name, module in sys.modules.items() if name.startswith("safepip.")]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, _lru_cache_wrapper)
    ]


def files(paths: Sequence[str]) -> Iterator[Path]:
    for path in map(Path.resolve, map(Path, paths)):
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def put(mutant: Mutant) -> None:
    """Give the function its changed code; whoever has imported it by name has it too."""
    name = ".".join(mutant.path.relative_to(ROOT).with_suffix("").parts)
    codes: dict[str, CodeType] = {}
    pending = [mutant.code]
    while pending:
        code = pending.pop()
        codes.setdefault(code.co_qualname, code)
        pending += [inner for inner in code.co_consts if inspect.iscode(inner)]
    found: object = import_module(name)
    for part in mutant.function.split("."):
        found = inspect.getattr_static(found, part)
    function_of(found).__code__ = codes[mutant.function]


def function_of(found: object) -> FunctionType:
    match found:
        case property():
            found = found.fget
        case cached_property():
            found = found.func
        case staticmethod() | classmethod():
            found = found.__func__
        case _lru_cache_wrapper():
            found = found.__wrapped__
        case _:
            pass
    assert isinstance(found, FunctionType)
    return found


def main(paths: Sequence[str]) -> int:
    if "--help" in paths:
        print(__doc__)
        return 0
    os.chdir(ROOT)
    watch = Watch(paths or [REASONING])
    pytest.main(
        [*TESTS, "-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:terminal"],
        plugins=[watch],
    )
    if not watch.counts:
        return 2
    return 1 if watch.survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
