"""The batched writer of RagDocuments: staging, then a swap. Spec: MODULE §3 (`RagDocumentUpserter`); system.md §5.

Files are written under the session's next revision, a batch a transaction, which is what a resumed job finds. Then one
short transaction counts words, deletes what is replaced and raises the session's revision: readers see the old or the
new whole.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import LiteralString

import numpy as np
from pgvector import HalfVector
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from ragkit.document import RagDocument
from ragkit.errors import DatabaseError, JobError
from ragkit.postgres import statements
from ragkit.postgres.database import Connection, Database
from ragkit.postgres.rows import FileRow, FileRows, RevisionHeader, SessionRow
from ragkit.postgres.terms import TermHasher, content_hash, posting
from ragkit.text import ANALYSIS_VERSION, Analyzer

ANALYZED_SHARE = 10
"""A change of a tenth of the session's files or more is a large one."""
COMPACT_EVERY = 16
"""Revisions between two compactions of the log of word counts."""

FILE_TYPES = ("text", "int8", "int8", "text", "text", "int8", "int8", "text", "text", "text", "jsonb", "bytea", "text")
DOCUMENT_TYPES = (
    "text", "int8", "int4", "text", "text", "text", "text", "int4", "int4", "text[]", "bytea", "jsonb",
)  # fmt: skip
POSTING_TYPES = (
    "text", "int8", "int4", "text", "int8", "text", "text", "text", "text", "text", "text", "bool", "int4", "int4",
    "int8", "bytea", "sparsevec",
)  # fmt: skip
VECTOR_TYPES = (
    "text", "int8", "int4", "text", "int8", "text", "text", "text", "text", "text", "bool", "halfvec",
)  # fmt: skip
_INT8_OID = 20
_INT8_ARRAY_HEAD = struct.Struct(">iiIii")
"""Dimensions, whether there are nulls, type of the items; then length and lower bound of the one dimension."""
_INT8_ITEM = np.dtype([("length", ">i4"), ("value", ">i8")])
CATALOG_TYPES = ("text", "int8", "int4", "int8", "text", "text", "text", "bool")


class RagDocumentUpserter:
    """Writes rows of files. One job at a time per session calls it (the session's lock sees to that)."""

    def __init__(self, database: Database, analyzer: Analyzer) -> None:
        self._database = database
        self._analyzer = analyzer

    def stage(
        self, session: SessionRow, index_job_id: str, files: Sequence[FileRows], *, embedder: str, pipeline_version: str
    ) -> int:
        """Write files under the next revision in one transaction; the number of rows written.

        Raises: JobError `job_displaced` where the job no longer runs: what a dead job's last process still writes
        must not reach the job that took its place.
        """
        if not files:
            return 0
        staging = session.revision + 1
        hasher = TermHasher(session.rag_session_id, ANALYSIS_VERSION)
        with self._database.writing(durable=False) as connection:
            job = {"session": session.rag_session_id, "job": index_job_id}
            connection.execute(statements.FENCE_SHARED, job)
            if connection.execute(statements.JOB_RUNS, job).fetchone() is None:
                raise JobError("job_displaced", job=index_job_id)
            ids = [int(row[0]) for row in connection.execute(statements.FILE_IDS, {"count": len(files)})]
            keyed = list(zip(ids, files, strict=True))
            sid = session.rag_session_id
            _copy(
                connection,
                statements.COPY_FILES,
                FILE_TYPES,
                _file_rows(sid, staging, keyed, embedder, pipeline_version),
            )
            _copy(connection, statements.COPY_DOCUMENTS, DOCUMENT_TYPES, _document_rows(sid, keyed))
            _copy(
                connection,
                statements.COPY_POSTINGS,
                POSTING_TYPES,
                _posting_rows(sid, staging, keyed, self._analyzer, hasher),
            )
            _copy(connection, statements.COPY_VECTORS, VECTOR_TYPES, _vector_rows(sid, staging, keyed))
            _copy(connection, statements.COPY_CATALOG, CATALOG_TYPES, _catalog_rows(sid, staging, keyed))
        return sum(len(file.rows) for file in files)

    def replace(self, session: SessionRow, header: RevisionHeader, *, kept: frozenset[str]) -> int:
        """Show the staged files and the shown ones of `kept` paths; everything else goes. The new revision."""
        return self._swap(session, header, lambda file, staged: file.path in staged or file.path not in kept)

    def apply_changes(self, session: SessionRow, header: RevisionHeader, *, deleted: frozenset[str]) -> int:
        """Show the staged files in place of older versions of their paths; `deleted` paths go. The new revision."""
        return self._swap(session, header, lambda file, staged: file.path in staged or file.path in deleted)

    def discard(self, session: SessionRow, file_ids: Sequence[int]) -> None:
        """Delete staged files and the word counts that a killed job left."""
        with self._database.writing() as connection:
            keys = {"session": session.rag_session_id, "files": list(file_ids), "revision": session.revision}
            connection.execute(statements.DELETE_FILES, keys)
            connection.execute(statements.DELETE_STAGED_TERMS, keys)

    def touch(self, session: SessionRow, files: Mapping[int, tuple[int, int]]) -> None:
        """Note new (size, mtime_ns) of files whose content stayed."""
        if not files:
            return
        with self._database.writing() as connection:
            connection.execute(
                statements.TOUCH_FILES,
                {
                    "session": session.rag_session_id,
                    "files": list(files),
                    "sizes": [size for size, _ in files.values()],
                    "times": [time for _, time in files.values()],
                },
            )

    def _swap(
        self, session: SessionRow, header: RevisionHeader, is_obsolete: Callable[[FileRow, frozenset[str]], bool]
    ) -> int:
        staging = session.revision + 1
        sid = session.rag_session_id
        with self._database.reading() as connection, connection.cursor(row_factory=args_row(FileRow)) as cursor:
            files = cursor.execute(statements.FILES, {"session": sid}).fetchall()
        staged = frozenset(file.path for file in files if file.revision == staging)
        obsolete = [f.file_id for f in files if f.revision <= session.revision and is_obsolete(f, staged)]
        values: dict[str, object] = {
            "session": sid,
            "revision": session.revision,
            "staging": staging,
            "obsolete": obsolete,
            "files": obsolete,
        }
        with self._database.writing(durable=False) as connection:  # invisible until the swap: it need not be short
            connection.execute(statements.MORE_WORK_MEMORY)
            connection.execute(statements.DELETE_STAGED_TERMS, values)
            connection.execute(statements.STAGE_TERMS, values)
        with self._database.writing() as connection:
            swapped = connection.execute(
                statements.SWAP_REVISION,
                {
                    **values,
                    "root": header.root,
                    "commit_sha": header.commit_sha,
                    "embedder": header.embedder,
                    "dims": header.dims,
                    "analysis_version": header.analysis_version,
                    "pipeline_version": header.pipeline_version,
                },
            ).rowcount
            if swapped != 1:
                raise DatabaseError("session_moved", session=session.name)
            connection.execute(statements.DELETE_FILES, values)
            if staging % COMPACT_EVERY == 0:
                connection.execute(statements.COMPACT_TERMS, {"session": sid, "revision": staging})
        changed = len(staged) + len(obsolete)
        self._settle(is_large=changed * ANALYZED_SHARE >= len(files))
        return staging

    def _settle(self, *, is_large: bool) -> None:
        """What lies in the inverted index's waiting list is moved in, so that the next search does not walk it; after a
        large change the planner learns of it at once, after others when autovacuum comes by.
        """
        with self._database.writing(durable=False) as connection:
            connection.execute(statements.SETTLE_POSTINGS)
            if is_large:
                connection.execute(statements.ANALYZE_TABLES)


