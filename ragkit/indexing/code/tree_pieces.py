"""Nodes of `tree-sitter` as pieces that chunks are cut along."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.tree_heads import end_row
from ragkit.indexing.code.tree_source import TreeSource
from ragkit.indexing.code.tree_symbols import FUNCTIONS, VARIABLES, Found

_SHORT_LINES = 2
"""A definition of so few lines, such as a declaration in a header, stands with its neighbours."""
_SHORT_VARIABLE_LINES = 4
_MAX_PLAIN = 8


@dataclass(frozen=True, slots=True)
class _File:
    found: Mapping[int, Declaration]
    """Id of a definition's outermost node → the definition."""
    starts: Sequence[int]
    """Bytes at which definitions begin, sorted."""
    leads: frozenset[str]
    """Types of comments and decorators."""
    opened: frozenset[str]
    """Types of nodes that are no more than a frame."""


@dataclass(frozen=True, slots=True)
class TreePiece:
    """A node with the comments and decorators that belong to it. Stands behind `stretches.Piece`."""

    node: Node
    first: int
    last: int
    declaration: Declaration | None
    _file: _File

    @property
    def is_definition(self) -> bool:
        """Whether it is a definition of more than a few lines."""
        if self.declaration is None:
            return False
        return self.last - self.first > (_SHORT_VARIABLE_LINES if self.declaration.kind in VARIABLES else _SHORT_LINES)

    @property
    def has_members(self) -> bool:
        """Whether other definitions are inside, functions apart: they are chunks as a whole."""
        if self.declaration is not None and self.declaration.kind in FUNCTIONS:
            return False
        starts = self._file.starts
        at = bisect_left(starts, self.node.start_byte + (self.declaration is not None))
        return at < len(starts) and starts[at] < self.node.end_byte

    @property
    def is_open(self) -> bool:
        """Whether what is inside counts as if it stood outside, and is more than a few lines."""
        opened = self._file.opened
        if self.node.type not in opened:
            return False
        return any(piece.is_definition or piece.node.type in opened for piece in self.inner())

    def inner(self) -> Sequence[TreePiece]:
        """Pieces inside, from the level on where there are several."""
        node = self.node
        while True:
            pieces = _pieces(node, self._file)
            long = [piece for piece in pieces if piece.last - piece.first > 1]
            # A body that begins below the first line of its definition is the one piece that matters.
            if len(long) != 1 or long[0].declaration is not None or len(pieces) > _MAX_PLAIN:
                return pieces
            node = long[0].node


def tree_pieces(source: TreeSource, found: Sequence[Found]) -> Sequence[TreePiece]:
    """The nodes of a source at its top."""
    by_node: dict[int, Declaration] = {}
    for item in found:
        by_node.setdefault(item.outer.id, item.declaration)
    starts = sorted({item.outer.start_byte for item in found})
    grammar = source.grammar
    return _pieces(source.root, _File(by_node, starts, grammar.comments | grammar.decorators, grammar.frames))


def _pieces(node: Node, file: _File) -> list[TreePiece]:
    pieces: list[TreePiece] = []
    for child in node.named_children:
        declaration = file.found.get(child.id)
        first, last = child.start_point.row, end_row(child)
        if declaration is not None:
            first = min(first, declaration.lead)
            while pieces and pieces[-1].first >= first and pieces[-1].node.type in file.leads:
                pieces.pop()
        pieces.append(TreePiece(child, first, last, declaration, file))
    return pieces
