"""The door of documentation: one file to its rows. Spec: MODULE §3 (`DocsIndexingPipeline`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ragkit.document import Extraction, IndexWarning, SourceFile
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs.about import about
from ragkit.indexing.docs.d0_chunks import doc_chunks
from ragkit.indexing.docs.d1_catalog import document_row
from ragkit.indexing.docs.markdown import read_markdown
from ragkit.indexing.docs.outline import Outline
from ragkit.indexing.docs.plain import read_plain
from ragkit.indexing.docs.rst import read_rst
from ragkit.indexing.kinds import is_test, kind_of
from ragkit.layers import Family

_READERS: Mapping[str, Callable[[str], Outline]] = {
    "markdown": read_markdown,
    "rst": read_rst,
    "text": read_plain,
}
"""By the language of the file's kind."""


class DocsIndexingPipeline:
    """Builds the rows of documentation files; pure, shared by threads."""

    def __init__(self, analysis: TextAnalysis) -> None:
        self._analysis = analysis

    def supports(self, path: str) -> bool:
        """Whether a file is documentation: Markdown, reStructuredText, plain text."""
        kind = kind_of(path)
        return kind is not None and kind.family is Family.DOCS

    def index_file(self, file: SourceFile) -> Extraction:
        """The rows of a documentation file: D0 in the order of the text, then D1. A path that `supports` refuses is
        read as plain text.
        """
        kind = kind_of(file.path)
        outline = _READERS.get(kind.language if kind else "", read_plain)(file.text)
        shared = about(file.path, outline, is_test=is_test(file.path))
        catalog = document_row(outline, shared, self._analysis)
        chunks, cut_line = doc_chunks(outline, shared, self._analysis)
        rows = (*chunks, *([catalog] if catalog else []))
        return Extraction(family=Family.DOCS, rows=rows, warnings=tuple(_warnings(file.path, outline, cut_line)))


def _warnings(path: str, outline: Outline, cut_line: int | None) -> Iterator[IndexWarning]:
    front = outline.front_matter
    if front.invalid_line is not None:
        params: dict[str, object] = {"path": path, "line": front.invalid_line, "problem": front.problem}
        yield IndexWarning(code="front_matter_invalid", path=path, line=front.invalid_line, params=params)
    if cut_line is not None:
        yield IndexWarning(code="long_line", path=path, line=cut_line, params={"path": path, "line": cut_line})