def _copy(
    connection: Connection, statement: LiteralString, types: Sequence[str], rows: Iterable[tuple[object, ...]]
) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


Keyed = Sequence[tuple[int, FileRows]]


def _file_rows(
    sid: str, staging: int, keyed: Keyed, embedder: str, pipeline_version: str
) -> Iterator[tuple[object, ...]]:
    for file_id, item in keyed:
        file = item.file
        warnings = [{"code": w.code, "line": w.line, "params": dict(w.params)} for w in item.warnings]
        yield (
            sid, file_id, staging, file.path, file.blob_sha, file.size, file.mtime_ns, item.family.value, embedder,
            pipeline_version, Jsonb(warnings), item.link_part, item.link_digest,
        )  # fmt: skip


def _document_rows(sid: str, keyed: Keyed) -> Iterator[tuple[object, ...]]:
    for file_id, item in keyed:
        for row_no, row in enumerate(item.rows):
            vector = item.vectors.get(row_no)
            yield (
                sid, file_id, row_no, row.layer.value, row.public_id, row.title, row.text, row.line_start, row.line_end,
                list(row.names), vector[0] if vector else None, Jsonb(_metadata(row)),
            )  # fmt: skip


def _metadata(row: RagDocument) -> dict[str, object]:
    """Attributes, and for documentation the domain that POLICY §11 filters by."""
    if row.layer.value.startswith("C"):
        return dict(row.attributes)
    return {**row.attributes, "domain": row.domain, "subdomain": row.subdomain}


def _posting_rows(
    sid: str, staging: int, keyed: Keyed, analyzer: Analyzer, hasher: TermHasher
) -> Iterator[tuple[object, ...]]:
    for file_id, item in keyed:
        for row_no, row in enumerate(item.rows):
            words = posting(row, analyzer, hasher)
            yield (
                sid, file_id, row_no, row.layer.value, staging, row.path.lower(), row.title.lower(), _lower(row.domain),
                _lower(row.subdomain), row.lang, _code_language(row), row.is_test, row.line_start, row.line_end,
                content_hash(row.text), int8_array(words.terms), words.weights,
            )  # fmt: skip


def _vector_rows(sid: str, staging: int, keyed: Keyed) -> Iterator[tuple[object, ...]]:
    for file_id, item in keyed:
        for row_no, (_, vector) in sorted(item.vectors.items()):
            row = item.rows[row_no]
            yield (
                sid, file_id, row_no, row.layer.value, staging, row.path.lower(), row.title.lower(), _lower(row.domain),
                _lower(row.subdomain), _code_language(row), row.is_test, HalfVector(vector),
            )  # fmt: skip


def _catalog_rows(sid: str, staging: int, keyed: Keyed) -> Iterator[tuple[object, ...]]:
    for file_id, item in keyed:
        for entry_no, entry in enumerate(item.catalog):
            yield (sid, file_id, entry_no, staging, entry.kind, entry.name, entry.target, entry.declared)


def int8_array(values: Sequence[int]) -> bytes:
    """A bigint[] in PostgreSQL's binary form, which COPY takes as it is; psycopg's own way costs five times as much."""
    items = np.empty(len(values), dtype=_INT8_ITEM)
    items["length"] = 8
    items["value"] = values
    return _INT8_ARRAY_HEAD.pack(1, 0, _INT8_OID, len(values), 1) + items.tobytes()


def _code_language(row: RagDocument) -> str | None:
    return str(row.attributes["lang"]) if row.layer.value.startswith("C") and "lang" in row.attributes else None


def _lower(value: str | None) -> str | None:
    return value.lower() if value else None
