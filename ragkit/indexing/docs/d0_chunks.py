"""D0_DOC_CHUNKS: passages of sections, each exactly some lines of the source. Spec: MODULE §5.1, system.md §4."""

from __future__ import annotations

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis, path_words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.passages import Bound, Passage, cut
from ragkit.layers import D0Attributes, Layer

PASSAGE = Bound(words=120, slack_words=30, lines=80, chars=1_500)
"""At most about 150 words; shorter ones are found better (measured)."""


def doc_chunks(outline: Outline, about: About, analysis: TextAnalysis) -> list[RagDocument]:
    """Rows in the order of the document. A section that has only its heading is part of its children's context and no
    row of its own, unless the whole document has nothing else.
    """
    spoken = [section for section in outline.sections if section.has_text] or outline.sections
    words = path_words(about.path, analysis.split_identifier)
    rows: list[RagDocument] = []
    taken: dict[str, int] = {}
    for section in spoken:
        for place, passage in enumerate(cut(outline.source, section.blocks, PASSAGE)):
            public_id = _unique(_public_id(about.path, section, place, passage), taken)
            rows.append(_row(public_id, len(rows), section, passage, about, analysis, words))
    return rows


def _row(
    public_id: str,
    order: int,
    section: Section,
    passage: Passage,
    about: About,
    analysis: TextAnalysis,
    words: tuple[str, ...],
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
        context=_context(section, about, words),
        line_start=passage.start + 1,
        line_end=passage.end,
        names=section.headings[-1:],
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


def _unique(public_id: str, taken: dict[str, int]) -> str:
    """Parts of one long line have the same span: the second is `~2`."""
    count = taken.get(public_id, 0) + 1
    taken[public_id] = count
    return public_id if count == 1 else f"{public_id}~{count}"


def _context(section: Section, about: About, words: tuple[str, ...]) -> str:
    """`title › heading › heading`, then the words of the path that these lack."""
    trail = [about.title, *(heading for heading in section.headings if heading != about.title)]
    line = " › ".join(trail)
    known = line.lower()
    missing = " ".join(word for word in words if word not in known)
    return f"{line} · {missing}" if missing else line
