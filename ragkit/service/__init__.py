"""Puts the parts together: the one place where objects are built.

`open(settings)` gives a `RagService`; `router()` serves those who need no database. Front ends and the evaluation call
this package alone.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ragkit import bundle
from ragkit.embedding import Embedder, chosen
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.postgres import embedded
from ragkit.postgres.database import Database
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.upserter import RagDocumentUpserter
from ragkit.routing.router import IntentRouter
from ragkit.service.ask import Ask
from ragkit.service.file_batch import FileBatches
from ragkit.service.indexing_job import JobTools
from ragkit.service.orchestrator import Enqueued, IndexingOrchestrator, job_json
from ragkit.service.query_router import RagQueryRouter
from ragkit.service.rag_service import RagService, SessionSummary
from ragkit.service.session_store import RagSessionStore
from ragkit.service.workers import WorkerSetup
from ragkit.settings import Settings


def open(settings: Settings, *, embedder: Embedder | None = None) -> RagService:
    """The engine on the database that the settings name; starts the embedded server where they name none.

    Raises: EnvironmentFault (data folder, server), DatabaseError (no answer, too old, schema).
    """
    conninfo = _conninfo(settings)
    database = Database(
        conninfo,
        pool_size=settings.pool_size,
        statement_timeout_ms=settings.statement_timeout_ms,
        read_only=settings.read_only,
    )
    analyzer = bundle.analyzer()
    repository = RagRepository(database, RagDocumentUpserter(database, analyzer))
    repository.ensure_tables()
    sessions = RagSessionStore(repository)
    embeds = embedder or chosen(settings.embedder)
    docs, code = DocsIndexingPipeline(analyzer), CodeIndexingPipeline(analyzer)
    tools = JobTools(
        repository=repository,
        embedder=embeds,
        new_batches=lambda: FileBatches(repository, docs, code, embeds),
        worker_setup=WorkerSetup(
            conninfo=conninfo, statement_timeout_ms=settings.statement_timeout_ms, embedder=embeds
        ),
        worker_count=settings.index_workers,
        cache_bytes=settings.cache_mb * 1_000_000,
    )
    indexing = IndexingOrchestrator(repository, sessions, tools)
    return RagService(
        settings=settings,
        conninfo=conninfo,
        repository=repository,
        router=router(settings),
        analyzer=analyzer,
        embedder=embeds,
        sessions=sessions,
        indexing=indexing,
    )


@contextmanager
def opened(settings: Settings, *, embedder: Embedder | None = None) -> Generator[RagService]:
    """`open`, closed at the end."""
    service = open(settings, embedder=embedder)
    try:
        yield service
    finally:
        service.close()


def router(settings: Settings | None = None) -> IntentRouter:
    """The Intent Router, without any session: every layer, no catalog; with settings also the user's own rules."""
    rules = bundle.routing_rules(None if settings is None else settings.data_dir)
    return IntentRouter(rules.rules, bundle.analyzer())


def _conninfo(settings: Settings) -> str:
    if settings.database_url:
        return settings.database_url
    server = embedded.start(settings.data_dir.absolute())
    return server.reader_conninfo if settings.read_only else server.owner_conninfo


__all__ = [
    "Ask",
    "Enqueued",
    "IndexingOrchestrator",
    "RagQueryRouter",
    "RagService",
    "RagSessionStore",
    "SessionSummary",
    "job_json",
    "open",
    "opened",
    "router",
]
