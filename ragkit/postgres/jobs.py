"""Indexing jobs: what they say of themselves, and the locks that tell whether it is true. Spec: MODULE §1, §3.

Three advisory locks, all of them gone with the process that held them: the session's writer lock keeps two jobs of one
session apart; a job's own lock says that some process waits with it or runs it; the fence is held by each transaction
that writes for a job, so that a job which takes a dead one's place can wait for its last write.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ragkit.errors import UnknownName
from ragkit.postgres import statements
from ragkit.postgres.database import Connection, Database
from ragkit.postgres.rows import JobKind, JobRow

JOBS_LISTED = 50
_KILLED: Mapping[str, object] = {"code": "job_killed", "params": {}}


class HeldJob:
    """A job of this process: it says so as long as the process lives."""

    def __init__(self, connection: Connection, rag_session_id: str) -> None:
        self._connection = connection
        self._session = {"session": rag_session_id}

    def is_session_free(self) -> bool:
        """Take the session's writer lock if no job holds it."""
        free = self._connection.execute(statements.TRY_SESSION_LOCK, self._session).fetchone()
        return free is not None and bool(free[0])

    def wait_for_session(self) -> bool:
        """Take the session's writer lock, waiting for it; whether it had to be waited for.

        Whoever gets it knows that a job which still says that it runs is dead, and says so in its row; and waits until
        nothing more can be written for that job.
        """
        free = self._connection.execute(statements.TRY_SESSION_LOCK, self._session).fetchone()
        waited = free is None or not free[0]
        if waited:
            self._connection.execute(statements.SESSION_LOCK, self._session)
        killed = {**self._session, "error": Jsonb(dict(_KILLED))}
        for (job,) in self._connection.execute(statements.FAIL_DEAD_JOBS, killed).fetchall():
            self._connection.execute(statements.FENCE_ALONE, {"job": job})
        return waited


class JobTable:
    """Rows of `rag_index_job`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        rag_session_id: str,
        index_job_id: str,
        kind: JobKind,
        *,
        root: str,
        request: Mapping[str, object],
        held: bool,
    ) -> None:
        """A queued job; `held` where the calling process is about to run it."""
        with self._database.writing() as connection:
            connection.execute(
                statements.INSERT_JOB,
                {
                    "session": rag_session_id,
                    "job": index_job_id,
                    "kind": kind,
                    "root": root,
                    "request": Jsonb(dict(request)),
                    "held": held,
                },
            )

    @contextmanager
    def held(self, rag_session_id: str, index_job_id: str) -> Generator[HeldJob]:
        """Say that this process has the job, until the end of the block or of the process."""
        with self._database.alone() as connection:
            connection.execute(statements.HOLD_JOB, {"job": index_job_id})
            yield HeldJob(connection, rag_session_id)

    def take(self, rag_session_id: str, index_job_id: str) -> bool:
        """Claim a queued job that no process holds; False where another was faster."""
        with self._database.writing() as connection:
            keys = {"session": rag_session_id, "job": index_job_id}
            return connection.execute(statements.TAKE_JOB, keys).rowcount == 1

    def update(self, job: JobRow) -> bool:
        """Write a job as it stands; whether somebody asked it to stop."""
        with self._database.writing(durable=job.status != "running") as connection:
            found = connection.execute(
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
                    "progress": Jsonb(dict(job.progress)),
                },
            ).fetchone()
        return found is not None and bool(found[0])

    def get(self, rag_session_id: str, index_job_id: str) -> JobRow:
        """A job of a session.

        Raises: UnknownName.
        """
        found = self._read(rag_session_id, index_job_id, 1)
        if not found:
            raise UnknownName("job_unknown", job=index_job_id)
        return found[0]

    def of_session(self, rag_session_id: str, *, limit: int = JOBS_LISTED) -> list[JobRow]:
        """The last jobs of a session, the newest first; a killed one is told as such."""
        return self._read(rag_session_id, None, limit)

    def find(self, job: str) -> JobRow:
        """A job by its id, or by a beginning of it that no other has.

        Raises: UnknownName.
        """
        with self._database.reading() as connection:
            found = connection.execute(statements.SESSION_OF_JOB, {"job": job}).fetchall() if job else []
        if len(found) != 1:
            raise UnknownName("job_unknown", job=job)
        return self.get(str(found[0][0]), str(found[0][1]))

    def cancel(self, rag_session_id: str, index_job_id: str) -> bool:
        """Ask a job to stop: a queued one never starts, a running one ends at its next batch. False: it has ended."""
        with self._database.writing() as connection:
            keys = {"session": rag_session_id, "job": index_job_id}
            return connection.execute(statements.CANCEL_JOB, keys).rowcount == 1

    def is_cancelled(self, rag_session_id: str, index_job_id: str) -> bool:
        """Whether somebody asked a job to stop."""
        with self._database.reading() as connection:
            keys = {"session": rag_session_id, "job": index_job_id}
            found = connection.execute(statements.JOB_IS_CANCELLED, keys).fetchone()
        return found is not None and bool(found[0])

    def _read(self, rag_session_id: str, index_job_id: str | None, limit: int) -> list[JobRow]:
        with self._database.reading() as connection, connection.cursor(row_factory=class_row(JobRow)) as cursor:
            keys = {"session": rag_session_id, "job": index_job_id, "limit": limit, "killed": Jsonb(dict(_KILLED))}
            return cursor.execute(statements.JOBS, keys).fetchall()
