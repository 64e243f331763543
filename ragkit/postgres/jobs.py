"""Indexing jobs: what they say of themselves, and the lock that keeps two of one session apart. Spec: MODULE §1, §3."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ragkit.errors import UnknownName
from ragkit.postgres import statements
from ragkit.postgres.database import Database
from ragkit.postgres.rows import JobRow


class JobTable:
    """Rows of `rag_index_job`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, rag_session_id: str, index_job_id: str, kind: str) -> None:
        """A queued job."""
        with self._database.writing() as connection:
            connection.execute(statements.INSERT_JOB, {"session": rag_session_id, "job": index_job_id, "kind": kind})

    def update(self, job: JobRow) -> None:
        """Write a job as it stands."""
        with self._database.writing() as connection:
            connection.execute(
                statements.UPDATE_JOB,
                {
                    "session": job.rag_session_id,
                    "job": job.index_job_id,
                    "status": job.status,
                    "stage": job.stage,
                    "revision": job.revision,
                    "files": Jsonb(dict(job.files)),
                    "rows_written": job.rows_written,
                    "texts_embedded": job.texts_embedded,
                    "warnings": Jsonb([dict(warning) for warning in job.warnings]),
                    "error": None if job.error is None else Jsonb(dict(job.error)),
                    "timings": Jsonb(dict(job.timings)),
                },
            )

    def get(self, rag_session_id: str, index_job_id: str) -> JobRow:
        """A job of a session.

        Raises: UnknownName.
        """
        with self._database.reading() as connection, connection.cursor(row_factory=class_row(JobRow)) as cursor:
            found = cursor.execute(statements.JOB, {"session": rag_session_id, "job": index_job_id}).fetchone()
        if found is None:
            raise UnknownName("job_unknown", job=index_job_id)
        return found

    @contextmanager
    def writer_lock(self, rag_session_id: str) -> Generator[bool]:
        """Hold the session's writer lock, waiting for it; whether it had to be waited for.

        The lock belongs to the connection, so it falls with a killed process. Whoever gets it knows that a job which
        still says that it runs is dead, and says so in its row.
        """
        with self._database.alone() as connection:
            free = connection.execute(statements.TRY_SESSION_LOCK, {"session": rag_session_id}).fetchone()
            waited = free is None or not free[0]
            if waited:
                connection.execute(statements.SESSION_LOCK, {"session": rag_session_id})
            killed = Jsonb({"code": "job_killed", "params": {}})
            connection.execute(statements.FAIL_DEAD_JOBS, {"session": rag_session_id, "error": killed})
            yield waited
