"""The application service: questions in, Traces out; folders in, sessions out. Spec: MODULE §3 (`RagService`)."""

from __future__ import annotations

import hashlib
import logging
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ragkit import bundle
from ragkit.document import Vectors
from ragkit.embedding import Embedder
from ragkit.errors import DatabaseError, EmbeddingError, UnknownName, WrongUse
from ragkit.layers import ATTRIBUTES, Family, Layer
from ragkit.messages import Reason
from ragkit.policy.code_plan import plans
from ragkit.policy.origin import filter_origins
from ragkit.policy.plan import RetrievalPlan, check_limit
from ragkit.policy.policy import Policy, Ranking
from ragkit.policy.signals import read_signals
from ragkit.postgres import backup
from ragkit.postgres.database import Connection
from ragkit.postgres.database_status import DatabaseStatus, database_status
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import DocumentRow, JobRow, SessionRow
from ragkit.retrieval.adapter import FetchedRows, RagRetrievalAdapter
from ragkit.retrieval.diagnosis import Diagnosis
from ragkit.retrieval.evidence import check_evidence
from ragkit.retrieval.expected import PlanRun, Snapshot
from ragkit.retrieval.public_id import Located, PlacedRow, ShownText, locate, paths_in
from ragkit.retrieval.search_query import matched_forms, search_query
from ragkit.retrieval.stopwatch import Stopwatch
from ragkit.retrieval.trace import Hit, Trace
from ragkit.routing.catalog import CatalogMatcher
from ragkit.routing.contract import ConversationState, Intent
from ragkit.routing.router import IntentRouter, RepoContext, Routing
from ragkit.service.ask import Ask
from ragkit.service.inspector import Demand, Inspector
from ragkit.service.job_record import ReportProgress, ignore_progress
from ragkit.service.orchestrator import IndexingOrchestrator
from ragkit.service.query_router import RagQueryRouter
from ragkit.service.session_store import RagSessionStore
from ragkit.settings import Settings
from ragkit.text import ANALYSIS_VERSION, Analyzer

logger = logging.getLogger(__name__)

CONTEXTS_KEPT = 8
"""Catalog matchers kept, one a (session, revision)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session as listings show it."""

    session: str
    project_id: str
    revision: int
    rows: Mapping[Layer, int]
    embedder: str | None
    indexed_at: str | None
    root: str | None

    def to_json(self) -> dict[str, object]:
        """As `ragkit sessions --json` prints it; `rows` is the total, `layers` the parts."""
        return {
            "session": self.session,
            "project_id": self.project_id,
            "revision": self.revision,
            "rows": sum(self.rows.values()),
            "layers": {layer.value: rows for layer, rows in self.rows.items()},
            "embedder": self.embedder,
            "indexed_at": self.indexed_at,
            "root": self.root,
        }


