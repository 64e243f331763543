"""The symbols that a Python module defines, by name and place; shared by the chunks and the catalog of symbols."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkit.indexing.code.syntax import Definition, first_line, inner_statements, last_line

SymbolKind = Literal["class", "function", "method", "property", "constant", "variable", "field", "type_alias"]

_PROPERTY_DECORATORS = frozenset({"property", "cached_property", "setter", "getter", "deleter", "abstractproperty"})
_UNNAMED = frozenset({"_", "__slots__"})
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Symbol:
    """One definition."""

    node: ast.stmt
    kind: SymbolKind
    name: str
    qname: str
    """Within the module: `Class.method`, `outer.inner`."""
    symbol_id: str
    """`path::qname`, the second of that name `path::qname~2`: stable when lines move."""
    parent: Symbol | None
    start: int
    """Line from 0, decorators included."""
    end: int
    """Line after the last."""

    @property
    def definition(self) -> Definition | None:
        """The node when it is a function or a class."""
        return self.node if isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None


def module_name(path: str) -> str:
    """The dotted name of a module, as far as a path tells: a leading source folder is dropped, `__init__` too."""
    parts = path.rpartition(".")[0].split("/")
    if len(parts) > 1 and parts[0] in _SOURCE_FOLDERS:
        parts = parts[1:]
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


def symbols_of(tree: ast.Module, path: str) -> list[Symbol]:
    """Functions, classes, methods, properties, fields and module variables in the order of the source.

    Nested functions and classes count, local variables do not; a variable counts once, where it is first bound.
    """
    found: list[Symbol] = []
    taken: dict[str, int] = {}
    waiting: list[tuple[Sequence[ast.stmt], Symbol | None]] = [(tree.body, None)]
    while waiting:
        body, parent = waiting.pop()
        inner: list[tuple[Sequence[ast.stmt], Symbol | None]] = []
        for statement in _flattened(body):
            for kind, name in _defined(statement, parent):
                qname = f"{parent.qname}.{name}" if parent else name
                count = taken.get(qname, 0) + 1
                if count > 1 and kind in ("constant", "variable", "field"):
                    continue
                taken[qname] = count
                symbol = Symbol(
                    node=statement,
                    kind=kind,
                    name=name,
                    qname=qname,
                    symbol_id=f"{path}::{qname}" if count == 1 else f"{path}::{qname}~{count}",
                    parent=parent,
                    start=first_line(statement),
                    end=last_line(statement),
                )
                found.append(symbol)
                if symbol.definition is not None:
                    inner.append((symbol.definition.body, symbol))
        waiting.extend(reversed(inner))
    found.sort(key=lambda symbol: symbol.start)
    return found


def _flattened(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a body and of the branches inside it, definitions not entered."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            waiting.extend(reversed(inner_statements(statement)))


def _defined(statement: ast.stmt, parent: Symbol | None) -> Iterator[tuple[SymbolKind, str]]:
    in_class = parent is not None and isinstance(parent.node, ast.ClassDef)
    if isinstance(statement, ast.ClassDef):
        yield "class", statement.name
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        kind = "function" if not in_class else "property" if _is_property(statement) else "method"
        yield kind, statement.name
    elif parent is None or in_class:
        for name in _bound_names(statement):
            if name not in _UNNAMED:
                yield ("field" if in_class else "constant" if name.isupper() else "variable"), name
        if type(statement).__name__ == "TypeAlias":
            yield "type_alias", str(statement.name.id)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return
    for target in targets:
        for element in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(element, ast.Name):
                yield element.id


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(last_name(decorator) in _PROPERTY_DECORATORS for decorator in node.decorator_list)


def last_name(expression: ast.expr) -> str:
    """The last part of a dotted name, of a call's function as well: `app.get("/")` → `get`; else empty."""
    if isinstance(expression, ast.Call):
        expression = expression.func
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""
