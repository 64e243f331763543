"""The extractors with the analyzer that ships, and a source file in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import ragkit
from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.text import Analyzer


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    return Analyzer.parse(Path(ragkit.__file__).with_name("stems.toml").read_text("utf-8"))


@pytest.fixture(scope="session")
def docs(analyzer: Analyzer) -> DocsIndexingPipeline:
    return DocsIndexingPipeline(analyzer)


@pytest.fixture(scope="session")
def code(analyzer: Analyzer) -> CodeIndexingPipeline:
    return CodeIndexingPipeline(analyzer)


@pytest.fixture(scope="session")
def source() -> Callable[[str, str], SourceFile]:
    """A source file from its path and text."""

    def make(path: str, text: str) -> SourceFile:
        return SourceFile(path=path, text=text, blob_sha="0" * 40, size=len(text.encode("utf-8", "surrogatepass")))

    return make
