"""Typed rows: what statements return and what writers take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from ragkit.document import FileStamp, IndexWarning, RagDocument, Vectors
from ragkit.layers import Family, Layer
from ragkit.routing.catalog import CatalogEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as it stands in one snapshot of the database."""

    rag_session_id: str
    name: str
    project_id: str
    root: str | None
    revision: int
    """0: nothing was indexed yet."""
    commit_sha: str | None
    embedder: str | None
    dims: int | None
    analysis_version: int | None
    pipeline_version: str | None
    indexed_at: datetime | None


class FileRow(NamedTuple):
    """One version of one indexed file, in the order of `FILES`; a tuple, since a job reads all of a session."""

    file_id: int
    revision: int
    path: str
    blob_sha: str
    size: int
    mtime_ns: int
    embedder: str
    pipeline_version: str
    link_digest: str
    """Of the answers of the link step that its rows hold."""

    @property
    def stamp(self) -> FileStamp:
        """Which bytes its rows come from."""
        return FileStamp(self.path, self.blob_sha, self.size, self.mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """A file and all that is to be written of it."""

    file: FileStamp
    family: Family
    rows: Sequence[RagDocument]
    vectors: Mapping[int, tuple[bytes, Vectors]]
    """Place in `rows` → (SHA-256 of the embedded text, vector `(dims,)`); rows without one are missing."""
    warnings: Sequence[IndexWarning]
    catalog: Sequence[CatalogEntry]
    link_part: bytes
    """What the file says to the link step."""
    link_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilters:
    """Hard filters and preferences as the repository takes them; lower-case, LIKE text escaped. Spec: POLICY §11."""

    path_prefixes: tuple[str, ...] | None = None
    exclude_path_prefixes: tuple[str, ...] | None = None
    exclude_like_patterns: tuple[str, ...] | None = None
    metadata_domain: str | None = None
    metadata_subdomain: str | None = None
    language: tuple[str, ...] | None = None
    test_policy: str | None = None
    prefer_path_prefixes: tuple[str, ...] = ()
    prefer_like_patterns: tuple[str, ...] = ()
    prefer_non_tests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWords:
    """The words of a query against one session's layers."""

    idf: Mapping[int, float]
    """Hashed word → weight (IDF, less for expansions)."""
    finding: tuple[int, ...]
    """Hashed words that may find rows by themselves."""
    names: tuple[int, ...] = ()
    """Hashed names that the query gives."""
    paths: tuple[int, ...] = ()
    """Hashed path suffixes that the query gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """One search of one session at one revision."""

    rag_session_id: str
    revision: int
    layers: Mapping[Layer, int]
    """Layer → how many candidates it gives to each leg."""
    vector: Vectors | None
    """`(dims,)` float32; None where the embedder could not answer."""
    words: SearchWords
    filters: RowFilters


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A row that some leg found, with both legs' scores and all else that it is judged by."""

    file_id: int
    row_no: int
    layer: Layer
    path: str
    """Lower-case."""
    domain: str | None
    lang: str
    is_test: bool
    line_start: int
    line_end: int
    content_hash: int
    cosine: float | None
    """None where the row has no vector, or the query none."""
    bm25: float
    """Sum of IDF × BM25 weight of the query's words."""
    dense_rank: int | None
    """Place in the dense leg of its layer, from 1; None: not found by it."""
    lexical_rank: int | None
    named_rank: int | None
    path_named: bool
    """The query names the file, by whole segments from the end."""
    name_defined: bool
    """The row defines a name of the query."""
    graph_place: int | None
    """Place of the nearest node that the row points to, from 1; None: it points to none of them."""
    prefer_path: int | None
    """Place of the first preferred prefix that the path has, from 1."""
    prefer_like: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """What is shown of a row."""

    file_id: int
    row_no: int
    layer: Layer
    path: str
    public_id: str
    title: str
    text: str
    line_start: int
    line_end: int
    metadata_json: Mapping[str, object]
    has_vector: bool


JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
JobKind = Literal["snapshot", "changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One indexing job and the truth about it."""

    index_job_id: str
    rag_session_id: str
    kind: JobKind
    status: JobStatus
    stage: str | None
    revision: int | None
    files: Mapping[str, object] = field(default_factory=dict[str, object])
    rows_written: int = 0
    texts_embedded: int = 0
    warnings: Sequence[Mapping[str, object]] = ()
    error: Mapping[str, object] | None = None
    timings: Mapping[str, object] = field(default_factory=dict[str, object])
    root: str | None = None
    request: Mapping[str, object] = field(default_factory=dict[str, object])
    """What was asked beside the folder: `revision` or `deleted`."""
    progress: Mapping[str, object] = field(default_factory=dict[str, object])
    """`files_done`, `files_total`, `elapsed_s`, `left_s`."""
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionHeader:
    """What a session says of its new revision."""

    root: str
    commit_sha: str | None
    embedder: str
    dims: int
    analysis_version: int
    pipeline_version: str
