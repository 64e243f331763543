"""C1_SYMBOL_CATALOG: symbols and their declarations. Spec: MODULE §5.2."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.document import RagDocument
from ragkit.indexing.code.c0_chunks import SourceUnit, symbol_words
from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.stretches import CHUNK
from ragkit.indexing.context import Split, path_words
from ragkit.indexing.passages import Lines, cut_line
from ragkit.layers import C1Attributes, Layer

_MAX_SIGNATURE_CHARS = 4_000


def symbol_rows(
    source: Lines, declarations: Sequence[Declaration], unit: SourceUnit, split: Split
) -> list[RagDocument]:
    """Rows in the order of the declarations."""
    words = path_words(unit.path, split)
    return [_row(source, declaration, unit, words, split) for declaration in declarations]


def _row(source: Lines, symbol: Declaration, unit: SourceUnit, words: tuple[str, ...], split: Split) -> RagDocument:
    start, end = _shown(source, symbol)
    text = source.text(start, end)
    full_name = f"{unit.unit}.{symbol.qname}" if unit.has_package else symbol.qname
    return RagDocument(
        layer=Layer.C1_SYMBOL_CATALOG,
        path=unit.path,
        public_id=symbol.symbol_id,
        title=symbol.qname,
        text=text if source.fits(start, end, CHUNK) or end - start > 1 else next(cut_line(text, CHUNK)),
        context=" ".join(symbol_words(symbol, unit, words, split)),
        line_start=start + 1,
        line_end=end,
        names=tuple(dict.fromkeys((symbol.name, symbol.qname, full_name, *symbol.other_names))),
        attributes=_attributes(symbol, unit),
        lang="code",
        is_test=unit.is_test,
    )


def _attributes(symbol: Declaration, unit: SourceUnit) -> C1Attributes:
    return {
        "lang": unit.language,
        "symbol_id": symbol.symbol_id,
        "qname": symbol.qname,
        "kind": symbol.kind,
        "decl.path": unit.path,
        "decl.start_line": symbol.start + 1,
        "decl.end_line": symbol.end,
        "visibility": symbol.visibility,
        "signature": symbol.signature[:_MAX_SIGNATURE_CHARS] if symbol.signature else None,
        "decorators_or_annotations": list(symbol.decorators),
        "docstring_or_javadoc": symbol.doc,
        "parent_symbol_id": symbol.parent_id,
        "package_or_module": unit.unit,
        "is_entry_candidate": symbol.is_entry_candidate,
        "lang_payload": dict(symbol.payload),
    }


def _shown(source: Lines, symbol: Declaration) -> tuple[int, int]:
    """Lines to show: comment or decorators, signature, docstring; shortened from the end until they fit, and without
    the comment above where that alone is too long.
    """
    start, end = source.trimmed(symbol.lead, max(symbol.shown_end, symbol.start + 1))
    if start < symbol.start and not source.fits(start, symbol.start + 1, CHUNK):
        start = symbol.start
    while end - start > 1 and not source.fits(start, end, CHUNK):
        end -= 1
    return source.trimmed(start, end)
