"""The symbols of a parsed Python module as declarations: signature, docstring, visibility, entry candidate."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.entry_candidates import is_entry_candidate
from ragkit.indexing.code.symbols import Symbol, last_name
from ragkit.indexing.code.syntax import Segments
from ragkit.indexing.passages import Lines

HEAD_LINES = 8
"""Shown of a symbol that has no docstring."""


def python_declarations(source: Lines, symbols: Sequence[Symbol]) -> list[Declaration]:
    """One declaration a symbol, in the same order."""
    segments = Segments(source)
    return [_declaration(symbol, segments) for symbol in symbols]


def _declaration(symbol: Symbol, segments: Segments) -> Declaration:
    definition = symbol.definition
    signature, signature_line = segments.signature(definition) if definition else (None, symbol.start)
    docstring = ast.get_docstring(definition) if definition else None
    if definition is None:
        shown_end = symbol.end
    elif docstring is not None:
        shown_end = definition.body[0].end_lineno or symbol.end
    else:
        shown_end = min(symbol.end, signature_line + 1 + HEAD_LINES)
    is_function = definition is not None and not isinstance(definition, ast.ClassDef)
    return Declaration(
        symbol_id=symbol.symbol_id,
        name=symbol.name,
        qname=symbol.qname,
        kind=symbol.kind,
        visibility=visibility(
            symbol.name, is_local=symbol.parent is not None and symbol.parent.kind in ("function", "method", "property")
        ),
        lead=symbol.start,
        start=symbol.start,
        end=symbol.end,
        shown_end=shown_end,
        signature=signature,
        decorators=tuple(segments.text(item) for item in definition.decorator_list) if definition else (),
        doc=docstring,
        parent_id=symbol.parent.symbol_id if symbol.parent else None,
        is_entry_candidate=definition is not None
        and is_function
        and is_entry_candidate(
            symbol.name, [last_name(item) for item in definition.decorator_list], is_top=symbol.parent is None
        ),
        payload={"async": True} if isinstance(symbol.node, ast.AsyncFunctionDef) else {},
    )


def visibility(name: str, *, is_local: bool) -> str:
    """`local` inside a function; else by underscores: `private` (`__x`), `protected` (`_x`), `public`."""
    if is_local:
        return "local"
    if name.startswith("__") and not name.endswith("__"):
        return "private"
    return "protected" if name.startswith("_") and not name.startswith("__") else "public"
