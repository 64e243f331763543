"""The source lines that a row of C2–C4 shows: short, exact, and bounded even where a line is not."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ragkit.indexing.code.stretches import CHUNK
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.passages import Lines, cut_line

MAX_LINES = 6


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, from 0, the end exclusive."""

    start: int
    end: int


def span_of(node: ast.expr | ast.stmt) -> Span:
    """The lines of a node, the first few of a long one."""
    start = node.lineno - 1
    return Span(start, min(node.end_lineno or node.lineno, start + MAX_LINES))


def call_span(call: ast.Call) -> Span:
    """The lines of a call where they are few, else the line on which the called name ends."""
    end = call.end_lineno or call.lineno
    if end - call.lineno < MAX_LINES:
        return Span(call.lineno - 1, end)
    named = call.func.end_lineno or call.lineno
    return Span(named - 1, named)


def header_span(symbol: Symbol, first: ast.expr | None = None) -> Span:
    """From a decorator (or the first) to the line of `def` or `class`; that line alone where they are far apart."""
    start = first.lineno - 1 if first is not None else symbol.start
    line = symbol.node.lineno
    return Span(start, line) if line - start <= MAX_LINES * 2 else Span(line - 1, line)


def shown(source: Lines, span: Span) -> tuple[Span, str]:
    """The lines of a span as far as they fit a chunk, and their text; of a line that is too long its first part."""
    start, end = span.start, min(span.end, len(source))
    while end - start > 1 and not source.fits(start, end, CHUNK):
        end -= 1
    text = source.text(start, end)
    return Span(start, end), text if source.fits(start, end, CHUNK) else next(cut_line(text, CHUNK), "")
