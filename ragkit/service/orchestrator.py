"""Starting and following indexing jobs. Spec: MODULE §4 (`IndexingOrchestrator`)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragkit.embedding import Embedder
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.files import FileEntry, Listing, changed_files, list_files
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import JobRow, SessionRow
from ragkit.service.indexing_job import IndexingJob, Progress, ReportProgress, ignore_progress
from ragkit.service.session_store import RagSessionStore
from ragkit.service.work import refuse_empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued:
    """Spec: MODULE §4: `index_job_id, status`."""

    index_job_id: str
    status: str


class IndexingOrchestrator:
    """Jobs of all sessions; one at a time per session."""

    def __init__(
        self,
        repository: RagRepository,
        sessions: RagSessionStore,
        docs: DocsIndexingPipeline,
        code: CodeIndexingPipeline,
        embedder: Embedder,
    ) -> None:
        self._repository = repository
        self._sessions = sessions
        self._docs = docs
        self._code = code
        self._embedder = embedder

    def enqueue_snapshot(self, session: str, root: Path) -> Enqueued:
        """A queued job that will index everything below a folder; `run` carries it out.

        Raises: SourceError before anything is written.
        """
        listing = list_files(root)
        refuse_empty(listing.files, root, listing.left_out)
        job = self._create(session, "snapshot")
        return Enqueued(index_job_id=job, status="queued")

    def snapshot(self, session: str, root: Path, *, report: ReportProgress = ignore_progress) -> JobRow:
        """Index everything below a folder in place of what the session holds.

        Raises: SourceError, with nothing changed; DatabaseError, EmbeddingError, with the shown revision as it was.
        """
        report(Progress(stage="listing", files_done=0, files_total=0, rows=0))
        listing = list_files(root)
        refuse_empty(listing.files, root, listing.left_out)
        return self._run(session, "snapshot", root, listing, deleted=(), report=report)

    def changes(self, session: str, root: Path, revision: str, *, report: ReportProgress = ignore_progress) -> JobRow:
        """Index what differs between a git revision and the folder as it is."""
        report(Progress(stage="listing", files_done=0, files_total=0, rows=0))
        found = changed_files(root, revision)
        listing = Listing(files=found.upserted, left_out=found.left_out)
        return self._run(session, "changes", root, listing, deleted=found.deleted, report=report)

    def delete_paths(
        self, session: str, root: Path, paths: Sequence[str], *, report: ReportProgress = ignore_progress
    ) -> JobRow:
        """Take the rows of these paths out of a session."""
        listing = Listing(files=(), left_out={})
        return self._run(session, "changes", root, listing, deleted=paths, report=report)

    def _create(self, session: str, kind: str) -> str:
        found = self._sessions.obtain(session, session)
        job = uuid.uuid4().hex
        self._repository.create_job(found, job, kind)
        return job

    def _run(
        self,
        session: str,
        kind: Literal["snapshot", "changes"],
        root: Path,
        listing: Listing,
        *,
        deleted: Sequence[str],
        report: ReportProgress,
    ) -> JobRow:
        found = self._sessions.get(session) if kind == "changes" else self._sessions.obtain(session, session)
        job_id = self._create(found.name, kind)
        report(Progress(stage="waiting", files_done=0, files_total=len(listing.files), rows=0))
        with self._repository.jobs.writer_lock(found.rag_session_id):
            current = self._sessions.get(found.name)  # another job may have moved it while this one waited
            return self._job(current, job_id, kind, root, report).run(
                _sorted(listing.files), deleted=deleted, left_out=listing.left_out
            )

    def _job(
        self,
        session: SessionRow,
        job_id: str,
        kind: Literal["snapshot", "changes"],
        root: Path,
        report: ReportProgress,
    ) -> IndexingJob:
        return IndexingJob(
            repository=self._repository,
            docs=self._docs,
            code=self._code,
            embedder=self._embedder,
            session=session,
            index_job_id=job_id,
            kind=kind,
            root=root.absolute(),
            report=report,
        )


def job_json(job: JobRow, session: str) -> dict[str, object]:
    """A job as the command line prints it (architecture.md)."""
    body: dict[str, object] = {
        "job_id": job.index_job_id,
        "status": job.status,
        "session": session,
        "revision": job.revision,
        "files": dict(job.files),
        "rows_written": job.rows_written,
        "texts_embedded": job.texts_embedded,
        "warnings": [dict(warning) for warning in job.warnings],
        "timings": dict(job.timings),
    }
    return body | ({"error": dict(job.error)} if job.error else {})


def _sorted(entries: Sequence[FileEntry]) -> list[FileEntry]:
    return sorted(entries, key=lambda entry: entry.path)
