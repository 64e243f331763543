"""Statements of `ast` as pieces that chunks are cut along."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.syntax import first_line, inner_statements, is_definition, last_line
from ragkit.indexing.passages import Lines


@dataclass(frozen=True, slots=True)
class _Module:
    source: Lines
    declarations: Mapping[ast.stmt, Declaration]


@dataclass(frozen=True, slots=True)
class PythonPiece:
    """A statement with the comments right above it. Stands behind `stretches.Piece`."""

    node: ast.stmt
    first: int
    last: int
    _module: _Module

    @property
    def is_definition(self) -> bool:
        """Whether it is a function or a class."""
        return is_definition(self.node)

    @property
    def has_members(self) -> bool:
        """Whether it is a class."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_open(self) -> bool:
        """Never: a class that fits is one chunk."""
        return False

    @property
    def declaration(self) -> Declaration | None:
        """The function or class; no variables, which are not chunks of their own."""
        return self._module.declarations.get(self.node) if self.is_definition else None

    def inner(self) -> Sequence[PythonPiece]:
        """Of a class its body, else every statement directly inside."""
        body = self.node.body if isinstance(self.node, ast.ClassDef) else inner_statements(self.node)
        return _pieces(body, self.first + 1, self._module)


def python_pieces(
    source: Lines, tree: ast.Module, declarations: Mapping[ast.stmt, Declaration]
) -> Sequence[PythonPiece]:
    """The statements of a module."""
    return _pieces(tree.body, 0, _Module(source, declarations))


def _pieces(statements: Sequence[ast.stmt], position: int, module: _Module) -> list[PythonPiece]:
    pieces: list[PythonPiece] = []
    for statement in statements:
        first, last = first_line(statement), last_line(statement)
        while first > position and module.source.lines[first - 1].lstrip().startswith("#"):
            first -= 1
        pieces.append(PythonPiece(statement, first, last, module))
        position = max(position, last)
    return pieces
