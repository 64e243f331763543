"""Trace → what a screen shows: rounded, labelled, in the reader's language. Pure; no Streamlit here."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ragkit.layers import Family
from ragkit.messages import Language, Messages, Reason
from ragkit.policy.plan import HARD_FILTERS, RetrievalPlan
from ragkit.policy.signals import SignalReading
from ragkit.retrieval.trace import Hit, Step, Trace
from ragkit.routing.contract import Anchor

CODE_LANGUAGES: Mapping[str, str] = {
    ".py": "python", ".md": "markdown", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json",
    ".js": "javascript", ".ts": "typescript", ".go": "go", ".rs": "rust", ".java": "java", ".sql": "sql", ".sh": "bash",
    ".c": "c", ".h": "c", ".cpp": "cpp",
}  # fmt: skip
"""Extension → name that the code viewer knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Sentences in one language."""

    messages: Messages
    language: Language

    def __call__(self, code: str, **params: object) -> str:
        """The sentence of a code, such as `ui.rows`."""
        return self.messages.sentence(code, self.language, **params)

    def reason(self, reason: Reason) -> str:
        """The sentence of a reason."""
        return self.messages.render(reason, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stretch of the query; `kind` is None between anchors."""

    text: str
    kind: str | None
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalView:
    """A signal, whether it fired, and by what."""

    name: str
    fired: bool
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterView:
    """A filter by its specification name, and its values."""

    name: str
    values: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A plan as a person reads it."""

    profile: str
    layers: tuple[str, ...]
    limit: int
    hard: tuple[FilterView, ...]
    soft: tuple[FilterView, ...]
    reads_signals: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """A ranked row."""

    rank: int
    score: float
    path: str
    lines: str
    layer: str
    title: str
    found_by: str
    parts: tuple[tuple[str, float], ...]
    """Label → number, the largest first."""
    text: str
    line_start: int
    code_language: str | None
    words: tuple[str, ...]
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTable:
    """Rows of one plan."""

    profile: str
    rows: tuple[RowView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """Everything that the Query screen shows of a Trace."""

    summary: str
    marks: tuple[Mark, ...]
    inherited: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    """Anchor type → label, of those that occur."""
    intent: str
    mode: str
    reasons: tuple[str, ...]
    signals: tuple[SignalView, ...]
    plans: tuple[PlanView, ...]
    tables: tuple[RowTable, ...]
    steps: tuple[Mapping[str, object], ...]
    notes: tuple[str, ...]
    words: tuple[Mapping[str, object], ...]
    evidence: tuple[bool, str]
    trace_json: str


def to_answer(trace: Trace, say: Say) -> AnswerView:
    """The whole screen."""
    anchors = trace.contract.query_plan.anchors
    return AnswerView(
        summary=_summary(trace, say),
        marks=to_marks(trace.query, anchors, say),
        inherited=tuple(f"{say(f'ui.anchor_{a.type}')}: {a.value}" for a in anchors if _is_inherited(a)),
        kinds=tuple((kind, say(f"ui.anchor_{kind}")) for kind in dict.fromkeys(a.type for a in anchors)),
        intent=trace.contract.intent,
        mode=say(f"ui.mode_{trace.contract.conversation_mode}"),
        reasons=tuple(say.reason(reason) for reason in trace.reasons),
        signals=tuple(_signal(reading, say) for reading in trace.signals),
        plans=tuple(_plan(plan) for plan in trace.plans),
        tables=tuple(
            RowTable(
                profile=plan.profile,
                rows=tuple(_row(row, say) for row in trace.rows if row.plan == plan.profile),
            )
            for plan in trace.plans
        ),
        steps=tuple(_step(step, say) for step in trace.steps),
        notes=tuple(say.reason(note) for step in trace.steps for note in step.notes),
        words=tuple(
            {
                say("ui.word"): word.word,
                say("ui.term"): word.term,
                say("ui.origin"): say(f"ui.origin_{word.origin}"),
                say("ui.word_rows"): word.rows,
                say("ui.weight"): round(word.weight, 2),
                say("ui.use"): say(f"ui.use_{word.use}"),
                say("ui.profile"): word.plan,
            }
            for word in trace.words
        ),
        evidence=_evidence(trace, say),
        trace_json=json.dumps(trace.to_json(), ensure_ascii=False, indent=2),
    )


def to_marks(query: str, anchors: Sequence[Anchor], say: Say) -> tuple[Mark, ...]:
    """The query cut at its anchors, in order; an anchor inside another is shown in the outer one's hint."""
    own = sorted(
        (a for a in anchors if not _is_inherited(a)), key=lambda a: (a.span.start, -(a.span.end - a.span.start))
    )
    marks: list[Mark] = []
    place = 0
    for anchor in own:
        if anchor.span.start < place:
            outer = marks[-1]
            marks[-1] = Mark(text=outer.text, kind=outer.kind, hint=f"{outer.hint}; {_hint(anchor, say)}")
            continue
        if anchor.span.start > place:
            marks.append(Mark(text=query[place : anchor.span.start], kind=None, hint=""))
        marks.append(Mark(text=anchor.value, kind=anchor.type, hint=_hint(anchor, say)))
        place = anchor.span.end
    if place < len(query):
        marks.append(Mark(text=query[place:], kind=None, hint=""))
    return tuple(marks)


