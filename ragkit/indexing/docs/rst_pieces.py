"""Blocks of reStructuredText as the blocks and pieces that every format has.

What is indented (admonitions, classes, quotes) gives the pieces inside it; a list, a table, a definition is one piece
with its lines. Fields at the top of a document are its front matter.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ragkit.indexing.docs.pieces import (
    MAX_ROWS,
    Definition,
    Fence,
    Item,
    ItemList,
    Paragraph,
    Piece,
    Table,
    TableRow,
    plain,
)
from ragkit.indexing.docs.rst_nodes import RstNode
from ragkit.indexing.docs.rst_states import LITERAL, TableCells
from ragkit.indexing.passages import Block, Lines

_MARKER = re.compile(r"\s*(?:[-*+•‣⁃]|\(?(?:\d{1,4}|[a-zA-Z#]|[ivxlcdmIVXLCDM]{1,8})[.)])(?:\s+|$)")
_CODE = frozenset({"code-block", "code", "sourcecode", "prompt", "parsed-literal"})
_SILENT = LITERAL - _CODE - {"mermaid"}
"""Literal directives that are no code: what they hold is named, listed or fetched from elsewhere."""

_DESCRIBED = frozenset(
    {
        "option", "confval", "envvar", "setting", "describe", "object", "function", "method", "class", "exception",
        "attribute", "property", "data", "decorator", "module", "type", "macro", "staticmethod", "classmethod",
    }
)  # fmt: skip
"""Directives that define what their argument names."""

_VERSIONS = frozenset({"versionadded", "versionchanged", "deprecated", "versionremoved"})
_META = frozenset({"description", "keywords"})
_MAX_CELL_LINES = 1_000


def block_of(node: RstNode) -> Block:
    """The block of a node; one that is too long may be torn between its children or rows."""
    if node.kind == "table":
        rows = [row.line for row in (*node.header[:1], *node.rows)]
        parts = tuple(Block(start, end) for start, end in pairwise([*rows, node.end]) if node.start <= start < end)
        return Block(node.start, node.end, parts)
    return Block(node.start, node.end, tuple(map(block_of, node.children)))


def pieces_of(source: Lines, nodes: Sequence[RstNode]) -> Iterator[Piece]:
    """The pieces of blocks, in order."""
    for node in nodes:
        if node.kind == "paragraph":
            yield Paragraph(text=_folded(node.text), start=node.start, end=node.end)
        elif node.kind in ("list", "ordered_list"):
            yield _list(source, node)
        elif node.kind == "table":
            yield from _table(node, node.header, node.rows)
        elif node.kind == "literal":
            yield _fence(source, node, "pycon" if node.text.startswith(">>>") else "", node.start, node.end)
        elif node.kind in ("definition", "field", "option"):
            yield from _definition(node)
        elif node.kind == "directive":
            yield from _directive(source, node)
        else:
            yield from pieces_of(source, node.children)


def fields_of(nodes: Sequence[RstNode]) -> tuple[dict[str, str | list[str]], tuple[int, int] | None]:
    """Name → text of the fields that open a document or its `meta` holds, and their lines; what else comes before
    them (a note apart) means that there are none.
    """
    fields: dict[str, str | list[str]] = {}
    lines: tuple[int, int] | None = None
    for node in nodes:
        if node.kind != "group" or not node.children or node.children[0].kind != "field":
            break
        for field in node.children:
            value: str | list[str] = _folded(" ".join(child.text for child in field.children))
            items = [item for child in field.children for item in child.children if child.kind == "list"]
            if items:
                value = [_folded(" ".join(child.text for child in item.children)) for item in items]
            if value:
                fields.setdefault(field.text, value)
        lines = (node.start, node.end) if lines is None else (lines[0], node.end)
    return fields, lines


def meta_of(source: Lines, node: RstNode) -> Mapping[str, str]:
    """Description and keywords of a `meta` directive."""
    found = (line.strip().removeprefix(":").partition(":") for line in source.lines[node.start : node.end])
    return {name: value.strip() for name, _, value in found if name in _META and value.strip()}


def _folded(text: str) -> str:
    return " ".join(text.split())


def _fence(source: Lines, node: RstNode, language: str, first: int, end: int) -> Fence:
    lines = tuple(source.lines[first:end])
    return Fence(language=language.lower(), lines=lines, first=first, start=node.start, end=node.end)


def _definition(node: RstNode) -> Iterator[Definition]:
    text = _folded(" ".join(_texts(node.children)))
    if node.text and text:
        term = node.text.partition(" : ")[0]
        yield Definition(term=term, text=text, start=node.start, end=node.end)


def _texts(nodes: Sequence[RstNode]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "paragraph":
            yield node.text
        elif node.kind != "literal":
            yield from _texts(node.children)


def _directive(source: Lines, node: RstNode) -> Iterator[Piece]:
    if node.name in _CODE or node.name == "mermaid":
        language = "mermaid" if node.name == "mermaid" else node.argument.split(" ")[0]
        yield _fence(source, node, language, *node.content)
    elif node.name == "csv-table":
        header, rows = _csv_rows(source, node)
        yield from _table(node, header, rows)
    elif node.name == "list-table":
        header, rows = _list_rows(node)
        yield from _table(node, header, rows)
    elif node.name not in _SILENT:
        described = node.name in _DESCRIBED and node.children and node.children[0].kind == "paragraph"
        if described:
            first = node.children[0]
            yield Definition(term=node.argument, text=_folded(first.text), start=node.start, end=first.end)
        elif node.name in _VERSIONS and not node.children:
            yield Paragraph(text=node.argument, start=node.start, end=node.end)
        inner = node.children[1:] if described else node.children
        # Fields of a function say how it is called; they are no facts of the document.
        yield from pieces_of(source, [n for n in inner if not (n.children and n.children[0].kind == "field")])


def _list(source: Lines, node: RstNode) -> ItemList:
    items = tuple(_item(source, item) for item in node.children[:MAX_ROWS] if item.kind == "item")
    return ItemList(items=items, is_ordered=node.kind == "ordered_list", start=node.start, end=node.end)


def _item(source: Lines, item: RstNode) -> Item:
    """Without the markers of inner items, and without code."""
    marked = {item.start}
    code: set[int] = set()
    waiting = list(item.children)
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.kind == "item":
            marked.add(node.start)
        elif node.kind == "literal" or (node.kind == "directive" and node.name in LITERAL):
            code.update(range(node.start, node.end))
    lines = [
        _MARKER.sub("", source.lines[line], count=1) if line in marked else source.lines[line]
        for line in range(item.start, item.end)
        if line not in code
    ]
    lead = item.children[0].text if item.children and item.children[0].kind == "paragraph" else ""
    return Item(text=_folded(" ".join(lines)), lead=_folded(lead), start=item.start, end=item.end)


def _table(node: RstNode, header: Sequence[TableCells], rows: Sequence[TableCells]) -> Iterator[Table]:
    """A table without a header has empty names of columns: nothing says what its cells mean."""
    count = max((len(row.cells) for row in (*header, *rows)), default=0)
    if count < 2:
        return
    names = tuple(plain(cell) for cell in header[-1].cells) if header else ()
    made = [
        TableRow(cells=(*row.cells, *[""] * count)[:count], line=row.line)
        for row in rows[:MAX_ROWS]
        if any(row.cells) and node.start <= row.line < node.end
    ]
    yield Table(header=(*names, *[""] * count)[:count], rows=tuple(made), start=node.start, end=node.end)


def _list_rows(node: RstNode) -> tuple[list[TableCells], list[TableCells]]:
    """A list of lists as rows of cells; nothing when it is none."""
    rows: list[TableCells] = []
    for item in node.children[0].children if node.children and node.children[0].kind == "list" else ():
        if item.children and item.children[0].kind == "list":
            cells = tuple(_folded(" ".join(_texts(cell.children))) for cell in item.children[0].children)
            rows.append(TableCells(cells=cells, line=item.start))
    return _headed(node, rows)


def _csv_rows(source: Lines, node: RstNode) -> tuple[list[TableCells], list[TableCells]]:
    """Rows that stand in the document itself; a file or address is never opened."""
    first, end = node.content
    end = min(end, first + _MAX_CELL_LINES)
    delimiter = {"tab": "\t", "space": " "}.get(node.option("delim"), node.option("delim"))
    rows: list[TableCells] = []
    try:
        reader = csv.reader(
            (line.strip() + "\n" for line in source.lines[first:end]),
            delimiter=delimiter if len(delimiter) == 1 else ",",
            skipinitialspace=True,
        )
        line = 0
        for cells in reader:
            rows.append(TableCells(cells=tuple(_folded(cell) for cell in cells), line=first + line))
            line = reader.line_num
        header = next(csv.reader([node.option("header")], skipinitialspace=True), list[str]())
    except csv.Error:
        return [], []
    head, body = _headed(node, rows)
    if header:
        return [TableCells(cells=tuple(header), line=node.start)], [*head, *body]
    return head, body


def _headed(node: RstNode, rows: list[TableCells]) -> tuple[list[TableCells], list[TableCells]]:
    count = node.option("header-rows")
    head = int(count) if count.isascii() and count.isdigit() and len(count) < 3 else 0
    return rows[:head], rows[head:]
