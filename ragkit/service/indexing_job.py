"""One indexing job: what must be read, what caches know, what is written, and the truth about it meanwhile.

Four steps (system.md §5): extract, a pure function of a file; link, over the names of all files; embed and write, a
batch of files a transaction under the staging revision, so that a killed job loses one batch at most and the next one
takes over what was staged; and the swap to the new revision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from ragkit.document import FileStamp, IndexWarning
from ragkit.embedding import Embedder
from ragkit.errors import JobError, RagkitError, SourceError, is_interruption
from ragkit.indexing.files import FileEntry, LeftOut, head_commit
from ragkit.indexing.links.part import LinkPart, part_from_bytes
from ragkit.indexing.links.session_links import FileLinks, SessionLinks
from ragkit.indexing.pipeline import PIPELINE_VERSION
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import FileRow, JobKind, JobRow, JobStatus, RevisionHeader, SessionRow
from ragkit.service.file_batch import FileBatches, ReadBatch, WriteTask, WrittenBatch
from ragkit.service.job_record import Progress, ReportProgress, Stage, Tally, seconds_left
from ragkit.service.work import WRITTEN_BYTES, WRITTEN_FILES, Work, batches, plan_work, size_of
from ragkit.service.workers import Workers, WorkerSetup, workers
from ragkit.text import ANALYSIS_VERSION

TOLD_EVERY_S = 0.25
"""Between two notes of a running job's progress in the database."""
PARTS_HELD = 20_000
"""Files whose parts are parsed once; those of a larger session are parsed again for each pass, to spare memory."""
WORKERS_FROM_FILES = 40
WORKERS_FROM_BYTES = 1_000_000
"""Of files to read: a smaller job is done before a process has started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTools:
    """What jobs work with; the same for all jobs of an engine."""

    repository: RagRepository
    embedder: Embedder
    new_batches: Callable[[], FileBatches]
    """Makes what works in the job's own process; one a job, since it remembers what it read."""
    worker_setup: WorkerSetup
    worker_count: int
    cache_bytes: int
    """That each content cache may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """Argument of a worker that reads."""

    root: Path
    entries: tuple[FileEntry, ...]
    shown: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """Argument of a worker that writes."""

    session: SessionRow
    job_id: str
    root: Path
    tasks: tuple[WriteTask, ...]


class IndexingJob:
    """Runs once. The caller holds the session's writer lock."""

    def __init__(
        self,
        tools: JobTools,
        *,
        session: SessionRow,
        index_job_id: str,
        kind: JobKind,
        root: Path,
        report: ReportProgress,
    ) -> None:
        self._tools = tools
        self._repository = tools.repository
        self._session = session
        self._job_id = index_job_id
        self._kind: JobKind = kind
        self._root = root
        self._report = report
        self._tally = Tally()
        self._started = self._told = perf_counter()
        self._progress = Progress(stage="listing", files_done=0, files_total=0, rows=0)
        self._lost: set[str] = set()
        """Shown paths whose files turned out not to be indexable any more."""
        self._parts: dict[str, bytes] = {}
        """Path → what the file says to the link step, of all files of the revision to be."""

    def run(
        self, entries: Sequence[FileEntry], *, deleted: Iterable[str], left_out: Mapping[str, Sequence[str]]
    ) -> JobRow:
        """Index the entries (all there are, for a snapshot) and show the result; the finished job.

        Raises: RagkitError, after the job's row says `failed` or `cancelled` with the reason; the shown revision stays
        as it was.
        """
        try:
            revision = self._run(entries, frozenset(deleted), left_out)
        except BaseException as failed:
            self._note(*_ending(failed, self._job_id))
            raise
        self._tally.spend("total_ms", self._started)
        self._step("done", self._progress.files_total, self._progress.files_total)
        return self._note("done", revision=revision)

    def _run(self, entries: Sequence[FileEntry], deleted: frozenset[str], left_out: Mapping[str, Sequence[str]]) -> int:
        tally = self._tally
        tally.seen = len(entries) + sum(len(paths) for paths in left_out.values())
        for reason, paths in left_out.items():
            tally.leave_out(reason, paths)
        known = self._repository.files(self._session.rag_session_id)
        work = plan_work(
            entries,
            known,
            self._session.revision,
            embedder=self._tools.embedder.fingerprint,
            pipeline_version=PIPELINE_VERSION,
            deleted=deleted if self._kind == "changes" else None,
        )
        self._note("running")
        if work.obsolete_staged:
            self._repository.discard_staged(self._session, work.obsolete_staged)
        shown = {file.path: file for file in known if file.revision <= self._session.revision}
        staged = {file.path: file for file in known if file.path in work.staged and file.path not in work.kept}
        with workers(self._tools.new_batches(), self._tools.worker_setup, self._worker_count(work)) as pool:
            kept = self._read_and_write(pool, work, shown, staged)
        deleted = work.deleted | self._lost
        tally.deleted = len(deleted)
        if self._kind == "snapshot" and not tally.indexed and not kept:
            raise SourceError("source_empty", path=str(self._root), left_out=sum(tally.left_out.values()))
        if not tally.indexed and not tally.relinked and not deleted:
            return self._session.revision
        self._go_on()
        self._step("swapping", self._progress.files_done, self._progress.files_total)
        started = perf_counter()
        revision = self._swap(kept, deleted)
        tally.spend("swap_ms", started)
        self._repository.caches.trim(self._tools.cache_bytes)
        return revision

    def _read_and_write(
        self, pool: Workers, work: Work, shown: Mapping[str, FileRow], staged: Mapping[str, FileRow]
    ) -> frozenset[str]:
        """Stage all that must be written anew; the paths whose shown rows hold, or are replaced by relinked ones."""
        tally = self._tally
        stamps, same = self._read(pool, work, shown)
        self._repository.touch_files(self._session, {shown[s.path].file_id: (s.size, s.mtime_ns) for s in same})
        kept = work.kept | {stamp.path for stamp in same}
        tally.unchanged = len(kept)
        if self._kind == "changes":  # the rest of the session stays, unlisted
            kept = shown.keys() - stamps.keys() - staged.keys() - work.deleted - self._lost
        if not stamps and not staged and not work.deleted and not self._lost:
            return frozenset(kept)
        tasks, obsolete = self._link(stamps, {path: shown[path] for path in kept}, staged)
        if obsolete:
            self._repository.discard_staged(self._session, obsolete)
        tally.indexed = len(staged) - sum(task.stamp.path in staged for task in tasks)
        vanished = self._write(pool, tasks, kept)
        return frozenset(kept | (vanished & shown.keys()))

    def _read(
        self, pool: Workers, work: Work, shown: Mapping[str, FileRow]
    ) -> tuple[dict[str, FileStamp], list[FileStamp]]:
        """Read and extract the files to do; path → file of those to write, and those whose content is the shown one."""
        current = {
            path: file.blob_sha
            for path, file in shown.items()
            if (file.embedder, file.pipeline_version) == (self._tools.embedder.fingerprint, PIPELINE_VERSION)
        }
        stamps: dict[str, FileStamp] = {}
        same: list[FileStamp] = []
        total, done = len(work.todo), 0
        self._step("reading", 0, total)
        readings = (
            _Reading(
                root=self._root, entries=batch, shown={e.path: current[e.path] for e in batch if e.path in current}
            )
            for batch in batches(work.todo, size_of)
        )
        for found in pool.run(_read_batch, readings):
            for file in found.read:
                stamps[file.stamp.path] = file.stamp
                self._parts[file.stamp.path] = file.part
                self._tally.warn(file.warnings)
            same.extend(found.same)
            for left in found.left_out:
                self._leave_out(left, shown)
            self._tally.timings["extract_ms"] += found.extract_ms
            done += len(found.read) + len(found.same) + len(found.left_out)
            self._step("reading", done, total, path=found.read[-1].stamp.path if found.read else None)
            self._go_on()
        return stamps, same

    def _link(
        self, stamps: Mapping[str, FileStamp], kept: Mapping[str, FileRow], staged: Mapping[str, FileRow]
    ) -> tuple[list[WriteTask], list[int]]:
        """What must be written, by path: new files, and those with new answers; and staged rows that these void."""
        started = perf_counter()
        self._step("linking", self._progress.files_done, self._progress.files_total)
        held = [*kept.values(), *staged.values()]
        self._parts |= self._repository.link_parts(self._session, [file.file_id for file in held])
        parsed = {part.path: part for part in self._parsed()} if len(self._parts) <= PARTS_HELD else {}
        links = SessionLinks(parsed.values if parsed else self._parsed, frozenset(self._parts))
        digests = {file.path: file.link_digest for file in held}
        tasks: list[WriteTask] = []
        obsolete: list[int] = []
        for path in sorted(self._parts):
            answers = links.of(parsed[path] if parsed else part_from_bytes(path, self._parts[path]))
            if path in stamps:
                tasks.append(self._task(stamps[path], answers))
            elif answers.digest != digests[path]:
                file = staged.get(path) or kept[path]
                tasks.append(self._task(file.stamp, answers))
                if path in staged:
                    obsolete.append(file.file_id)
        self._tally.spend("link_ms", started)
        return tasks, obsolete

    def _task(self, stamp: FileStamp, links: FileLinks) -> WriteTask:
        return WriteTask(stamp=stamp, part=self._parts[stamp.path], links=links)

    def _parsed(self) -> Iterable[LinkPart]:
        return (part_from_bytes(path, part) for path, part in self._parts.items())

    def _write(self, pool: Workers, tasks: Sequence[WriteTask], kept: Iterable[str]) -> set[str]:
        """Stage the files; the paths of those that changed on disk meanwhile."""
        relinked = frozenset(kept)
        vanished: set[str] = set()
        total, done = len(tasks), 0
        self._step("writing", 0, total)
        writings = (
            _Writing(session=self._session, job_id=self._job_id, root=self._root, tasks=batch)
            for batch in batches(tasks, _size_of_task, files=WRITTEN_FILES, bytes_=WRITTEN_BYTES)
        )
        for found in pool.run(_write_batch, writings):
            batch = tasks[done : done + found.files + len(found.vanished)]
            again = sum(task.stamp.path in relinked for task in batch if task.stamp.path not in found.vanished)
            self._tally.relinked += again
            self._tally.indexed += found.files - again
            self._tally.rows_written += found.rows
            self._tally.texts_embedded += found.texts_embedded
            self._tally.timings["embed_ms"] += found.embed_ms
            self._tally.timings["write_ms"] += found.write_ms
            self._tally.warn(IndexWarning(code="file_moved", path=path) for path in found.vanished)
            vanished.update(found.vanished)
            done += len(batch)
            self._step("writing", done, total, path=batch[-1].stamp.path)
            self._go_on()
        return vanished

    def _swap(self, kept: frozenset[str], deleted: frozenset[str]) -> int:
        header = RevisionHeader(
            root=str(self._root),
            commit_sha=head_commit(self._root),
            embedder=self._tools.embedder.fingerprint,
            dims=self._tools.embedder.dims,
            analysis_version=ANALYSIS_VERSION,
            pipeline_version=PIPELINE_VERSION,
        )
        if self._kind == "snapshot":
            return self._repository.replace_documents(self._session, header, kept=kept)
        return self._repository.apply_document_changes(self._session, header, deleted=deleted)

    def _worker_count(self, work: Work) -> int:
        size = sum(entry.size for entry in work.todo)
        large = len(work.todo) >= WORKERS_FROM_FILES or size >= WORKERS_FROM_BYTES
        return self._tools.worker_count if large else 1

    def _leave_out(self, file: LeftOut, shown: Mapping[str, FileRow]) -> None:
        self._tally.leave_out(file.reason, [file.path])
        if file.path in shown:
            self._lost.add(file.path)

    def _go_on(self) -> None:
        """Write down how far the job is, now and then.

        Raises: JobError `job_cancelled` where somebody asked it to stop.
        """
        now = perf_counter()
        if now - self._told < TOLD_EVERY_S:
            return
        self._told = now
        if self._repository.update_job(self._row("running")):
            raise JobError("job_cancelled", job=self._job_id)

    def _step(self, stage: Stage, done: int, total: int, path: str | None = None) -> None:
        elapsed_s = perf_counter() - self._started
        self._progress = Progress(
            stage=stage,
            files_done=done,
            files_total=total,
            rows=self._tally.rows_written,
            path=path,
            elapsed_s=elapsed_s,
            left_s=seconds_left(stage, done, total, elapsed_s),
        )
        self._report(self._progress)

    def _note(
        self, status: JobStatus, error: Mapping[str, object] | None = None, *, revision: int | None = None
    ) -> JobRow:
        job = self._row(status, revision=revision, error=error)
        self._repository.update_job(job)
        return job

    def _row(
        self, status: JobStatus, *, revision: int | None = None, error: Mapping[str, object] | None = None
    ) -> JobRow:
        return JobRow(
            index_job_id=self._job_id,
            rag_session_id=self._session.rag_session_id,
            kind=self._kind,
            status=status,
            stage=self._progress.stage,
            revision=revision,
            files=self._tally.files_json(),
            rows_written=self._tally.rows_written,
            texts_embedded=self._tally.texts_embedded,
            warnings=list(self._tally.warnings),
            error=error,
            timings=dict(self._tally.timings),
            root=str(self._root),
            progress=self._progress.to_json(),
        )


def _ending(failed: BaseException, job: str) -> tuple[JobStatus, dict[str, object]]:
    """How a job ended that did not come to its end, and why."""
    if is_interruption(failed):
        return "cancelled", {"code": "job_interrupted", "params": {"job": job}}
    if isinstance(failed, RagkitError):
        status: JobStatus = "cancelled" if failed.code == "job_cancelled" else "failed"
        return status, {"code": failed.code, "params": _plain(failed.params)}
    return "failed", {"code": "job_crashed", "params": {"problem": type(failed).__name__}}


def _read_batch(files: FileBatches, reading: _Reading) -> ReadBatch:
    return files.read(reading.root, reading.entries, reading.shown)


def _write_batch(files: FileBatches, writing: _Writing) -> WrittenBatch:
    return files.write(writing.session, writing.job_id, writing.root, writing.tasks)


def _size_of_task(task: WriteTask) -> int:
    return task.stamp.size


def _plain(params: Mapping[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, (int, float, str, bool)) else str(value) for name, value in params.items()}
