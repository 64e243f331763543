"""C0_SOURCE_CHUNKS: source code as written, every line in exactly one chunk. Spec: MODULE §5.2."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.document import RagDocument
from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.stretches import CHUNK, LICENSE, Stretch
from ragkit.indexing.context import Split, distinct_words, path_words
from ragkit.indexing.passages import Lines, Passage, cut
from ragkit.layers import C0Attributes, Layer

_IDENTIFIER = re.compile(r"[^\W\d]\w+")
_STRING = re.compile(r"(\"\"\"|'''|\"|')(?:\\.|(?!\1).)*\1", re.DOTALL)
_MAX_CONTEXT_WORDS = 40
_MUTE = frozenset({"def", "async", "class", "self", "cls", "none"})
"""Words that nearly every signature has."""
_KEYWORDS = _MUTE | {
    "fn", "func", "function", "public", "private", "protected", "static", "void", "const", "export", "final", "let",
    "var", "pub", "impl", "struct", "extends", "implements", "inline", "typename", "create", "table",
}  # fmt: skip
"""The same for languages with more keywords; in Python these are names."""


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

    @property
    def has_package(self) -> bool:
        """Whether symbols of the file are known by a dotted name that begins with the unit's."""
        return bool(self.unit) and self.unit != self.path


def source_chunks(
    source: Lines, stretches: Sequence[Stretch], unit: SourceUnit, split: Split
) -> tuple[list[RagDocument], int | None]:
    """Rows in the order of the source; and the first line (from 1) that was too long to stay whole.

    Every non-blank line is in exactly one row (parts of a cut line: in several); blank lines alone make no row.
    """
    rows: list[RagDocument] = []
    cut_at: int | None = None
    taken: dict[str, int] = {}
    words = path_words(unit.path, split)
    for stretch in stretches:
        passages = cut(source, stretch.blocks, CHUNK, keep_blank=True)
        # The same licence in every file is one text to embed, and one row of an answer.
        context = "" if stretch.chunk_type == LICENSE else _context(stretch.symbol, unit, words, split)
        for place, passage in enumerate(passages):
            if passage.is_cut and cut_at is None:
                cut_at = passage.start + 1
            chunk_type = stretch.chunk_type if len(passages) == 1 or stretch.symbol is None else "part"
            if not passage.text.isspace() and passage.text:
                rows.append(_row(passage, place, chunk_type, stretch.symbol, unit, context, taken))
    return rows, cut_at


def _row(
    passage: Passage,
    place: int,
    chunk_type: str,
    symbol: Declaration | None,
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
        "symbol_id": (symbol.symbol_id or None) if symbol else None,
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
        names=tuple(dict.fromkeys((symbol.name, symbol.qname, *symbol.other_names))) if symbol and place == 0 else (),
        attributes=attributes,
        lang="code",
        is_test=unit.is_test,
    )


def _unique(public_id: str, taken: dict[str, int]) -> str:
    """Parts of one long line have the same span: the second is `~2`."""
    count = taken.get(public_id, 0) + 1
    taken[public_id] = count
    return public_id if count == 1 else f"{public_id}~{count}"


def _context(symbol: Declaration | None, unit: SourceUnit, words: tuple[str, ...], split: Split) -> str:
    """Words of the path, then of the qualified name, then of the signature, without repeats, bounded."""
    if symbol is None:
        return " ".join(words)
    return " ".join(symbol_words(symbol, unit, words, split))


def symbol_words(symbol: Declaration, unit: SourceUnit, words: tuple[str, ...], split: Split) -> tuple[str, ...]:
    """Words of a path, a qualified name and a signature, without repeats, bounded."""
    bare = _STRING.sub(" ", (symbol.signature or "")[:2_000])
    mute = _MUTE if unit.language == "python" else _KEYWORDS
    identifiers = [word for word in _IDENTIFIER.findall(bare) if word.lower() not in mute]
    return tuple(dict.fromkeys([*words, *distinct_words([symbol.qname, *identifiers], split)]))[:_MAX_CONTEXT_WORDS]
