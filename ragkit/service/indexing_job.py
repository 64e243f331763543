"""One indexing job: what must be read, what caches know, what is written, and the truth about it meanwhile.

Three steps (system.md §5): extract, a pure function of a file; embed, by the text alone; and the swap to the new
revision. A batch of files is one transaction under the staging revision, so a killed job loses one batch at most, and
the next one takes over what was staged.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Literal

from ragkit.document import Extraction, IndexWarning, SourceFile, Vectors, embedded_text
from ragkit.embedding import Embedder
from ragkit.errors import RagkitError, SourceError
from ragkit.indexing.catalog import catalog_entries
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.files import FileEntry, LeftOut, head_commit, read_file
from ragkit.indexing.pipeline import PIPELINE_VERSION, extract, extraction_from_bytes, extraction_to_bytes
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import FileRow, FileRows, JobRow, RevisionHeader, SessionRow
from ragkit.service.work import Work, batches, plan_work
from ragkit.text import ANALYSIS_VERSION

WARNINGS_KEPT = 200

Stage = Literal["waiting", "listing", "reading", "embedding", "writing", "swapping", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a job is; reported after each batch and at each change of stage."""

    stage: Stage
    files_done: int
    files_total: int
    rows: int
    path: str | None = None
    """A file of the batch at hand."""


ReportProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """For callers that show nothing."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of a running job."""

    seen: int = 0
    indexed: int = 0
    unchanged: int = 0
    deleted: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    rows_written: int = 0
    texts_embedded: int = 0
    warnings: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    timings: Counter[str] = field(default_factory=Counter[str])
    """Milliseconds by step."""

    def files_json(self) -> dict[str, object]:
        """`files` of the job as others read it."""
        return {
            "seen": self.seen,
            "indexed": self.indexed,
            "unchanged": self.unchanged,
            "deleted": self.deleted,
            "left_out": dict(sorted(self.left_out.items())),
        }


