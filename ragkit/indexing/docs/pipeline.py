"""The door of documentation: one file to its rows. Spec: MODULE §3 (`DocsIndexingPipeline`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ragkit.document import Extraction, IndexWarning, RagDocument, SourceFile
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs.about import About, about
from ragkit.indexing.docs.d0_chunks import doc_chunks
from ragkit.indexing.docs.d1_catalog import document_row
from ragkit.indexing.docs.d2_facts import facts
from ragkit.indexing.docs.d3_entities import entities
from ragkit.indexing.docs.d4_policies import policies
from ragkit.indexing.docs.d4_workflows import workflows
from ragkit.indexing.docs.d5_relations import relations
from ragkit.indexing.docs.markdown import read_markdown
from ragkit.indexing.docs.notebook import NotebookProblem, at_notebook_lines, read_notebook
from ragkit.indexing.docs.openapi import read_openapi
from ragkit.indexing.docs.openapi_nodes import is_openapi
from ragkit.indexing.docs.outline import Outline
from ragkit.indexing.docs.pieces import parts_of
from ragkit.indexing.docs.plain import read_plain
from ragkit.indexing.docs.rst import RstOutline, read_rst, rst_parts
from ragkit.indexing.kinds import is_test, kind_of
from ragkit.layers import Family

_READERS: Mapping[str, Callable[[str], Outline]] = {
    "markdown": read_markdown,
    "rst": read_rst,
    "text": read_plain,
}
"""By the language of the file's kind."""

MAX_LINES = 100_000
"""A longer document is data: read as plain text, since parsers of markup take some 50 µs a line at worst."""

_MAX_UNREAD = 5
"""Warnings of one kind of one file."""

_OPEN_FRONT_MATTER = re.compile(r"---[ \t]*\n[\w-]+:(?:\s|$)")
"""How front matter begins; without an end it is text."""

_MAY_BE_OPENAPI = frozenset({"yaml", "json"})


class DocsIndexingPipeline:
    """Builds the rows of documentation files; pure, shared by threads."""

    def __init__(self, analysis: TextAnalysis) -> None:
        self._analysis = analysis

    def supports(self, path: str, text: str = "") -> bool:
        """Whether a file is documentation: Markdown, reStructuredText, plain text, a notebook; and a YAML or JSON file
        whose `text` begins like OpenAPI.
        """
        kind = kind_of(path)
        if kind is None:
            return False
        return kind.family is Family.DOCS or (kind.language in _MAY_BE_OPENAPI and is_openapi(text))

    def index_file(self, file: SourceFile) -> Extraction:
        """The rows of a documentation file: D0, D1, D2, D3, D4_WORKFLOW, D4_POLICY, D5, each in the order of the text
        (the rows of OpenAPI are D0, D1, D2). A path that `supports` refuses is read as plain text.
        """
        kind = kind_of(file.path)
        language = kind.language if kind else ""
        if language in _MAY_BE_OPENAPI:
            return self._openapi(file)
        if language == "notebook":
            return self._notebook(file)
        return self._document(file, language)

    def _document(self, file: SourceFile, language: str) -> Extraction:
        if is_data := file.text.count("\n") > MAX_LINES:
            language = "text"
        outline = _READERS.get(language, read_plain)(file.text)
        shared = about(file.path, outline, is_test=is_test(file.path))
        chunks, cut_line = doc_chunks(outline, shared, self._analysis)
        catalog = document_row(outline, shared, self._analysis)
        rows = (*chunks, *([catalog] if catalog else []), *self._knowledge(outline, shared, language))
        warnings = list(_warnings(file.path, outline, cut_line))
        if is_data:
            params: dict[str, object] = {"path": file.path, "limit": MAX_LINES}
            warnings.insert(0, IndexWarning(code="read_as_text", path=file.path, params=params))
        return Extraction(family=Family.DOCS, rows=rows, warnings=tuple(warnings))

    def _notebook(self, file: SourceFile) -> Extraction:
        """The rows of a notebook's Markdown; none, and a warning, when it is no notebook."""
        notebook = read_notebook(file.text)
        if isinstance(notebook, NotebookProblem):
            params: dict[str, object] = {"path": file.path, "line": notebook.line, "problem": notebook.text}
            warning = IndexWarning(code="notebook_invalid", path=file.path, line=notebook.line, params=params)
            return Extraction(family=Family.DOCS, rows=(), warnings=(warning,))
        if not notebook.text.strip():
            return Extraction(family=Family.DOCS, rows=())
        return at_notebook_lines(self._document(replace(file, text=notebook.text), "markdown"), notebook)

    def _knowledge(self, outline: Outline, shared: About, language: str) -> Iterator[RagDocument]:
        """The layers above D1."""
        parts = rst_parts(outline) if isinstance(outline, RstOutline) else parts_of(outline, language)
        named = entities(outline, parts, shared, self._analysis)
        yield from facts(outline, parts, shared, self._analysis)
        yield from named
        yield from workflows(outline, parts, shared, self._analysis)
        yield from policies(outline, parts, shared, self._analysis)
        known = {name.lower(): row.public_id for row in named for name in row.names}
        yield from relations(outline, parts, shared, self._analysis, known)

    def _openapi(self, file: SourceFile) -> Extraction:
        """The rows of an OpenAPI file; one that cannot be read gives passages alone, and a warning."""
        read = read_openapi(file, self._analysis)
        if isinstance(read, Extraction):
            return read
        outline = read_plain(file.text)
        shared = about(file.path, outline, is_test=is_test(file.path))
        chunks, cut_line = doc_chunks(outline, shared, self._analysis)
        warnings = (read, *_warnings(file.path, outline, cut_line))
        return Extraction(family=Family.DOCS, rows=tuple(chunks), warnings=warnings)


def _warnings(path: str, outline: Outline, cut_line: int | None) -> Iterator[IndexWarning]:
    front = outline.front_matter
    if front.invalid_line is not None:
        params: dict[str, object] = {"path": path, "line": front.invalid_line, "problem": front.problem}
        yield IndexWarning(code="front_matter_invalid", path=path, line=front.invalid_line, params=params)
    elif front.lines is None and _OPEN_FRONT_MATTER.match("\n".join(outline.source.lines[:2])):
        yield IndexWarning(code="front_matter_open", path=path, line=1, params={"path": path, "line": 1})
    for start, _, problem in outline.unread[:_MAX_UNREAD] if isinstance(outline, RstOutline) else ():
        params = {"path": path, "line": start + 1, "problem": problem}
        yield IndexWarning(code="rst_by_lines", path=path, line=start + 1, params=params)
    if cut_line is not None:
        yield IndexWarning(code="long_line", path=path, line=cut_line, params={"path": path, "line": cut_line})
