"""Batches of files fanned out over processes of this machine, or worked on right here.

Workers are spawned, not forked: a forked child of a threaded process may hang in the embedder. Each has its own
connections and its own embedder, with BLAS pinned to one thread: two processes with one thread embed twice what one
process with two gives (evidence.md). A worker watches its parent, so that none outlives a killed job.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TypeVar

from ragkit import bundle
from ragkit.embedding import Embedder
from ragkit.errors import JobError
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.postgres.database import Database
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.upserter import RagDocumentUpserter
from ragkit.service.file_batch import FileBatches

Task = TypeVar("Task")
Result = TypeVar("Result")

AHEAD = 2
"""Batches that wait for each worker; more would only fill memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSetup:
    """What a spawned process needs to work on batches; picklable if the embedder is."""

    conninfo: str
    statement_timeout_ms: int
    embedder: Embedder


class Workers:
    """Carries out work on batches, results in the order of the batches."""

    def __init__(self, here: FileBatches, pool: ProcessPoolExecutor | None, ahead: int) -> None:
        self._here = here
        self._pool = pool
        self._ahead = ahead

    def run(self, work: Callable[[FileBatches, Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """`work` on each task; a module-level function of picklable arguments.

        Raises: what the work raises; JobError `worker_died` where a process was killed.
        """
        if self._pool is None:
            for task in tasks:
                yield work(self._here, task)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self._pool.submit(_in_worker, work, task))
                if len(waiting) > self._ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as died:
            raise JobError("worker_died") from died
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def workers(here: FileBatches, setup: WorkerSetup, count: int) -> Generator[Workers]:
    """`count` processes, or this one alone where that is 1."""
    if count <= 1:
        yield Workers(here, None, 0)
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by the children before they import numpy
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(setup,))
    try:
        yield Workers(here, pool, AHEAD * count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_batches: list[FileBatches] = []
"""Of a worker process: the one that `_start` made. A process pool gives its tasks no other place to find it."""


def _start(setup: WorkerSetup) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    database = Database(setup.conninfo, pool_size=2, statement_timeout_ms=setup.statement_timeout_ms)
    analyzer = bundle.analyzer()
    repository = RagRepository(database, RagDocumentUpserter(database, analyzer))
    docs, code = DocsIndexingPipeline(analyzer), CodeIndexingPipeline(analyzer)
    _batches.append(FileBatches(repository, docs, code, setup.embedder))


def _in_worker(work: Callable[[FileBatches, Task], Result], task: Task) -> Result:
    return work(_batches[0], task)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
