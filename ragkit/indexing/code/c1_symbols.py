"""C1_SYMBOL_CATALOG: symbols and their declarations. Spec: MODULE §5.2."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ragkit.document import RagDocument
from ragkit.indexing.code.c0_chunks import CHUNK, SourceUnit, symbol_words
from ragkit.indexing.code.symbols import Symbol, last_name
from ragkit.indexing.code.syntax import Segments
from ragkit.indexing.context import Split, path_words
from ragkit.indexing.passages import Lines, cut_line
from ragkit.layers import C1Attributes, Layer

_ENTRY_NAMES = frozenset({"main", "cli", "handler", "lambda_handler", "application", "create_app"})
_ENTRY_DECORATORS = frozenset(
    {
        "route", "get", "post", "put", "patch", "delete", "head", "options", "websocket", "api_route", "view", "action",
        "command", "group", "callback", "task", "shared_task", "periodic_task", "scheduled_job", "cron", "job",
        "on_event", "middleware", "exception_handler", "errorhandler", "subscriber", "subscribe", "listener",
        "consumer", "agent", "receiver", "message_handler", "event_handler",
    }
)  # fmt: skip
"""Last part of a decorator that hands a function to a framework; C3 decides, this only says where to look."""

_HEAD_LINES = 8
"""Shown of a symbol that has no docstring."""
_MAX_SIGNATURE_CHARS = 4_000


def symbol_rows(source: Lines, symbols: Sequence[Symbol], unit: SourceUnit, split: Split) -> list[RagDocument]:
    """Rows in the order of the source."""
    segments = Segments(source)
    words = path_words(unit.path, split)
    return [_row(source, symbol, unit, segments, words, split) for symbol in symbols]


def _row(
    source: Lines, symbol: Symbol, unit: SourceUnit, segments: Segments, words: tuple[str, ...], split: Split
) -> RagDocument:
    definition = symbol.definition
    signature, signature_line = segments.signature(definition) if definition else (None, symbol.start)
    docstring = ast.get_docstring(definition) if definition else None
    start, end = _declaration(source, symbol, signature_line, has_docstring=docstring is not None)
    text = source.text(start, end)
    full_name = f"{unit.unit}.{symbol.qname}" if unit.unit else symbol.qname
    return RagDocument(
        layer=Layer.C1_SYMBOL_CATALOG,
        path=unit.path,
        public_id=symbol.symbol_id,
        title=symbol.qname,
        text=text if source.fits(start, end, CHUNK) or end - start > 1 else next(cut_line(text, CHUNK)),
        context=" ".join(symbol_words(symbol.qname, signature or "", words, split)),
        line_start=start + 1,
        line_end=end,
        names=tuple(dict.fromkeys((symbol.name, symbol.qname, full_name))),
        attributes=_attributes(symbol, unit, segments, signature, docstring),
        lang="code",
        is_test=unit.is_test,
    )


def _attributes(
    symbol: Symbol, unit: SourceUnit, segments: Segments, signature: str | None, docstring: str | None
) -> C1Attributes:
    decorators = [segments.text(item) for item in symbol.definition.decorator_list] if symbol.definition else []
    return {
        "lang": unit.language,
        "symbol_id": symbol.symbol_id,
        "qname": symbol.qname,
        "kind": symbol.kind,
        "decl.path": unit.path,
        "decl.start_line": symbol.start + 1,
        "decl.end_line": symbol.end,
        "visibility": visibility(symbol),
        "signature": signature[:_MAX_SIGNATURE_CHARS] if signature else None,
        "decorators_or_annotations": decorators,
        "docstring_or_javadoc": docstring,
        "parent_symbol_id": symbol.parent.symbol_id if symbol.parent else None,
        "package_or_module": unit.unit,
        "is_entry_candidate": _is_entry_candidate(symbol),
        "lang_payload": {"async": True} if isinstance(symbol.node, ast.AsyncFunctionDef) else {},
    }


def visibility(symbol: Symbol) -> str:
    """`local` inside a function; else by underscores: `private` (`__x`), `protected` (`_x`), `public`."""
    if symbol.parent is not None and symbol.parent.kind in ("function", "method", "property"):
        return "local"
    if symbol.name.startswith("__") and not symbol.name.endswith("__"):
        return "private"
    return "protected" if symbol.name.startswith("_") and not symbol.name.startswith("__") else "public"


def _declaration(source: Lines, symbol: Symbol, signature_line: int, *, has_docstring: bool) -> tuple[int, int]:
    """Lines to show: decorators, signature and docstring; without one the first lines. Shortened until it fits."""
    definition = symbol.definition
    if definition is None:
        end = symbol.end
    elif has_docstring:
        end = definition.body[0].end_lineno or symbol.end
    else:
        end = min(symbol.end, signature_line + 1 + _HEAD_LINES)
    start, end = source.trimmed(symbol.start, max(end, symbol.start + 1))
    while end - start > 1 and not source.fits(start, end, CHUNK):
        end -= 1
    return source.trimmed(start, end)


def _is_entry_candidate(symbol: Symbol) -> bool:
    definition = symbol.definition
    if definition is None or isinstance(definition, ast.ClassDef):
        return False
    if symbol.parent is None and symbol.name in _ENTRY_NAMES:
        return True
    return any(last_name(decorator) in _ENTRY_DECORATORS for decorator in definition.decorator_list)
