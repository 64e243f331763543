"""Python sources to syntax trees, and the geometry of their statements; nothing is executed or imported."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ragkit.indexing.passages import Lines

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_PARSING = threading.Lock()
"""The filters of `warnings` are the process's; parsing holds the interpreter lock anyway."""

_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")


@dataclass(frozen=True, slots=True)
class Unparsable:
    """Why a source has no tree."""

    line: int
    """From 1."""
    problem: str


def parse(source: Lines) -> ast.Module | Unparsable:
    """The tree of a source whose lines end with `\\n` alone."""
    # A carriage return left inside a line would be a line end to the parser and none to us.
    text = "\n".join(source.lines).replace("\r", " ")
    try:
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), max(len(source), 1))
        return Unparsable(line, error.msg)
    except (RecursionError, MemoryError, ValueError) as error:
        return Unparsable(1, type(error).__name__)


def is_definition(node: ast.AST) -> bool:
    """Whether a statement defines a function or a class."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def first_line(node: ast.stmt) -> int:
    """Line of a statement, its decorators included, from 0."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def last_line(node: ast.stmt) -> int:
    """Line after a statement, from 0."""
    return node.end_lineno or node.lineno


def inner_statements(node: ast.AST) -> list[ast.stmt]:
    """Statements directly inside another, in order: of its body, branches, handlers and cases. `elif` chains are
    flattened, so that a long one is no deep nesting.
    """
    found: list[ast.stmt] = []
    # Most statements are simple ones: looked at once, not once a field.
    waiting: list[ast.AST] = [node] if hasattr(node, "body") or hasattr(node, "cases") else []
    while waiting:
        current = waiting.pop()
        deeper: list[ast.AST] = []
        for name in _BODIES:
            for child in cast("Sequence[ast.AST]", getattr(current, name, ()) or ()):
                if isinstance(child, (ast.ExceptHandler, ast.match_case)) or _is_elif(current, name, child):
                    deeper.append(child)
                elif isinstance(child, ast.stmt):
                    found.append(child)
        waiting.extend(reversed(deeper))
    found.sort(key=lambda statement: statement.lineno)
    return found


def _is_elif(node: ast.AST, name: str, child: ast.AST) -> bool:
    return (
        name == "orelse"
        and isinstance(node, ast.If)
        and isinstance(child, ast.If)
        and len(node.orelse) == 1
        and child.col_offset == node.col_offset
    )


class Segments:
    """Cuts the source text of a node out of its lines; offsets of `ast` are in UTF-8 bytes."""

    def __init__(self, source: Lines) -> None:
        self._lines = source.lines

    def column(self, line: int, offset: int) -> int:
        """Code points before a byte offset of a line (from 0)."""
        text = self._lines[line]
        return offset if text.isascii() else len(text.encode("utf-8")[:offset].decode("utf-8", "ignore"))

    def text(self, node: ast.expr) -> str:
        """An expression as written."""
        return self.between(
            (node.lineno - 1, node.col_offset), (node.end_lineno or node.lineno) - 1, node.end_col_offset or 0
        )

    def between(self, start: tuple[int, int], end_line: int, end_offset: int) -> str:
        """From a (line, byte offset) to another, both lines from 0."""
        first, last = self.column(*start), self.column(end_line, end_offset)
        if start[0] == end_line:
            return self._lines[end_line][first:last]
        return "\n".join(
            [self._lines[start[0]][first:], *self._lines[start[0] + 1 : end_line], self._lines[end_line][:last]]
        )

    def signature(self, node: Definition) -> tuple[str, int]:
        """`def name(…) -> …` or `class Name(…)` as written, without the colon; and the line (from 0) where it ends."""
        line, offset = _signature_anchor(node)
        column = self.column(line, offset)
        while line < len(self._lines):
            text = self._lines[line]
            while column < len(text) and text[column] not in ":#":
                column += 1
            if column < len(text) and text[column] == ":":
                break
            line, column = line + 1, 0
        line = min(line, len(self._lines) - 1)
        first = node.lineno - 1
        head = self._lines[first][self.column(first, node.col_offset) : column if line == first else None]
        if line == first:
            return head.rstrip(), line
        return "\n".join([head, *self._lines[first + 1 : line], self._lines[line][:column]]).rstrip(), line


def _signature_anchor(node: Definition) -> tuple[int, int]:
    """The end of the last thing in a signature that could hold a colon: line from 0, byte offset."""
    ends: list[tuple[int, int]] = [(node.lineno - 1, node.col_offset)]
    expressions: list[ast.AST] = list(getattr(node, "type_params", ()))
    if isinstance(node, ast.ClassDef):
        expressions += [*node.bases, *node.keywords]
    else:
        arguments = node.args
        expressions += [
            *arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *arguments.defaults,
            *filter(None, arguments.kw_defaults), *filter(None, (arguments.vararg, arguments.kwarg, node.returns)),
        ]  # fmt: skip
    for expression in expressions:
        line = cast("int | None", getattr(expression, "end_lineno", None))
        if line is not None:
            ends.append((line - 1, cast("int", getattr(expression, "end_col_offset", 0))))
    return max(ends)
