"""Starting and following indexing jobs. Spec: MODULE §4 (`IndexingOrchestrator`)."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ragkit.errors import JobError, RagkitError, SourceError, UnknownName, WrongUse
from ragkit.indexing.files import FileEntry, Listing, changed_files, checked_folder, list_files
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import JobKind, JobRow, SessionRow
from ragkit.service.indexing_job import IndexingJob, JobTools
from ragkit.service.job_record import Progress, ReportProgress, ignore_progress
from ragkit.service.session_store import RagSessionStore
from ragkit.service.work import refuse_empty

SAME_PROJECT_SHARE = 0.5
"""Of a session's paths that another folder must have to be taken for the same project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued:
    """Spec: MODULE §4: `index_job_id, status`."""

    index_job_id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What a job is asked to do, and what there is to do it on."""

    kind: JobKind
    root: Path
    listing: Listing
    request: Mapping[str, object]
    deleted: Sequence[str] = ()


class IndexingOrchestrator:
    """Jobs of all sessions; one at a time per session, the others wait."""

    def __init__(self, repository: RagRepository, sessions: RagSessionStore, tools: JobTools) -> None:
        self._repository = repository
        self._sessions = sessions
        self._tools = tools

    # --- starting

    def enqueue_snapshot(self, session: str, root: Path, *, replace: bool = False) -> Enqueued:
        """A queued job that will index everything below a folder; `run` of any process carries it out.

        Raises: SourceError, WrongUse `root_differs` before anything is written.
        """
        order = _snapshot(root)
        self._refuse_other_project(session, root, order.listing, replace=replace)
        found = self._sessions.obtain(session, session)
        job = uuid.uuid4().hex
        self._repository.jobs.create(
            found.rag_session_id, job, order.kind, root=str(root.absolute()), request=order.request, held=False
        )
        return Enqueued(index_job_id=job, status="queued")

    def run(self, index_job_id: str, *, report: ReportProgress = ignore_progress) -> JobRow:
        """Carry out a queued job.

        Raises: UnknownName; JobError `job_taken` where another process has it or it has ended; else as `snapshot`.
        """
        job = self._repository.jobs.find(index_job_id)
        if job.status != "queued" or not self._repository.jobs.take(job.rag_session_id, job.index_job_id):
            raise JobError("job_taken", job=job.index_job_id, status=job.status)
        root = Path(job.root or "")
        found = self._sessions.get(job.rag_session_id)
        with self._repository.jobs.held(found.rag_session_id, job.index_job_id):
            order = _order_again(job, root)
        return self._carry_out(found, job.index_job_id, order, report)

    def snapshot(
        self, session: str, root: Path, *, replace: bool = False, report: ReportProgress = ignore_progress
    ) -> JobRow:
        """Index everything below a folder in place of what the session holds; `replace` if that is another project.

        Raises: SourceError, WrongUse `root_differs`, with nothing changed, and no session made; DatabaseError,
        EmbeddingError, JobError, with the shown revision as it was.
        """
        report(Progress(stage="listing", files_done=0, files_total=0, rows=0))
        order = _snapshot(root)
        self._refuse_other_project(session, root, order.listing, replace=replace)
        is_known = self._sessions.exists(session)
        found = self._sessions.obtain(session, session)
        try:
            return self._start(found, order, report)
        except SourceError:
            if not is_known:
                self._forget(found)
            raise

    def changes(
        self,
        session: str,
        root: Path,
        revision: str,
        *,
        replace: bool = False,
        report: ReportProgress = ignore_progress,
    ) -> JobRow:
        """Index what differs between a git revision and the folder as it is.

        Raises: as `snapshot`; UnknownName for the session.
        """
        report(Progress(stage="listing", files_done=0, files_total=0, rows=0))
        found = self._sessions.get(session)
        order = _changes(root, revision)
        self._refuse_other_project(session, root, None, replace=replace)
        return self._start(found, order, report)

    def delete_paths(
        self, session: str, root: Path, paths: Sequence[str], *, report: ReportProgress = ignore_progress
    ) -> JobRow:
        """Take the rows of these paths out of a session.

        Raises: UnknownName for the session, or for the first path that it does not show; SourceError, WrongUse
        `root_differs` for a folder that is not the session's. Nothing is changed then.
        """
        found = self._sessions.get(session)
        shown = self._shown_paths(found)
        for path in paths:
            if path not in shown:
                raise UnknownName("path_unknown", path=path, session=found.name)
        checked_folder(root)
        self._refuse_other_project(session, root, None, replace=False)
        return self._start(found, _deletion(root, paths), report)

    def change_paths(
        self,
        session: str,
        root: Path,
        changed: Sequence[str],
        deleted: Sequence[str] = (),
        *,
        report: ReportProgress = ignore_progress,
    ) -> JobRow:
        """Index these files anew, as they are on disk, and take the deleted ones out; a rename is one of each.

        Raises: SourceError `changed_missing` for a changed path that is no file below the folder; WrongUse
        `root_differs` for a folder that is not the session's.
        """
        found = self._sessions.get(session)
        order = _changed_paths(root, changed, deleted)
        self._refuse_other_project(session, root, None, replace=False)
        return self._start(found, order, report)

    # --- following

    def jobs(self, session: str) -> list[JobRow]:
        """The last jobs of a session, the newest first; one whose process was killed says so."""
        return self._repository.jobs.of_session(self._sessions.get(session).rag_session_id)

    def job(self, index_job_id: str) -> JobRow:
        """A job by its id or a beginning of it that no other job has.

        Raises: UnknownName.
        """
        return self._repository.jobs.find(index_job_id)

    def cancel(self, index_job_id: str) -> JobRow:
        """Ask a job to stop; a running one ends after the batch at hand, and the session stays as it was.

        Raises: UnknownName; JobError `job_ended` where there is nothing to stop.
        """
        job = self._repository.jobs.find(index_job_id)
        dead = job.status == "failed"
        if dead or not self._repository.jobs.cancel(job.rag_session_id, job.index_job_id):
            raise JobError("job_ended", job=job.index_job_id, status=job.status)
        return self._repository.jobs.get(job.rag_session_id, job.index_job_id)

    # --- inside

    def _refuse_other_project(self, session: str, root: Path, listing: Listing | None, *, replace: bool) -> None:
        """Refuse a folder that is not the one a session was indexed from, nor resembles it.

        A clone that was moved, or checked out anew, has most of the paths; a mistyped session name or a wrong working
        folder has few, and would put one project in the place of another. `listing` is that of the folder, if at hand.

        Raises: WrongUse `root_differs`.
        """
        if replace or not self._sessions.exists(session):
            return
        found = self._sessions.get(session)
        if found.revision == 0 or found.root is None or os.path.realpath(found.root) == os.path.realpath(root):
            return
        shown = self._shown_paths(found)
        listed = {entry.path for entry in (listing or list_files(root)).files}
        if len(shown & listed) < len(shown) * SAME_PROJECT_SHARE:
            raise WrongUse(
                "root_differs",
                session=found.name,
                root=found.root,
                path=str(root),
                same=len(shown & listed),
                files=len(shown),
            )

    def _shown_paths(self, session: SessionRow) -> set[str]:
        files = self._repository.files(session.rag_session_id)
        return {file.path for file in files if file.revision <= session.revision}

    def _forget(self, session: SessionRow) -> None:
        """Take back a session that was made for a job which found nothing; not if another job is at it by now."""
        with suppress(RagkitError):
            if self._sessions.get(session.rag_session_id).revision == 0:
                self._sessions.delete(session.rag_session_id)

    def _start(self, session: SessionRow, order: _Order, report: ReportProgress) -> JobRow:
        job_id = uuid.uuid4().hex
        return self._carry_out(session, job_id, order, report, is_new=True)

    def _carry_out(
        self, session: SessionRow, job_id: str, order: _Order, report: ReportProgress, *, is_new: bool = False
    ) -> JobRow:
        jobs, sid = self._repository.jobs, session.rag_session_id
        root = order.root.absolute()
        with jobs.held(sid, job_id) as held:
            if is_new:
                jobs.create(sid, job_id, order.kind, root=str(root), request=order.request, held=True)
            report(Progress(stage="waiting", files_done=0, files_total=len(order.listing.files), rows=0))
            try:
                held.wait_for_session()
                current = self._sessions.get(sid)  # another job may have moved it while this one waited
            except KeyboardInterrupt:
                self._end_unstarted(session, job_id, order.kind, "job_interrupted")
                raise
            if jobs.is_cancelled(sid, job_id):
                self._end_unstarted(current, job_id, order.kind, "job_cancelled")
                raise JobError("job_cancelled", job=job_id)
            job = IndexingJob(
                self._tools, session=current, index_job_id=job_id, kind=order.kind, root=root, report=report
            )
            return job.run(_sorted(order.listing.files), deleted=order.deleted, left_out=order.listing.left_out)

    def _end_unstarted(self, session: SessionRow, job_id: str, kind: JobKind, code: str) -> None:
        error: dict[str, object] = {"code": code, "params": {"job": job_id}}
        self._repository.update_job(
            JobRow(
                index_job_id=job_id,
                rag_session_id=session.rag_session_id,
                kind=kind,
                status="cancelled",
                stage="waiting",
                revision=None,
                error=error,
            )
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
        "kind": job.kind,
        "root": job.root,
        "stage": job.stage,
        "progress": dict(job.progress),
    }
    times = {"created_at": job.created_at, "updated_at": job.updated_at}
    body |= {name: time.isoformat() for name, time in times.items() if time is not None}
    return body | ({"error": dict(job.error)} if job.error else {})


def _order_again(job: JobRow, root: Path) -> _Order:
    """What a queued job asks for, on the folder as it is now."""
    if "revision" in job.request:
        return _changes(root, str(job.request["revision"]))
    if "changed" in job.request:
        return _changed_paths(root, _strings(job.request["changed"]), _strings(job.request["deleted"]))
    if "deleted" in job.request:
        return _deletion(root, _strings(job.request["deleted"]))
    return _snapshot(root)


def _snapshot(root: Path) -> _Order:
    listing = list_files(root)
    refuse_empty(listing.files, root, listing.left_out)
    return _Order(kind="snapshot", root=root, listing=listing, request={})


def _changes(root: Path, revision: str) -> _Order:
    found = changed_files(root, revision)
    listing = Listing(files=found.upserted, left_out=found.left_out)
    return _Order(kind="changes", root=root, listing=listing, request={"revision": revision}, deleted=found.deleted)


def _changed_paths(root: Path, changed: Sequence[str], deleted: Sequence[str]) -> _Order:
    listing = list_files(root)
    wanted = set(changed)
    files = tuple(entry for entry in listing.files if entry.path in wanted)
    left_out = {reason: tuple(path for path in paths if path in wanted) for reason, paths in listing.left_out.items()}
    found = {entry.path for entry in files} | {path for paths in left_out.values() for path in paths}
    missing = sorted(wanted - found)
    if missing:
        raise SourceError("changed_missing", paths=missing[:10], path=str(root))
    # A file that is left out by now has no rows any more.
    gone = [*deleted, *(path for paths in left_out.values() for path in paths)]
    return _Order(
        kind="changes",
        root=root,
        listing=Listing(files=files, left_out={reason: paths for reason, paths in left_out.items() if paths}),
        request={"changed": list(changed), "deleted": list(deleted)},
        deleted=tuple(gone),
    )


def _strings(values: object) -> list[str]:
    return [str(value) for value in cast("Sequence[object]", values)]


def _deletion(root: Path, paths: Sequence[str]) -> _Order:
    listing = Listing(files=(), left_out={})
    return _Order(kind="changes", root=root, listing=listing, request={"deleted": list(paths)}, deleted=tuple(paths))


def _sorted(entries: Sequence[FileEntry]) -> list[FileEntry]:
    return sorted(entries, key=lambda entry: entry.path)
