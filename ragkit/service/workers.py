"""Batches of files fanned out over processes of this machine, or worked on right here.

Workers are started anew, not forked: a forked child of a threaded process may hang in the embedder. loky starts them,
since the standard library's pool runs the caller's main script again in each. Each has its own connections and its own
embedder, with BLAS pinned to one thread: two processes with one thread embed twice what one process with two gives
(evidence.md). A worker watches its parent, so that none outlives a killed job.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TypeVar

from loky import BrokenProcessPool, ProcessPoolExecutor

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

WATCHED_EVERY_S = 0.2
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
                with interruptions_held():
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
    pool = ProcessPoolExecutor(
        count, initializer=_start, initargs=(setup, os.getpid()), env={"OPENBLAS_NUM_THREADS": "1"}
    )
    try:
        yield Workers(here, pool, AHEAD * count)
    finally:
        pool.shutdown(wait=True, kill_workers=sys.exc_info()[0] is not None)


@contextmanager
def interruptions_held() -> Generator[None]:
    """Ctrl+C waits for the end; processes started inside never see it.

    It reaches the whole group of processes. Workers inherit the mask, so it ends the parent alone, which ends them;
    else each would print a traceback, even before its first line of Python.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # where starting a worker starts it, it takes the mask off
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_batches: list[FileBatches] = []
"""Of a worker process: the one that `_start` made. A process pool gives its tasks no other place to find it."""


def _start(setup: WorkerSetup, parent: int) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    database = Database(setup.conninfo, pool_size=2, statement_timeout_ms=setup.statement_timeout_ms)
    analyzer = bundle.analyzer()
    repository = RagRepository(database, RagDocumentUpserter(database, analyzer))
    docs, code = DocsIndexingPipeline(analyzer), CodeIndexingPipeline(analyzer)
    _batches.append(FileBatches(repository, docs, code, setup.embedder))


def _in_worker(work: Callable[[FileBatches, Task], Result], task: Task) -> Result:
    return work(_batches[0], task)


def _end_with(parent: int) -> None:
    """A killed parent closes nothing; its orphans are given to another process."""
    while os.getppid() == parent:
        time.sleep(WATCHED_EVERY_S)
    os._exit(1)
