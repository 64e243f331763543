"""D2_FACT_INDEX: what a document states in its front matter, tables and lists. Spec: MODULE §5.1, system.md §4.

A fact is about the document: its subject is the `module_id`, else the path. The predicate is of a closed list (the
attribute of the front matter, or what the rows of a table are: `endpoint`, `error_code`, `attribute` …), the object is
the value, or `name — the rest`. Prose gives no facts, and what tells of the past (changelogs, histories, dates) none
either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs import words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.evidence import MAX_ROWS_OF_LAYER, Evidence, RowMaker
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.docs.pieces import Definition, Item, ItemList, Paragraph, Part, Table, TableRow, all_pieces, plain
from ragkit.layers import D2Attributes, Layer

CONFIDENCE: Mapping[str, float] = {
    "front_matter": 1.0,
    "endpoint_table": 0.95,
    "error_table": 0.95,
    "table": 0.9,
    "definition": 0.9,
    "other_table": 0.75,
    "marked_term": 0.8,
    "plain_term": 0.7,
}
"""By the kind of source: what is declared, what has known columns, other tables whose first column names the rows,
what is marked as a term, what only looks like one.
"""

_ENDPOINT = re.compile(r"^`?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)`?\s+`?/\S*")
_METHOD = re.compile(r"^`?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)`?$")
_ROUTE = re.compile(r"^`?/\S*`?$")
_ERROR = re.compile(r"^`?(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[1-5]\d\d)`?(?:,\s*`?[1-5]\d\d`?)*$")
_HTTP = re.compile(r"^`?[1-5]\d\d`?$")
_HTTP_COLUMNS = frozenset({"http", "статус", "status", "http status", "http-статус", "http status code"})
_CODE_CELL = re.compile(r"^(?:`[^`]+`(?:\s*,\s*)?)+$")
_CODE_SHARE = 0.6
_MARKED = re.compile(
    r"^(?:\*\*(?P<bold>[^*]{1,60})\*\*|(?P<code>(?:`[^`]{1,60}`(?:\s*(?:,|/|и|or|and)\s*)?)+))"
    r"\s*(?:\([^()]{1,60}\)\s*)?(?::|—|–|\s-)\s*(?P<text>\S.*)"
)
_BOLD_COLON = re.compile(r"^\*\*(?P<bold>[^*]{1,60}):\*\*\s*(?P<text>\S.*)")
_PLAIN = re.compile(r"^(?P<plain>[^\s:`*\[\]()<>!?.][^:`*\[\]()<>!?.]{0,38}?)(?::\s+|\s+—\s+)(?P<text>\S.*)")
_DEF = re.compile(r"^(?:async\s+)?(?:def|class|function|func|fn)\s+")
_MAX_TERM_WORDS = 4
_MAX_NAME_WORDS = 6
_MIN_TERMS = 2
_MAX_OBJECT_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    predicate: str
    name: str
    """What the row is about; empty when the object says all."""
    object: str
    source: str
    """Key of CONFIDENCE."""
    evidence: Evidence
    head: str = ""


def facts(outline: Outline, parts: Sequence[Part], about: About, analysis: TextAnalysis) -> list[RagDocument]:
    """Facts of the front matter, then those of the text in its order; at most MAX_ROWS_OF_LAYER.

    Public id: `path#fact:predicate/name` (`…/object` where there is no name).
    """
    maker = RowMaker(Layer.D2_FACT_INDEX, "fact", outline.source, about, analysis)
    found = islice(_facts(outline, parts, about), MAX_ROWS_OF_LAYER)
    return [_row(fact, maker, about) for fact in found]


def _facts(outline: Outline, parts: Sequence[Part], about: About) -> Iterator[_Fact]:
    front = outline.front_matter
    for attribute in (*words.STATED, *words.RELATIONS, "links"):
        for value, start, end in front.places(attribute, outline.source.lines):
            evidence = Evidence(start=start, end=end)
            yield _Fact(predicate=attribute, name="", object=value, source="front_matter", evidence=evidence)
    tells_news = words.NEWS_NAMES.search(about.path.rpartition("/")[2]) is not None
    for section, piece in all_pieces(parts):
        if section.headings and words.NEWS_HEADING.search(section.headings[-1]):
            continue
        if isinstance(piece, Table):
            yield from _table_facts(section, piece)
        elif isinstance(piece, Definition):
            yield _named("definition", plain(piece.term), plain(piece.text), "definition", section, piece)
        elif isinstance(piece, ItemList) and not piece.is_ordered and not tells_news:
            yield from _term_facts(section, piece)
        elif isinstance(piece, Paragraph) and section.headings and words.GLOSSARY_HEADING.search(section.headings[-1]):
            term = marked_term(piece.text)
            if term is not None:
                yield _named("term", *term, "marked_term", section, piece)


def _table_facts(section: Section, table: Table) -> Iterator[_Fact]:
    kind = _kind(table)
    if kind is None:
        return
    predicate, source, keys = kind
    others = [place for place in range(len(table.header)) if place not in keys]
    for row in table.rows:
        name = _name(predicate, row, keys)
        values = ((table.header[place], plain(row.cells[place])) for place in others)
        rest = "; ".join(
            f"{header}: {value}" if header else value for header, value in values if value not in ("", "—", "-", "–")
        )
        if name and rest and not words.DATE.fullmatch(name):
            evidence = Evidence(start=row.line, end=row.line + 1, section=section)
            yield _Fact(
                predicate=predicate,
                name=name,
                object=f"{name} — {rest}",
                source=source,
                evidence=evidence,
                head=" | ".join(table.header),
            )


def _kind(table: Table) -> tuple[str, str, range] | None:
    """Predicate, source and the columns that name a row; None when the rows name nothing."""
    columns = [header.lower() for header in table.header]
    first = [row.cells[0] for row in table.rows if row.cells[0]]
    if not first:
        return None
    if all(map(_ENDPOINT.match, first)):
        return "endpoint", "endpoint_table", range(1)
    if len(columns) > 2 and all(_METHOD.match(r.cells[0]) and _ROUTE.match(r.cells[1]) for r in table.rows):
        return "endpoint", "endpoint_table", range(2)
    if all(map(_ERROR.match, first)) and _speaks_of_errors(columns, table.rows, first):
        return "error_code", "error_table", range(1)
    if columns[0] in words.OWNER_COLUMNS and len(columns) > 2 and words.KEY_COLUMNS.get(columns[1]) == "attribute":
        return "attribute", "table", range(2)
    predicate = words.KEY_COLUMNS.get(columns[0])
    if predicate in ("state", "event", "table") and len(set(first)) < len(first):
        # A status that several rows share names none of them; what stands beside it may.
        return _kind_of_second(table)
    if predicate in ("state", "event", "table", "attribute"):
        return predicate, "table", range(1)
    if _are_code(first) or not columns[0]:
        return "attribute", "table", range(1)
    return ("attribute", "other_table", range(1)) if _names_rows(first, len(table.rows)) else None


def _kind_of_second(table: Table) -> tuple[str, str, range] | None:
    second = [row.cells[1] for row in table.rows]
    return ("attribute", "other_table", range(1, 2)) if _are_code(second) and len(set(second)) == len(second) else None


def _are_code(cells: Sequence[str]) -> bool:
    return sum(_CODE_CELL.match(cell) is not None for cell in cells) >= _CODE_SHARE * len(cells)


def _names_rows(first: Sequence[str], count: int) -> bool:
    """Whether the first column tells rows apart in few words."""
    names = {plain(cell).lower() for cell in first}
    are_names = all(0 < len(name.split()) <= _MAX_NAME_WORDS and not name.isdigit() for name in names)
    return count >= _MIN_TERMS and len(names) == len(first) == count and are_names


def _speaks_of_errors(columns: Sequence[str], rows: Sequence[TableRow], first: Sequence[str]) -> bool:
    """Codes of HTTP in the first column, or beside the code in a column of that name, or a column of errors."""
    if all(map(_HTTP.match, first)) or words.KEY_COLUMNS.get(columns[0]) == "error_code":
        return True
    return any(
        name in _HTTP_COLUMNS and all(_HTTP.match(row.cells[place]) for row in rows)
        for place, name in enumerate(columns[1:], start=1)
    )


def _name(predicate: str, row: TableRow, keys: range) -> str:
    parts = [plain(row.cells[place]) for place in keys]
    return (" " if predicate == "endpoint" else ".").join(part for part in parts if part)


def _term_facts(section: Section, piece: ItemList) -> Iterator[_Fact]:
    """Items that are a marked term and its text; plain terms only where every item is one. A list whose terms mostly
    lead to a link is a list of links.
    """
    for of_item, source in ((marked_term, "marked_term"), (_plain_term, "plain_term")):
        found = [(item, term) for item in piece.items if (term := of_item(_said(item))) is not None]
        needed = len(piece.items) if source == "plain_term" else (len(piece.items) + 1) // 2
        told = sum(not _said(item).partition(": ")[2].startswith("[") for item, _ in found)
        if len(found) >= max(_MIN_TERMS, needed) and 2 * told >= len(found):
            for item, (name, text) in found:
                yield _named("term", name, text, source, section, item)
            return


def _said(item: Item) -> str:
    """What stands before inner lists, and these too where it only leads to them."""
    return item.text if item.lead.endswith(":") else item.lead


def marked_term(text: str) -> tuple[str, str] | None:
    """The term in bold or in backticks that a text begins with, and what is said of it; None when there is none."""
    match = _BOLD_COLON.match(text) or _MARKED.match(text)
    if match is None:
        return None
    groups = match.groupdict()
    name = plain(groups["bold"] or groups.get("code") or "").strip(" :,")
    if groups["bold"] and not _is_term(name):
        return None
    return (_DEF.sub("", name), plain(match["text"])) if name else None


def _plain_term(text: str) -> tuple[str, str] | None:
    match = _PLAIN.match(text)
    if match is None or len(match["plain"].split()) > _MAX_TERM_WORDS or match["text"].startswith("<"):
        return None
    name = plain(match["plain"])
    return (name, plain(match["text"])) if _is_term(name) else None


def _is_term(name: str) -> bool:
    """Whether words in bold or before a colon name something, rather than label the sentence or tell a date."""
    return (
        any(map(str.isalpha, name))
        and name.lower().strip(" .") not in words.NO_TERMS
        and not words.DATE.fullmatch(name)
    )


def _named(
    predicate: str, name: str, text: str, source: str, section: Section, place: Definition | Item | Paragraph
) -> _Fact:
    return _Fact(
        predicate=predicate,
        name=name,
        object=f"{name} — {text}",
        source=source,
        evidence=Evidence(start=place.start, end=place.end, section=section),
    )


def _row(fact: _Fact, maker: RowMaker, about: About) -> RagDocument:
    public_id = maker.public_id(fact.predicate, fact.name or fact.object)
    attributes: D2Attributes = {
        "fact_id": public_id,
        "subject_id": about.module_id or about.path,
        "predicate": fact.predicate,
        "object": fact.object[:_MAX_OBJECT_CHARS],
        "object_ref": None,
        "source_path": about.path,
        "anchor": fact.evidence.anchor,
        "line_start": fact.evidence.start + 1,
        "line_end": fact.evidence.end,
        "confidence": CONFIDENCE[fact.source],
        "tags": [fact.source],
    }
    title = fact.name or f"{fact.predicate}: {fact.object}"
    return maker.row(public_id, fact.evidence, title=title[:200], attributes=attributes, head=fact.head[:200])
