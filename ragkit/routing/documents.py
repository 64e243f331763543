"""Documents and sections that a query names as such: DOC_REF anchors. Spec: ROUTER §4.3.

Only explicit marks count: a quoted text or a number after a document's noun («раздел "Оплата"», "section 4.2"), a
numbered series (ADR-012), the bare name of a well-known document (README).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.routing.claims import Claims, Found
from ragkit.routing.rules import DocumentWords
from ragkit.text import Analyzer

_QUOTED = re.compile(r"[«“„\"]([^«»“”„\"\n]{2,120}+)[»”“\"]")
_NUMBERED = re.compile(r"(?<!\w)([^\W\d_]{3,20}+)[ \u00a0]{1,2}(?:№[ \u00a0]?)?(\d{1,3}+(?:\.\d{1,3}+)*+)(?![\w.]*\w)")
_SIGN = re.compile(r"§[ \u00a0]?\d[\d.]*+")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[\s:,(]{0,3}$")


class DocumentFinder:
    """Finds DOC_REF anchors. Immutable, shared by threads."""

    def __init__(self, words: DocumentWords, analyzer: Analyzer) -> None:
        """`words`: table `[documents]` of `terms.toml`; nouns match in any inflected form."""
        self._analyzer = analyzer
        self._nouns = frozenset(analyzer.stem(word) for word in words.nouns)
        names = "|".join(re.escape(name) for name in words.names)
        series = "|".join(re.escape(name) for name in words.series)
        self._name = re.compile(rf"(?<![\w./\\])(?:{names})(?![\w/\\]|\.\w)")
        self._series = re.compile(rf"(?<![\w-])(?:{series})[- ]?\d[\d.-]*+(?<=\d)")

    def find(self, text: str, claims: Claims) -> Iterator[Found]:
        """DOC_REF anchors; only those of well-known names and series are claimed, a quoted heading may hold symbols."""
        for match in _QUOTED.finditer(text):
            before = _WORD_BEFORE.search(text, max(0, match.start() - 30), match.start())
            if before and self._analyzer.stem(before[1]) in self._nouns and claims.is_free(*match.span(1)):
                yield Found("DOC_REF", "heading", *match.span(1), 0.9)
        for match in _NUMBERED.finditer(text):
            if self._analyzer.stem(match[1]) in self._nouns:
                yield Found("DOC_REF", "number", *match.span(), 0.8)
        for subtype, pattern in (("number", _SIGN), ("series", self._series), ("document", self._name)):
            for match in pattern.finditer(text):
                if claims.take(*match.span()):
                    yield Found("DOC_REF", subtype, *match.span(), 0.8)