class RagService:
    """One engine on one database. Shared by threads; whoever opened it closes it."""

    def __init__(
        self,
        *,
        settings: Settings,
        conninfo: str,
        repository: RagRepository,
        router: IntentRouter,
        analyzer: Analyzer,
        embedder: Embedder,
        sessions: RagSessionStore,
        indexing: IndexingOrchestrator,
    ) -> None:
        self.settings = settings
        self._conninfo = conninfo
        self.sessions = sessions
        self.indexing = indexing
        self.query_router = RagQueryRouter(router)
        self._repository = repository
        self._router = router
        self._analyzer = analyzer
        self._embedder = embedder
        self._adapter = RagRetrievalAdapter(repository, lambda text, query: matched_forms(text, query, analyzer))
        self._inspector = Inspector(repository, self._adapter)
        self._contexts: dict[tuple[str, int], RepoContext] = {}
        self._contexts_lock = threading.Lock()

    def warm_up(self) -> None:
        """Load the embedder, which the first question would otherwise wait for."""
        try:
            self._embedder.embed(["."])
        except EmbeddingError as failed:
            logger.warning("the embedder did not answer: %s", failed.code)

    def close(self) -> None:
        """Close the connections; an embedded server stops with the last process that uses it."""
        self._repository.database.close()

    # --- indexing

    def index_snapshot(
        self, rag_session_id: str, root: Path, *, replace: bool = False, report: ReportProgress = ignore_progress
    ) -> JobRow:
        """Index a folder in place of what the session (by name or id; made if need be) holds.

        Raises: WrongUse `root_differs` where that is another project, and not to be replaced.
        """
        return self.indexing.snapshot(rag_session_id, root, replace=replace, report=report)

    def index_changes(
        self,
        rag_session_id: str,
        root: Path,
        revision: str,
        *,
        replace: bool = False,
        report: ReportProgress = ignore_progress,
    ) -> JobRow:
        """Index what differs from a git revision; raises as `index_snapshot`."""
        return self.indexing.changes(rag_session_id, root, revision, replace=replace, report=report)

    def index_paths(
        self,
        rag_session_id: str,
        root: Path,
        changed: Sequence[str],
        deleted: Sequence[str] = (),
        *,
        report: ReportProgress = ignore_progress,
    ) -> JobRow:
        """Index these files anew and take the deleted ones out."""
        return self.indexing.change_paths(rag_session_id, root, changed, deleted, report=report)

    # --- asking

    def retrieve(self, rag_session_id: str, query: str) -> Trace:
        """The answer under the specification's policy. Spec: MODULE §3."""
        return self.answer(Ask(query=query, session=rag_session_id))

    def answer(self, ask: Ask) -> Trace:
        """One question, answered from one revision of one session.

        Raises: UnknownName (session, policy), InvalidInput (query), WrongUse (session empty, limit), DatabaseError,
        EmbeddingError (the session's vectors are another embedder's).
        """
        return self._answer(ask, Demand(explain=ask.explain, expected=ask.expected))

    def why(self, ask: Ask, path: str) -> Diagnosis:
        """Why a document (a path or a public id) is in the answer or not, and what would bring it in.

        The question is not kept as a request. Raises: as `answer`.
        """
        return self._answer(ask, Demand(expected=(path,), remedies=True), keep=False).expected[0]

    def _answer(self, ask: Ask, demand: Demand, *, keep: bool = True) -> Trace:
        check_limit(ask.limit)
        watch = Stopwatch()
        named = bundle.policy(ask.policy, self.settings.data_dir)
        with self._repository.database.reading() as connection:
            session = self._usable_session(connection, ask.session)
            context = self._context(connection, session)
        routing = self._router.route(ask.query, ask.state, context, intent=ask.intent)
        watch.lap("route")
        vector, reasons = self._vector(routing)
        watch.lap("embed")
        with self._repository.database.reading() as connection:
            again = self._usable_session(connection, ask.session)
            if again.revision != session.revision:  # indexed meanwhile: route by what is searched
                session, context = again, self._context(connection, again)
                routing = self._router.route(ask.query, ask.state, context, intent=ask.intent)
            families = frozenset(layer.family.value for layer in context.layers or ())
            made, bent = plans(routing.contract, routing.route, named.policy, families=families, limit=ask.limit)
            query = search_query(routing.contract, routing.route, self._analyzer, vector)
            snapshot = Snapshot(connection=connection, session=session, query=query)
            watch.lap("plan")
            runs = [self._run(snapshot, plan, routing, named.policy, watch) for plan in made]
            inspected = self._inspector.inspect(demand, snapshot, runs, routing, named.policy, families, watch)
        rows = _numbered([run.fetched for run in runs])
        trace = Trace(
            query=routing.contract.query_plan.raw,
            session=session.name,
            revision=session.revision,
            policy=named.policy.name,
            policy_hash=named.hash,
            embedder=self._embedder.fingerprint,
            contract=routing.contract,
            route=routing.route,
            reasons=(*routing.reasons, *bent, *reasons),
            signals=read_signals(routing.route, named.policy),
            plans=made,
            rows=rows,
            steps=tuple(step for run in runs for step in run.fetched.steps),
            words=tuple(word for run in runs for word in run.fetched.words),
            evidence=check_evidence(routing.contract.evidence_policy, rows),
            timings={},
            expected=inspected.expected,
            explanation=inspected.explanation,
        )
        watch.lap("finish")
        trace = replace(trace, timings=watch.milliseconds())
        if keep:
            self._keep(trace, session)
        return trace

    def route(
        self,
        query: str,
        *,
        session: str | None = None,
        state: ConversationState | None = None,
        intent: Intent | None = None,
    ) -> Routing:
        """Routing alone; by the session's layers and catalog where one is named."""
        context = None
        if session is not None:
            with self._repository.database.reading() as connection:
                context = self._context(connection, self._usable_session(connection, session))
        return self._router.route(query, state, context, intent=intent)

    # --- what is there

    def list_sessions(self) -> list[SessionSummary]:
        """Every session, by name."""
        return [
            SessionSummary(
                session=session.name,
                project_id=session.project_id,
                revision=session.revision,
                rows=rows,
                embedder=session.embedder,
                indexed_at=session.indexed_at.isoformat() if session.indexed_at else None,
                root=session.root,
            )
            for session, rows in self._repository.sessions()
        ]

    def session_name(self, rag_session_id: str) -> str:
        """What a session is called now."""
        return self.sessions.get(rag_session_id).name

    def database_status(self) -> DatabaseStatus:
        """Versions, sizes, sessions, caches and jobs of the database."""
        return database_status(self._repository.database)

    def dump(self, target: Path) -> int:
        """Write all sessions into one file; its size in bytes."""
        return backup.dump(self._conninfo, target)

    def restore(self, source: Path) -> int:
        """Put a dump into this database, which must hold no session; the schema's version."""
        return backup.restore(self._conninfo, source, self._repository.database)

    def clean_caches(self, at_most_bytes: int) -> dict[str, int]:
        """Give up what was not used longest of each cache that is larger; entries deleted by cache."""
        return self._repository.caches.trim(at_most_bytes)

    def layers(self, session: str) -> dict[Layer, int]:
        """Layer → rows of a session."""
        with self._repository.database.reading() as connection:
            return self._repository.layer_rows(connection, self._repository.read_session(connection, session))

    def show(self, session: str, path: str) -> dict[str, object]:
        """Rows of one file by layer, as `ragkit show --json` prints them.

        Raises: UnknownName where the session does not show the path.
        """
        with self._repository.database.reading() as connection:
            found = self._repository.read_session(connection, session)
            rows = self._repository.rows_of_file(connection, found, path)
        if not rows:
            raise UnknownName("path_unknown", path=path, session=session)
        return {"path": path, "rows": [_shown_row(row, found) for row in rows]}

    def locate(self, session: str, ids: Sequence[str]) -> dict[str, Located]:
        """Where public ids are in a session: found, stale, or unknown."""
        with self._repository.database.reading() as connection:
            found = self._repository.read_session(connection, session)
            rows = self._repository.rows_of_paths(connection, found, paths_in(ids))
        return locate(
            ids,
            (
                PlacedRow(path=path, public_id=key, layer=layer, line_start=start, line_end=end)
                for path, key, layer, start, end in rows
            ),
        )

    def shown_texts(self, session: str, paths: Sequence[str]) -> list[ShownText]:
        """Rows of files with their texts, by path and place."""
        with self._repository.database.reading() as connection:
            found = self._repository.read_session(connection, session)
            rows = [row for path in paths for row in self._repository.rows_of_file(connection, found, path)]
        return [
            ShownText(
                path=row.path,
                public_id=row.public_id,
                line_start=row.line_start,
                line_end=row.line_end,
                text=row.text,
            )
            for row in rows
        ]

    def corpus_fingerprint(self, session: str) -> str:
        """First 16 hex digits of the SHA-256 of what a session shows: files, pipeline, embedder, analysis."""
        with self._repository.database.reading() as connection:
            found = self._repository.read_session(connection, session)
            blobs = self._repository.shown_blobs(connection, found)
        digest = hashlib.sha256(f"{found.pipeline_version}\0{found.embedder}\0{found.analysis_version}\n".encode())
        for path, blob in blobs:
            digest.update(f"{path}\0{blob}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    @property
    def embedder_fingerprint(self) -> str:
        """Of the embedder that questions go through."""
        return self._embedder.fingerprint

    @property
    def routing_hash(self) -> str:
        """Of the routing rules, the user's own included."""
        return bundle.routing_rules(self.settings.data_dir).hash

    def policy(self, name: str) -> bundle.NamedPolicy:
        """A policy by name or path, with the hash of its text."""
        return bundle.policy(name, self.settings.data_dir)

    def policies(self) -> list[str]:
        """Names that `Ask.policy` takes, bundled ones first."""
        return bundle.policy_names(self.settings.data_dir)

    # --- inside

    def _usable_session(self, connection: Connection, name: str) -> SessionRow:
        session = self._repository.read_session(connection, name)
        if session.revision == 0:
            raise WrongUse("session_empty", session=name)
        if session.embedder != self._embedder.fingerprint:
            raise EmbeddingError(
                "embedder_differs",
                session=name,
                indexed=session.embedder,
                now=self._embedder.fingerprint,
                root=session.root or "PATH",
            )
        if session.analysis_version != ANALYSIS_VERSION:
            raise WrongUse(
                "analysis_differs",
                session=name,
                indexed=session.analysis_version,
                now=ANALYSIS_VERSION,
                root=session.root or "PATH",
            )
        return session

    def _context(self, connection: Connection, session: SessionRow) -> RepoContext:
        """What the router knows of the session at this revision; never of another one."""
        key = (session.rag_session_id, session.revision)
        with self._contexts_lock:
            known = self._contexts.get(key)
        if known is not None:
            return known
        entries = self._repository.catalog(connection, session)
        files = [entry.source_path for entry in entries if entry.kind == "file"]
        context = RepoContext(
            languages=tuple(self._repository.code_languages(connection, session)),
            layers=tuple(self._repository.layer_rows(connection, session)),
            top_folders=tuple(sorted({path.split("/", 1)[0] for path in files if "/" in path})),
            catalog=CatalogMatcher(entries, self._analyzer),
        )
        with self._contexts_lock:
            self._contexts[key] = context
            while len(self._contexts) > CONTEXTS_KEPT:
                self._contexts.pop(next(iter(self._contexts)))
        return context

    def _run(
        self, snapshot: Snapshot, plan: RetrievalPlan, routing: Routing, policy: Policy, watch: Stopwatch
    ) -> PlanRun:
        section = ranking_section(plan, routing)
        ranking = cast("Ranking", getattr(policy.ranking, section))
        depths = {Layer(q.layer_id): q.top_k for q in routing.contract.retrieval_spec.layer_queries}
        fetched = self._adapter.fetch_rows(
            snapshot.connection,
            snapshot.session,
            plan,
            snapshot.query,
            ranking=ranking,
            depths=depths,
            watch=watch,
        )
        return PlanRun(
            plan=plan,
            ranking=ranking,
            section=f"ranking.{section}",
            depths=depths,
            origins=filter_origins(plan, routing.route, policy),
            fetched=fetched,
        )

    def _vector(self, routing: Routing) -> tuple[Vectors | None, tuple[Reason, ...]]:
        try:
            vector = self._embedder.embed([routing.contract.query_plan.normalized])[0]
        except EmbeddingError as failed:
            logger.warning("the embedder did not answer: %s", failed.code)
            return None, (Reason(code="plan.embedder_silent", params={"problem": failed.code}),)
        return (vector, ()) if vector.any() else (None, (Reason(code="plan.nothing_to_embed"),))

    def _keep(self, trace: Trace, session: SessionRow) -> None:
        """Keep the request. A failure here must not cost the answer."""
        if self.settings.keep_requests == 0 or self._repository.database.read_only:
            return
        body = trace.to_json()
        try:
            self._repository.requests.add(
                session.rag_session_id,
                uuid.uuid4().hex,
                query=trace.query,
                contract=cast("Mapping[str, object]", body["contract"]),
                plans=cast("Sequence[Mapping[str, object]]", body["plans"]),
                result_ids=[row.id for row in trace.rows],
                timings=trace.timings,
                keep=self.settings.keep_requests,
            )
        except DatabaseError as failed:
            logger.warning("a request was not kept: %s", failed.code)


def ranking_section(plan: RetrievalPlan, routing: Routing) -> str:
    """The contract's `rerank_profile`; a plan of the other family takes its family's own."""
    profile = routing.contract.retrieval_spec.rerank_profile
    if profile != "project":
        is_code = plan.family is Family.CODE
        profile = ("code" if profile == "docs" else profile) if is_code else "docs"
    return profile


def _numbered(fetched: Sequence[FetchedRows]) -> tuple[Hit, ...]:
    rows = [row for part in fetched for row in part.rows]
    return tuple(replace(row, rank=place) for place, row in enumerate(rows, start=1))


def _shown_row(row: DocumentRow, session: SessionRow) -> dict[str, object]:
    held: dict[str, object] = {
        "text": row.text,
        "content": row.text,
        "repo_id": session.project_id,
        "commit_sha": session.commit_sha,
        "embedding": session.embedder if row.has_vector else None,
    }
    return {
        "layer": row.layer.value,
        "id": row.public_id,
        "line_start": row.line_start,
        "line_end": row.line_end,
        "title": row.title,
        "text": row.text,
        "attributes": {name: row.metadata_json.get(name, held.get(name)) for name in ATTRIBUTES[row.layer]},
    }
