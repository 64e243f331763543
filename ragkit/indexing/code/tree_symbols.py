"""The symbols of a source that `tree-sitter` has read, by the table of its language.

The nodes that a table names nest like brackets, so one pass with a stack gives parents and qualified names however deep
the tree is. Comments and decorators right above a definition belong to it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.doc_comments import clean_comment, clean_docstring
from ragkit.indexing.code.entry_candidates import is_entry_candidate
from ragkit.indexing.code.grammars.table import Grammar, Rule
from ragkit.indexing.code.tree_heads import body_of, docstring_of, end_row, last_name, signature_of, words_before
from ragkit.indexing.code.tree_names import kind_of, name_nodes, name_parts, owner_name
from ragkit.indexing.code.tree_source import TreeSource

HEAD_LINES = 8
"""Shown of a symbol that nothing describes."""
MAX_DEPTH = 40
"""Of definitions inside definitions; what is deeper is left out."""
_MAX_WRAPPED = 12
"""Children of a wrapper: with more it is a group, and each definition stands for itself."""
_MAX_QNAME_CHARS = 400
_MAX_DOC_CHARS = 8_000

CLASS_LIKE = frozenset(
    {"class", "interface", "struct", "union", "trait", "enum", "record", "annotation", "impl", "trait_impl"}
)
FUNCTIONS = frozenset({"function", "method", "constructor", "property"})
VARIABLES = frozenset({"constant", "variable", "field", "enum_member", "column"})
"""Counted once a name, and never inside functions."""
_MEMBER_KINDS = {"function": "method", "variable": "field"}
_INSIDE_FUNCTIONS = FUNCTIONS | {"anonymous"}


@dataclass(frozen=True, slots=True)
class Found:
    """A definition and its node, wrappers around it included."""

    declaration: Declaration
    outer: Node
    is_symbol: bool = True
    """False for an `impl`: a part of the symbol that it names."""


@dataclass(slots=True)
class _Frame:
    """A node that is open while the pass is inside it."""

    node: Node
    kind: str
    """Of a definition or scope; `anonymous`, `wrapper`."""
    prefix: str
    """Qualified name of what is inside, up to its own name."""
    declared: str | None
    """Symbol id of the nearest definition, where the prefix is its name."""
    section: str | None = None


def tree_symbols(source: TreeSource, path: str, first_row: int) -> list[Found]:
    """Definitions in the order of the source. `first_row`: comments that end before it are about the file, not about
    what follows them.
    """
    return _Pass(source, path, first_row).run()


class _Pass:
    """The state of one pass over the nodes of a file."""

    def __init__(self, source: TreeSource, path: str, first_row: int) -> None:
        self._source = source
        self._grammar = source.grammar
        self._path = path
        self._first_row = first_row
        self._stack: list[_Frame] = []
        self._leads: list[Node] = []
        """Comments and decorators that stand together, up to where the pass has come."""
        self._taken: dict[str, int] = {}
        self._found: list[Found] = []
        self._exported: frozenset[str] = frozenset()
        self._decorators: list[Node] = []
        self._decorator_starts: list[int] = []

    def run(self) -> list[Found]:
        grammar, source = self._grammar, self._source
        if grammar.exported:
            self._exported = frozenset(map(source.of, source.captured(grammar.exported, "name")))
        nodes = source.nodes
        self._decorators = [node for node in nodes if node.type in grammar.decorators]
        self._decorator_starts = [node.start_byte for node in self._decorators]
        for node in nodes:
            while self._stack and self._stack[-1].node.end_byte <= node.start_byte:
                self._stack.pop()
            kind = node.type
            if kind in grammar.comments or kind in grammar.decorators:
                self._lead(node)
            elif kind == grammar.sections:
                self._section(node)
            elif kind in grammar.rules:
                self._definition(node, grammar.rules[kind])
            else:
                self._push(node, "anonymous" if kind in grammar.anonymous else "wrapper")
        ids = {item.declaration.qname: item.declaration.symbol_id for item in reversed(self._found) if item.is_symbol}
        return [_completed(found, ids) for found in self._found]

    def _push(self, node: Node, kind: str, prefix: str | None = None, declared: str | None = None) -> None:
        above = self._stack[-1] if self._stack else None
        if prefix is None:
            prefix = above.prefix if above else ""
            declared = above.declared if above else None
        self._stack.append(_Frame(node, kind, prefix, declared))

    def _lead(self, node: Node) -> None:
        content = self._source.content
        if self._leads and not _adjoin(content, self._leads[-1], node):
            self._leads = []
        line_start = content.rfind(b"\n", 0, node.start_byte) + 1
        if not self._leads and content[line_start : node.start_byte].strip():
            return  # behind code on its line: about that code
        self._leads.append(node)

    def _section(self, node: Node) -> None:
        """A label such as `public:`; the same word before a base class is none."""
        following = self._source.content[node.end_byte : node.end_byte + 20].lstrip()
        if self._stack and following.startswith(b":"):
            self._stack[-1].section = self._source.of(node)

    def _definition(self, node: Node, rule: Rule) -> None:
        grammar, source = self._grammar, self._source
        wrappers: list[_Frame] = []
        for frame in reversed(self._stack):
            if frame.kind != "wrapper":
                break
            wrappers.append(frame)
        parent = self._stack[-1 - len(wrappers)] if len(self._stack) > len(wrappers) else None
        is_hidden = bool(rule.hidden_in) and parent is not None and parent.node.type == rule.hidden_in
        names = [] if is_hidden else name_nodes(node, rule, grammar)
        if not names or len(self._stack) > MAX_DEPTH:
            if rule.is_scope_only or rule.kind in CLASS_LIKE:
                self._push(node, parent.kind if parent else "namespace")
            return
        above = parent.prefix if parent else ""
        if rule.is_scope_only:
            is_trait = bool(rule.trait) and node.child_by_field_name(rule.trait) is not None
            prefix = ".".join([*filter(None, [above]), *name_parts(source.of(names[0]), grammar)])
            kind = "trait_impl" if is_trait else rule.kind or "namespace"
            self._push(node, kind, prefix[:_MAX_QNAME_CHARS])
            if kind in CLASS_LIKE:
                self._found.append(Found(self._part(node, kind, prefix[:_MAX_QNAME_CHARS]), node, is_symbol=False))
            return
        outer = _outer(node, wrappers, grammar)
        leads = self._leads_of(outer)
        first: Declaration | None = None
        for name in names:
            declaration = self._declaration(node, rule, name, outer, leads, wrappers, parent)
            if declaration is not None:
                first = first or declaration
                self._found.append(Found(declaration, outer))
        if first is not None:
            self._push(node, first.kind, first.qname, first.symbol_id)

    def _part(self, node: Node, kind: str, qname: str) -> Declaration:
        """A stretch of source that belongs to a symbol defined elsewhere, maybe in another file."""
        leads = self._leads_of(node)
        row = node.start_point.row
        return Declaration(
            symbol_id="",
            name=qname.rpartition(".")[2],
            qname=qname,
            kind=kind,
            visibility="internal",
            lead=min([row, *(item.start_point.row for item in leads)]),
            start=row,
            end=end_row(node),
            shown_end=row + 1,
            signature=signature_of(self._source, node, node, body_of(node, self._grammar.bodies), ()),
        )

    def _leads_of(self, outer: Node) -> list[Node]:
        leads = self._leads
        if not leads or not _adjoin(self._source.content, leads[-1], outer):
            return []
        return [lead for lead in leads if end_row(lead) > self._first_row]

    def _declaration(
        self,
        node: Node,
        rule: Rule,
        name: Node,
        outer: Node,
        leads: Sequence[Node],
        wrappers: Sequence[_Frame],
        parent: _Frame | None,
    ) -> Declaration | None:
        grammar, source = self._grammar, self._source
        kind = kind_of(node, rule, name, grammar)
        parts = name_parts(source.of(name), grammar)
        is_inside = parent is not None and parent.kind in _INSIDE_FUNCTIONS
        if kind is None or not parts or (is_inside and (kind in VARIABLES or rule.members_only)):
            return None
        first, last = (bisect_left(self._decorator_starts, at) for at in (outer.start_byte, name.start_byte))
        decorators = [*(lead for lead in leads if lead.type in grammar.decorators), *self._decorators[first:last]]
        applied = [last_name(source.of(item)) for item in decorators]
        words = words_before(source, outer.start_byte, name, decorators)
        if wrappers and wrappers[-1].node.id != outer.id:
            words |= words_before(source, wrappers[-1].node.start_byte, name, decorators)
        kind = self._refined(kind, parts, words, parent, applied)
        owner = node.child_by_field_name(rule.owner) if rule.owner else None
        owners = [parent.prefix if parent else "", owner_name(source.of(owner)) if owner is not None else ""]
        qname = ".".join([*filter(None, owners), *parts])[:_MAX_QNAME_CHARS]
        if self._taken.get(qname, 0) and kind in VARIABLES:
            return None
        self._taken[qname] = count = self._taken.get(qname, 0) + 1
        is_top = parent is None and owner is None
        body = body_of(node, grammar.bodies)
        doc, shown_end = self._described(outer, body, leads)
        start = min([outer.start_point.row, *(item.start_point.row for item in decorators)])
        return Declaration(
            symbol_id=f"{self._path}::{qname}" if count == 1 else f"{self._path}::{qname}~{count}",
            name=parts[-1],
            qname=qname,
            kind=kind,
            visibility="local" if is_inside else self._visibility(qname, parts[-1], words, parent),
            lead=min([start, *(item.start_point.row for item in leads)]),
            start=start,
            end=end_row(outer),
            shown_end=shown_end,
            signature=signature_of(source, outer, node, body, decorators),
            decorators=tuple(source.of(item).strip().removeprefix("@") for item in decorators),
            doc=doc,
            parent_id=parent.declared if parent is not None and parent.prefix == qname.rpartition(".")[0] else None,
            is_entry_candidate=kind in FUNCTIONS
            and (is_entry_candidate(parts[-1], applied, is_top=is_top) or parts[-1] in grammar.member_entries),
            other_names=(qname.replace(".", grammar.separator),) if grammar.separator != "." and "." in qname else (),
        )

    def _described(self, outer: Node, body: Node | None, leads: Sequence[Node]) -> tuple[str | None, int]:
        """What is said about a definition, and the line after what is to be shown of it."""
        grammar, source = self._grammar, self._source
        comments = [source.of(lead) for lead in leads if lead.type in grammar.comments]
        doc = clean_comment(comments)[:_MAX_DOC_CHARS] or None
        end = end_row(outer)
        if body is None or body.start_byte <= outer.start_byte:
            return doc, end
        string = docstring_of(body) if grammar.has_docstrings else None
        if string is not None:
            return clean_docstring(source.of(string))[:_MAX_DOC_CHARS], min(end, end_row(string))
        return doc, min(end, body.start_point.row + 1 + (0 if doc else HEAD_LINES))

    def _refined(
        self, kind: str, parts: Sequence[str], words: frozenset[str], parent: _Frame | None, applied: Sequence[str]
    ) -> str:
        """The kind, from where it stands and what stands before it."""
        grammar = self._grammar
        is_member = parent is not None and parent.kind in CLASS_LIKE
        if kind in ("variable", "field") and any(needed <= words for needed in grammar.constant_words):
            kind = "constant"
        if kind == "variable" and grammar.upper_constants and parts[-1].isupper() and not is_member:
            kind = "constant"
        if is_member:
            kind = _MEMBER_KINDS.get(kind, kind)
            if kind == "method" and grammar.properties.intersection(applied):
                kind = "property"
        elif kind == "function" and len(parts) > 1:
            kind = "method"
        return kind

    def _visibility(self, qname: str, name: str, words: frozenset[str], parent: _Frame | None) -> str:
        grammar = self._grammar
        for pattern, visibility in grammar.name_visibility:
            if re.match(pattern, name):
                return visibility
        member_of = parent if parent is not None and parent.kind in CLASS_LIKE else None
        if member_of is not None and grammar.sections:
            return member_of.section or grammar.member_visibility.get(member_of.kind, "public")
        for word, visibility in grammar.visibility.items():
            if word in words:
                return visibility
        if member_of is not None:
            return grammar.member_visibility.get(member_of.kind, "public")
        return "public" if qname in self._exported else grammar.top_visibility


def _outer(node: Node, wrappers: Sequence[_Frame], grammar: Grammar) -> Node:
    """The widest of the wrappers right around that hold this one definition."""
    outer = node
    defining = grammar.rules.keys() | grammar.wrappers
    for frame in wrappers:
        children = frame.node.named_children if frame.node.named_child_count <= _MAX_WRAPPED else []
        if [child.id for child in children if child.type in defining] != [outer.id]:
            break
        outer = frame.node
    return outer


def _adjoin(content: bytes, before: Node, after: Node) -> bool:
    """Whether nothing but white space, and no blank line, stands between two nodes."""
    if before.end_byte > after.start_byte:
        return False
    end = before.start_byte + len(content[before.start_byte : before.end_byte].rstrip())
    gap = content[end : after.start_byte]
    return not gap.strip() and gap.count(b"\n") <= 1


def _completed(found: Found, ids: dict[str, str]) -> Found:
    """A definition that stands apart from its type (`impl`, Go's methods) gets the type as its parent, a part of a
    symbol the symbol's id.
    """
    declaration = found.declaration
    if not found.is_symbol:
        return replace(found, declaration=replace(declaration, symbol_id=ids.get(declaration.qname, "")))
    if declaration.parent_id is not None or "." not in declaration.qname:
        return found
    parent_id = ids.get(declaration.qname.rpartition(".")[0])
    return replace(found, declaration=replace(declaration, parent_id=parent_id)) if parent_id else found
