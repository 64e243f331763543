from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.document import Extraction, IndexWarning, RagDocument, SourceFile
from ragkit.indexing.catalog import catalog_entries
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.files import LeftOut
from ragkit.indexing.pipeline import PIPELINE_VERSION, extract, extraction_from_bytes, extraction_to_bytes
from ragkit.layers import Family, Layer
from ragkit.routing.catalog import CatalogEntry
from ragkit.text import ANALYSIS_VERSION

Make = Callable[[str, str], SourceFile]


def test_a_file_goes_to_the_pipeline_that_supports_it(
    docs: DocsIndexingPipeline, code: CodeIndexingPipeline, source: Make
) -> None:
    document = extract(source("a.md", "# T\n"), docs=docs, code=code)
    assert isinstance(document, Extraction)
    assert document.family is Family.DOCS
    module = extract(source("a.py", '"""Not a document."""\n'), docs=docs, code=code)
    assert isinstance(module, Extraction)
    assert module.family is Family.CODE
    assert extract(source("a.xyz", "{}"), docs=docs, code=code) == LeftOut(path="a.xyz", reason="unsupported")
    assert extract(source("a.ipynb", "{}"), docs=docs, code=code) == LeftOut(path="a.ipynb", reason="malformed")
    assert extract(source("a.md", "\n"), docs=docs, code=code) == LeftOut(path="a.md", reason="empty")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", '---\ntitle: "a\\0b"\ntags: ["x\\ud83d", "\\0"]\nid: "\\0"\n---\n# T\n\nText of the page.\n'),
        ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["# T \\u0000 \\ud800\\n"]}]}'),
        ("a.yaml", 'openapi: "3.0.0"\ninfo: {title: "a\\0b"}\npaths: {"/a\\0": {get: {operationId: "x\\0"}}}\n'),
        ("a.py", '"""a\\0b \\ud800"""\nA = "\\0"\n\n\ndef f(x="\\0"):\n    """a\\0b."""\n'),
    ],
)
def test_escapes_write_nothing_that_a_database_refuses(
    docs: DocsIndexingPipeline, code: CodeIndexingPipeline, source: Make, path: str, text: str
) -> None:
    made = extract(source(path, text), docs=docs, code=code)
    assert isinstance(made, Extraction)
    stored = extraction_to_bytes(made).decode("utf-8")  # lone surrogates would fail here
    assert "\\u0000" not in stored
    assert "\ufffd" in stored or path == "a.py"


def test_no_file_is_supported_twice(docs: DocsIndexingPipeline, code: CodeIndexingPipeline) -> None:
    for path in ["a.md", "a.rst", "requirements.txt", "a.txt", "a.py", "README", "a.json", "a.ipynb"]:
        assert not (docs.supports(path) and code.supports(path))


def test_version_names_the_analysis() -> None:
    assert PIPELINE_VERSION.endswith(f".{ANALYSIS_VERSION}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TEXT = st.text(max_size=20)
ROWS = st.builds(
    RagDocument,
    layer=st.sampled_from(Layer),
    path=TEXT,
    public_id=TEXT,
    title=TEXT,
    text=TEXT,
    context=TEXT,
    line_start=st.integers(1, 9),
    line_end=st.integers(1, 9),
    names=st.lists(TEXT, max_size=3).map(tuple),
    attributes=st.dictionaries(TEXT, JSON, max_size=4),
    domain=st.none() | TEXT,
    subdomain=st.none() | TEXT,
    lang=st.sampled_from(["ru", "en", "mixed", "code"]),
    is_test=st.booleans(),
)
WARNINGS = st.builds(
    IndexWarning,
    code=TEXT,
    path=TEXT,
    line=st.none() | st.integers(1, 9),
    params=st.dictionaries(TEXT, JSON, max_size=2),
)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Extraction,
        family=st.sampled_from(Family),
        rows=st.lists(ROWS, max_size=3).map(tuple),
        warnings=st.lists(WARNINGS, max_size=2).map(tuple),
    )
)
def test_bytes_give_the_same_extraction_back(extraction: Extraction) -> None:
    content = extraction_to_bytes(extraction)
    assert extraction_from_bytes(content) == extraction
    assert extraction_to_bytes(extraction_from_bytes(content)) == content


def test_real_extractions_survive_the_cache(
    docs: DocsIndexingPipeline, code: CodeIndexingPipeline, source: Make
) -> None:
    for extraction in (
        docs.index_file(source("а/б.md", "---\nx: [\n---\n# Т\n\n## П\n\nтекст\n")),
        code.index_file(source("a.py", "def f(a: int) -> int: ...\n\nasync def g(): ...\n")),
    ):
        assert extraction_from_bytes(extraction_to_bytes(extraction)) == extraction


def test_catalog_of_a_document(docs: DocsIndexingPipeline, source: Make) -> None:
    text = "---\nid: m.a\naliases: [other]\ndomain: Sales\n---\n# Title\n\n## Flow\n\n" + "word " * 400 + "\n"
    entries = catalog_entries(docs.index_file(source("domains/x/y/a.md", text)).rows)
    path = "domains/x/y/a.md"
    assert entries == (
        CatalogEntry(kind="file", name="a.md", target=path, source_path=path),
        CatalogEntry(kind="heading", name="Flow", target=f"{path}#title/flow", source_path=path),
        CatalogEntry(kind="title", name="Title", target=path, source_path=path),
        CatalogEntry(kind="module_id", name="m.a", target=path, source_path=path),
        CatalogEntry(kind="alias", name="other", target=path, source_path=path),
        CatalogEntry(kind="domain", name="sales", target="sales", source_path=path, declared=True),
    )


def test_catalog_says_that_a_folder_declares_nothing(docs: DocsIndexingPipeline, source: Make) -> None:
    entries = catalog_entries(docs.index_file(source("domains/x/y/a.md", "# T\n")).rows)
    assert [(entry.kind, entry.name, entry.declared) for entry in entries if entry.kind.endswith("domain")] == [
        ("domain", "x", False),
        ("subdomain", "y", False),
    ]


def test_catalog_of_code(code: CodeIndexingPipeline, source: Make) -> None:
    text = "app = 1\nLIMIT = 2\n\n\nclass A:\n    x: int\n\n    def run(self): ...\n"
    entries = catalog_entries(code.index_file(source("src/a.py", text)).rows)
    assert [(entry.kind, entry.name, entry.target) for entry in entries] == [
        ("file", "a.py", "src/a.py"),
        ("symbol", "LIMIT", "src/a.py::LIMIT"),
        ("symbol", "A", "src/a.py::A"),
        ("symbol", "run", "src/a.py::A.run"),
        ("symbol", "A.run", "src/a.py::A.run"),
    ]
