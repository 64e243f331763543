"""Real packages: the symbols are those that `ast` and `inspect` list independently, and no line is lost."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from ragkit.document import Extraction, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.passages import Lines
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
PACKAGES = ["json", "logging", "http", "click", "httpx", "markdown_it"]
NOT_IMPORTED = ("__main__", "click._winconsole")
"""It would run; it wants Windows."""


class _Listing(ast.NodeVisitor):
    """Definitions by qualified name and line, written apart from the extractor."""

    def __init__(self) -> None:
        self.defined: list[tuple[str, int]] = []
        self.variables: set[str] = set()
        self._owners: list[str] = []
        self._in_function = False

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.defined.append((".".join([*self._owners, node.name]), node.lineno))
        before = self._in_function
        self._owners.append(node.name)
        self._in_function = not isinstance(node, ast.ClassDef)
        for statement in node.body:
            self.visit(statement)
        self._owners.pop()
        self._in_function = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _define

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            for item in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                self._variable(item)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._variable(node.target)

    def _variable(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name) and not self._in_function and target.id not in ("_", "__slots__"):
            self.variables.add(".".join([*self._owners, target.id]))


def _modules(package: str) -> Iterator[tuple[Path, str]]:
    root = Path(str(importlib.import_module(package).__file__)).parent
    for path in sorted(root.rglob("*.py")):
        yield path, path.relative_to(root.parent).as_posix()


def _extracted(code: CodeIndexingPipeline, source: Make, package: str) -> Iterator[tuple[Path, str, Extraction]]:
    for path, name in _modules(package):
        text = path.read_text("utf-8")
        yield path, text, code.index_file(source(name, text))


@pytest.mark.parametrize("package", PACKAGES)
def test_symbols_are_those_that_ast_lists(code: CodeIndexingPipeline, source: Make, package: str) -> None:
    count = 0
    for path, text, extraction in _extracted(code, source, package):
        listing = _Listing()
        listing.visit(ast.parse(text))
        rows = [row for row in extraction.rows if row.layer is Layer.C1_SYMBOL_CATALOG]
        small = ("variable", "constant", "field")
        lines = text.split("\n")
        defined: list[tuple[str, int]] = []
        for row in rows:
            if row.attributes["kind"] not in small:
                line = int(str(row.attributes["decl.start_line"]))
                while not lines[line - 1].lstrip().startswith(("def ", "class ", "async def ")):
                    line += 1
                defined.append((row.title, line))
        assert sorted(defined) == sorted(listing.defined), path
        named = {row.title for row in rows if row.attributes["kind"] in small}
        known = {name for name, _ in listing.defined}
        assert named - known == listing.variables - known, path
        assert not extraction.warnings
        count += len(rows)
    assert count > 50


@pytest.mark.parametrize("package", PACKAGES)
def test_symbols_are_those_that_inspect_finds(code: CodeIndexingPipeline, source: Make, package: str) -> None:
    checked = 0
    for _, text, extraction in _extracted(code, source, package):
        name = extraction.rows[0].path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") if text else ""
        if not name or name.endswith(NOT_IMPORTED):
            continue
        module = importlib.import_module(name)
        rows = {row.title: row for row in extraction.rows if row.layer is Layer.C1_SYMBOL_CATALOG}
        for qname, item in _own_members(module):
            assert qname in rows, (name, qname)
            # An overload or a variant under `if` is another symbol of the same name.
            starts = [
                row.attributes["decl.start_line"]
                for row in extraction.rows
                if row.layer is Layer.C1_SYMBOL_CATALOG and row.title == qname
            ]
            assert inspect.getsourcelines(item)[1] in starts, (name, qname)
            checked += 1
    assert checked > 10


def _own_members(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    """Functions and methods that are written in a module under their own name."""
    for name, item in vars(module).items():
        if inspect.isfunction(item) and item.__qualname__ == name and _is_of(item, module):
            yield name, item
        elif inspect.isclass(item):
            for inner, member in vars(item).items():
                if inspect.isfunction(member) and member.__qualname__ == f"{name}.{inner}" and _is_of(member, module):
                    yield member.__qualname__, member


def _is_of(function: FunctionType, module: ModuleType) -> bool:
    """Whether a function stands in a module's file as it is: not taken over, not wrapped, not generated."""
    return function.__code__.co_filename == module.__file__ and not hasattr(function, "__wrapped__")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_line_is_in_exactly_one_chunk(code: CodeIndexingPipeline, source: Make, package: str) -> None:
    for path, text, extraction in _extracted(code, source, package):
        lines = Lines(text)
        counts: Counter[int] = Counter()
        for row in extraction.rows:
            if row.layer is Layer.C0_SOURCE_CHUNKS:
                assert row.text == lines.text(row.line_start - 1, row.line_end), path
                counts.update(range(row.line_start, row.line_end + 1))
        lost = [line for line in range(1, len(lines) + 1) if counts[line] != 1 and not lines.is_blank(line - 1)]
        assert not lost, path
        assert all(count == 1 for count in counts.values()), path
