"""What stands in a section, by kind: paragraphs, lists, tables, definitions, fences, each with its lines.

Layers above D1 read these rather than a parser's tokens, so that one reading serves every format. It goes by the lines
of the blocks that the format's reader found; a line longer than MAX_LINE_CHARS is nobody's evidence and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.passages import Block, Lines

MAX_LINE_CHARS = 4_000
MAX_ROWS = 400
"""Of one list, table or set of definitions; what is longer is data, not documentation."""

_MAX_TERM_WORDS = 6

_ITEM = re.compile(r"(\s*)(?:(?P<bullet>[-*+•])|(?P<number>\d{1,4}|#|[a-z])[.)])\s+(?P<rest>\S.*)")
_FENCE = re.compile(r"\s{0,3}(?P<mark>`{3,}|~{3,})\s*\{?\.?(?P<language>[\w-]*)")
_DIRECTIVE = re.compile(r"\.\. (?P<name>[\w-]+)::\s*(?P<argument>.*)")
_DEFINITION = re.compile(r"\s{0,3}:\s+(?P<rest>\S.*)")
_IMAGE = re.compile(r"!\[[^\]]{0,300}\]\([^()\s]{0,500}[^()]{0,100}\)")
_LINK = re.compile(r"\[([^\[\]]{0,500})\](?:\([^()\s]{0,500}(?:\s[^()]{0,200})?\)|\[[^\[\]]{0,200}\])")
_ROLE = re.compile(r":[\w:+.-]{1,60}:`[~!]?([^`<]{0,300}?)(?:\s*<[^`>]{0,300}>)?`")
_MARKUP = re.compile(r"``?|\*\*|__(?=\S)|(?<=\S)__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|\{[#.:][^{}]{0,80}\}")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.{1,1000}?)(?<!`)\1(?!`)", re.DOTALL)
_HELD = re.compile("\ue000(\\d+)\ue001")
"""What stands for code while the markup around it goes: private characters that no document has."""

_CELL = re.compile(r"((?:[^|\\`]|\\.|`[^`|]*`|`)*)\|?")
_TAG = re.compile(r"</?\w[^<>]{0,200}>")
_HTML_BLOCK = re.compile(r"<(?:details|table|ul|ol)\b.*", re.IGNORECASE | re.DOTALL)
_ADMONITION = re.compile(
    r"^(?:!!!|\?\?\?\+?|/{3,4}|:{3,4})\s*(?:\{?\w+\}?(?:\s+(?:\"[^\"]{0,200}\"|\|[^\n]{0,200}))?\s*|$)"
)
_OPENS_ADMONITION = re.compile(r"^(?:!!!|\?\?\?\+?)\s*\w+")
_ALERT = re.compile(r"^>\s*(?:\[!\w+\]|\*\*|__)")
"""Quotes that a project makes of its own words: `> [!NOTE]`, `> **Warning**`."""

_QUOTE_MARK = re.compile(r"^\s{0,3}>\s?(?:\[!\w+\]\s*)?")
_TEMPLATE_TAG = re.compile(r"\{%[^%{}]{0,200}%\}")
_TASK = re.compile(r"\[[ xX]\]\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Lines of prose."""

    text: str
    """As written, line ends as spaces, without the mark of an admonition."""
    start: int
    """Line, from 0."""
    end: int
    """Line after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An outermost item of a list with all that it holds."""

    text: str
    """As written, without its marker and those of inner items, line ends as spaces."""
    lead: str
    """`text` up to the first inner item, code block or blank line."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """A list."""

    items: tuple[Item, ...]
    is_ordered: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """Cells as written, as many as the header has."""

    cells: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a header."""

    header: tuple[str, ...]
    """Without markup."""
    rows: tuple[TableRow, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A term and its text, from a definition list."""

    term: str
    """As written."""
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """A block of code or a diagram."""

    language: str
    """Lower-case; empty when not said."""
    lines: tuple[str, ...]
    """What stands inside."""
    first: int
    """Line of the first of `lines`."""
    start: int
    end: int


Piece = Paragraph | ItemList | Table | Definition | Fence


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section and its pieces, in order."""

    section: Section
    pieces: tuple[Piece, ...]


def parts_of(outline: Outline, language: str) -> tuple[Part, ...]:
    """The sections of a document with their pieces; `language` is that of the file's kind."""
    return tuple(
        Part(section=section, pieces=tuple(_joined(_pieces(outline.source, section, language))))
        for section in outline.sections
    )


def plain(text: str) -> str:
    """Inline text without markup, white space folded; what is in backticks stays as it is, without the backticks."""
    if text.isalnum():
        return text
    if ":`" in text:
        text = _ROLE.sub(r"\1", text)
    codes: list[str] = []
    if "`" in text:
        text = text.replace("\ue000", "") if "\ue000" in text else text
        text = _CODE.sub(lambda match: _held(codes, match[2]), text)
    if "<" in text:
        text = _TAG.sub(" ", _HTML_BLOCK.sub("", text))
    text = _MARKUP.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    if "&" in text:
        text = unescape(text)
    text = _HELD.sub(lambda match: codes[int(match[1])].strip(), text) if codes else text
    return " ".join(text.replace("\\|", "|").split())


def _held(codes: list[str], code: str) -> str:
    codes.append(code)
    return f"\ue000{len(codes) - 1}\ue001"


def _pieces(source: Lines, section: Section, language: str) -> Iterator[Piece]:
    in_admonition = False
    for block in section.blocks[1:] if section.headings else section.blocks:
        if any(len(source.lines[line]) > MAX_LINE_CHARS for line in range(block.start, block.end)):
            continue
        first = source.lines[block.start]
        fence = _fence(source, block, first)
        if fence is not None:
            yield fence
        elif block.is_table:
            yield from _table(source, block)
        elif (item := _ITEM.match(first)) and (
            item["bullet"] or item["number"] in ("1", "0", "#") or block.parts or language == "rst"
        ):
            yield _list(source, block)
        elif first.startswith("{%") and block.end - block.start > 1:
            yield _untagged(source, block)
        elif _ALERT.match(first):
            yield _alert(source, block)
        elif in_admonition and first.startswith("    "):
            yield _paragraph(source, block)
            continue
        elif first.startswith((">", "    ", "\t", "<", ".. ", "{%", "{/*", "|", "+-", "==")) or (
            "::" in first[:4] and not _ADMONITION.match(first)
        ):
            pass
        else:
            definitions = tuple(_definitions(source, block, language))
            yield from definitions or (_paragraph(source, block),)
        in_admonition = language == "markdown" and _OPENS_ADMONITION.match(first) is not None


def _joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Lists that only blank lines part are one: some formats end a block at each of these."""
    held: Piece | None = None
    for piece in pieces:
        if isinstance(held, ItemList) and isinstance(piece, ItemList) and held.is_ordered == piece.is_ordered:
            held = ItemList(
                items=(*held.items, *piece.items)[:MAX_ROWS],
                is_ordered=held.is_ordered,
                start=held.start,
                end=piece.end,
            )
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _fence(source: Lines, block: Block, first: str) -> Fence | None:
    fenced = _FENCE.match(first)
    if fenced is not None:
        closed = source.lines[block.end - 1].strip().startswith(fenced["mark"]) and block.end - block.start > 1
        end = block.end - 1 if closed else block.end
        return Fence(
            language=fenced["language"].lower(),
            lines=tuple(source.lines[block.start + 1 : end]),
            first=block.start + 1,
            start=block.start,
            end=block.end,
        )
    directive = _DIRECTIVE.match(first)
    if directive is not None and directive["name"] == "mermaid":
        lines = tuple(source.lines[block.start + 1 : block.end])
        return Fence(language="mermaid", lines=lines, first=block.start + 1, start=block.start, end=block.end)
    return None


def _paragraph(source: Lines, block: Block) -> Paragraph:
    text = _ADMONITION.sub("", " ".join(source.text(block.start, block.end).split()))
    return Paragraph(text=text, start=block.start, end=block.end)


def _untagged(source: Lines, block: Block) -> Paragraph:
    """Prose between the tags of a template: `{% raw %}`."""
    text = _TEMPLATE_TAG.sub(" ", source.text(block.start, block.end))
    return Paragraph(text=" ".join(text.split()), start=block.start, end=block.end)


def _alert(source: Lines, block: Block) -> Paragraph:
    lines = (_QUOTE_MARK.sub("", source.lines[number]) for number in range(block.start, block.end))
    return Paragraph(text=" ".join(" ".join(lines).split()), start=block.start, end=block.end)


def _list(source: Lines, block: Block) -> ItemList:
    starts: list[int] = []
    margin: int | None = None
    fenced = ordered = False
    for line in range(block.start, block.end):
        text = source.lines[line]
        if _FENCE.match(text.strip()):
            fenced = not fenced
        match = None if fenced else _ITEM.match(text)
        if match is not None and (margin is None or len(match[1]) <= margin + 1):
            if margin is None:
                margin, ordered = len(match[1]), match["number"] is not None
            starts.append(line)
    spans = list(zip(starts, [*starts[1:], block.end], strict=True))[:MAX_ROWS]
    items = tuple(_item(source, *source.trimmed(start, end)) for start, end in spans)
    return ItemList(items=items, is_ordered=ordered, start=block.start, end=source.trimmed(block.start, block.end)[1])


def _item(source: Lines, start: int, end: int) -> Item:
    words: list[str] = []
    lead: list[str] | None = None
    fenced = False
    for line in range(start, end):
        text = source.lines[line]
        match = _ITEM.match(text)
        is_fence = _FENCE.match(text.strip()) is not None
        if lead is None and line > start and (match or is_fence or source.is_blank(line)):
            lead = list(words)
        if is_fence:
            fenced = not fenced
        elif not fenced:
            words.extend(_TASK.sub("", match["rest"] if match else text, count=1).split())
    return Item(text=" ".join(words), lead=" ".join(words if lead is None else lead), start=start, end=end)


def _table(source: Lines, block: Block) -> Iterator[Table]:
    header = tuple(plain(cell) for cell in _cells(source.lines[block.start]))
    if len(header) < 2:
        return
    rows: list[TableRow] = []
    for line in range(block.start + 2, min(block.end, block.start + 2 + MAX_ROWS)):
        cells = [*_cells(source.lines[line]), *[""] * len(header)][: len(header)]
        if any(cells):
            rows.append(TableRow(cells=tuple(cells), line=line))
    yield Table(header=header, rows=tuple(rows), start=block.start, end=block.end)


def _cells(line: str) -> list[str]:
    """Cells of a table's line; a `|` in backticks or behind a backslash parts nothing."""
    text = line.strip().removeprefix(">").strip().removeprefix("|")
    cells: list[str] = []
    position = 0
    while position < len(text):
        match = _CELL.match(text, position)
        if match is None or match.end() == position:
            break
        cells.append(match[1].strip())
        position = match.end()
    return cells


def _definitions(source: Lines, block: Block, language: str) -> Iterator[Definition]:
    """`term` and `: text` lines; in reStructuredText a line and what is indented below it."""
    lines = source.lines
    if language == "rst":
        yield from _indented_definition(source, block)
        return
    marks = {line for line in range(block.start + 1, block.end) if _DEFINITION.match(lines[line])}
    if not marks or _DEFINITION.match(lines[block.start]):
        return
    terms = [line for line in range(block.start, block.end - 1) if line + 1 in marks and line not in marks]
    for term, following in zip(terms, [*terms[1:], block.end], strict=True):
        match = _DEFINITION.match(lines[term + 1])
        words = [match["rest"] if match else "", *(lines[line].strip(" :") for line in range(term + 2, following))]
        yield Definition(term=lines[term].strip(), text=" ".join(" ".join(words).split()), start=term, end=following)


def _indented_definition(source: Lines, block: Block) -> Iterator[Definition]:
    lines = source.lines
    term = lines[block.start]
    if block.end - block.start < 2 or len(term.split()) > _MAX_TERM_WORDS or term.rstrip().endswith((".", ":", ",")):
        return
    if term[:1] in "-*.:|":
        return
    if not lines[block.start + 1][:1].isspace() or source.is_blank(block.start + 1):
        return
    end = next((line for line in range(block.start + 1, block.end) if source.is_blank(line)), block.end)
    if all(lines[line][:1].isspace() for line in range(block.start + 1, end)):
        text = " ".join(source.text(block.start + 1, end).split())
        yield Definition(term=lines[block.start].strip(), text=text, start=block.start, end=end)


def all_pieces(parts: Sequence[Part]) -> Iterator[tuple[Section, Piece]]:
    """Every piece with its section, in the order of the document."""
    for part in parts:
        for piece in part.pieces:
            yield part.section, piece
