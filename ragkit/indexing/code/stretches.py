"""Where a source is cut: stretches of lines along its syntax tree, whatever the tree.

A tree takes part by the protocol `Piece`: `python_pieces.py` wraps statements of `ast`, `tree_pieces.py` nodes of
`tree-sitter`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.license import license_end
from ragkit.indexing.passages import Block, Bound, Lines

CHUNK = Bound(words=200, slack_words=25, lines=60, chars=4_000)
"""A whole function or class up to here; longer ones are split along the syntax tree."""
LICENSE = "license"
"""Type of the stretch that is a file's licence comment."""
_MAX_DEPTH = 120
"""Of pieces inside pieces; what is deeper is cut by lines."""


class Piece(Protocol):
    """A part of a syntax tree that takes lines."""

    @property
    def first(self) -> int:
        """Line from 0, comments that belong to it included."""
        ...

    @property
    def last(self) -> int:
        """Line after it."""
        ...

    @property
    def is_definition(self) -> bool:
        """Whether it is a stretch of its own."""
        ...

    @property
    def has_members(self) -> bool:
        """Whether its definitions are stretches of their own where it is too long: a class, a namespace."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether these are stretches of their own even where it is short: `#ifdef`, a C++ namespace."""
        ...

    @property
    def declaration(self) -> Declaration | None:
        """The symbol that it defines."""
        ...

    def inner(self) -> Sequence[Piece]:
        """Pieces directly inside, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive lines that are cut by themselves: a definition, or what stands between two."""

    chunk_type: str
    symbol: Declaration | None
    blocks: tuple[Block, ...]


def tree_stretches(source: Lines, pieces: Sequence[Piece]) -> list[Stretch]:
    """Stretches that together are all lines of a source, in order. `pieces`: of the whole file, in order."""
    start = license_end(source)
    return [*_license(start), *_stretches(source, pieces, (start, len(source)), None, 0)]


def line_stretches(source: Lines) -> list[Stretch]:
    """Stretches of a source without a syntax tree; blank lines are where it is cut first."""
    start = license_end(source)
    blocks = tuple(_between_blanks(source, start))
    return [*_license(start), *([Stretch("lines", None, blocks)] if blocks else [])]


def _license(end: int) -> Iterator[Stretch]:
    if end:
        yield Stretch(LICENSE, None, (Block(0, end),))


def _stretches(
    source: Lines, pieces: Sequence[Piece], bounds: tuple[int, int], owner: Declaration | None, depth: int
) -> Iterator[Stretch]:
    """Stretches of a file or of a body; the owner's own lines above it go with what comes first."""
    position, end = bounds
    loose_type = "module" if owner is None else "class_header"
    loose: list[Block] = []
    spans = list(extents(pieces, position, end))
    for index, (piece, start, _) in enumerate(spans):
        following = spans[index + 1][1] if index + 1 < len(spans) else end
        if not _stands_alone(source, piece, start, following, depth):
            loose.append(block_of(source, piece, position, following))
        else:
            if all(source.is_blank(line) for line in range(position, start)):
                start = position
            else:
                loose.append(Block(position, start))
            if loose:
                yield Stretch(loose_type, owner, tuple(loose))
                loose = []
            if _is_entered(source, piece, start, following, depth):
                yield from _stretches(source, piece.inner(), (start, following), piece.declaration or owner, depth + 1)
            else:
                kind = piece.declaration.kind if piece.declaration else loose_type
                yield Stretch(kind, piece.declaration or owner, (block_of(source, piece, start, following),))
        position = following
    if position < end:
        loose.append(Block(position, end))
    if loose:
        yield Stretch(loose_type, owner, tuple(loose))


def _stands_alone(source: Lines, piece: Piece, start: int, end: int, depth: int) -> bool:
    """Definitions do; so does what holds definitions without being one, where it is entered."""
    return piece.is_definition or _is_entered(source, piece, start, end, depth)


def _is_entered(source: Lines, piece: Piece, start: int, end: int, depth: int) -> bool:
    return piece.has_members and depth < _MAX_DEPTH and (piece.is_open or not source.fits(start, end, CHUNK))


def block_of(source: Lines, piece: Piece, start: int, end: int, depth: int = 0) -> Block:
    """The block of a piece that takes the lines `start` to `end`, torn along what is inside it if too long."""
    if source.fits(start, end, CHUNK) or depth > _MAX_DEPTH:
        return Block(start, end)
    return Block(start, end, tuple(_parts(source, piece, start, end, depth)))


def _parts(source: Lines, piece: Piece, start: int, end: int, depth: int) -> Iterator[Block]:
    position = start
    for inner, inner_start, inner_end in extents(piece.inner(), start + 1, end):
        if inner_start >= position and inner_end > inner_start:
            yield block_of(source, inner, inner_start, inner_end, depth + 1)
            position = inner_end


def extents(pieces: Sequence[Piece], start: int, end: int) -> Iterator[tuple[Piece, int, int]]:
    """Each piece with its lines; pieces that share a line are one (the first).

    Spans are in order, never overlap and lie between `start` and `end`.
    """
    spans: list[tuple[Piece, int, int]] = []
    position = start
    for piece in pieces:
        first, last = max(piece.first, start), min(piece.last, end)
        if first < position and spans:
            known, known_first, known_last = spans[-1]
            spans[-1] = (known, known_first, max(known_last, last))
        else:
            spans.append((piece, first, last))
        position = max(position, last)
    return iter(spans)


def _between_blanks(source: Lines, start: int) -> Iterator[Block]:
    for line in range(start + 1, len(source)):
        if source.is_blank(line - 1) and not source.is_blank(line):
            yield Block(start, line)
            start = line
    if start < len(source):
        yield Block(start, len(source))
