"""The work on a batch of files: read and extract; then link, embed and write. In the job's process or in workers.

Results are plain and small: rows stay where they are made. What was extracted is kept in the cache, and for a while in
memory; a file whose extraction is in neither is read again, provided that its bytes are still the same.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from ragkit.document import Extraction, FileStamp, IndexWarning, RagDocument, SourceFile, Vectors, embedded_text
from ragkit.embedding import Embedder
from ragkit.errors import RagkitError
from ragkit.indexing.catalog import catalog_entries
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.files import FileEntry, LeftOut, read_file
from ragkit.indexing.links.linked_rows import linked_rows
from ragkit.indexing.links.offers import link_part
from ragkit.indexing.links.part import part_to_bytes
from ragkit.indexing.links.session_links import FileLinks
from ragkit.indexing.pipeline import PIPELINE_VERSION, extract, extraction_from_bytes, extraction_to_bytes
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import FileRows, SessionRow

logger = logging.getLogger(__name__)

HELD_BYTES = 32_000_000
"""Of extractions kept in memory between reading and writing, counted by the size of the source."""
Key = tuple[str, str]
"""Blob sha, path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that was read and extracted."""

    stamp: FileStamp
    part: bytes
    """What it says to the link step."""
    warnings: tuple[IndexWarning, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBatch:
    """What reading a batch gave."""

    read: tuple[ReadFile, ...]
    same: tuple[FileStamp, ...]
    """Files whose content turned out to be the shown one."""
    left_out: tuple[LeftOut, ...]
    extract_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTask:
    """A file to write, with the answers of the link step."""

    stamp: FileStamp
    part: bytes
    links: FileLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBatch:
    """What writing a batch gave."""

    rows: int
    files: int
    texts_embedded: int
    vanished: tuple[str, ...]
    """Paths whose extraction is gone and whose bytes are others by now."""
    embed_ms: int
    write_ms: int


class FileBatches:
    """Works on one batch at a time."""

    def __init__(
        self, repository: RagRepository, docs: DocsIndexingPipeline, code: CodeIndexingPipeline, embedder: Embedder
    ) -> None:
        self._repository = repository
        self._docs = docs
        self._code = code
        self._embedder = embedder
        self._held: OrderedDict[Key, tuple[int, Extraction]] = OrderedDict()
        self._held_bytes = 0

    def read(self, root: Path, entries: Sequence[FileEntry], shown: Mapping[str, str]) -> ReadBatch:
        """Read and extract; `shown`: path → blob sha of rows that this embedder and pipeline made."""
        started = perf_counter()
        left_out: list[LeftOut] = []
        same: list[FileStamp] = []
        sources: list[SourceFile] = []
        for entry in entries:
            found = read_file(root, entry)
            if isinstance(found, LeftOut):
                left_out.append(found)
            elif shown.get(found.path) == found.blob_sha:
                same.append(found.stamp)
            else:
                sources.append(found)
        read: list[ReadFile] = []
        for source, extraction in self._extracted(sources, left_out):
            part = part_to_bytes(link_part(source.path, extraction))
            read.append(ReadFile(stamp=source.stamp, part=part, warnings=extraction.warnings))
        return ReadBatch(read=tuple(read), same=tuple(same), left_out=tuple(left_out), extract_ms=_spent(started))

    def write(self, session: SessionRow, index_job_id: str, root: Path, tasks: Sequence[WriteTask]) -> WrittenBatch:
        """Link, embed and stage files in one transaction.

        Raises: what embedder and database raise, with `path`, the first file of the batch, among the parameters.
        """
        try:
            return self._write(session, index_job_id, root, tasks)
        except RagkitError as failed:
            failed.params.setdefault("path", tasks[0].stamp.path)
            raise

    def _write(self, session: SessionRow, index_job_id: str, root: Path, tasks: Sequence[WriteTask]) -> WrittenBatch:
        found = self._again(root, [task.stamp for task in tasks])
        linked = [
            (task, extraction, linked_rows(extraction.rows, task.links))
            for task in tasks
            if (extraction := found.get((task.stamp.blob_sha, task.stamp.path))) is not None
        ]
        started = perf_counter()
        vectors, embedded = self._embed([row for _, _, rows in linked for row in rows])
        embed_ms, started = _spent(started), perf_counter()
        rows = self._repository.stage(
            session,
            index_job_id,
            [_file_rows(task, extraction, rows, vectors) for task, extraction, rows in linked],
            embedder=self._embedder.fingerprint,
            pipeline_version=PIPELINE_VERSION,
        )
        written = {task.stamp.path for task, _, _ in linked}
        return WrittenBatch(
            rows=rows,
            files=len(linked),
            texts_embedded=embedded,
            vanished=tuple(task.stamp.path for task in tasks if task.stamp.path not in written),
            embed_ms=embed_ms,
            write_ms=_spent(started),
        )

    def _extracted(self, sources: Sequence[SourceFile], left_out: list[LeftOut]) -> list[tuple[SourceFile, Extraction]]:
        """Rows of each file, from the cache where its content and path are known."""
        cached = self._repository.get_cached_documents([_key(source.stamp) for source in sources], PIPELINE_VERSION)
        found: list[tuple[SourceFile, Extraction]] = []
        fresh: dict[Key, bytes] = {}
        for source in sources:
            key = _key(source.stamp)
            if key in cached:
                made = extraction_from_bytes(cached[key])
            else:
                given = self._extract(source)
                if isinstance(given, LeftOut):
                    left_out.append(given)
                    continue
                made = given
                fresh[key] = extraction_to_bytes(made)
            self._hold(key, made, source.size)
            found.append((source, made))
        self._repository.cache_documents(fresh, PIPELINE_VERSION)
        return found

    def _extract(self, source: SourceFile) -> Extraction | LeftOut:
        """One file must not cost the others, whatever an extractor makes of it."""
        try:
            return extract(source, docs=self._docs, code=self._code)
        except Exception:
            logger.info("an extractor failed on one file", exc_info=True)
            return LeftOut(path=source.path, reason="failed")

    def _hold(self, key: Key, extraction: Extraction, size: int) -> None:
        self._held[key] = (size, extraction)
        self._held_bytes += size
        while self._held_bytes > HELD_BYTES:
            _, (freed, _) = self._held.popitem(last=False)
            self._held_bytes -= freed

    def _again(self, root: Path, stamps: Sequence[FileStamp]) -> dict[Key, Extraction]:
        """Extractions that were made before: from memory, from the cache, or from the file."""
        found: dict[Key, Extraction] = {}
        for key in map(_key, stamps):
            held = self._held.pop(key, None)
            if held is not None:
                self._held_bytes -= held[0]
                found[key] = held[1]
        missing = [stamp for stamp in stamps if _key(stamp) not in found]
        if missing:
            cached = self._repository.get_cached_documents(list(map(_key, missing)), PIPELINE_VERSION)
            found |= {key: extraction_from_bytes(body) for key, body in cached.items()}
        for stamp in missing:
            if _key(stamp) not in found:
                made = self._from_disk(root, stamp)
                if made is not None:
                    found[_key(stamp)] = made
        return found

    def _from_disk(self, root: Path, stamp: FileStamp) -> Extraction | None:
        source = read_file(root, FileEntry(path=stamp.path, size=stamp.size, mtime_ns=stamp.mtime_ns))
        if isinstance(source, LeftOut) or source.blob_sha != stamp.blob_sha:
            return None
        made = self._extract(source)
        return None if isinstance(made, LeftOut) else made

    def _embed(self, rows: Sequence[RagDocument]) -> tuple[dict[bytes, Vectors], int]:
        """SHA-256 of embedded text → vector, each text once, from the cache where it is known; how many were made."""
        texts = {text_sha(text): text for row in rows if (text := embedded_text(row)) is not None}
        vectors = self._repository.cached_vectors(list(texts), self._embedder.fingerprint)
        missing = [sha for sha in texts if sha not in vectors]
        if missing:
            made = self._embedder.embed([texts[sha] for sha in missing])
            fresh = {sha: made[place] for place, sha in enumerate(missing)}
            self._repository.cache_vectors(fresh, self._embedder.fingerprint)
            vectors |= fresh
        return vectors, len(missing)


def text_sha(text: str) -> bytes:
    """Key of the vector cache."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _key(stamp: FileStamp) -> Key:
    return (stamp.blob_sha, stamp.path)


def _file_rows(
    task: WriteTask, extraction: Extraction, rows: Sequence[RagDocument], vectors: Mapping[bytes, Vectors]
) -> FileRows:
    keyed = [(place, embedded_text(row)) for place, row in enumerate(rows)]
    shas = {place: text_sha(text) for place, text in keyed if text is not None}
    return FileRows(
        file=task.stamp,
        family=extraction.family,
        rows=rows,
        vectors={place: (sha, vectors[sha]) for place, sha in shas.items()},
        warnings=extraction.warnings,
        catalog=catalog_entries(rows),
        link_part=task.part,
        link_digest=task.links.digest,
    )


def _spent(started: float) -> int:
    return round((perf_counter() - started) * 1000)
