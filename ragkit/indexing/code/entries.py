"""An entry point as the finders of C3 give it, and what they share: literals, keywords, the framework of a file."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragkit.indexing.code.evidence import Span
from ragkit.indexing.code.scopes import FileScopes, Scope
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.code.syntax import Segments
from ragkit.indexing.code.values import Values
from ragkit.indexing.context import Split

EntryType = Literal["http_route", "websocket", "cli_command", "task", "schedule", "message_handler", "main"]
_MAX_SHOWN = 200
_MAX_PIECES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One way into the program."""

    entry_type: EntryType
    framework: str | None
    name: str
    """Path of a route, command, task or topic."""
    handler: Symbol | None
    span: Span
    methods: tuple[str, ...] = ()
    auth: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    args_schema: Mapping[str, object] | None = None
    queue: str | None = None
    cron: str | None = None
    tags: tuple[str, ...] = ()
    words: str = ""
    """Help or description, where it is no docstring of the handler."""
    payload: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class EntrySource:
    """What finders read: the values of a file, its text, and how identifiers are split."""

    values: Values
    segments: Segments
    split: Split

    @property
    def file(self) -> FileScopes:
        """The walked file."""
        return self.values.file

    def shown(self, node: ast.expr) -> str:
        """An expression as written, bounded, on one line."""
        return " ".join(self.segments.text(node)[: _MAX_SHOWN * 2].split())[:_MAX_SHOWN]

    def string(self, node: ast.expr | None, scope: Scope) -> str | None:
        """The text of a literal, of a constant of the module, of `+` between them.

        What an f-string fills in stays as `{…}`; None for anything else.
        """
        waiting, pieces = [node], list[str]()
        while waiting and len(pieces) < _MAX_PIECES:
            node = waiting.pop()
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                pieces.append(node.value)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                waiting.extend((node.right, node.left))
            elif isinstance(node, ast.JoinedStr):
                waiting.extend(reversed(node.values))
            elif isinstance(node, ast.FormattedValue):
                inner = self.constant(node.value, scope)
                pieces.append(inner if inner is not None else "{" + self.shown(node.value) + "}")
            else:
                inner = self.constant(node, scope)
                if inner is None:
                    return None
                pieces.append(inner)
        return "".join(pieces)

    def constant(self, node: ast.expr | None, scope: Scope) -> str | None:
        """The literal that a name of the module is bound to."""
        if isinstance(node, ast.Name):
            owner = self.values.binding_scope(node.id, scope)
            literals = {
                item.value
                for item in (owner.bound.get(node.id, ()) if owner is not None else ())
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            }
            return literals.pop() if len(literals) == 1 else None
        return None

    def strings(self, node: ast.expr | None, scope: Scope) -> tuple[str, ...]:
        """Texts of a list, tuple or set of literals; of one literal that alone."""
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            found = [self.string(element, scope) for element in node.elts[:_MAX_PIECES]]
            return tuple(item for item in found if item is not None)
        one = self.string(node, scope)
        return (one,) if one is not None else ()

    def constructor(self, node: ast.expr, scope: Scope) -> ast.Call | None:
        """The call that a name was bound to: of `router = APIRouter(…)`."""
        if not isinstance(node, ast.Name):
            return None
        owner = self.values.binding_scope(node.id, scope)
        calls = [item for item in (owner.bound.get(node.id, ()) if owner else ()) if isinstance(item, ast.Call)]
        return calls[0] if len(calls) == 1 else None

    def reference(self, node: ast.expr | None, scope: Scope) -> tuple[Symbol | None, str | None]:
        """The symbol that an argument names, and its dotted name; of a call that of what is called."""
        if isinstance(node, ast.Call):
            node = node.func
        value = self.values.of(node, scope) if node is not None else None
        return (value.symbol, value.ref) if value is not None else (None, None)

    def words_of(self, name: str) -> frozenset[str]:
        """Folded words of a dotted name."""
        return frozenset(word for part in name.split(".") for word in self.split(part))

    def imported(self, table: Mapping[str, str]) -> str | None:
        """The first framework of a table that the file imports."""
        for use in self.file.uses:
            if isinstance(use.target, str):
                framework = table.get(use.target.partition(".")[0])
                if framework is not None:
                    return framework
        return None


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keyword arguments."""
    return next((item.value for name in names for item in call.keywords if item.arg == name), None)


def argument(call: ast.Call, place: int, *names: str) -> ast.expr | None:
    """A positional argument, else a keyword."""
    if place < len(call.args) and not any(isinstance(item, ast.Starred) for item in call.args[: place + 1]):
        return call.args[place]
    return keyword(call, *names)


def last_part(node: ast.expr) -> str:
    """The last part of a dotted name; of a call that of what is called."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def root(ref: str) -> str:
    """The first part of a dotted name."""
    return ref.partition(".")[0].removesuffix("()")
