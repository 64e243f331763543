"""Blocks of reStructuredText as plain data: what `rst_states` makes docutils see, each block with its exact lines."""

# pyright: basic
# The stubs of docutils leave most types out.
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from docutils import nodes

from ragkit.indexing.docs.rst_states import TableCells, parse_blocks
from ragkit.indexing.passages import Lines

NodeKind = Literal[
    "paragraph",
    "list",
    "ordered_list",
    "item",
    "definition",
    "field",
    "option",
    "literal",
    "table",
    "directive",
    "group",
]
"""`group` is what only holds others: quotes, lists of definitions, footnotes."""

_KINDS: dict[str, NodeKind] = {
    "paragraph": "paragraph",
    "bullet_list": "list",
    "enumerated_list": "ordered_list",
    "list_item": "item",
    "definition_list_item": "definition",
    "field": "field",
    "option_list_item": "option",
    "literal_block": "literal",
    "doctest_block": "literal",
    "table": "table",
    "block_quote": "group",
    "definition_list": "group",
    "field_list": "group",
    "option_list": "group",
    "line_block": "paragraph",
    "footnote": "group",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RstNode:
    """A block."""

    kind: NodeKind
    start: int
    """Line, from 0."""
    end: int
    """Line after the last, blank lines at the end not counted."""
    text: str = ""
    """Of a paragraph or literal: its lines as written, without indentation; of a definition, field or option: its
    term."""
    children: tuple[RstNode, ...] = ()
    name: str = ""
    """Of a directive, without its domain."""
    argument: str = ""
    options: tuple[tuple[str, str], ...] = ()
    content: tuple[int, int] = (0, 0)
    """Lines of a directive's content, from 0, end exclusive."""
    header: tuple[TableCells, ...] = ()
    rows: tuple[TableCells, ...] = ()

    def option(self, name: str) -> str:
        """The value of an option; empty when it is not there."""
        return next((value for key, value in self.options if key == name), "")


def read_nodes(source: Lines, start: int, end: int) -> tuple[RstNode, ...]:
    """The blocks of the lines, in order and without overlap; titles are none (`rst` takes them out before).

    Raises: TooDeep; whatever docutils raises on text that it cannot read.
    """
    lines = [
        source.lines[line].replace("\v", " ").replace("\f", " ").expandtabs(8).rstrip() for line in range(start, end)
    ]
    document = parse_blocks(lines, start)
    return tuple(_nodes(source, document, end))


def _nodes(source: Lines, parent: nodes.Element, end: int) -> Iterator[RstNode]:
    """The children that say something, as blocks, each after the one before."""
    last = 0
    for child in parent.children:
        if not isinstance(child, nodes.Element) or "span" not in child.attributes:
            if isinstance(child, nodes.definition | nodes.field_body | nodes.description):
                yield from _nodes(source, child, end)
            continue
        kind = "directive" if "directive" in child.attributes else _KINDS.get(child.tagname)
        first, after = cast("tuple[int, int]", child["span"])
        first, after = source.trimmed(max(first, last), min(after, end, len(source)))
        if kind is None or first >= after:
            continue
        last = after
        yield RstNode(
            kind=kind,
            start=first,
            end=after,
            text=_text(child),
            children=() if kind in ("paragraph", "literal", "table") else tuple(_nodes(source, child, after)),
            name=str(child.get("directive", "")),
            argument=str(child.get("argument", "")),
            options=child.get("options", ()),
            content=child.get("content", (0, 0)),
            header=child.get("head", ()),
            rows=child.get("body", ()),
        )


def _text(node: nodes.Element) -> str:
    if isinstance(node, nodes.field):
        return node.children[0].astext() if node.children else ""
    if isinstance(node, nodes.line_block):
        return " ".join(node.astext().split())
    return str(node.get("term", "")) or node.rawsource
