"""What an indexing job has to do, decided before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ragkit.errors import SourceError
from ragkit.indexing.files import FileEntry
from ragkit.postgres.rows import FileRow

Item = TypeVar("Item")
BATCH_FILES = 64
BATCH_BYTES = 2_000_000
"""Of a batch to read."""
WRITTEN_FILES = 16
WRITTEN_BYTES = 200_000
"""Of a batch to write, which takes far longer: what a killed job loses, and what workers share out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a job has to do, decided before anything is written."""

    todo: tuple[FileEntry, ...]
    """To be read: new, changed, or indexed by another embedder or pipeline."""
    kept: frozenset[str]
    """Paths whose shown rows stay."""
    staged: frozenset[str]
    """Paths that a killed job has written already."""
    obsolete_staged: tuple[int, ...]
    """Staged files that no longer hold."""
    deleted: frozenset[str]
    """Shown paths that are to go."""


def plan_work(
    entries: Sequence[FileEntry],
    known: Sequence[FileRow],
    revision: int,
    *,
    embedder: str,
    pipeline_version: str,
    deleted: frozenset[str] | None,
) -> Work:
    """Which entries must be read, and what becomes of the rows there are. Pure.

    `deleted` is None for a snapshot: what is not among the entries goes. A file counts as unchanged when size and
    time of change are those of its shown or staged row, made by the same embedder and pipeline (as git judges it).
    """
    current = {file.path: file for file in known if file.revision <= revision}
    staged = {file.path: file for file in known if file.revision > revision}

    def holds(file: FileRow | None, entry: FileEntry) -> bool:
        return (
            file is not None
            and (file.size, file.mtime_ns) == (entry.size, entry.mtime_ns)
            and (file.embedder, file.pipeline_version) == (embedder, pipeline_version)
        )

    kept = {entry.path for entry in entries if holds(current.get(entry.path), entry)}
    reused = {e.path for e in entries if e.path not in kept and holds(staged.get(e.path), e)}
    wanted = {entry.path for entry in entries}
    gone = current.keys() - wanted if deleted is None else current.keys() & deleted
    return Work(
        todo=tuple(entry for entry in entries if entry.path not in kept and entry.path not in reused),
        kept=frozenset(kept),
        staged=frozenset(reused),
        obsolete_staged=tuple(file.file_id for path, file in sorted(staged.items()) if path not in reused),
        deleted=frozenset(gone),
    )


def size_of(entry: FileEntry) -> int:
    """Bytes of an entry."""
    return entry.size


def batches(
    items: Sequence[Item], size: Callable[[Item], int], *, files: int = BATCH_FILES, bytes_: int = BATCH_BYTES
) -> Iterable[tuple[Item, ...]]:
    """Items in order, at most `files` and about `bytes_` together."""
    batch: list[Item] = []
    taken = 0
    for item in items:
        if batch and (len(batch) == files or taken + size(item) > bytes_):
            yield tuple(batch)
            batch, taken = [], 0
        batch.append(item)
        taken += size(item)
    if batch:
        yield tuple(batch)


def refuse_empty(entries: Sequence[FileEntry], root: Path, left_out: Mapping[str, Sequence[str]]) -> None:
    """Raise where a snapshot would hold nothing: that is a wrong folder far more often than a wish."""
    if not entries:
        raise SourceError("source_empty", path=str(root), left_out=sum(len(paths) for paths in left_out.values()))
