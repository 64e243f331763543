"""What a job has to do, decided before anything is written. Spec: system.md §5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragkit.errors import SourceError
from ragkit.indexing.files import FileEntry
from ragkit.postgres.rows import FileRow
from ragkit.service.work import BATCH_BYTES, BATCH_FILES, Work, batches, plan_work, refuse_empty, size_of

SHOWN, STAGED = 4, 5


def entry(path: str, *, size: int = 10, mtime: int = 1) -> FileEntry:
    return FileEntry(path=path, size=size, mtime_ns=mtime)


def row(file_id: int, path: str, revision: int = SHOWN, **changes: Any) -> FileRow:
    plain = {"size": 10, "mtime_ns": 1, "embedder": "e", "pipeline_version": "p", "blob_sha": "b", "link_digest": ""}
    return FileRow(file_id=file_id, revision=revision, path=path, **(plain | changes))


def work(entries: list[FileEntry], known: list[FileRow], deleted: frozenset[str] | None = None) -> Work:
    return plan_work(entries, known, SHOWN, embedder="e", pipeline_version="p", deleted=deleted)


def test_everything_new() -> None:
    found = work([entry("a"), entry("b")], [])
    assert [e.path for e in found.todo] == ["a", "b"]
    assert (found.kept, found.staged, found.obsolete_staged, found.deleted) == (
        frozenset(),
        frozenset(),
        (),
        frozenset(),
    )


def test_unchanged_is_kept_and_gone_is_deleted() -> None:
    found = work([entry("a")], [row(1, "a"), row(2, "b")])
    assert (found.todo, found.kept, found.deleted) == ((), {"a"}, {"b"})


@pytest.mark.parametrize(
    "changed", [{"size": 11}, {"mtime_ns": 2}, {"embedder": "other"}, {"pipeline_version": "other"}], ids=str
)
def test_any_difference_has_the_file_read(changed: dict[str, Any]) -> None:
    found = work([entry("a")], [row(1, "a", **changed)])
    assert [e.path for e in found.todo] == ["a"]
    assert (found.kept, found.deleted) == (frozenset(), frozenset())


def test_what_a_killed_job_staged_is_taken_over() -> None:
    known = [row(1, "a"), row(2, "a", STAGED, mtime_ns=7), row(3, "b", STAGED)]
    found = work([entry("a", mtime=7), entry("b")], known)
    assert (found.todo, found.staged, found.obsolete_staged) == ((), {"a", "b"}, ())


def test_staged_files_that_no_longer_hold_are_forgotten() -> None:
    known = [row(1, "a"), row(2, "a", STAGED, mtime_ns=7), row(3, "b", STAGED, mtime_ns=8), row(4, "gone", STAGED)]
    found = work([entry("a"), entry("b", mtime=9)], known)
    assert found.kept == {"a"}  # back to what is shown
    assert [e.path for e in found.todo] == ["b"]
    assert found.obsolete_staged == (2, 3, 4)
    assert found.deleted == frozenset()  # `gone` was never shown


def test_changes_delete_only_what_they_name() -> None:
    known = [row(1, "a"), row(2, "b"), row(3, "c")]
    found = work([entry("a", mtime=2)], known, frozenset({"b", "never there"}))
    assert ([e.path for e in found.todo], found.deleted) == (["a"], {"b"})


def test_batches_by_number_and_by_bytes() -> None:
    small = [entry(f"{n:03}") for n in range(BATCH_FILES * 2 + 1)]
    assert [len(batch) for batch in batches(small, size_of)] == [BATCH_FILES, BATCH_FILES, 1]
    large = [entry("a", size=BATCH_BYTES), entry("b", size=1), entry("c", size=BATCH_BYTES - 1), entry("d", size=2)]
    assert [[e.path for e in batch] for batch in batches(large, size_of)] == [["a"], ["b", "c"], ["d"]]
    assert list(batches([], size_of)) == []


def test_an_empty_folder_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        refuse_empty([], Path("x"), {"binary": ["a", "b"], "secret": ["c"]})
    assert (caught.value.code, caught.value.params) == ("source_empty", {"path": "x", "left_out": 3})
    refuse_empty([entry("a")], Path("x"), {})
