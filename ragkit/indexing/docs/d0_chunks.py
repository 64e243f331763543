"""D0_DOC_CHUNKS: passages of sections, each exactly some lines of the source. Spec: MODULE §5.1, system.md §4."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis, path_words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.outline import Outline, Section, unique
from ragkit.indexing.passages import Block, Bound, Lines, Passage, cut
from ragkit.layers import D0Attributes, Layer

PASSAGE = Bound(words=120, slack_words=30, lines=80, chars=1_500)
"""At most about 150 words; shorter ones are found better (measured)."""

_MAX_HEAD_CHARS = 200
_WORD = re.compile(r"[^\W_]+")


def doc_chunks(outline: Outline, about: About, analysis: TextAnalysis) -> tuple[list[RagDocument], int | None]:
    """Rows in the order of the document; and the first line (from 1) that was too long to stay whole.

    A section that has only its heading is part of its children's context and no row of its own, unless the whole
    document has nothing else.
    """
    spoken = [section for section in outline.sections if section.has_text] or outline.sections
    words = path_words(about.path, analysis.split_identifier)
    rows: list[RagDocument] = []
    cut_at: int | None = None
    taken: dict[str, int] = {}
    for section in spoken:
        context = _context(section, about, words)
        tables = [block for block in section.blocks if block.is_table]
        for place, passage in enumerate(cut(outline.source, section.blocks, PASSAGE)):
            if passage.is_cut and cut_at is None:
                cut_at = passage.start + 1
            # Parts of one long line have the same span.
            public_id = unique(_public_id(about.path, section, place, passage), taken)
            head = _table_head(outline.source, tables, passage)
            shared = f"{context}\n{head}" if head else context
            rows.append(_row(public_id, len(rows), section, passage, about, analysis, shared))
    return rows, cut_at


def _row(
    public_id: str,
    order: int,
    section: Section,
    passage: Passage,
    about: About,
    analysis: TextAnalysis,
    context: str,
) -> RagDocument:
    attributes: D0Attributes = {
        "chunk_id": public_id,
        "module_id": about.module_id,
        "section_path": " > ".join(section.headings),
        "section_title": section.headings[-1] if section.headings else None,
        "source_path": about.path,
        "order": order,
        "tags": list(about.tags),
        "domain": about.domain,
        "type": about.type,
    }
    return RagDocument(
        layer=Layer.D0_DOC_CHUNKS,
        path=about.path,
        public_id=public_id,
        title=section.headings[-1] if section.headings else about.title,
        text=passage.text,
        context=context,
        line_start=passage.start + 1,
        line_end=passage.end,
        names=section.headings[-1:] if passage.start <= section.blocks[0].start else (),
        attributes=attributes,
        domain=about.domain.lower() if about.domain else None,
        subdomain=about.subdomain.lower() if about.subdomain else None,
        lang=analysis.language(passage.text),
        is_test=about.is_test,
    )


def _public_id(path: str, section: Section, place: int, passage: Passage) -> str:
    """`path#heading/subheading`, from the second passage of a section on with `:L10-L20`; `path:L10-L20` before the
    first heading.
    """
    span = f":L{passage.start + 1}-L{passage.end}"
    if not section.anchor:
        return f"{path}{span}"
    return f"{path}#{section.anchor}{span if place else ''}"


def _table_head(source: Lines, tables: Sequence[Block], passage: Passage) -> str:
    """The column names of a table that was torn above the passage; empty when there is none."""
    above = bisect_left(tables, passage.start, key=lambda table: table.start)
    if above and passage.start < tables[above - 1].end:
        cells = source.lines[tables[above - 1].start].strip().strip("|").split("|")
        return " | ".join(" ".join(cell.split()) for cell in cells)[:_MAX_HEAD_CHARS]
    return ""


def _context(section: Section, about: About, words: tuple[str, ...]) -> str:
    """`title › heading › heading`, then the words of the path that these lack."""
    trail = [about.title, *(heading for heading in section.headings if heading != about.title)]
    line = " › ".join(trail)
    known = set(_WORD.findall(line.lower()))
    missing = " ".join(word for word in words if word not in known)
    return f"{line} · {missing}" if missing else line
