"""One file to its rows, whatever it is, and the form in which rows are cached. Spec: MODULE §4; system.md §5."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ragkit.document import Extraction, IndexWarning, Mount, RagDocument, RowLanguage, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.files import LeftOut
from ragkit.layers import Family, Layer
from ragkit.text import ANALYSIS_VERSION

PIPELINE_VERSION = f"13.{ANALYSIS_VERSION}"
"""Changes whenever any extractor would give other rows for the same file: cached rows of another version are unused."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def extract(file: SourceFile, *, docs: DocsIndexingPipeline, code: CodeIndexingPipeline) -> Extraction | LeftOut:
    """The rows of a file by the pipeline that supports it; a file that gives none is left out with its reason."""
    if docs.supports(file.path, file.text):
        extraction = docs.index_file(file)
    elif code.supports(file.path):
        extraction = code.index_file(file)
    else:
        return LeftOut(path=file.path, reason="unsupported")
    if extraction.rows:
        return _storable(extraction)
    return LeftOut(path=file.path, reason="malformed" if extraction.warnings else "empty")


def _storable(extraction: Extraction) -> Extraction:
    """Rows whose strings PostgreSQL takes: escapes of YAML, JSON or Python can write NUL and lone surrogates, which its
    text does not know; they become U+FFFD. A file must not cost the job.
    """
    if all(map(_is_storable, extraction.rows)) and _cleaned(extraction.mounts) == extraction.mounts:
        return extraction
    return replace(
        extraction,
        rows=tuple(_cleaned_row(row) for row in extraction.rows),
        mounts=tuple(Mount(*cast("tuple[Any, ...]", _cleaned(tuple(mount)))) for mount in extraction.mounts),
    )


def _is_storable(row: RagDocument) -> bool:
    strings = (row.public_id, row.title, row.text, row.context, *row.names, row.domain or "", row.subdomain or "")
    return not any(map(_UNSTORABLE.search, strings)) and _cleaned(row.attributes) == row.attributes


def _cleaned_row(row: RagDocument) -> RagDocument:
    fields = {
        name: _cleaned(getattr(row, name))
        for name in ("public_id", "title", "text", "context", "names", "domain", "subdomain", "attributes")
    }
    return replace(row, **cast("Mapping[str, Any]", fields))


def _cleaned(value: object) -> object:
    """The value with every string storable; containers of the same kind."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value) if _UNSTORABLE.search(value) else value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {_cleaned(key): _cleaned(inner) for key, inner in pairs}
    if isinstance(value, tuple):
        return tuple(map(_cleaned, cast("tuple[object, ...]", value)))
    if isinstance(value, list):
        return list(map(_cleaned, cast("list[object]", value)))
    return value


def extraction_to_bytes(extraction: Extraction) -> bytes:
    """UTF-8 JSON, the same bytes for equal extractions; `extraction_from_bytes` gives an equal one back."""
    body = {
        "family": extraction.family.value,
        "rows": [_row_to_json(row) for row in extraction.rows],
        "warnings": [
            {"code": warning.code, "path": warning.path, "line": warning.line, "params": dict(warning.params)}
            for warning in extraction.warnings
        ],
        "mounts": extraction.mounts,
    }
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def extraction_from_bytes(content: bytes) -> Extraction:
    """What `extraction_to_bytes` wrote."""
    body = cast("Mapping[str, object]", json.loads(content.decode("utf-8", "surrogatepass")))
    return Extraction(
        family=Family(cast("str", body["family"])),
        rows=tuple(_row_from_json(row) for row in cast("list[dict[str, object]]", body["rows"])),
        warnings=tuple(
            IndexWarning(
                code=cast("str", warning["code"]),
                path=cast("str", warning["path"]),
                line=cast("int | None", warning["line"]),
                params=cast("Mapping[str, object]", warning["params"]),
            )
            for warning in cast("list[dict[str, object]]", body["warnings"])
        ),
        mounts=tuple(Mount(*mount) for mount in cast("list[list[Any]]", body["mounts"])),
    )


def _row_to_json(row: RagDocument) -> dict[str, object]:
    return {
        "layer": row.layer.value,
        "path": row.path,
        "public_id": row.public_id,
        "title": row.title,
        "text": row.text,
        "context": row.context,
        "line_start": row.line_start,
        "line_end": row.line_end,
        "names": row.names,
        "attributes": dict(row.attributes),
        "domain": row.domain,
        "subdomain": row.subdomain,
        "lang": row.lang,
        "is_test": row.is_test,
    }


def _row_from_json(body: Mapping[str, object]) -> RagDocument:
    return RagDocument(
        layer=Layer(cast("str", body["layer"])),
        path=cast("str", body["path"]),
        public_id=cast("str", body["public_id"]),
        title=cast("str", body["title"]),
        text=cast("str", body["text"]),
        context=cast("str", body["context"]),
        line_start=cast("int", body["line_start"]),
        line_end=cast("int", body["line_end"]),
        names=tuple(cast("list[str]", body["names"])),
        attributes=cast("Mapping[str, object]", body["attributes"]),
        domain=cast("str | None", body["domain"]),
        subdomain=cast("str | None", body["subdomain"]),
        lang=cast("RowLanguage", body["lang"]),
        is_test=cast("bool", body["is_test"]),
    )
