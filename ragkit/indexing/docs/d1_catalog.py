"""D1_DOCUMENT_CATALOG: one row a document. Spec: MODULE §5.1 (`D1_MODULE_CATALOG`), system.md §4."""

from __future__ import annotations

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis, path_words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.d0_chunks import PASSAGE
from ragkit.indexing.docs.masthead import masthead
from ragkit.indexing.docs.outline import Outline
from ragkit.indexing.passages import Lines, cut_line
from ragkit.layers import D1Attributes, Layer

_MAX_CONTEXT_WORDS = 80
_FAR_LINES = 12
"""A title further above the summary than this is not shown with it."""


class D1Stored(D1Attributes):
    """The attributes of a row as this extractor writes them."""

    declared: list[str]
    """Which of `domain` and `subdomain` the front matter says. Not MODULE's: the catalog reads it."""


def document_row(outline: Outline, about: About, analysis: TextAnalysis) -> RagDocument | None:
    """The row of a document; None when it has no line that could be shown."""
    span = _shown(outline)
    if span is None:
        return None
    start, end = _fitting(outline.source, *span)
    text = outline.source.text(start, end)
    if end - start == 1:
        text = next(cut_line(text, PASSAGE))
    return RagDocument(
        layer=Layer.D1_DOCUMENT_CATALOG,
        path=about.path,
        public_id=about.path,
        title=about.title,
        text=text,
        context=_context(outline, about, path_words(about.path, analysis.split_identifier)),
        line_start=start + 1,
        line_end=end,
        names=_names(outline, about),
        attributes=_attributes(outline, about),
        domain=about.domain.lower() if about.domain else None,
        subdomain=about.subdomain.lower() if about.subdomain else None,
        lang=analysis.language(f"{about.title}\n{text}"),
        is_test=about.is_test,
    )


def _attributes(outline: Outline, about: About) -> D1Stored:
    front = outline.front_matter
    said = masthead(outline)
    return {
        "module_id": about.module_id,
        "type": about.type,
        "domain": about.domain,
        "subdomain": about.subdomain,
        "title": about.title,
        "status": front.first("status") or next(iter(said.get("status", ())), None),
        "version": front.first("version") or next(iter(said.get("version", ())), None),
        "tags": list(about.tags),
        "owners": front.all("owners") or list(said.get("owners", ())),
        "links": front.all("links") or list(outline.links),
        "calls_api": front.all("calls_api"),
        "called_by": front.all("called_by"),
        "uses_logic": front.all("uses_logic"),
        "used_by": front.all("used_by"),
        "reads_db": front.all("reads_db"),
        "writes_db": front.all("writes_db"),
        "integrates_with": front.all("integrates_with"),
        "emits_events": front.all("emits_events"),
        "consumes_events": front.all("consumes_events"),
        "source_path": about.path,
        "summary_text": front.first("summary") or outline.summary,
        "declared": list(about.declared),
    }


def _names(outline: Outline, about: About) -> tuple[str, ...]:
    """The title first, then `module_id`, then the aliases that the front matter gives."""
    names = [about.title, *([about.module_id] if about.module_id else []), *outline.front_matter.all("aliases")]
    return tuple(dict.fromkeys(names))


def _shown(outline: Outline) -> tuple[int, int] | None:
    """Lines to show: title and summary; the summary alone when its title is far; else where the text begins."""
    first = outline.sections[0] if outline.sections else None
    if outline.summary_lines is not None:
        start, end = outline.summary_lines
        titles = [section.blocks[0] for section in outline.sections if section.headings]
        above = [block for block in titles if block.end <= start]
        near = above and start - above[0].end <= _FAR_LINES
        return (above[0].start if near else start), end
    if first is not None:
        block = first.blocks[0]
        return block.start, block.end
    front = outline.front_matter.lines
    return front if front is not None else None


def _fitting(source: Lines, start: int, end: int) -> tuple[int, int]:
    """The span, shortened from its end until it fits a passage; one line at least."""
    start, end = source.trimmed(start, end)
    while end - start > 1 and not source.fits(start, end, PASSAGE, slack=True):
        end -= 1
    return source.trimmed(start, end)


def _context(outline: Outline, about: About, words: tuple[str, ...]) -> str:
    """Title, tags and headings, bounded: a document is found by what its sections are called."""
    title = " · ".join(part for part in (about.title, about.module_id, " ".join(words)) if part)
    parts = [title, ", ".join(about.tags), outline.front_matter.first("summary") or ""]
    headings = [section.headings[-1] for section in outline.sections if section.headings]
    budget = _MAX_CONTEXT_WORDS - sum(len(part.split()) for part in parts)
    kept: list[str] = []
    for heading in dict.fromkeys(headings):
        budget -= len(heading.split())
        if budget < 0:
            break
        if heading != about.title:
            kept.append(heading)
    return "\n".join(part for part in (*parts, " › ".join(kept)) if part)
