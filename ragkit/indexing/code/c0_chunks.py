"""C0_SOURCE_CHUNKS: source code as written, every line in exactly one chunk. Spec: MODULE §5.2."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragkit.document import RagDocument
from ragkit.indexing.code.license import license_end
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.code.syntax import Segments, block_of, extents, is_definition
from ragkit.indexing.context import Split, distinct_words, path_words
from ragkit.indexing.passages import Block, Bound, Lines, Passage, cut
from ragkit.layers import C0Attributes, Layer

CHUNK = Bound(words=200, slack_words=25, lines=60, chars=4_000)
"""A whole function or class up to here; longer ones are split along the syntax tree."""

_IDENTIFIER = re.compile(r"[^\W\d]\w+")
_STRING = re.compile(r"(\"\"\"|'''|\"|')(?:\\.|(?!\1).)*\1", re.DOTALL)
_MAX_CONTEXT_WORDS = 40
_MUTE = frozenset({"def", "async", "class", "self", "cls", "none"})
"""Words that nearly every signature has."""


LICENSE = "license"
"""Type of the chunk that is a file's licence comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnit:
    """What the chunks of one file share."""

    path: str
    language: str
    unit: str
    """Dotted module name; the path where there is none."""
    title: str
    """Of chunks that belong to no symbol."""
    is_test: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive lines that are cut by themselves: a definition, or what stands between two."""

    chunk_type: str
    symbol: Symbol | None
    blocks: tuple[Block, ...]


def python_stretches(source: Lines, tree: ast.Module, symbols: Mapping[ast.stmt, Symbol]) -> list[Stretch]:
    """Stretches of a module that together are all of its lines, in order."""
    start = license_end(source)
    return [*_license(start), *_stretches(source, tree.body, (start, len(source)), None, symbols)]


def line_stretches(source: Lines) -> list[Stretch]:
    """Stretches of a source without a syntax tree; blank lines are where it is cut first."""
    start = license_end(source)
    blocks = tuple(_between_blanks(source, start))
    return [*_license(start), *([Stretch("lines", None, blocks)] if blocks else [])]


def _license(end: int) -> Iterator[Stretch]:
    if end:
        yield Stretch(LICENSE, None, (Block(0, end),))


def source_chunks(
    source: Lines, stretches: Sequence[Stretch], unit: SourceUnit, split: Split
) -> tuple[list[RagDocument], int | None]:
    """Rows in the order of the source; and the first line (from 1) that was too long to stay whole.

    Every non-blank line is in exactly one row (parts of a cut line: in several); blank lines alone make no row.
    """
    rows: list[RagDocument] = []
    cut_at: int | None = None
    taken: dict[str, int] = {}
    segments = Segments(source)
    words = path_words(unit.path, split)
    for stretch in stretches:
        passages = cut(source, stretch.blocks, CHUNK, keep_blank=True)
        # The same licence in every file is one text to embed, and one row of an answer.
        context = "" if stretch.chunk_type == LICENSE else _context(stretch.symbol, segments, words, split)
        for place, passage in enumerate(passages):
            if passage.is_cut and cut_at is None:
                cut_at = passage.start + 1
            chunk_type = stretch.chunk_type if len(passages) == 1 or stretch.symbol is None else "part"
            if not passage.text.isspace() and passage.text:
                rows.append(_row(passage, place, chunk_type, stretch.symbol, unit, context, taken))
    return rows, cut_at


def _stretches(
    source: Lines,
    body: Sequence[ast.stmt],
    bounds: tuple[int, int],
    owner: Symbol | None,
    symbols: Mapping[ast.stmt, Symbol],
) -> Iterator[Stretch]:
    """Stretches of a module's or class's body; the owner's own lines above it go with what comes first."""
    position, end = bounds
    loose_type = "module" if owner is None else "class_header"
    loose: list[Block] = []
    spans = list(extents(source, body, position, end))
    for index, (statement, start, _) in enumerate(spans):
        following = spans[index + 1][1] if index + 1 < len(spans) else end
        if not is_definition(statement):
            loose.append(block_of(source, statement, position, following, CHUNK))
        else:
            if all(source.is_blank(line) for line in range(position, start)):
                start = position
            else:
                loose.append(Block(position, start))
            if loose:
                yield Stretch(loose_type, owner, tuple(loose))
                loose = []
            yield from _definition(source, statement, start, following, symbols)
        position = following
    if position < end:
        loose.append(Block(position, end))
    if loose:
        yield Stretch(loose_type, owner, tuple(loose))


def _definition(
    source: Lines, statement: ast.stmt, start: int, end: int, symbols: Mapping[ast.stmt, Symbol]
) -> Iterator[Stretch]:
    symbol = symbols.get(statement)
    if isinstance(statement, ast.ClassDef) and not source.fits(start, end, CHUNK):
        yield from _stretches(source, statement.body, (start, end), symbol, symbols)
    else:
        kind = symbol.kind if symbol else "module"
        yield Stretch(kind, symbol, (block_of(source, statement, start, end, CHUNK),))


def _between_blanks(source: Lines, start: int) -> Iterator[Block]:
    for line in range(start + 1, len(source)):
        if source.is_blank(line - 1) and not source.is_blank(line):
            yield Block(start, line)
            start = line
    if start < len(source):
        yield Block(start, len(source))


def _row(
    passage: Passage,
    place: int,
    chunk_type: str,
    symbol: Symbol | None,
    unit: SourceUnit,
    context: str,
    taken: dict[str, int],
) -> RagDocument:
    span = f"L{passage.start + 1}-L{passage.end}"
    title = symbol.qname if symbol else unit.title
    attributes: C0Attributes = {
        "lang": unit.language,
        "path": unit.path,
        "span": span,
        "title": title,
        "module_or_unit": unit.unit,
        "chunk_type": chunk_type,
        "symbol_id": symbol.symbol_id if symbol else None,
        "hash": hashlib.sha256(passage.text.encode("utf-8", "surrogatepass")).hexdigest(),
    }
    return RagDocument(
        layer=Layer.C0_SOURCE_CHUNKS,
        path=unit.path,
        public_id=_unique(f"{unit.path}:{span}", taken),
        title=title,
        text=passage.text,
        context=context,
        line_start=passage.start + 1,
        line_end=passage.end,
        names=tuple(dict.fromkeys((symbol.name, symbol.qname))) if symbol and place == 0 else (),
        attributes=attributes,
        lang="code",
        is_test=unit.is_test,
    )


def _unique(public_id: str, taken: dict[str, int]) -> str:
    """Parts of one long line have the same span: the second is `~2`."""
    count = taken.get(public_id, 0) + 1
    taken[public_id] = count
    return public_id if count == 1 else f"{public_id}~{count}"


def _context(symbol: Symbol | None, segments: Segments, words: tuple[str, ...], split: Split) -> str:
    """Words of the path, then of the qualified name, then of the signature, without repeats, bounded."""
    if symbol is None:
        return " ".join(words)
    signature = segments.signature(symbol.definition)[0] if symbol.definition else ""
    return " ".join(symbol_words(symbol.qname, signature, words, split))


def symbol_words(qname: str, signature: str, words: tuple[str, ...], split: Split) -> tuple[str, ...]:
    """Words of a path, a qualified name and a signature, without repeats, bounded."""
    bare = _STRING.sub(" ", signature[:2_000])
    identifiers = [word for word in _IDENTIFIER.findall(bare) if word.lower() not in _MUTE]
    return tuple(dict.fromkeys([*words, *distinct_words([qname, *identifiers], split)]))[:_MAX_CONTEXT_WORDS]
