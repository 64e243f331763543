"""Sources of any language with a grammar to syntax trees, within bounds; nothing is executed or imported.

`tree-sitter` gives a tree of whatever it is given, wrong parts of it marked. Its work is bounded by counted steps, not
by time: the same source gives the same tree on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from tree_sitter import Language, Node, Parser, Point, Query, QueryCursor

from ragkit.indexing.code.grammars.table import Grammar
from ragkit.indexing.passages import Lines

_CHUNK_BYTES = 1 << 16
_MAX_NODE_DEPTH = 300
"""Of nodes inside nodes, in the walk; what is deeper is made to hurt, and is looked at by nobody."""
_MAX_TOKENS = 1_000
"""Without a name, one after the other: only errors have as many."""
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
    nodes: Sequence[Node]
    """Nodes of the types that the grammar's table names, in the order of the source, outer ones first."""
    shallow: Sequence[Node]
    """Nodes that a query can be asked about, whose steps cost as many as there are nodes above and as there are tokens
    without a name up to the next node: the root, or those of its children that are made of neither.
    """

    def text(self, start: int, end: int) -> str:
        """The source between two bytes."""
        return self.content[start:end].decode("utf-8", "replace")

    def of(self, node: Node) -> str:
        """A node as written."""
        return self.text(node.start_byte, node.end_byte)

    def matches(self, pattern: str) -> Iterator[dict[str, list[Node]]]:
        """What a query finds, in the order of the tree where a pattern is one node."""
        query = _query(self.grammar, pattern)
        for node in self.shallow:
            for _, found in QueryCursor(query).matches(node):
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
    nodes, shallow = _walked(tree.root_node, grammar)
    return TreeSource(grammar, content, tree.root_node, nodes, shallow)


def _walked(root: Node, grammar: Grammar) -> tuple[list[Node], Sequence[Node]]:
    """What `TreeSource` says of `nodes` and `shallow`."""
    wanted = grammar.node_types()
    only_in = {kind: rule.only_in for kind, rule in grammar.rules.items() if rule.only_in}
    cursor, above, tokens = root.walk(), list[str](), [0]
    found: list[Node] = []
    hard: set[int] = set()
    top = root.id
    while True:
        node = cursor.node
        if node is None:  # as the stub has it
            break
        kind = node.type
        if len(above) == 1:
            top = node.id
        tokens[-1] = 0 if node.is_named else tokens[-1] + 1
        if tokens[-1] > _MAX_TOKENS:
            hard.add(top if len(above) > 1 else root.id)
        if kind in wanted and (kind not in only_in or above[-1:] == [only_in[kind]]):
            found.append(node)
        if len(above) < _MAX_NODE_DEPTH:
            if cursor.goto_first_child():
                above.append(kind)
                tokens.append(0)
                continue
        else:
            hard.add(top)
        while not cursor.goto_next_sibling():
            if not above or not cursor.goto_parent():
                return found, [child for child in root.named_children if child.id not in hard] if hard else [root]
            above.pop()
            tokens.pop()
    return found, [root]


@cache
def _language(package: str, function: str) -> Language:
    load = cast("Callable[[], object]", getattr(import_module(package), function))
    return Language(load())


@cache
def _compiled(package: str, function: str, pattern: str) -> Query:
    return Query(_language(package, function), pattern)


def _query(grammar: Grammar, pattern: str) -> Query:
    return _compiled(grammar.package, grammar.function, pattern)