class IndexingJob:
    """Runs once. The caller holds the session's writer lock."""

    def __init__(
        self,
        *,
        repository: RagRepository,
        docs: DocsIndexingPipeline,
        code: CodeIndexingPipeline,
        embedder: Embedder,
        session: SessionRow,
        index_job_id: str,
        kind: Literal["snapshot", "changes"],
        root: Path,
        report: ReportProgress,
    ) -> None:
        self._repository = repository
        self._docs = docs
        self._code = code
        self._embedder = embedder
        self._session = session
        self._job_id = index_job_id
        self._kind: Literal["snapshot", "changes"] = kind
        self._root = root
        self._report = report
        self._tally = Tally()
        self._lost: set[str] = set()
        """Shown paths whose files turned out not to be indexable any more."""
        self._stage: Stage = "listing"

    def run(
        self, entries: Sequence[FileEntry], *, deleted: Iterable[str], left_out: Mapping[str, Sequence[str]]
    ) -> JobRow:
        """Index the entries (all there are, for a snapshot) and show the result; the finished job.

        Raises: RagkitError, after the job's row says `failed` with the reason; the shown revision stays as it was.
        """
        started = perf_counter()
        try:
            revision = self._run(entries, frozenset(deleted), left_out)
        except RagkitError as failed:
            self._note("failed", error={"code": failed.code, "params": _plain(failed.params)})
            raise
        except BaseException as failed:
            self._note("failed", error={"code": "job_crashed", "params": {"problem": type(failed).__name__}})
            raise
        self._spend("total_ms", started)
        self._stage = "done"
        return self._note("done", revision=revision)

    def _run(self, entries: Sequence[FileEntry], deleted: frozenset[str], left_out: Mapping[str, Sequence[str]]) -> int:
        tally = self._tally
        tally.seen = len(entries) + sum(len(paths) for paths in left_out.values())
        tally.left_out.update({reason: len(paths) for reason, paths in left_out.items()})
        known = self._repository.files(self._session.rag_session_id)
        work = plan_work(
            entries,
            known,
            self._session.revision,
            embedder=self._embedder.fingerprint,
            pipeline_version=PIPELINE_VERSION,
            deleted=deleted if self._kind == "changes" else None,
        )
        self._note("running")
        if work.obsolete_staged:
            self._repository.discard_staged(self._session, work.obsolete_staged)
        shown = {file.path: file for file in known if file.revision <= self._session.revision}
        tally.indexed += len(work.staged)
        same = self._write_all(work, shown, len(entries))
        self._repository.touch_files(self._session, {shown[s.path].file_id: (s.size, s.mtime_ns) for s in same})
        kept = work.kept | {source.path for source in same}
        deleted = work.deleted | self._lost
        tally.unchanged = len(kept)
        tally.deleted = len(deleted)
        if self._kind == "snapshot" and not tally.indexed and not kept:
            raise SourceError("source_empty", path=str(self._root), left_out=sum(tally.left_out.values()))
        if not tally.indexed and not deleted:
            return self._session.revision
        self._progress("swapping", len(entries), len(entries))
        if self._kind == "snapshot":
            return self._repository.replace_documents(self._session, self._header(), kept=kept)
        return self._repository.apply_document_changes(self._session, self._header(), deleted=deleted)

    def _write_all(self, work: Work, shown: Mapping[str, FileRow], total: int) -> list[SourceFile]:
        """Write the files to do, batch by batch; those whose content turned out to be the shown one."""
        same: list[SourceFile] = []
        done = total - len(work.todo)
        self._progress("reading", done, total)
        for batch in batches(work.todo):
            changed: list[SourceFile] = []
            for entry in batch:
                read = read_file(self._root, entry)
                if isinstance(read, LeftOut):
                    self._leave_out(read, shown)
                elif self._is_shown(read, shown.get(read.path)):
                    same.append(read)
                else:
                    changed.append(read)
            self._write_batch(changed, shown)
            done += len(batch)
            self._progress("reading", done, total, path=batch[-1].path)
            self._note("running")
        return same

    def _is_shown(self, source: SourceFile, file: FileRow | None) -> bool:
        return file is not None and (file.blob_sha, file.embedder, file.pipeline_version) == (
            source.blob_sha,
            self._embedder.fingerprint,
            PIPELINE_VERSION,
        )

    def _leave_out(self, file: LeftOut, shown: Mapping[str, FileRow]) -> None:
        self._tally.left_out[file.reason] += 1
        if file.path in shown:
            self._lost.add(file.path)

    def _write_batch(self, sources: Sequence[SourceFile], shown: Mapping[str, FileRow]) -> None:
        extractions = self._extract(sources, shown)
        self._stage = "embedding"
        vectors = self._embed(extractions)
        self._stage = "writing"
        started = perf_counter()
        rows = self._repository.stage(
            self._session,
            [_file_rows(source, extraction, vectors) for source, extraction in extractions],
            embedder=self._embedder.fingerprint,
            pipeline_version=PIPELINE_VERSION,
        )
        self._spend("write_ms", started)
        self._tally.rows_written += rows
        self._tally.indexed += len(extractions)

    def _extract(
        self, sources: Sequence[SourceFile], shown: Mapping[str, FileRow]
    ) -> list[tuple[SourceFile, Extraction]]:
        """Rows of each file, from the cache where its content and path are known."""
        started = perf_counter()
        wanted = [(source.blob_sha, source.path) for source in sources]
        cached = self._repository.get_cached_documents(wanted, PIPELINE_VERSION)
        found: list[tuple[SourceFile, Extraction]] = []
        fresh: dict[tuple[str, str], bytes] = {}
        for source in sources:
            key = (source.blob_sha, source.path)
            made = extraction_from_bytes(cached[key]) if key in cached else None
            if made is None:
                given = extract(source, docs=self._docs, code=self._code)
                if isinstance(given, LeftOut):
                    self._leave_out(given, shown)
                    continue
                made = given
                fresh[key] = extraction_to_bytes(made)
            self._warn(made.warnings)
            found.append((source, made))
        self._repository.cache_documents(fresh, PIPELINE_VERSION)
        self._spend("extract_ms", started)
        return found

    def _embed(self, extractions: Sequence[tuple[SourceFile, Extraction]]) -> dict[bytes, Vectors]:
        """SHA-256 of embedded text → vector, each text once, from the cache where it is known."""
        started = perf_counter()
        texts: dict[bytes, str] = {}
        for _, extraction in extractions:
            for row in extraction.rows:
                text = embedded_text(row)
                if text is not None:
                    texts[text_sha(text)] = text
        vectors = self._repository.cached_vectors(list(texts), self._embedder.fingerprint)
        missing = [sha for sha in texts if sha not in vectors]
        if missing:
            made = self._embedder.embed([texts[sha] for sha in missing])
            fresh = {sha: made[place] for place, sha in enumerate(missing)}
            self._repository.cache_vectors(fresh, self._embedder.fingerprint)
            vectors |= fresh
            self._tally.texts_embedded += len(missing)
        self._spend("embed_ms", started)
        return vectors

    def _header(self) -> RevisionHeader:
        return RevisionHeader(
            root=str(self._root),
            commit_sha=head_commit(self._root),
            embedder=self._embedder.fingerprint,
            dims=self._embedder.dims,
            analysis_version=ANALYSIS_VERSION,
            pipeline_version=PIPELINE_VERSION,
        )

    def _warn(self, warnings: Iterable[IndexWarning]) -> None:
        for warning in warnings:
            if len(self._tally.warnings) < WARNINGS_KEPT:
                place = {} if warning.line is None else {"line": warning.line}
                self._tally.warnings.append(
                    {"code": warning.code, "params": {**dict(warning.params), "path": warning.path, **place}}
                )

    def _spend(self, name: str, started: float) -> None:
        self._tally.timings[name] += round((perf_counter() - started) * 1000)

    def _progress(self, stage: Stage, done: int, total: int, path: str | None = None) -> None:
        self._stage = stage
        self._report(
            Progress(stage=stage, files_done=done, files_total=total, rows=self._tally.rows_written, path=path)
        )

    def _note(self, status: str, *, revision: int | None = None, error: Mapping[str, object] | None = None) -> JobRow:
        job = JobRow(
            index_job_id=self._job_id,
            rag_session_id=self._session.rag_session_id,
            kind=self._kind,
            status=status,
            stage=self._stage,
            revision=revision,
            files=self._tally.files_json(),
            rows_written=self._tally.rows_written,
            texts_embedded=self._tally.texts_embedded,
            warnings=list(self._tally.warnings),
            error=error,
            timings=dict(self._tally.timings),
        )
        self._repository.update_job(job)
        return job


def text_sha(text: str) -> bytes:
    """Key of the vector cache."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _file_rows(source: SourceFile, extraction: Extraction, vectors: Mapping[bytes, Vectors]) -> FileRows:
    keyed = [(place, embedded_text(row)) for place, row in enumerate(extraction.rows)]
    shas = {place: text_sha(text) for place, text in keyed if text is not None}
    return FileRows(
        file=source,
        family=extraction.family,
        rows=extraction.rows,
        vectors={place: (sha, vectors[sha]) for place, sha in shas.items()},
        warnings=extraction.warnings,
        catalog=catalog_entries(extraction.rows),
    )


def _plain(params: Mapping[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, (int, float, str, bool)) else str(value) for name, value in params.items()}
