"""Sources of any language with a grammar to syntax trees, within bounds; nothing is executed or imported.

`tree-sitter` gives a tree of whatever it is given, wrong parts of it marked. Its work is bounded by counted steps, not
by time: the same source gives the same tree on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from tree_sitter import Language, Node, Parser, Point, Query, QueryCursor

from ragkit.indexing.code.grammars.table import Grammar
from ragkit.indexing.passages import Lines

_CHUNK_BYTES = 1 << 16
_MIN_STEPS, _STEPS_PER_BYTE = 20_000, 0.2
"""Of the parser's own count, which is some hundred operations a step. Ordinary sources take .005 to .01 a byte, those
made of errors up to .035 and 20 µs a byte: linear, so that the largest file there may be costs under a minute.
"""


@dataclass(frozen=True, slots=True)
class TreeSource:
    """A parsed source."""

    grammar: Grammar
    content: bytes
    """UTF-8; offsets and columns of nodes count its bytes."""
    root: Node

    def text(self, start: int, end: int) -> str:
        """The source between two bytes."""
        return self.content[start:end].decode("utf-8", "replace")

    def of(self, node: Node) -> str:
        """A node as written."""
        return self.text(node.start_byte, node.end_byte)

    def matches(self, pattern: str) -> Iterator[dict[str, list[Node]]]:
        """What a query finds, in the order of the tree where a pattern is one node."""
        for _, found in QueryCursor(_query(self.grammar, pattern)).matches(self.root):
            yield found

    def captured(self, pattern: str, name: str) -> list[Node]:
        """Nodes that a query captures under a name, in the order of the source, outer ones first."""
        # `QueryCursor.captures` gives them in the order of a set: another one each time where two nodes begin together.
        nodes = [node for found in self.matches(pattern) for node in found.get(name, ())]
        return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))

    def first_error(self) -> int | None:
        """Line, from 1, of the first place that is not in the language; None when all is."""
        node = self.root if self.root.has_error else None
        while node is not None and not node.is_error and not node.is_missing:
            inner = (child for child in node.children if child.has_error or child.is_missing)
            node = next(inner, None)
        return node.start_point.row + 1 if node is not None else None


def read_tree(source: Lines, grammar: Grammar) -> TreeSource | None:
    """The tree of a source; None where reading it would take too many steps."""
    # A carriage return left inside a line, and NUL, would end something to a parser.
    text = "\n".join(source.lines).replace("\r", " ").replace("\0", " ")
    # Several grammars want the last line ended.
    content = f"{text}\n".encode("utf-8", "replace")
    steps_left = _MIN_STEPS + int(len(content) * _STEPS_PER_BYTE)

    def read(offset: int, _: Point) -> bytes:
        return content[offset : offset + _CHUNK_BYTES]

    def is_enough(_offset: int, _has_error: bool) -> bool:
        nonlocal steps_left
        steps_left -= 1
        return steps_left < 0

    try:
        tree = Parser(_language(grammar.package, grammar.function)).parse(read, progress_callback=is_enough)
    except ValueError:  # how the binding says that it was stopped
        return None
    return TreeSource(grammar, content, tree.root_node)


@cache
def _language(package: str, function: str) -> Language:
    load = cast("Callable[[], object]", getattr(import_module(package), function))
    return Language(load())


@cache
def _compiled(package: str, function: str, pattern: str) -> Query:
    return Query(_language(package, function), pattern)


def _query(grammar: Grammar, pattern: str) -> Query:
    return _compiled(grammar.package, grammar.function, pattern)
