"""D3_ENTITY_CATALOG: things of the domain that a document names and defines. Spec: system.md §4.

Sources: a document that is about one thing (its type says so), definition lists and tables of terms, terms of a
glossary's lists, sections and documents whose first sentence defines their heading, and sentences that define a term in
bold or italics («A *lease* is …», «**Рейс** — это …»). Lists count in documents of the domain and under headings of a
glossary; elsewhere they mostly explain options. Defining sentences count anywhere, with less confidence: most projects
have no glossary.

For whoever joins one thing of several documents: `names` holds the name and its aliases, of both languages where the
document gives both, `confidence` says how plainly it is defined, `mention_lines` where else the document speaks of it.
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
from ragkit.indexing.docs.d2_facts import marked_term
from ragkit.indexing.docs.evidence import MAX_ROWS_OF_LAYER, Evidence, RowMaker
from ragkit.indexing.docs.mentions import forms_of, mentions_of
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.docs.pieces import Definition, Fence, ItemList, Paragraph, Part, Table, plain
from ragkit.layers import D3Attributes, Layer

CONFIDENCE: Mapping[str, float] = {
    "document": 0.95,
    "definition": 0.95,
    "table": 0.9,
    "list": 0.8,
    "section": 0.7,
    "said": 0.6,
}
"""By the kind of source; `said`: a defining sentence outside of documents and headings that promise definitions."""

_BRACKETS = re.compile(r"\s*\(([^()]{1,80})\)\s*$")
_QUOTED = re.compile(r"[«\"“`]([^«»\"“”`]{2,40})[»\"”`]")
_TERM_ITEM = re.compile(
    r"^(?:\*\*|`|_)(?P<term>[^*`]{1,60}?):?(?:\*\*|`|_)(?P<more>\s*\([^()]{1,60}\))?\s*(?::|—|–|\s-)?\s+(?P<text>\S.*)"
)
_VERB = (
    r"(?:is|are)\s+(?:an?|the|one|any|what|how|where|used\s+to)\b|means\b|refers?\s+to\b|stands\s+for\b|represents?\b"
)
_DEFINES = re.compile(
    rf"^[»\"”]?\s*(?:\((?P<more>[^()]{{1,80}})\)\s*)?,?\s*(?:—|–|-\s|это\b|are\b|называ[ею]тся\b|{_VERB})",
    re.IGNORECASE,
)
_DEFINES_PLAINLY = re.compile(
    rf"^[»\"”]?\s*(?:\((?P<more>[^()]{{1,80}})\)\s*)?(?:[—–]\s*это\b|это\b|{_VERB})", re.IGNORECASE
)
"""The same without a bare dash, which outside of glossaries mostly joins a label and its text."""

_MARKED = re.compile(
    r"^(?:(?:An?|The|Every|Each)\s+)?(?P<mark>\*\*|__|\*|_)(?P<term>[^*_`\[\]<>()]{2,60}?)(?P=mark)\s*"
    r"(?:\((?P<more>[^()]{1,80})\)\s*)?"
    rf"(?:{_VERB}|[—–]\s*это\b|это\b|(?P<dash>[—–-]\s+(?=[а-яёa-z])))",
    re.IGNORECASE,
)
"""A sentence that begins with a term in bold or italics and defines it; a bare dash does so in a glossary."""

_MAX_SENTENCES = 4
"""Of a paragraph, in which definitions are looked for."""

_MIN_SHARED = 2
"""Letters that a name and its forms begin with alike: what differs in them costs no pattern."""

_MAX_SAID_WORDS = 4
_BRACKETED = re.compile(
    r"^(?:(?:also|previously|formerly|sometimes|often)?\s*(?:called|known as|referred to as)|or(?: simply)?|aka"
    r"|a\.k\.a\.?|simply|in short|или(?: просто)?|(?:также\s+)?(?:известн\w+ как|называем\w+|именуем\w+)|также"
    r"|он же|она же|англ\.|от англ\.|сокр\.)\s+",
    re.IGNORECASE,
)
_MAX_NAME_WORDS = 6
_MAX_DEFINITION_CHARS = 600
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZА-ЯЁ«\"*_])")


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
    kept: list[tuple[list[str], _Entity]] = []
    seen: set[str] = set()
    for entity in islice(_entities(outline, parts, about), MAX_ROWS_OF_LAYER):
        names = _names(entity)
        if names[0] and len(names[0].split()) <= _MAX_NAME_WORDS and names[0].lower() not in seen:
            seen.add(names[0].lower())
            kept.append((names, entity))
    mentions = mentions_of([(names, entity.evidence) for names, entity in kept], outline)
    return [
        _row(names[0], tuple(names[1:]), entity, lines, maker, about)
        for (names, entity), lines in zip(kept, mentions, strict=True)
    ]


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
    if words.NEWS_NAMES.search(about.path.rpartition("/")[2]):
        return
    for part in parts:
        section = part.section
        is_glossary = any(words.GLOSSARY_HEADING.search(heading) for heading in section.headings[-2:])
        expected = all_terms or is_glossary
        paragraphs = [piece for piece in part.pieces if isinstance(piece, Paragraph)]
        of_section = _section_entity(section, paragraphs[0], expected=expected) if paragraphs else None
        if of_section is not None:
            yield of_section
        for piece in part.pieces:
            if isinstance(piece, Table):
                yield from _table_entities(section, piece, expected)
            elif isinstance(piece, Definition) and expected:
                evidence = Evidence(start=piece.start, end=piece.end, section=section)
                yield _Entity(term=piece.term, definition=piece.text, source="definition", evidence=evidence)
            elif isinstance(piece, ItemList) and not piece.is_ordered and (is_glossary or _is_glossary(about)):
                # Below a term that its own section defines, a list tells of its parts.
                yield from () if of_section else _list_entities(section, piece)
            elif isinstance(piece, Fence) and piece.language in _GLOSSARY_FENCES:
                yield from _fence_entities(section, piece)
            elif isinstance(piece, Paragraph):
                yield from _said_entities(section, piece, expected=expected)


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


def _fence_entities(section: Section, piece: Fence) -> Iterator[_Entity]:
    """Terms of a `{glossary}` fence of MyST: a line, and what is indented below it."""
    lines = [(piece.first + place, line) for place, line in enumerate(piece.lines) if line.strip()]
    if piece.language == "eval-rst":
        heads = [place for place, (_, line) in enumerate(lines) if line.startswith(".. glossary::")]
        lines = lines[heads[0] + 1 :] if heads else []
    lines = [(number, line) for number, line in lines if not line.lstrip().startswith(":")]
    margin = min((_indent(line) for _, line in lines), default=0)
    terms: list[tuple[int, str]] = []
    text: list[str] = []
    end = 0
    for number, line in [*lines, (0, "")]:
        if _indent(line) > margin:
            text.append(line.strip())
            end = number + 1
            continue
        if terms and text:
            yield _Entity(
                term=terms[0][1],
                definition=" ".join(text),
                aliases=tuple(term for _, term in terms[1:]),
                source="definition",
                evidence=Evidence(start=terms[0][0], end=end, section=section),
            )
        terms = [*([] if text else terms), (number, line.strip())]
        text = []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _section_entity(section: Section, piece: Paragraph, *, expected: bool) -> _Entity | None:
    """What the heading names, when the first paragraph begins with that name and defines it."""
    if not section.headings or (expected and len(section.headings) < 2):
        return None
    heading = section.headings[-1]
    name = _BRACKETS.sub("", heading)
    text = _ARTICLE.sub("", plain(piece.text).lstrip('«"“'), count=1)
    # «Beds»: a bed is …; the text has the name as one says it.
    if text[:_MIN_SHARED].lower() != name[:_MIN_SHARED].lower():
        return None
    named = re.match(rf"{forms_of(name)}(?!\w)", text, re.IGNORECASE)
    if named is None:
        return None
    match = (_DEFINES if expected else _DEFINES_PLAINLY).match(text[named.end() :])
    if match is None or not (expected or _is_name(name)):
        return None
    return _Entity(
        term=heading if named[0].lower() == name.lower() else named[0],
        definition=_first_sentence(plain(piece.text)),
        aliases=tuple(_bracketed(match["more"])),
        source="section" if expected else "said",
        evidence=Evidence(start=section.blocks[0].start, end=piece.end, section=section),
    )


def _said_entities(section: Section, piece: Paragraph, *, expected: bool) -> Iterator[_Entity]:
    """Terms in bold or italics that a sentence begins with and defines."""
    evidence = Evidence(start=piece.start, end=piece.end, section=section)
    if expected and (term := marked_term(piece.text)) is not None and _is_name(term[0]):
        yield _Entity(term=term[0], definition=term[1], source="list", evidence=evidence)
        return
    for sentence in _SENTENCE_END.split(piece.text)[:_MAX_SENTENCES]:
        match = _MARKED.match(sentence)
        if match is not None and _is_name(match["term"]) and (expected or match["dash"] is None):
            yield _Entity(
                term=match["term"],
                definition=plain(sentence),
                aliases=tuple(_bracketed(match["more"])),
                source="said",
                evidence=evidence,
            )


def _is_name(name: str) -> bool:
    """Whether words could name a thing: few, no label, no question, no sentence, no code."""
    folded = name.lower().strip()
    first = folded.partition(" ")[0]
    return (
        0 < len(folded.split()) <= _MAX_SAID_WORDS
        and any(map(str.isalpha, folded))
        and not folded.endswith(("?", "!", ".", ":"))
        and folded not in words.NO_TERMS
        and first not in _NO_NAMES
        and words.STEP_HEADING.match(folded) is None
        and not words.DATE.fullmatch(folded)
    )


_NO_NAMES = frozenset(
    {
        "this", "that", "these", "those", "it", "there", "what", "which", "who", "how", "why", "when", "all", "every",
        "each", "some", "not", "no", "only", "you", "we", "they", "here", "to", "in", "on", "if", "for", "one",
        "another",
        "both", "more", "less", "first", "second", "last", "main", "next", "now", "easy", "fast", "это", "этот", "эта",
        "эти", "тот", "та", "те", "что", "кто", "как", "почему", "когда", "все", "всё", "каждый", "каждая", "не", "нет",
        "только", "вы", "мы", "они", "он", "она", "здесь", "тут", "в", "на", "если", "для", "при", "по", "один", "одна",
        "другой", "оба", "более", "менее", "первый", "второй", "последний", "главное", "теперь", "так", "вот",
    }
)  # fmt: skip
"""First words of what is in bold for emphasis."""

_GLOSSARY_FENCES = frozenset({"glossary", "eval-rst"})
_QUOTES = re.compile(r"[«»\"“”]")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def _bracketed(text: str | None) -> list[str]:
    """Names in brackets behind a term: «(pickup point)», «(also called the state tree)»; a remark is none."""
    if text is None:
        return []
    names = (_ARTICLE.sub("", name) for name in _split_names(_BRACKETED.sub("", plain(text))))
    return [name for name in names if len(name.split()) <= _MAX_SAID_WORDS and not words.DATE.fullmatch(name)]


def _names(entity: _Entity) -> list[str]:
    """The name and its aliases: in brackets, given, or in a definition's «also called»; without repeats."""
    term = _QUOTES.sub("", plain(entity.term)).strip(" :")
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
    cleaned = plain(text)
    return [name for part in re.split(r"[,;/]", cleaned) if (name := part.strip(' «»"“”—-')) and len(name) > 1]


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text, maxsplit=1)[0]


def _row(
    name: str, aliases: tuple[str, ...], entity: _Entity, lines: list[int], maker: RowMaker, about: About
) -> RagDocument:
    public_id = maker.public_id(name)
    definition = plain(entity.definition)[:_MAX_DEFINITION_CHARS]
    attributes: D3Attributes = {
        "entity_id": public_id,
        "name": name,
        "aliases": list(aliases),
        "definition": definition or None,
        "documents": [about.path],
        "mentions": [],
        "mention_lines": lines,
        "source_path": about.path,
        "confidence": CONFIDENCE[entity.source],
    }
    return maker.row(public_id, entity.evidence, title=name, attributes=attributes, names=(name, *aliases))
