"""The persistence of RAG: sessions, rows, caches, retrieval. Spec: MODULE §3 (`RagRepository`).

Reading methods take the connection of the caller's snapshot, so that one answer sees one state of the database; writing
methods open their own transaction. Jobs, kept requests and what an explanation reads stand in files of their own and
are offered here too, since this is the one name that MODULE gives to all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString

import numpy as np
from pgvector import HalfVector
from psycopg.errors import UniqueViolation
from psycopg.rows import args_row, class_row, kwargs_row

from ragkit.document import Vectors
from ragkit.errors import DatabaseError, InvalidInput, UnknownName
from ragkit.layers import Layer
from ragkit.postgres import statements
from ragkit.postgres.caches import ContentCaches
from ragkit.postgres.database import Connection, Database, is_storable
from ragkit.postgres.inspection import Inspection
from ragkit.postgres.jobs import JobTable
from ragkit.postgres.requests import RequestTable
from ragkit.postgres.retrieval_statement import RetrievalStatementBuilder, Statement
from ragkit.postgres.rows import (
    Candidate,
    DocumentRow,
    FileRow,
    FileRows,
    JobKind,
    JobRow,
    RetrievalRequest,
    RevisionHeader,
    SessionRow,
)
from ragkit.postgres.schema import RagSchemaRepository
from ragkit.postgres.terms import ALL_ROWS
from ragkit.postgres.upserter import RagDocumentUpserter
from ragkit.routing.catalog import CatalogEntry


class RagRepository:
    """Facade of one database. Shared by threads."""

    def __init__(self, database: Database, upserter: RagDocumentUpserter) -> None:
        self.database = database
        self._schema = RagSchemaRepository(database)
        self._upserter = upserter
        self._builder = RetrievalStatementBuilder()
        self.jobs = JobTable(database)
        self.caches = ContentCaches(database)
        self.requests = RequestTable(database)
        self.inspection = Inspection()

    # --- schema and sessions

    def ensure_tables(self) -> int:
        """Create or upgrade the schema (only check it where nothing may be written); its version."""
        return self._schema.check() if self.database.read_only else self._schema.ensure_tables()

    def upsert_session(self, rag_session_id: str, *, name: str, project_id: str) -> SessionRow:
        """The session of this name, made under this id if there is none yet."""
        with self.database.writing() as connection:
            connection.execute(
                statements.INSERT_SESSION, {"session": rag_session_id, "name": name, "project_id": project_id}
            )
            found = _session(connection, name)
        if found is None:
            raise DatabaseError("database_refused", problem=f"session {name} vanished")
        return found

    def get_session(self, name: str) -> SessionRow:
        """The session of this name.

        Raises: UnknownName with the names that exist.
        """
        with self.database.reading() as connection:
            return self.read_session(connection, name)

    def rename_session(self, session: SessionRow, name: str) -> None:
        """Call a session by another name; its id, and with it every row, stays.

        Raises: InvalidInput `session_name_taken`.
        """
        try:
            with self.database.writing() as connection:
                connection.execute(statements.RENAME_SESSION, {"session": session.rag_session_id, "name": name})
        except DatabaseError as refused:
            if isinstance(refused.__cause__, UniqueViolation):
                raise InvalidInput("session_name_taken", session=session.name, name=name) from refused
            raise

    def delete_session(self, session: SessionRow) -> None:
        """Delete a session with all its rows, jobs and requests; the caches stay."""
        with self.database.writing() as connection:
            connection.execute(statements.DELETE_SESSION, {"session": session.rag_session_id})

    def session_exists(self, name: str) -> bool:
        """Whether there is one of this name."""
        with self.database.reading() as connection:
            return _session(connection, name) is not None

    def sessions(self) -> list[tuple[SessionRow, dict[Layer, int]]]:
        """Every session and its number of rows by layer, by name."""
        with self.database.reading() as connection, connection.cursor(row_factory=class_row(SessionRow)) as cursor:
            found = cursor.execute(statements.SESSIONS).fetchall()
            return [(session, self.layer_rows(connection, session)) for session in found]

    def read_session(self, connection: Connection, name: str) -> SessionRow:
        """`get_session` inside a snapshot."""
        found = _session(connection, name)
        if found is None:
            rows = connection.execute(statements.SESSIONS).fetchall()
            raise UnknownName("session_unknown", session=name, known=[str(row[1]) for row in rows][:20])
        return found

    def layer_rows(self, connection: Connection, session: SessionRow) -> dict[Layer, int]:
        """Layer → number of rows, without empty layers."""
        found = connection.execute(
            statements.LAYER_ROWS, {"session": session.rag_session_id, "revision": session.revision}
        )
        return {Layer(str(layer)): int(rows) for layer, rows in found}

    def code_languages(self, connection: Connection, session: SessionRow) -> list[str]:
        """Programming languages of the session's code, sorted."""
        found = connection.execute(
            statements.CODE_LANGUAGES, {"session": session.rag_session_id, "revision": session.revision}
        )
        return sorted(str(row[0]) for row in found)

    def catalog(self, connection: Connection, session: SessionRow) -> list[CatalogEntry]:
        """Names of the session, by path and place."""
        with connection.cursor(row_factory=class_row(CatalogEntry)) as cursor:
            return cursor.execute(
                statements.CATALOG, {"session": session.rag_session_id, "revision": session.revision}
            ).fetchall()

    # --- rows

    def files(self, rag_session_id: str) -> list[FileRow]:
        """Every version of every file, shown and staged, by path."""
        with self.database.reading() as connection, connection.cursor(row_factory=args_row(FileRow)) as cursor:
            return cursor.execute(statements.FILES, {"session": rag_session_id}, binary=True).fetchall()

    def link_parts(self, session: SessionRow, file_ids: Sequence[int]) -> dict[str, bytes]:
        """Path → what the file says to the link step."""
        with self.database.reading() as connection:
            found = connection.execute(
                statements.LINK_PARTS, {"session": session.rag_session_id, "files": list(file_ids)}, binary=True
            )
            return {str(path): bytes(part) for path, part in found}

    def stage(
        self, session: SessionRow, index_job_id: str, files: Sequence[FileRows], *, embedder: str, pipeline_version: str
    ) -> int:
        """Write files under the session's next revision, where readers do not look; the number of rows."""
        return self._upserter.stage(session, index_job_id, files, embedder=embedder, pipeline_version=pipeline_version)

    def replace_documents(self, session: SessionRow, header: RevisionHeader, *, kept: Iterable[str]) -> int:
        """Show the staged files and those of `kept` paths alone; the new revision."""
        return self._upserter.replace(session, header, kept=frozenset(kept))

    def apply_document_changes(self, session: SessionRow, header: RevisionHeader, *, deleted: Iterable[str]) -> int:
        """Show the staged files in place of their older versions, without the deleted paths; the new revision."""
        return self._upserter.apply_changes(session, header, deleted=frozenset(deleted))

    def discard_staged(self, session: SessionRow, file_ids: Sequence[int]) -> None:
        """Forget staged files that no longer hold."""
        self._upserter.discard(session, file_ids)

    def touch_files(self, session: SessionRow, files: Mapping[int, tuple[int, int]]) -> None:
        """New (size, mtime_ns) of files whose content stayed, by file id."""
        self._upserter.touch(session, files)

    def rows_of_file(self, connection: Connection, session: SessionRow, path: str) -> list[DocumentRow]:
        """Rows of one file as shown, by layer and place."""
        with connection.cursor(row_factory=kwargs_row(_document)) as cursor:
            return cursor.execute(
                statements.ROWS_OF_FILE,
                {"session": session.rag_session_id, "path": path, "revision": session.revision},
            ).fetchall()

    def rows_of_paths(
        self, connection: Connection, session: SessionRow, paths: Sequence[str]
    ) -> list[tuple[str, str, Layer, int, int]]:
        """(path, public id, layer, first line, last line) of the rows of these files."""
        found = connection.execute(
            statements.ROWS_OF_PATHS,
            {"session": session.rag_session_id, "paths": list(paths), "revision": session.revision},
        )
        return [(str(p), str(i), Layer(str(layer)), int(s), int(e)) for p, i, layer, s, e in found]

    def shown_blobs(self, connection: Connection, session: SessionRow) -> list[tuple[str, str]]:
        """(path, blob sha) of the shown files, by path."""
        found = connection.execute(
            statements.SHOWN_BLOBS, {"session": session.rag_session_id, "revision": session.revision}
        )
        return [(str(path), str(blob)) for path, blob in found]

    # --- retrieval

    def term_rows(
        self, connection: Connection, session: SessionRow, terms: Iterable[int], layers: Iterable[Layer]
    ) -> dict[int, int]:
        """Hashed word → rows of the layers that hold it; under `ALL_ROWS` how many rows there are."""
        found = connection.execute(
            statements.TERM_ROWS,
            {
                "session": session.rag_session_id,
                "terms": [ALL_ROWS, *terms],
                "layers": [layer.value for layer in layers],
                "revision": session.revision,
            },
        )
        return {int(term): int(rows) for term, rows in found}

    def retrieve(self, connection: Connection, request: RetrievalRequest) -> list[Candidate]:
        """Candidates of the dense, lexical and named legs under the hard filters, in one statement."""
        return _candidates(connection, self._builder.build_retrieve(request))

    def fallback_chunks(self, connection: Connection, request: RetrievalRequest) -> list[Candidate]:
        """Candidates by words and names alone, for when the embedder cannot answer; obeys every hard filter."""
        if request.vector is not None:
            raise DatabaseError("database_refused", problem="fallback_chunks takes no vector")
        return _candidates(connection, self._builder.build_retrieve(request))

    def retrieve_exact_files(
        self, connection: Connection, request: RetrievalRequest, paths: Sequence[str]
    ) -> list[Candidate]:
        """Rows of the files with exactly these paths."""
        return _candidates(connection, self._builder.build_exact_files(request, paths)) if paths else []

    def retrieve_chunks_by_path_substrings(
        self, connection: Connection, request: RetrievalRequest, parts: Sequence[str]
    ) -> list[Candidate]:
        """Rows of files whose path holds one of the parts, the shortest paths first."""
        return _candidates(connection, self._builder.build_path_substrings(request, parts)) if parts else []

    def retrieve_neighbours(
        self, connection: Connection, request: RetrievalRequest, nodes: Sequence[int], *, per_layer: int
    ) -> list[Candidate]:
        """Rows that point to one of the nodes (hashed public ids, the nearest first)."""
        return _candidates(connection, self._builder.build_neighbours(request, nodes, per_layer=per_layer))

    def document_rows(
        self, connection: Connection, session: SessionRow, keys: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], DocumentRow]:
        """What is shown of rows, by (file id, row number)."""
        if not keys:
            return {}
        with connection.cursor(row_factory=kwargs_row(_document)) as cursor:
            found = cursor.execute(statements.DOCUMENT_ROWS, _keys(session, keys)).fetchall()
        return {(row.file_id, row.row_no): row for row in found}

    def public_ids(
        self, connection: Connection, session: SessionRow, keys: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], str]:
        """Public id of rows, by (file id, row number)."""
        if not keys:
            return {}
        found = connection.execute(statements.PUBLIC_IDS, _keys(session, keys))
        return {(int(file_id), int(row_no)): str(public_id) for file_id, row_no, public_id in found}

    # --- caches

    def get_cached_documents(
        self, wanted: Sequence[tuple[str, str]], pipeline_version: str
    ) -> dict[tuple[str, str], bytes]:
        """(blob sha, path) → the extraction that was kept, of those that were."""
        with self.database.reading() as connection:
            found = connection.execute(
                statements.CACHED_EXTRACTIONS,
                {"blobs": [b for b, _ in wanted], "paths": [p for _, p in wanted], "version": pipeline_version},
                binary=True,
            )
            kept = {(str(blob), str(path)): bytes(extraction) for blob, path, extraction in found}
        self._mark_used(
            statements.USE_EXTRACTIONS,
            {"blobs": [b for b, _ in kept], "paths": [p for _, p in kept], "version": pipeline_version},
            any_found=bool(kept),
        )
        return kept

    def cache_documents(self, extractions: Mapping[tuple[str, str], bytes], pipeline_version: str) -> None:
        """Keep extractions by (blob sha, path)."""
        if not extractions:
            return
        with self.database.writing(durable=False) as connection, connection.cursor() as cursor:
            cursor.execute(statements.MAKE_NEW_EXTRACTIONS)
            with cursor.copy(statements.COPY_NEW_EXTRACTIONS) as copy:
                copy.set_types(["text", "text", "bytea"])
                for (blob, path), extraction in extractions.items():
                    copy.write_row((blob, path, extraction))
            cursor.execute(statements.KEEP_EXTRACTIONS, {"version": pipeline_version})

    def cached_vectors(self, shas: Sequence[bytes], embedder: str) -> dict[bytes, Vectors]:
        """SHA-256 of embedded text → `(dims,)` vector, of those that were kept."""
        with self.database.reading() as connection:
            found = connection.execute(
                statements.CACHED_VECTORS, {"shas": list(shas), "embedder": embedder}, binary=True
            )
            kept = {bytes(sha): np.asarray(vector.to_list(), dtype=np.float32) for sha, vector in found}
        values: dict[str, object] = {"shas": list(kept), "embedder": embedder}
        self._mark_used(statements.USE_VECTORS, values, any_found=bool(kept))
        return kept

    def _mark_used(self, statement: LiteralString, values: Mapping[str, object], *, any_found: bool) -> None:
        if any_found:
            with self.database.writing(durable=False) as connection:
                connection.execute(statement, values)

    def cache_vectors(self, vectors: Mapping[bytes, Vectors], embedder: str) -> None:
        """Keep vectors by SHA-256 of their text."""
        if not vectors:
            return
        with self.database.writing(durable=False) as connection, connection.cursor() as cursor:
            cursor.execute(statements.MAKE_NEW_VECTORS)
            with cursor.copy(statements.COPY_NEW_VECTORS) as copy:
                copy.set_types(["bytea", "halfvec"])
                for sha, vector in vectors.items():
                    copy.write_row((sha, HalfVector(vector)))
            cursor.execute(statements.KEEP_VECTORS, {"embedder": embedder})

    # --- jobs

    def create_job(self, session: SessionRow, index_job_id: str, kind: JobKind, *, root: str) -> None:
        """A queued job that no process holds yet."""
        self.jobs.create(session.rag_session_id, index_job_id, kind, root=root, request={}, held=False)

    def update_job(self, job: JobRow) -> bool:
        """Write a job as it stands; whether somebody asked it to stop."""
        return self.jobs.update(job)

    def get_job(self, session: SessionRow, index_job_id: str) -> JobRow:
        """A job of the session.

        Raises: UnknownName.
        """
        return self.jobs.get(session.rag_session_id, index_job_id)


def _session(connection: Connection, name: str) -> SessionRow | None:
    if not is_storable(name):
        return None
    with connection.cursor(row_factory=class_row(SessionRow)) as cursor:
        return cursor.execute(statements.SESSION_BY_NAME, {"name": name}).fetchone()


def _keys(session: SessionRow, keys: Sequence[tuple[int, int]]) -> dict[str, object]:
    return {"session": session.rag_session_id, "files": [f for f, _ in keys], "rows": [r for _, r in keys]}


def _candidates(connection: Connection, statement: Statement) -> list[Candidate]:
    with connection.cursor(row_factory=kwargs_row(_candidate)) as cursor:
        return cursor.execute(statement.text, statement.params).fetchall()


def _candidate(*, layer: str, **values: Any) -> Candidate:
    return Candidate(layer=Layer(layer), **values)


def _document(*, layer: str, **values: Any) -> DocumentRow:
    return DocumentRow(layer=Layer(layer), **values)
