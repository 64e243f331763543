"""OpenAPI 3 and Swagger 2 files, YAML or JSON, to rows: each operation is a document of its own. Spec: system.md §4.

A file is one by its content alone (`openapi_nodes.is_openapi`), never by its name. Spans are those of the operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import cast

import yaml

from ragkit.document import Extraction, IndexWarning, RagDocument, SourceFile
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.d0_chunks import PASSAGE
from ragkit.indexing.docs.d1_catalog import D1Stored
from ragkit.indexing.docs.evidence import Evidence, RowMaker
from ragkit.indexing.docs.openapi_nodes import (
    Operation,
    Problem,
    References,
    child,
    compose,
    items,
    lines_of,
    mapping,
    members,
    operations_of,
    statements_of,
    string,
)
from ragkit.indexing.docs.outline import slug, unique
from ragkit.indexing.kinds import is_test
from ragkit.indexing.passages import Block, Lines, cut
from ragkit.layers import D0Attributes, D2Attributes, Family, Layer

CONFIDENCE = 1.0
"""What an operation declares is so."""

_MAX_OPERATIONS = 2_000
_MAX_FACTS = 100
"""Of one operation."""

_MAX_FACTS_OF_FILE = 20_000
"""Aliases let a short file say the same again and again."""


def read_openapi(file: SourceFile, analysis: TextAnalysis) -> Extraction | IndexWarning:
    """The rows of an OpenAPI file: D0 of each operation, D1 of the file and of each operation, D2; or why it cannot be
    read.

    Public ids: `path` (the file), `path#get-v1-orders` (D0), `path#operation:get-v1-orders`, `path#fact:…`.
    """
    root = compose(file.text)
    if isinstance(root, Problem) or not isinstance(root, yaml.MappingNode):
        line, problem = (root.line + 1, root.text) if isinstance(root, Problem) else (1, "no mapping")
        params: dict[str, object] = {"path": file.path, "line": line, "problem": problem}
        return IndexWarning(code="openapi_invalid", path=file.path, line=line, params=params)
    source = Lines(file.text)
    info = mapping(child(root, "info"))
    title = string(child(info, "title")) or file.path.rpartition("/")[2]
    about = About(
        path=file.path,
        title=title,
        module_id=None,
        type="api",
        tags=(),
        domain=None,
        subdomain=None,
        declared=(),
        is_test=is_test(file.path),
    )
    references = References(root)
    operations = list(islice(operations_of(root, references), _MAX_OPERATIONS))
    taken: dict[str, int] = {}
    chunks = [row for found in operations for row in _chunks(found, source, file.text, about, analysis, taken)]
    catalog = [_file_row(root, info, source, about, analysis)]
    catalogs = RowMaker(Layer.D1_DOCUMENT_CATALOG, "operation", source, about, analysis)
    catalog += [_operation_row(found, file.text, catalogs, about) for found in operations]
    facts_maker = RowMaker(Layer.D2_FACT_INDEX, "fact", source, about, analysis)
    told = (row for found in operations for row in _fact_rows(found, references, file.text, facts_maker, about))
    facts = list(islice(told, _MAX_FACTS_OF_FILE))
    numbered = [_with_order(row, order) for order, row in enumerate(chunks)]
    return Extraction(family=Family.DOCS, rows=(*numbered, *catalog, *facts))


def _shown(operation: Operation, source: Lines, text: str) -> tuple[int, int, str]:
    """Lines of an operation without blank ones at its end, shortened until a passage holds them, and the text; of a
    file without line breaks, the operation's part of its line.
    """
    start, end = _trimmed(source, operation.start, operation.end)
    if end - start == 1 and not source.fits(start, end, PASSAGE):
        first, last = operation.node.start_mark.index, operation.node.end_mark.index
        return start, end, text[first : min(last, first + PASSAGE.chars)]
    while end - start > 1 and not source.fits(start, end, PASSAGE, slack=True):
        end -= 1
    return start, end, source.text(start, end)


def _trimmed(source: Lines, start: int, end: int) -> tuple[int, int]:
    """Without blank lines and comments at the end: these belong to what follows."""
    end = min(end, len(source))
    while end - start > 1 and (source.is_blank(end - 1) or source.lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return start, end


def _context(operation: Operation, about: About) -> str:
    """`API › METHOD /path`, then summary, tags and operationId: an operation is found by these."""
    said = [
        string(child(operation.node, "summary")),
        ", ".join(_tags(operation)),
        string(child(operation.node, "operationId")),
    ]
    return "\n".join([f"{about.title} › {operation.title}", " · ".join(part for part in said if part)]).strip()


def _tags(operation: Operation) -> list[str]:
    return [tag for node in members(child(operation.node, "tags")) if (tag := string(node))]


def _chunks(
    operation: Operation, source: Lines, text: str, about: About, analysis: TextAnalysis, taken: dict[str, int]
) -> Iterator[RagDocument]:
    """One passage an operation; more where it is longer than a passage."""
    start, end = _trimmed(source, operation.start, operation.end)
    if end - start == 1:
        passages = [_shown(operation, source, text)]
    else:
        passages = [(found.start, found.end, found.text) for found in cut(source, [Block(start, end)], PASSAGE)]
    anchor = slug(operation.title.replace("/", "-").replace(".", "-"))
    for place, (first, last, shown) in enumerate(passages):
        span = f":L{first + 1}-L{last}" if place else ""
        public_id = unique(f"{about.path}#{anchor}{span}", taken)
        attributes: D0Attributes = {
            "chunk_id": public_id,
            "module_id": string(child(operation.node, "operationId")),
            "section_path": operation.title,
            "section_title": operation.title,
            "source_path": about.path,
            "order": 0,
            "tags": _tags(operation),
            "domain": None,
            "type": "api_operation",
        }
        yield RagDocument(
            layer=Layer.D0_DOC_CHUNKS,
            path=about.path,
            public_id=public_id,
            title=operation.title,
            text=shown,
            context=_context(operation, about),
            line_start=first + 1,
            line_end=last,
            names=() if place else (operation.title,),
            attributes=attributes,
            lang=analysis.language(shown),
            is_test=about.is_test,
        )


def _with_order(row: RagDocument, order: int) -> RagDocument:
    return replace(row, attributes={**row.attributes, "order": order})


def _catalog_attributes(about: About, *, title: str, summary: str, said: Mapping[str, object]) -> D1Stored:
    attributes: D1Stored = {
        "module_id": None,
        "type": about.type,
        "domain": None,
        "subdomain": None,
        "title": title,
        "status": None,
        "version": None,
        "tags": [],
        "owners": [],
        "links": [],
        "calls_api": [],
        "called_by": [],
        "uses_logic": [],
        "used_by": [],
        "reads_db": [],
        "writes_db": [],
        "integrates_with": [],
        "emits_events": [],
        "consumes_events": [],
        "source_path": about.path,
        "summary_text": summary,
        "declared": [],
    }
    return cast("D1Stored", {**attributes, **said})


def _file_row(
    root: yaml.MappingNode, info: yaml.MappingNode | None, source: Lines, about: About, analysis: TextAnalysis
) -> RagDocument:
    """The file itself, shown by its `info`."""
    key = next((key for name, key, _ in items(root) if name == "info"), None)
    start, end = lines_of(key, info) if key is not None and info is not None else (0, 1)
    start, end = _trimmed(source, start, end)
    while end - start > 1 and not source.fits(start, end, PASSAGE, slack=True):
        end -= 1
    tags = [tag for node in members(child(root, "tags")) if (tag := string(child(node, "name")))]
    said: dict[str, object] = {"tags": tags, "version": string(child(info, "version"))}
    summary = string(child(info, "description")) or string(child(info, "summary")) or ""
    text = source.text(start, end)
    return RagDocument(
        layer=Layer.D1_DOCUMENT_CATALOG,
        path=about.path,
        public_id=about.path,
        title=about.title,
        text=text if len(text) <= PASSAGE.chars else text[: PASSAGE.chars],
        context=", ".join(tags),
        line_start=start + 1,
        line_end=end,
        names=(about.title,),
        attributes=_catalog_attributes(about, title=about.title, summary=summary[:600], said=said),
        lang=analysis.language(summary or about.title),
        is_test=about.is_test,
    )


def _operation_row(operation: Operation, text: str, maker: RowMaker, about: About) -> RagDocument:
    node = operation.node
    start, end, shown = _shown(operation, maker.source, text)
    operation_id = string(child(node, "operationId"))
    summary = string(child(node, "summary")) or string(child(node, "description")) or ""
    status = "deprecated" if string(child(node, "deprecated")) == "true" else None
    said: dict[str, object] = {
        "module_id": operation_id,
        "type": "api_operation",
        "tags": _tags(operation),
        "status": status,
    }
    row = maker.row(
        maker.public_id(operation.title),
        Evidence(start=start, end=end),
        title=operation.title,
        attributes=_catalog_attributes(about, title=operation.title, summary=summary[:600], said=said),
        names=(operation.title, operation_id) if operation_id else (operation.title,),
        text=shown,
    )
    return replace(row, context=_context(operation, about))


def _fact_rows(
    operation: Operation, references: References, text: str, maker: RowMaker, about: About
) -> Iterator[RagDocument]:
    subject = string(child(operation.node, "operationId")) or operation.title
    for predicate, value, first, last in islice(statements_of(operation, references), _MAX_FACTS):
        start, end = _trimmed(maker.source, *lines_of(first, last))
        public_id = maker.public_id(operation.title, predicate, value)
        attributes: D2Attributes = {
            "fact_id": public_id,
            "subject_id": subject,
            "predicate": predicate,
            "object": value[:500],
            "object_ref": None,
            "source_path": about.path,
            "anchor": slug(operation.title.replace("/", "-").replace(".", "-")),
            "line_start": start + 1,
            "line_end": end,
            "confidence": CONFIDENCE,
            "tags": ["openapi"],
        }
        is_line = end - start == 1
        shown = _part(maker.source, start, text, first, last) if is_line else maker.source.text(start, end)
        row = maker.row(public_id, Evidence(start=start, end=end), title=value[:200], attributes=attributes, text=shown)
        yield replace(row, context=_context(operation, about))


def _part(source: Lines, line: int, text: str, first: yaml.Node, last: yaml.Node) -> str:
    """The line, or the beginning of the nodes' part of it where it is too long."""
    if len(source.lines[line]) <= PASSAGE.chars:
        return source.lines[line]
    start = first.start_mark.index
    return text[start : min(last.end_mark.index, start + PASSAGE.chars)].rstrip()
