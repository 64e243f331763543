"""The Trace: everything that one answer decided, in one value that browser, command line and evaluation read.

Nobody re-runs or re-derives anything from it. `to_json` gives the promised keys (architecture.md); all but `timings` is
the same bytes for the same question, policy and index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.policy.plan import RetrievalPlan
from ragkit.policy.signals import SignalReading
from ragkit.retrieval.diagnosis import Diagnosis
from ragkit.retrieval.explanation import Explanation
from ragkit.routing.contract import RouterContract
from ragkit.routing.route import RouteResult

TRACE_VERSION = 1
DROPPED_ROWS_AT_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One row of the answer."""

    rank: int
    """From 1, over all plans; documentation first."""
    plan: str
    """Profile of the plan that found it."""
    id: str
    """Public id: made of content, not of the database."""
    path: str
    line_start: int
    line_end: int
    layer: Layer
    title: str
    score: float
    """Compares within one plan only."""
    parts: Mapping[str, float]
    """Named parts that add up to the score."""
    found_by: tuple[str, ...]
    """Steps and legs: exact_path, exact_title, path_substring, dense, lexical, named."""
    text: str
    words: tuple[str, ...] = ()
    """Forms of the query's words in the text, lower-case: what a screen highlights."""

    def to_json(self) -> dict[str, object]:
        """All fields."""
        return {
            "rank": self.rank,
            "plan": self.plan,
            "id": self.id,
            "path": self.path,
            "line_start": self.line_start,
            "line_end": self.line_end,
            "layer": self.layer.value,
            "title": self.title,
            "score": self.score,
            "parts": dict(self.parts),
            "found_by": list(self.found_by),
            "text": self.text,
            "words": list(self.words),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRow:
    """A candidate that is not in the answer, and why."""

    id: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan's execution."""

    name: str
    plan: str
    came_in: int
    went_out: int
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Code of the reason → how many."""
    dropped_rows: tuple[DroppedRow, ...] = ()
    notes: tuple[Reason, ...] = ()

    def to_json(self) -> dict[str, object]:
        """`in` and `out` under their promised names."""
        return {
            "name": self.name,
            "plan": self.plan,
            "in": self.came_in,
            "out": self.went_out,
            "dropped": dict(self.dropped),
            "dropped_rows": [{"id": row.id, "reason": row.reason.to_json()} for row in self.dropped_rows],
            "notes": [note.to_json() for note in self.notes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WordView:
    """One word of the query as the lexical leg saw it."""

    plan: str
    word: str
    term: str
    origin: str
    """`query`, or `expansion` for what routing added."""
    rows: int
    """Rows of the plan's layers that hold it."""
    weight: float
    use: str
    """`finds`, `scores` (too common to find by itself), `stop`, or `absent`."""

    def to_json(self) -> dict[str, object]:
        """All fields."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCheck:
    """Whether what was found satisfies one flag of `evidence_policy`."""

    flag: str
    satisfied: bool
    by: tuple[str, ...]
    """Public ids of the rows that satisfy it, the best first."""


Allowance = Literal["answer", "answer_freely", "answer_with_gaps", "say_missing", "say_nothing_found"]
"""What an answerer may do: answer from the rows; answer although nothing is required; answer, naming what no row shows;
only say what is missing; only say that nothing was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an answerer may do with the rows. Spec: ROUTER §8."""

    checks: tuple[EvidenceCheck, ...]
    satisfied: bool
    may_answer: bool
    allowance: Allowance
    reason: Reason
    """The allowance as a sentence, with what is missing."""

    def to_json(self) -> dict[str, object]:
        """`{satisfied, may_answer, allowance, reason, checks}`."""
        return {
            "satisfied": self.satisfied,
            "may_answer": self.may_answer,
            "allowance": self.allowance,
            "reason": self.reason.to_json(),
            "checks": [{"flag": c.flag, "satisfied": c.satisfied, "by": list(c.by)} for c in self.checks],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One answer and all its reasons."""

    query: str
    session: str
    revision: int
    policy: str
    policy_hash: str
    embedder: str
    contract: RouterContract
    route: RouteResult
    reasons: tuple[Reason, ...]
    signals: tuple[SignalReading, ...]
    plans: tuple[RetrievalPlan, ...]
    rows: tuple[Hit, ...]
    steps: tuple[Step, ...]
    words: tuple[WordView, ...]
    evidence: Evidence
    timings: Mapping[str, float]
    """Milliseconds by step, and `total`, which they add up to."""
    expected: tuple[Diagnosis, ...] = ()
    """Verdicts on the documents that the question's author expects, where they were named."""
    explanation: Explanation | None = None
    """Where it was asked for."""

    def to_json(self) -> dict[str, object]:
        """The promised document; what differs between runs comes last: `timings`, and where asked for `analyzed`."""
        body: dict[str, object] = {
            "trace_version": TRACE_VERSION,
            "query": self.query,
            "session": self.session,
            "revision": self.revision,
            "policy": {"name": self.policy, "hash": self.policy_hash},
            "embedder": self.embedder,
            "contract": cast("dict[str, object]", self.contract.model_dump(mode="json")),
            "route": self.route.to_json(),
            "reasons": [reason.to_json() for reason in self.reasons],
            "signals": [signal.to_json() for signal in self.signals],
            "plans": [plan.to_json() for plan in self.plans],
            "rows": [row.to_json() for row in self.rows],
            "steps": [step.to_json() for step in self.steps],
            "words": [word.to_json() for word in self.words],
            "evidence": self.evidence.to_json(),
            "expected": [diagnosis.to_json() for diagnosis in self.expected],
            "explain": None if self.explanation is None else self.explanation.to_json(),
            "timings": dict(self.timings),
        }
        if self.explanation is not None:
            body["analyzed"] = {plan.plan: plan.analyzed for plan in self.explanation.plans}
        return body
