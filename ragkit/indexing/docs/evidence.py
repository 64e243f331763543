"""A row that some lines of a document prove: what the layers above D1 share. Spec: system.md §4."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.outline import Section, slug, unique
from ragkit.indexing.passages import Lines
from ragkit.layers import Layer

MAX_ROWS_OF_LAYER = 500
"""Of one file; a file that would give more is a list of data."""


_PARTS = re.compile(r"[/.:#]+")
"""What parts the words of a path or dotted name: a hyphen in the slug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a document says something."""

    start: int
    """Line, from 0."""
    end: int
    """Line after the last."""
    section: Section | None = None
    """None for front matter."""

    @property
    def anchor(self) -> str | None:
        """Of the section."""
        return (self.section.anchor or None) if self.section else None


class RowMaker:
    """Makes the rows of one layer of one document; ids are counted, so one maker serves one call."""

    def __init__(self, layer: Layer, word: str, source: Lines, about: About, analysis: TextAnalysis) -> None:
        """`word` stands before the slug in public ids: `path#fact:…`."""
        self._layer = layer
        self._word = word
        self.source = source
        self._about = about
        self._analysis = analysis
        self._taken: dict[str, int] = {}

    def public_id(self, *names: str) -> str:
        """`path#word:slug/slug` of what the row says; equal ones are told apart by `~2`, `~3` … in the order of the
        document.
        """
        slugs = "/".join(slug(_PARTS.sub("-", name)) for name in names if name)
        return unique(f"{self._about.path}#{self._word}:{slugs or 'section'}", self._taken)

    def row(
        self,
        public_id: str,
        evidence: Evidence,
        *,
        title: str,
        attributes: Mapping[str, object],
        names: tuple[str, ...] = (),
        head: str = "",
        text: str | None = None,
    ) -> RagDocument:
        """The row whose text is the evidence's lines; `head`: what else is needed to find it (names of columns);
        `text`: a part of the one line, where that is very long.
        """
        about = self._about
        text = self.source.text(evidence.start, evidence.end) if text is None else text
        return RagDocument(
            layer=self._layer,
            path=about.path,
            public_id=public_id,
            title=title,
            text=text,
            context=f"{self._context(evidence.section)}\n{head}" if head else self._context(evidence.section),
            line_start=evidence.start + 1,
            line_end=evidence.end,
            names=names,
            attributes=attributes,
            domain=about.domain.lower() if about.domain else None,
            subdomain=about.subdomain.lower() if about.subdomain else None,
            lang=self._analysis.language(text),
            is_test=about.is_test,
        )

    def _context(self, section: Section | None) -> str:
        headings = section.headings if section else ()
        return " › ".join([self._about.title, *(heading for heading in headings if heading != self._about.title)])
