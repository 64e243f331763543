"""D3_ENTITY_CATALOG: things of the domain that a document names and defines. Spec: system.md §4.

Four sources: a document that is about one thing (its type says so), definition lists and tables of terms, terms of a
glossary's lists, and sections whose first sentence defines their heading. The last three count in documents of the
domain and under headings of a glossary; elsewhere a definition list mostly explains options.
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
from ragkit.indexing.docs.pieces import Definition, ItemList, Paragraph, Part, Table, plain
from ragkit.layers import D3Attributes, Layer

CONFIDENCE: Mapping[str, float] = {
    "document": 0.95,
    "definition": 0.95,
    "table": 0.9,
    "list": 0.8,
    "section": 0.7,
}
"""By the kind of source."""

_BRACKETS = re.compile(r"\s*\(([^()]{1,80})\)\s*$")
_QUOTED = re.compile(r"[«\"“`]([^«»\"“”`]{2,40})[»\"”`]")
_TERM_ITEM = re.compile(
    r"^(?:\*\*|`|_)(?P<term>[^*`]{1,60}?):?(?:\*\*|`|_)(?P<more>\s*\([^()]{1,60}\))?\s*(?::|—|–|\s-)?\s+(?P<text>\S.*)"
)
_DEFINES = re.compile(r"^\s*(?:\([^()]{1,60}\)\s*)?(?:—|–|-\s|это\b|is\s+an?\b|are\b|is\s+the\b)", re.IGNORECASE)
_MAX_NAME_WORDS = 6
_MAX_DEFINITION_CHARS = 600
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZА-ЯЁ«\"])")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entity:
    term: str
    """Name as written, aliases in brackets included."""
    definition: str
    aliases: tuple[str, ...] = ()
    source: str
    """Key of CONFIDENCE."""
    evidence: Evidence


def entities(outline: Outline, parts: Sequence[Part], about: About, analysis: TextAnalysis) -> list[RagDocument]:
    """The thing that the document is about, then what it defines, in the order of the text; a name counts once.

    Public id: `path#entity:name`.
    """
    maker = RowMaker(Layer.D3_ENTITY_CATALOG, "entity", outline.source, about, analysis)
    rows: list[RagDocument] = []
    seen: set[str] = set()
    for entity in islice(_entities(outline, parts, about), MAX_ROWS_OF_LAYER):
        name, *others = _names(entity)
        if name and len(name.split()) <= _MAX_NAME_WORDS and name.lower() not in seen:
            seen.add(name.lower())
            rows.append(_row(name, tuple(others), entity, maker, about))
    return rows


def is_domain_document(about: About) -> bool:
    """Whether a document describes things of the domain, by its type or, where it has none, by a folder `domains`."""
    if about.type is not None:
        return about.type.lower() in words.ENTITY_TYPES
    return "domains" in about.path.lower().split("/")[:-1]


def _entities(outline: Outline, parts: Sequence[Part], about: About) -> Iterator[_Entity]:
    of_domain = is_domain_document(about)
    if of_domain and about.type is not None:
        yield from _subject(outline, about)
    all_terms = of_domain or _is_glossary(about)
    for part in parts:
        section = part.section
        is_glossary = any(words.GLOSSARY_HEADING.search(heading) for heading in section.headings[-2:])
        for place, piece in enumerate(part.pieces):
            if isinstance(piece, Table):
                yield from _table_entities(section, piece, all_terms or is_glossary)
            elif isinstance(piece, Definition) and (all_terms or is_glossary):
                evidence = Evidence(start=piece.start, end=piece.end, section=section)
                yield _Entity(term=piece.term, definition=piece.text, source="definition", evidence=evidence)
            elif isinstance(piece, ItemList) and not piece.is_ordered and (is_glossary or _is_glossary(about)):
                yield from _list_entities(section, piece)
            elif isinstance(piece, Paragraph) and place == 0 and all_terms and len(section.headings) > 1:
                yield from _section_entity(section, piece)


def _is_glossary(about: About) -> bool:
    if about.type is not None and about.type.lower() in words.GLOSSARY_TYPES:
        return True
    stem = about.path.rpartition("/")[2].partition(".")[0].lower().replace("_", "-")
    return stem in ("glossary", "terms", "terminology", "глоссарий", "термины")


def _subject(outline: Outline, about: About) -> Iterator[_Entity]:
    """The document itself, where its type says so (a folder says too little); a title that joins two names
    («Постамат и ячейка») is none.
    """
    if outline.summary_lines is None or re.search(r"\s(?:и|and|&)\s", about.title):
        return
    start, end = outline.summary_lines
    section = next((s for s in outline.sections if s.blocks[0].start <= start < s.blocks[-1].end), None)
    yield _Entity(
        term=about.title,
        definition=_first_sentence(outline.summary),
        aliases=tuple(outline.front_matter.all("aliases")),
        source="document",
        evidence=Evidence(start=start, end=end, section=section),
    )


def _table_entities(section: Section, table: Table, is_expected: bool) -> Iterator[_Entity]:
    columns = [header.lower() for header in table.header]
    if columns[0] not in words.TERM_COLUMNS or not (is_expected or columns[0] in ("термин", "term")):
        return
    meaning = next((place for place, name in enumerate(columns) if name in words.MEANING_COLUMNS), None)
    if meaning is None or len({row.cells[0] for row in table.rows}) < len(table.rows):
        return
    others = [place for place, name in enumerate(columns) if name in words.ALIAS_COLUMNS]
    for row in table.rows:
        aliases = [alias for place in others for alias in _split_names(row.cells[place])]
        yield _Entity(
            term=row.cells[0],
            definition=row.cells[meaning],
            aliases=tuple(aliases),
            source="table",
            evidence=Evidence(start=row.line, end=row.line + 1, section=section),
        )


def _list_entities(section: Section, piece: ItemList) -> Iterator[_Entity]:
    matches = [_TERM_ITEM.match(item.lead) for item in piece.items]
    if 2 * sum(match is not None for match in matches) < len(matches):
        return
    for item, match in zip(piece.items, matches, strict=True):
        if match is not None:
            yield _Entity(
                term=match["term"] + (match["more"] or ""),
                definition=match["text"],
                source="list",
                evidence=Evidence(start=item.start, end=item.end, section=section),
            )


def _section_entity(section: Section, piece: Paragraph) -> Iterator[_Entity]:
    heading = section.headings[-1]
    name = _BRACKETS.sub("", heading)
    text = plain(piece.text)
    if text.lower().startswith(name.lower()) and _DEFINES.match(text[len(name) :]):
        yield _Entity(
            term=heading,
            definition=_first_sentence(text),
            source="section",
            evidence=Evidence(start=section.blocks[0].start, end=piece.end, section=section),
        )


def _names(entity: _Entity) -> list[str]:
    """The name and its aliases: in brackets, given, or in a definition's «also called»; without repeats."""
    term = plain(entity.term).replace("`", "").strip(" :")
    inner = _BRACKETS.search(term)
    names = [_BRACKETS.sub("", term)]
    if inner is not None:
        names += _split_names(inner[1])
    names += entity.aliases
    for match in words.ALSO_CALLED.finditer(entity.definition):
        names += _QUOTED.findall(match[1])
    distinct: dict[str, str] = {}
    for name in names:
        if name.strip():
            distinct.setdefault(name.lower(), name.strip())
    return list(distinct.values()) or [""]


def _split_names(text: str) -> list[str]:
    cleaned = plain(text).replace("`", "")
    return [name for part in re.split(r"[,;/]", cleaned) if (name := part.strip(' «»"“”—-')) and len(name) > 1]


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text, maxsplit=1)[0]


def _row(name: str, aliases: tuple[str, ...], entity: _Entity, maker: RowMaker, about: About) -> RagDocument:
    public_id = maker.public_id(name)
    definition = plain(entity.definition)[:_MAX_DEFINITION_CHARS]
    attributes: D3Attributes = {
        "entity_id": public_id,
        "name": name,
        "aliases": list(aliases),
        "definition": definition or None,
        "documents": [about.path],
        "mentions": [],
        "source_path": about.path,
        "confidence": CONFIDENCE[entity.source],
    }
    return maker.row(public_id, entity.evidence, title=name, attributes=attributes, names=(name, *aliases))
