"""A run: every question of a dataset asked of one session under one policy, and a digest of each answer.

The same `RagService.answer` and the same Trace that serve a person; nothing is re-derived. A digest holds everything
that metrics and comparisons read, and no time: timings stand apart, so that two runs of the same manifest are the same
bytes.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from evals.dataset import Case, Dataset
from ragkit import __version__, service
from ragkit.embedding import bundled
from ragkit.errors import RagkitError
from ragkit.policy.plan import check_limit
from ragkit.retrieval.trace import Trace
from ragkit.routing.contract import ConversationState, Intent
from ragkit.service import Ask, RagService
from ragkit.service.workers import interruptions_held
from ragkit.settings import Settings

RUN_VERSION = 1
CASES_A_WORKER = 60
"""A further process pays (it loads the embedder, two seconds) from so many questions on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What decides a run; its hash is the run's id. Source: system.md §7."""

    dataset: str
    dataset_hash: str
    policy: str
    policy_hash: str
    routing_hash: str
    session: str
    corpus_fingerprint: str
    embedder: str
    limit: int | None
    intent: Intent | None
    code_version: str = __version__
    run_version: int = RUN_VERSION

    @property
    def id(self) -> str:
        """First 16 hex digits of the SHA-256 of the manifest."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, object]:
        """All fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRow:
    """A row of an answer, without its text."""

    id: str
    path: str
    line_start: int
    line_end: int
    layer: str
    plan: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """One answer as a run keeps it; `error` stands alone where there was none."""

    id: str
    intent: str | None = None
    mode: str | None = None
    subintent: str | None = None
    profiles: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    """Asked by the plans."""
    filters: tuple[Mapping[str, object], ...] = ()
    """Of each plan."""
    anchors: tuple[tuple[str, str | None, str], ...] = ()
    """(type, subtype, value) of the query's own anchors."""
    rows: tuple[DigestRow, ...] = ()
    evidence_satisfied: bool | None = None
    error: str | None = None

    def to_json(self) -> dict[str, object]:
        """All fields, tuples as lists."""
        return json.loads(json.dumps(asdict(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A digest and how long its answer took."""

    digest: Digest
    total_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a worker needs to answer a case."""

    case: Case
    session: str
    policy: str
    limit: int | None
    intent: Intent | None


def make_manifest(
    engine: RagService, dataset: Dataset, *, session: str, policy: str, limit: int | None, intent: Intent | None
) -> Manifest:
    """The manifest of a run that is to be made.

    Raises: UnknownName for the session or policy; InvalidInput for a policy that does not validate;
    WrongUse for a limit out of bounds.
    """
    check_limit(limit)
    named = engine.policy(policy)
    return Manifest(
        dataset=dataset.name,
        dataset_hash=dataset.hash,
        policy=named.policy.name,
        policy_hash=named.hash,
        routing_hash=engine.routing_hash,
        session=session,
        corpus_fingerprint=engine.corpus_fingerprint(session),
        embedder=engine.embedder_fingerprint,
        limit=limit,
        intent=intent,
    )


def answer_all(
    engine: RagService,
    cases: Sequence[Case],
    manifest: Manifest,
    *,
    policy: str,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Answered]:
    """Answers of the cases, in order; `report(done, total)` after each.

    Small sets are answered here, larger ones by one process a core. A case that fails gives a digest with its error.
    """
    questions = [
        Question(case=case, session=manifest.session, policy=policy, limit=manifest.limit, intent=manifest.intent)
        for case in cases
    ]
    workers = min(os.cpu_count() or 1, -(-len(questions) // CASES_A_WORKER))
    with _answers(engine, questions, workers) as answers:
        for done, answered in enumerate(answers, start=1):
            report(done, len(questions))
            yield answered


def answer(engine: RagService, question: Question) -> Answered:
    """One case: its earlier turns are routed first, so that the last one is asked in their conversation."""
    case = question.case
    try:
        state: ConversationState | None = None
        for turn in case.turns:
            contract = engine.route(turn, session=question.session, state=state).contract
            state = ConversationState(active_intent=contract.intent, anchors=contract.query_plan.anchors)
        trace = engine.answer(
            Ask(
                query=case.query,
                session=question.session,
                policy=question.policy,
                state=state,
                limit=question.limit,
                intent=question.intent,
            )
        )
    except RagkitError as failed:
        return Answered(digest=Digest(id=case.id, error=failed.code), total_ms=0.0)
    return Answered(digest=digest_of(case.id, trace), total_ms=trace.timings["total"])


def digest_of(case_id: str, trace: Trace) -> Digest:
    """What a run keeps of a Trace."""
    contract = trace.contract
    return Digest(
        id=case_id,
        intent=contract.intent,
        mode=contract.conversation_mode,
        subintent=trace.route.subintent,
        profiles=tuple(plan.profile for plan in trace.plans),
        layers=tuple(dict.fromkeys(layer.value for plan in trace.plans for layer in plan.layers)),
        filters=tuple(plan.filters.to_json() for plan in trace.plans),
        anchors=tuple(
            (a.type, a.subtype, a.value)
            for a in contract.query_plan.anchors
            if not (a.subtype or "").startswith("conversation")
        ),
        rows=tuple(
            DigestRow(
                id=row.id,
                path=row.path,
                line_start=row.line_start,
                line_end=row.line_end,
                layer=row.layer.value,
                plan=row.plan,
                score=row.score,
            )
            for row in trace.rows
        ),
        evidence_satisfied=trace.evidence.satisfied,
    )


def digest_from_json(body: Mapping[str, object]) -> Digest:
    """What `Digest.to_json` wrote."""
    fields = dict(body)
    fields["rows"] = tuple(DigestRow(**row) for row in body.get("rows", ()))  # type: ignore[arg-type]
    for name in ("profiles", "layers", "filters"):
        fields[name] = tuple(body.get(name, ()))  # type: ignore[arg-type]
    fields["anchors"] = tuple(tuple(anchor) for anchor in body.get("anchors", ()))  # type: ignore[arg-type]
    return Digest(**fields)  # type: ignore[arg-type]


@contextmanager
def _answers(engine: RagService, questions: Sequence[Question], workers: int) -> Generator[Iterable[Answered]]:
    if workers <= 1:
        yield (answer(engine, question) for question in questions)
        return
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawned, initializer=_open, initargs=(engine.settings,)) as pool:
        try:
            with interruptions_held():  # the processes start here
                answers = pool.map(_answer_there, questions, chunksize=4)
            yield answers
        finally:
            pool.shutdown(cancel_futures=True)


_engine: RagService | None = None
"""Of a worker process."""


def _open(settings: Settings) -> None:
    global _engine
    _engine = service.open(settings, embedder=bundled(threads=1))


def _answer_there(question: Question) -> Answered:
    if _engine is None:
        raise RuntimeError("the worker was not opened")
    return answer(_engine, question)
