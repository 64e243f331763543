"""Jupyter notebooks (nbformat 3 and 4): their Markdown cells as one Markdown text that knows the file's lines.

Lines are those of the .ipynb file. A notebook as Jupyter writes it holds each line of a cell on a line of its own, so
a span shows exactly the strings that stand on its lines; where a cell is one string, or the whole file one line, the
lines are coarser and the text is what counts. Code cells and outputs are no documents.

`json` builds values without places, so the text is checked by it first and then walked token by token.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import cast

from ragkit.document import Extraction, IndexWarning, RagDocument

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]|[^\s\[\]{},:"]+')
_SPAN = re.compile(r":L(\d+)-L(\d+)(~\d+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookText:
    """The Markdown of a notebook: cells in order with a blank line between them."""

    text: str
    lines: tuple[int, ...]
    """Line of the file (from 1) for each line of `text`; of a blank line between cells, that of the line before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookProblem:
    """Why a file is no notebook."""

    line: int
    """From 1."""
    text: str


@dataclass(slots=True)
class _Cell:
    type: str = ""
    level: str = "1"
    source: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Strings and the lines (from 1) where they stand."""


def read_notebook(text: str) -> NotebookText | NotebookProblem:
    """The Markdown cells of a notebook; empty when it has none."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        return NotebookProblem(line=error.lineno, text=error.msg)
    except (RecursionError, ValueError) as error:
        return NotebookProblem(line=1, text=type(error).__name__)
    if not isinstance(document, dict) or not ("cells" in document or "worksheets" in document):
        return NotebookProblem(line=1, text="no cells")
    parts: list[str] = []
    lines: list[int] = []
    for place, cell in enumerate(_cells(text)):
        written = list(_lines_of(cell, is_first=place == 0))
        if parts and written:
            parts.append("")
            lines.append(lines[-1])
        parts.extend(line for line, _ in written)
        lines.extend(number for _, number in written)
    return NotebookText(text="\n".join(parts) + "\n" if parts else "", lines=tuple(lines))


def at_notebook_lines(extraction: Extraction, notebook: NotebookText) -> Extraction:
    """Rows and warnings of `notebook.text` with the lines of the file, in public ids as well."""
    taken: set[str] = set()
    rows: list[RagDocument] = []
    for row in extraction.rows:
        placed = _placed(row, notebook.lines, taken)
        taken.add(placed.public_id)
        rows.append(placed)
    return replace(
        extraction,
        rows=tuple(rows),
        warnings=tuple(_placed_warning(warning, notebook.lines) for warning in extraction.warnings),
    )


def _placed(row: RagDocument, lines: tuple[int, ...], taken: set[str]) -> RagDocument:
    start, end = lines[row.line_start - 1], lines[row.line_end - 1]
    stem = _SPAN.sub("", row.public_id)
    public_id = row.public_id if stem == row.public_id else f"{stem}:L{start}-L{end}"
    count = 1
    while public_id in taken:  # several lines of a cell may stand on one line of the file
        count += 1
        public_id = f"{stem}:L{start}-L{end}~{count}"
    attributes = {name: public_id if value == row.public_id else value for name, value in row.attributes.items()}
    if "line_start" in attributes:
        attributes |= {"line_start": start, "line_end": end}
    return replace(row, public_id=public_id, line_start=start, line_end=end, attributes=attributes)


def _placed_warning(warning: IndexWarning, lines: tuple[int, ...]) -> IndexWarning:
    if warning.line is None or not 0 < warning.line <= len(lines):
        return warning
    line = lines[warning.line - 1]
    return replace(warning, line=line, params={**warning.params, "line": line})


def _lines_of(cell: _Cell, *, is_first: bool) -> Iterator[tuple[str, int]]:
    """Lines of Markdown with their lines of the file; a raw cell at the top may be the front matter."""
    whole = "".join(text for text, _ in cell.source)
    if cell.type == "heading":
        hashes = "#" * (int(cell.level) if cell.level in ("1", "2", "3", "4", "5", "6") else 1)
        if cell.source and whole.strip():
            yield f"{hashes} {' '.join(whole.split())}", cell.source[0][1]
        return
    if cell.type != "markdown" and not (cell.type == "raw" and is_first and whole.startswith("---\n")):
        return
    held = ""
    begun: int | None = None
    for text, number in cell.source:
        *complete, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in complete:
            yield held + line, number if begun is None else begun
            held, begun = "", None
        if rest:
            held += rest
            begun = number if begun is None else begun
    if held:
        yield held, begun or 1


def _cells(text: str) -> Iterator[_Cell]:
    """The cells of a text that is valid JSON, by one pass over its tokens."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    path: list[str | int] = []
    opened: list[str] = []
    cell: _Cell | None = None
    is_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            opened.append(token)
            path.append("" if token == "{" else 0)
            is_key = token == "{"
            if token == "{" and _is_cell(path[:-1]):
                cell = _Cell()
        elif token in "}]":
            opened.pop()
            path.pop()
            is_key = False
            if token == "}" and cell is not None and _is_cell(path):
                yield cell
                cell = None
        elif token == ",":
            is_key = opened[-1] == "{"
            if not is_key:
                path[-1] = cast("int", path[-1]) + 1
        elif token == ":":
            is_key = False
        elif is_key:
            path[-1] = cast("str", json.loads(token))
        elif cell is not None:
            _take(cell, path[_cell_depth(path) :], token, bisect_right(starts, match.start()))


def _cell_depth(path: list[str | int]) -> int:
    return 2 if path[0] == "cells" else 4


def _is_cell(path: list[str | int]) -> bool:
    """Whether a path is that of a cell: nbformat 4 has cells at the top, nbformat 3 in worksheets."""
    if len(path) == 2:
        return path[0] == "cells"
    return len(path) == 4 and path[0] == "worksheets" and path[2] == "cells"


def _take(cell: _Cell, path: list[str | int], token: str, line: int) -> None:
    if path == ["cell_type"] and token.startswith('"'):
        cell.type = str(json.loads(token))
    elif path == ["level"]:
        cell.level = token
    elif path and path[0] == "source" and len(path) <= 2 and token.startswith('"'):
        cell.source.append((str(json.loads(token)), line))
