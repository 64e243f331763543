"""What is asked of the database when an answer is to be explained: never for an answer by itself.

Reading methods take the connection of the answer's snapshot, so that a verdict speaks of the state that was searched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from psycopg import ClientCursor, sql
from psycopg.rows import kwargs_row

from ragkit.layers import Layer
from ragkit.policy.resolver import escape_like
from ragkit.postgres import statements
from ragkit.postgres.database import Connection
from ragkit.postgres.retrieval_statement import RetrievalStatementBuilder, Statement, hard_filters
from ragkit.postgres.rows import Candidate, RetrievalRequest, SessionRow

JOBS_READ = 50
"""Jobs whose counts are read for files that were left out, the newest first."""
NEAR_AT_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRow:
    """A shown row of a file, and whether the index holds all of it that it should."""

    file_id: int
    row_no: int
    layer: Layer
    path: str
    public_id: str
    line_start: int
    line_end: int
    embedded: bool
    """The row was given a vector when it was written."""
    has_vector: bool
    has_words: bool

    @property
    def is_whole(self) -> bool:
        """Both legs can find all of it that was written."""
        return self.has_words and (self.has_vector or not self.embedded)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedRow:
    """A row of a plan's layers as the plan's legs would place it, were they without limit."""

    candidate: Candidate
    passes: Mapping[str, bool]
    """Fragment of each hard filter of the plan, in the order of the table → whether the row passes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredRows:
    """Rows of a plan's layers that one hard filter leaves."""

    fragment: str
    """Name of the filter's predicate in the table."""
    alone: int
    cumulative: int
    """After this filter and those before it in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneJob:
    """What a finished job left out."""

    kind: str
    left_out: Mapping[str, int]
    left_out_paths: Mapping[str, Sequence[str]]


class Inspection:
    """Holds nothing but the builder. Shared by threads."""

    def __init__(self) -> None:
        self._builder = RetrievalStatementBuilder()

    def rows_of_paths(self, connection: Connection, session: SessionRow, paths: Sequence[str]) -> list[IndexedRow]:
        """Rows of these files, by path and place."""
        with connection.cursor(row_factory=kwargs_row(_indexed)) as cursor:
            return cursor.execute(
                statements.ITEM_ROWS,
                {"session": session.rag_session_id, "paths": _storable(paths), "revision": session.revision},
            ).fetchall()

    def files_like(self, connection: Connection, session: SessionRow, path: str) -> list[str]:
        """The file of this path, and those of its name in other folders, the shortest paths first."""
        name = escape_like(_storable([path])[0].rstrip("/").rpartition("/")[2].lower())
        endings = [name, f"%/{name}"] if name else []
        values = {
            "session": session.rag_session_id,
            "revision": session.revision,
            "paths": _storable([path]),
            "endings": endings,
            "limit": NEAR_AT_MOST,
        }
        return [str(row[0]) for row in connection.execute(statements.FILES_LIKE, values)]

    def done_jobs(self, connection: Connection, session: SessionRow) -> list[DoneJob]:
        """The last jobs that were done, the newest first."""
        found = connection.execute(
            statements.DONE_JOBS, {"session": session.rag_session_id, "limit": JOBS_READ}
        ).fetchall()
        return [
            DoneJob(kind=str(kind), left_out=files.get("left_out", {}), left_out_paths=files.get("left_out_paths", {}))
            for kind, files in cast("list[tuple[str, dict[str, Any]]]", found)
        ]

    def probe(self, connection: Connection, request: RetrievalRequest, file_ids: Sequence[int]) -> list[ProbedRow]:
        """Every row of these files in the request's layers, by path and place. Reads all rows of the layers."""
        names = hard_filters(request.filters)
        statement = self._builder.build_probe(request, file_ids)

        def row(*, layer: str, passes: list[bool], **values: Any) -> ProbedRow:
            candidate = Candidate(layer=Layer(layer), **values)
            return ProbedRow(candidate=candidate, passes=dict(zip(names, passes, strict=True)))

        with connection.cursor(row_factory=kwargs_row(row)) as cursor:
            return cursor.execute(statement.text, statement.params).fetchall()

    def filtered_rows(self, connection: Connection, request: RetrievalRequest) -> tuple[int, list[FilteredRows]]:
        """Rows of the request's layers, and what each hard filter leaves of them."""
        statement = self._builder.build_filtered_rows(request)
        found = connection.execute(statement.text, statement.params).fetchone()
        rows, alone, cumulative = cast("tuple[int, list[int], list[int]]", found or (0, [], []))
        return rows, [
            FilteredRows(fragment=name, alone=one, cumulative=all_before)
            for name, one, all_before in zip(hard_filters(request.filters), alone, cumulative, strict=True)
        ]

    def predicates(self, connection: Connection, request: RetrievalRequest) -> dict[str, str]:
        """Fragment of each filter of the request → its SQL with its values."""
        found = self._builder.build_predicates(request)
        return {name: runnable(connection, statement) for name, statement in found.items()}

    def analyzed(self, connection: Connection, statement: Statement) -> str:
        """`EXPLAIN (ANALYZE, BUFFERS)` of a statement: runs it."""
        text = sql.SQL(statements.EXPLAIN) + statement.text
        return "\n".join(str(row[0]) for row in connection.execute(text, statement.params))


def runnable(connection: Connection, statement: Statement) -> str:
    """The statement with its values in it, as psql takes it."""
    return ClientCursor(connection).mogrify(statement.text, statement.params).strip()


def _storable(paths: Sequence[str]) -> list[str]:
    """Without what no stored path can hold."""
    return [path.replace("\0", "").encode("utf-8", "replace").decode() for path in paths]


def _indexed(*, layer: str, **values: Any) -> IndexedRow:
    return IndexedRow(layer=Layer(layer), **values)
