"""What a node that `tree-sitter` read is called, and of what kind its declarators and value make it."""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Node

from ragkit.indexing.code.grammars.table import Grammar, Rule

_MAX_DECLARATORS = 40
_MAX_NAME_CHARS = 200
_QUOTES = "\"'`[]"
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>|\s+")


def name_nodes(node: Node, rule: Rule, grammar: Grammar) -> list[Node]:
    """The names that a node defines, in order; none where it defines nothing."""
    if rule.needs and node.child_by_field_name(rule.needs) is None:
        return []
    if rule.name_types:
        return [child for child in node.named_children if child.type in rule.name_types][:1]
    found: list[Node] = []
    for item in node.children_by_field_name(rule.name) if rule.name else [node]:
        for child in item.named_children if item.type in grammar.lists else [item]:
            leaf = _leaf(child, grammar)
            if leaf is not None and leaf.type in grammar.names and not leaf.is_missing:
                found.append(leaf)
    return found


def kind_of(node: Node, rule: Rule, name: Node, grammar: Grammar) -> str | None:
    """The kind of one of its names; None where it is no symbol."""
    kind = rule.kind
    if rule.by_value:
        value = node.child_by_field_name(rule.value)
        kind = rule.by_value.get(value.type, kind) if value is not None else kind
    if rule.through:
        declarators = node.children_by_field_name(rule.name)
        current = next((item for item in declarators if item.end_byte >= name.end_byte), None)
        while current is not None and current.id != name.id and current.type in grammar.declarators:
            kind = rule.through.get(current.type, kind)
            current = _below(current)
    return kind


def name_parts(text: str, grammar: Grammar) -> list[str]:
    """Parts of a name as written: `shop::Cart<T>::total` → `shop`, `Cart`, `total`."""
    text = text[: 2 * _MAX_NAME_CHARS].strip(_QUOTES + " ")
    if grammar.unprefixed:
        text = _pattern(grammar.unprefixed).sub("", text)
    if grammar.separator == "::" and "operator" not in text:
        text = _TYPE_ARGUMENTS.sub("", text)
    parts = re.split(r"::|\.", text) if grammar.separator == "::" else text.split(".")
    return [part for part in (" ".join(part.strip(_QUOTES + " ").split())[:_MAX_NAME_CHARS] for part in parts) if part]


def owner_name(receiver: str) -> str:
    """The type that a receiver names: `(o *Order[T])` → `Order`."""
    found = re.search(r"(\w+)\W*$", receiver.partition("[")[0])
    return found[1] if found else ""


def _leaf(node: Node, grammar: Grammar) -> Node | None:
    """The name below pointers, parameters and the like."""
    current: Node | None = node
    for _ in range(_MAX_DECLARATORS):
        if current is None or current.type not in grammar.declarators:
            return current
        current = _below(current)
    return None


def _below(node: Node) -> Node | None:
    for name in ("declarator", "name", "type"):
        found = node.child_by_field_name(name)
        if found is not None:
            return found
    return node.named_children[0] if node.named_children else None


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