def marks_html(marks: Sequence[Mark], kinds: Mapping[str, str]) -> str:
    """The marked query as HTML; every text is escaped. The kind is written beside the colour, for who sees none."""
    pieces = [
        html.escape(mark.text)
        if mark.kind is None
        else (
            f'<mark class="rk-{mark.kind.lower()}" title="{html.escape(mark.hint, quote=True)}">'
            f"{html.escape(mark.text)}<sup>{html.escape(kinds[mark.kind])}</sup></mark>"
        )
        for mark in marks
    ]
    return f'<div class="rk-query">{"".join(pieces)}</div>'


def _summary(trace: Trace, say: Say) -> str:
    limit = sum(plan.limit for plan in trace.plans)
    layers = dict.fromkeys(layer.value for plan in trace.plans for layer in plan.layers)
    return say(
        "ui.summary" if trace.rows else "ui.summary_none",
        intent_sentence=say(f"ui.intent_{trace.contract.intent}"),
        profile=" + ".join(plan.profile for plan in trace.plans),
        rows=len(trace.rows),
        limit=limit,
        layers=", ".join(layers),
        elapsed=round(trace.timings["total"]),
    )


def _is_inherited(anchor: Anchor) -> bool:
    return anchor.span.end == 0 and (anchor.subtype or "").startswith("conversation")


def _hint(anchor: Anchor, say: Say) -> str:
    subtype = f" · {anchor.subtype}" if anchor.subtype else ""
    return f"{anchor.type}{subtype} · {say('ui.confidence')} {anchor.confidence:.2f}"


def _signal(reading: SignalReading, say: Say) -> SignalView:
    return SignalView(
        name=reading.signal,
        fired=reading.fired,
        why=tuple(
            say("ui.signal_by_field", field=e.field, value=e.value)
            if e.marker is None
            else say("ui.signal_by_marker", field=e.field, value=e.value, marker=e.marker)
            for e in reading.evidence
        ),
    )


def _plan(plan: RetrievalPlan) -> PlanView:
    views = [
        FilterView(name=name, values=_joined(value))
        for name, value in plan.filters.to_json().items()
        if value not in ([], "INCLUDE")
    ]
    return PlanView(
        profile=plan.profile,
        layers=tuple(layer.value for layer in plan.layers),
        limit=plan.limit,
        hard=tuple(view for view in views if view.name in HARD_FILTERS),
        soft=tuple(view for view in views if view.name not in HARD_FILTERS),
        reads_signals=plan.family is Family.DOCS,
    )


def _joined(value: object) -> str:
    return ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)


def _row(row: Hit, say: Say) -> RowView:
    parts = sorted(row.parts.items(), key=lambda part: -abs(part[1]))
    return RowView(
        rank=row.rank,
        score=round(row.score, 3),
        path=row.path,
        lines=f"{row.line_start}–{row.line_end}",
        layer=row.layer.value,
        title=row.title,
        found_by=", ".join(say(f"ui.found_{leg}") for leg in row.found_by),
        parts=tuple((say(f"ui.part_{name}"), value) for name, value in parts),
        text=row.text,
        line_start=row.line_start,
        code_language=CODE_LANGUAGES.get(PurePosixPath(row.path).suffix.lower()),
        words=row.words,
        id=row.id,
    )


def _step(step: Step, say: Say) -> Mapping[str, object]:
    dropped = "; ".join(f"{count} – {say(code.replace('drop.', 'dropped.'))}" for code, count in step.dropped.items())
    return {
        say("ui.step"): say(f"step.{step.name}"),
        say("ui.profile"): step.plan,
        say("ui.step_in"): step.came_in,
        say("ui.step_out"): step.went_out,
        say("ui.step_dropped"): dropped,
    }


def _evidence(trace: Trace, say: Say) -> tuple[bool, str]:
    checks = trace.evidence.checks
    if not checks:
        return True, say("ui.evidence_free")
    missing = [say(f"evidence.{check.flag}") for check in checks if not check.satisfied]
    if missing:
        return False, say("ui.evidence_missing", flags=missing)
    return True, say("ui.evidence_ok", flags=[say(f"evidence.{check.flag}") for check in checks])
