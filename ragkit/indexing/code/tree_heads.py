"""What stands about a definition that `tree-sitter` read: its signature, the words before its name, its docstring."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from ragkit.indexing.code.tree_source import TreeSource

_WORD = re.compile(r"pub\s*\(|[\w@]+")
_LAST_NAME = re.compile(r"(\w+)\W*$")
_MAX_HEADER_BYTES = 400
_MAX_SIGNATURE_BYTES = 8_000


def body_of(node: Node, bodies: frozenset[str]) -> Node | None:
    """The node with which the signature of a definition ends: its own body, or that of its value."""
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    inner = [node, *filter(None, (node.child_by_field_name(name) for name in ("value", "type", "right")))]
    for holder in inner:
        found = holder.child_by_field_name("body") or next(
            (child for child in holder.named_children if child.type in bodies), None
        )
        if found is not None:
            return found
    return None


def words_before(source: TreeSource, start: int, name: Node, decorators: Sequence[Node]) -> frozenset[str]:
    """Words between a byte and a name, decorators left out: `export`, `static`, `pub(`."""
    text = source.text(start, min(name.start_byte, start + _MAX_HEADER_BYTES))
    for decorator in decorators:
        if decorator.start_byte >= start:
            text = text.replace(source.of(decorator), " ", 1)
    return frozenset(word.replace(" ", "") for word in _WORD.findall(text))


def signature_of(
    source: TreeSource, outer: Node, node: Node, body: Node | None, decorators: Sequence[Node]
) -> str | None:
    """A definition as written, without leading decorators, without its body, of a variable without its value."""
    start = outer.start_byte
    for decorator in decorators:
        if decorator.end_byte > start and not source.content[start : decorator.start_byte].strip():
            start = decorator.end_byte
    end = outer.end_byte
    if body is not None and body.start_byte > start:
        end = body.start_byte
    else:
        for name in ("value", "right", "default_value"):
            value = node.child_by_field_name(name)
            if value is not None and value.start_byte > start:
                end = min(end, value.start_byte)
    text = source.text(start, min(end, start + _MAX_SIGNATURE_BYTES)).strip()
    if body is None:
        text = text.partition("{\n")[0]
    return text.rstrip().removesuffix("=>").rstrip("{:;=, \\\t\n") or None


def docstring_of(body: Node) -> Node | None:
    """The string that a body begins with."""
    first = next((child for child in body.named_children if child.type != "comment"), None)
    if first is not None and first.type == "expression_statement" and first.named_child_count == 1:
        first = first.named_children[0]
    return first if first is not None and first.type == "string" else None


def last_name(decorator: str) -> str:
    """The last part of what a decorator names: `@app.get("/x")` → `get`."""
    found = _LAST_NAME.search(decorator.strip("@#[] \n").partition("(")[0])
    return found[1] if found else ""


def end_row(node: Node) -> int:
    """Line after a node, from 0; a node that ends with a line end does not reach into the next line."""
    row, column = node.end_point
    return max(row if column == 0 else row + 1, node.start_point.row + 1)
